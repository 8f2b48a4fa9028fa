"""CIDEr: how well a caption agrees with what others wrote of the same picture.

CIDEr-D of Vedantam, Zitnick and Parikh (CVPR 2015, sections 4 and 7), with the constants and the
habits of the scorer that the field reports (coco-caption's, in Python pycocoevalcap): n-grams of 1
to 4 tokens, weights clipped at those of the reference, a penalty of width 6 on the difference in
length, where a length is the number of bigrams, and a scale of 10.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from math import exp, log, sqrt
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from isotope.core import sql, store
from isotope.core.errors import EmptyTable
from isotope.core.progress import Progress
from isotope.tabulate.tables import CAPTIONS

Tokens = tuple[str, ...]
_LONGEST, _SIGMA, _SCALE = 4, 6.0, 10.0


class _Vector(NamedTuple):
    """The n-grams of a caption for n = 1 to 4, weighted by tf-idf, their norms, and the length."""

    weights: list[dict[Tokens, float]]
    norms: list[float]
    length: int


def cider(
    candidates: Sequence[Sequence[str]], references: Sequence[Sequence[Sequence[str]]]
) -> npt.NDArray[np.float64]:
    """Return the score of each candidate, float64 [n], from 0 to 10, against its references.

    An n-gram's document frequency is the number of items among whose references it occurs; so a
    score depends on the whole corpus, and of a single item it is 0.

    Raises:
        EmptyTable: an item without references.
        ValueError: candidates and references that are not equally many.
    """
    if alone := [n for n, refs in enumerate(references) if not refs]:
        raise EmptyTable(f"caption {alone[0]}", "no reference", "leave it out")
    vector = _vectors(references)
    pairs = zip(candidates, references, strict=True)
    return np.array([_agreement(vector, tuple(c), map(tuple, refs)) for c, refs in pairs])


def _vectors(references: Sequence[Sequence[Sequence[str]]]) -> Callable[[Tokens], _Vector]:
    seen: Counter[Tokens] = Counter()
    for refs in references:
        seen.update({gram for ref in refs for gram in _grams(tuple(ref))})
    most = log(len(references)) if references else 0.0

    @cache
    def vector(tokens: Tokens) -> _Vector:
        weights: list[dict[Tokens, float]] = [{} for _ in range(_LONGEST)]
        for gram, count in _grams(tokens).items():
            weights[len(gram) - 1][gram] = count * (most - log(max(1, seen[gram])))
        norms = [sqrt(sum(w * w for w in part.values())) for part in weights]
        return _Vector(weights, norms, max(0, len(tokens) - 1))

    return vector


def _grams(tokens: Tokens) -> Counter[Tokens]:
    spans = ((i, i + n) for n in range(1, _LONGEST + 1) for i in range(len(tokens) - n + 1))
    return Counter(tokens[i:j] for i, j in spans)


def _agreement(
    vector: Callable[[Tokens], _Vector], candidate: Tokens, references: Iterable[Tokens]
) -> float:
    own = vector(candidate)
    each = [_similarity(own, vector(reference)) for reference in references]
    return _SCALE * sum(each) / len(each)


def _similarity(own: _Vector, other: _Vector) -> float:
    penalty = exp(-((own.length - other.length) ** 2) / (2 * _SIGMA**2))
    cosines = [
        _clipped(mine, theirs) / (a * b) if a and b else 0.0
        for mine, theirs, a, b in zip(
            own.weights, other.weights, own.norms, other.norms, strict=True
        )
    ]
    return penalty * sum(cosines) / _LONGEST


def _clipped(mine: dict[Tokens, float], theirs: dict[Tokens, float]) -> float:
    shared = mine.keys() & theirs.keys()
    return sum(min(mine[gram], theirs[gram]) * theirs[gram] for gram in sorted(shared))


_SQL = sql.SQL / "tabulate"


def captions_table(texts: Path, qrels: Path, out: Path) -> None:
    """Write tables.CAPTIONS, one row for each caption and image, by language, image and text.

    `cider` holds a caption against the others of its image in its language: each caption with
    company is an item of the corpus, the others are its references. It is null for one alone.

    Raises:
        EmptyTable: no text that is paired with an image.
    """
    found = sql.query(_SQL / "captions/tokens.sql", {"texts": texts, "qrels": qrels}, {})
    if found is None or found.is_empty():
        raise EmptyTable(qrels, "no captions", "look at the collection's texts")
    progress = Progress("captions compared", found.height)
    with store.writer(out, CAPTIONS) as writer:
        for part in found.partition_by("language", maintain_order=True):
            told = part.with_columns(cider=agreement(part["image_id"], part["tokens"]))
            counted = told.with_columns(tokens=pl.col("tokens").list.len().cast(pl.Int32))
            rows = counted.select(CAPTIONS.names).to_arrow().cast(CAPTIONS)
            writer.write_table(rows, row_group_size=store.ROWS_PER_GROUP)
            progress.add(part.height)
    progress.finish()


def agreement(images: pl.Series, tokens: pl.Series) -> pl.Series:
    """Return each caption's CIDEr against the others of its image, null where there are none."""
    spoken: list[list[str]] = tokens.to_list()
    rows = pl.DataFrame({"image": images}).with_row_index("row")
    together = rows.group_by("image", maintain_order=True).agg("row")["row"].to_list()
    asked = [(row, _others(group, row)) for group in together for row in group if len(group) > 1]
    references = [[spoken[other] for other in others] for _, others in asked]
    scores = cider([spoken[row] for row, _ in asked], references)
    own = pl.DataFrame(
        {"row": [row for row, _ in asked], "cider": scores},
        schema={"row": pl.get_index_type(), "cider": pl.Float64},
    )
    return rows.join(own, on="row", how="left", maintain_order="left")["cider"]


def _others(group: Sequence[int], row: int) -> list[int]:
    return [other for other in group if other != row]
