"""Captions, by people and by models, and how well CIDEr finds that they agree.

The captions of people are compared with each other. Those of models are compared with the captions
of people, which is what Crossmodal-3600 was made for, in each language by CIDEr, from 0 to 10 (its
authors' post, sections Overview and Empirical Evaluation).

CIDEr is CIDEr-D of Vedantam, Zitnick and Parikh (CVPR 2015, sections 4 and 7), with the constants
and the habits of the scorer that the field reports (coco-caption's, in Python pycocoevalcap):
n-grams of 1 to 4 tokens, weights clipped at those of the reference, a penalty of width 6 on the
difference in length, where a length is the number of bigrams, and a scale of 10.
"""

import csv
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import exp, log, sqrt
from pathlib import Path
from typing import Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt
import polars as pl

from isotope.core import sql, store
from isotope.core.errors import BadCaptions, CorruptFile, EmptyTable, MissingColumn, MissingFile
from isotope.core.languages import is_spoken
from isotope.core.progress import Progress
from isotope.core.progress import log as logger
from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.intake.tables import parquet_batches, parquet_file
from isotope.intake.texts import lines, records
from isotope.schemas.collect import QRELS, TEXTS
from isotope.schemas.tabulate import CAPTIONERS, CAPTIONS
from isotope.tabulate.table import rows

Tokens = tuple[str, ...]
COLUMNS = ("image", "language", "caption")
_SCHEMA = {"image": pl.String, "language": pl.String, "caption": pl.String, "place": pl.String}
_SQL = sql.SQL / "tabulate"
_LONGEST, _SIGMA, _SCALE = 4, 6.0, 10.0
_ROWS = 1024


class CaptionRow(NamedTuple):
    """A row of a file: where it stands, for errors, and its values by column."""

    location: str
    values: Mapping[str, object]


class _Vector(NamedTuple):
    """The n-grams of a caption for n = 1 to 4, weighted by tf-idf, their norms, and the length."""

    weights: list[dict[Tokens, float]]
    norms: list[float]
    length: int


def captions_table(texts: Path, qrels: Path, out: Path) -> None:
    """Write schemas.CAPTIONS, one row for each caption and image, by language, image and text.

    `cider` compares a caption with the others of its image in its language: each that has others
    is an item of the corpus, the others are its references. It is null for one alone.

    Raises:
        EmptyTable: no text that is paired with an image.
    """
    captions = _tokens(texts, qrels)
    progress = Progress("captions compared", captions.height)
    with store.writer(out, CAPTIONS) as writer:
        for part in captions.partition_by("language", maintain_order=True):
            scored = part.with_columns(cider=agreement(part["image_id"], part["tokens"]))
            counted = scored.with_columns(tokens=pl.col("tokens").list.len().cast(pl.Int32))
            table = counted.select(CAPTIONS.names).to_arrow().cast(CAPTIONS)
            writer.write_table(table, row_group_size=store.ROWS_PER_GROUP)
            progress.add(part.height)
    progress.finish()


def captioners_table(
    inputs: Mapping[str, Path],
    captioners: Mapping[str, Sequence[Path]],
    languages: Sequence[str],
    out: Path,
) -> None:
    """Write schemas.CAPTIONERS: a row for each captioner and image of a collection that has both.

    `inputs` are texts, images and qrels; the texts, all in one language, are the references; an
    image's are one item of CIDEr's corpus for every captioner. A captioner without a caption in
    the language is left out; one with some must have one for each image with references.
    `languages` are those that the files may have, besides that of the collection.

    Raises:
        EmptyTable: no text that is paired with an image.
        BadCaptions: a language that no collection has, an image that is not in the collection, one
            without references, one that is captioned twice or not at all.
        As `rows_of`.
    """
    written = _tokens(inputs["texts"], inputs["qrels"])
    [language] = written["language"].unique()
    names = image_ids(pl.read_parquet(inputs["images"], glob=False))
    references = written.group_by("image_id", maintain_order=True).agg("tokens").sort("image_id")
    scored: list[pl.DataFrame] = []
    for name, files in captioners.items():
        read_here = read_captions(files, {*languages, language}).filter(language=language)
        if read_here.is_empty():
            logger.info("%s has no caption in %s", name, language)
            continue
        captions = _checked(name, read_here, names, references["image_id"])
        scored.append(_scored(name, language, captions, references))
    empty = pl.from_arrow(CAPTIONERS.empty_table())
    table = pl.concat([cast(pl.DataFrame, empty), *scored])
    store.write(table.to_arrow(), out, CAPTIONERS)


def agreement(images: pl.Series, tokens: pl.Series) -> pl.Series:
    """Return each caption's CIDEr against the others of its image, null where there are none."""
    captions: list[list[str]] = tokens.to_list()
    numbered = pl.DataFrame({"image": images}).with_row_index("row")
    together = numbered.group_by("image", maintain_order=True).agg("row")["row"].to_list()
    compared = [(row, _rivals(group, row)) for group in together for row in group if len(group) > 1]
    references = [[captions[other] for other in rivals] for _, rivals in compared]
    scores = cider([captions[row] for row, _ in compared], references)
    scored = pl.DataFrame(
        {"row": [row for row, _ in compared], "cider": scores},
        schema={"row": pl.get_index_type(), "cider": pl.Float64},
    )
    return numbered.join(scored, on="row", how="left", maintain_order="left")["cider"]


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


def read_captions(files: Sequence[Path], languages: set[str]) -> pl.DataFrame:
    """Return image, language, caption and place of each row, of all languages.

    Raises:
        BadCaptions: a language that is not among `languages`.
        As `rows_of`.
    """
    captions = [
        {**{c: _text(row, c) for c in COLUMNS}, "place": row.location}
        for row in rows_of(files, COLUMNS, "tabulate.captioners")
    ]
    for row in captions:
        row["language"] = language_of(row["place"], row["language"], languages)
    return pl.DataFrame(captions, schema=_SCHEMA)


def language_of(location: str, code: str, languages: set[str]) -> str:
    """Return the one of `languages`, as a collection has it, that a code names.

    Raises:
        BadCaptions: no collection has it.
    """
    spoken = next((listed for listed in sorted(languages) if is_spoken(code, listed)), None)
    if spoken is None:
        remedy = (
            f"known: {', '.join(sorted(languages))}; add its collection, or leave these rows out"
        )
        raise BadCaptions(location, f"no collection in language {code!r}", remedy)
    return spoken


def rows_of(files: Sequence[Path], columns: Sequence[str], key: str) -> Iterator[CaptionRow]:
    """Yield the rows of csv, JSON lines (also gzip) or Parquet files; all values are text.

    Raises:
        MissingFile: a file that is not there.
        CorruptFile: a file that can't be read as what its name says.
        MissingColumn: one that lacks a column of `columns`.
    """
    for path in files:
        if not path.is_file():
            raise MissingFile(path, "no such file", f"correct `{key}`")
        name = path.name.removesuffix(".gz")
        read = next((r for suffix, r in _READERS.items() if name.endswith(suffix)), None)
        if read is None:
            raise CorruptFile(path, "no csv, JSON lines or Parquet", "name it for its form")
        for row in read(path):
            lacking = [c for c in columns if row.values.get(c) is None]
            if lacking:
                problem = f"no {' and no '.join(lacking)}"
                raise MissingColumn(row.location, problem, f"give {', '.join(columns)} in each row")
            yield row


def image_ids(images: pl.DataFrame) -> dict[str, str]:
    """Return the image_id by each name of an image: its id, its URL, its file without suffix."""
    urls = images.select("image_url", "image_id").iter_rows()
    named = {n: i for url, i in urls for n in (url, Path(url.rsplit("/", 1)[-1]).stem)}
    return named | {i: i for i in images["image_id"]}


def _tokens(texts: Path, qrels: Path) -> pl.DataFrame:
    """Return the captions of images with their tokens.

    Raises:
        EmptyTable: no text that is paired with an image.
    """
    captions = rows(_SQL / "captions/tokens.sql", {"texts": texts, "qrels": qrels}, {})
    if captions.is_empty():
        raise EmptyTable(qrels, "no captions", "look at the collection's texts")
    return captions


def _rivals(group: Sequence[int], row: int) -> list[int]:
    return [other for other in group if other != row]


def _checked(
    name: str, captions: pl.DataFrame, names: Mapping[str, str], described: pl.Series
) -> pl.DataFrame:
    """Return image_id and caption, one row for each described image."""
    places: dict[str, str] = {}
    expected, ids = set(described), list[str]()
    for image, language, location in captions.select("image", "language", "place").iter_rows():
        image_id = names.get(image)
        if image_id is None:
            raise BadCaptions(location, f"no image {image!r}", "name an image of the collection")
        if image_id not in expected:
            problem = f"image {image!r} has no reference in {language}"
            raise BadCaptions(location, problem, "leave the row out")
        if image_id in places:
            problem = f"image {image!r} has a caption in {language} at {places[image_id]}"
            raise BadCaptions(location, problem, "keep one of the two")
        places[image_id] = location
        ids.append(image_id)
    missing = sorted(expected - places.keys())
    if missing:
        language, names = captions["language"][0], _shortest(names)
        problem = f"no caption of {len(missing)} of {len(expected)} images in {language}"
        remedy = f"add them, the first is image {names[missing[0]]!r}"
        raise BadCaptions(f"tabulate.captioners.{name}", problem, remedy)
    return captions.select("caption", image_id=pl.Series(ids)).sort("image_id")


def _shortest(names: Mapping[str, str]) -> dict[str, str]:
    """Return the shortest name of each image."""
    return {i: name for name, i in sorted(names.items(), key=lambda k: -len(k[0]))}


def _scored(
    name: str, language: str, captions: pl.DataFrame, references: pl.DataFrame
) -> pl.DataFrame:
    """Return the rows of schemas.CAPTIONERS of one captioner; both tables are in one order."""
    tokens = _own_tokens(captions, language)
    logger.info("%s: %d captions in %s", name, tokens.height, language)
    return tokens.select(
        "image_id",
        "characters",
        captioner=pl.lit(name),
        language=pl.lit(language),
        tokens=pl.col("tokens").list.len().cast(pl.Int32),
        cider=pl.Series(cider(tokens["tokens"].to_list(), references["tokens"].to_list())),
    ).select(CAPTIONERS.names)


def _own_tokens(captions: pl.DataFrame, language: str) -> pl.DataFrame:
    """Cut captions as the references are cut, by the same query; one row an image, by image_id."""
    empty: dict[str, Any] = dict.fromkeys(TEXTS.names)
    texts = [
        {**empty, "text_id": i, "language": language, "context_section_description": caption}
        for caption, i in captions.select("caption", "image_id").iter_rows()
    ]
    pairs = [
        {"text_id": i, "image_id": i, "relevance": 1, "split": "test"} for i in captions["image_id"]
    ]
    with tempfile.TemporaryDirectory(prefix="isotope-") as folder:
        written, paired = Path(folder) / "texts.parquet", Path(folder) / "qrels.parquet"
        store.write_rows(texts, written, TEXTS)
        store.write_rows(pairs, paired, QRELS)
        return _tokens(written, paired).sort("image_id")


def _vectors(references: Sequence[Sequence[Sequence[str]]]) -> Callable[[Tokens], _Vector]:
    frequencies: Counter[Tokens] = Counter()
    for refs in references:
        frequencies.update({gram for ref in refs for gram in _grams(tuple(ref))})
    most = log(len(references)) if references else 0.0

    @cache
    def vector(tokens: Tokens) -> _Vector:
        weights: list[dict[Tokens, float]] = [{} for _ in range(_LONGEST)]
        for gram, count in _grams(tokens).items():
            weights[len(gram) - 1][gram] = count * (most - log(max(1, frequencies[gram])))
        norms = [sqrt(sum(w * w for w in part.values())) for part in weights]
        return _Vector(weights, norms, max(0, len(tokens) - 1))

    return vector


def _grams(tokens: Tokens) -> Counter[Tokens]:
    spans = ((i, i + n) for n in range(1, _LONGEST + 1) for i in range(len(tokens) - n + 1))
    return Counter(tokens[i:j] for i, j in spans)


def _agreement(
    vector: Callable[[Tokens], _Vector], candidate: Tokens, references: Iterable[Tokens]
) -> float:
    candidate_vector = vector(candidate)
    similarities = [_similarity(candidate_vector, vector(reference)) for reference in references]
    return _SCALE * sum(similarities) / len(similarities)


def _similarity(left: _Vector, other: _Vector) -> float:
    penalty = exp(-((left.length - other.length) ** 2) / (2 * _SIGMA**2))
    cosines = [
        _clipped(mine, theirs) / (a * b) if a and b else 0.0
        for mine, theirs, a, b in zip(
            left.weights, other.weights, left.norms, other.norms, strict=True
        )
    ]
    return penalty * sum(cosines) / _LONGEST


def _clipped(mine: dict[Tokens, float], theirs: dict[Tokens, float]) -> float:
    shared = mine.keys() & theirs.keys()
    return sum(min(mine[gram], theirs[gram]) * theirs[gram] for gram in sorted(shared))


def _csv(path: Path) -> Iterator[CaptionRow]:
    rows, n = csv.DictReader(lines(path), strict=True), 1
    while True:
        n += 1
        try:
            values = next(rows, None)
        except csv.Error as error:
            problem = f"no row of csv: {error}"
            raise CorruptFile(f"{path}, row {n}", problem, "write it as RFC 4180 says") from error
        if values is None:
            return
        yield CaptionRow(f"{path}, row {n}", values)


def _json_lines(path: Path) -> Iterator[CaptionRow]:
    for n, line in enumerate(records(path), 1):
        location = f"{path}, row {n}"
        try:
            values = json_value(line)
        except Refused as error:
            raise CorruptFile(location, error.reason, "write an object a line") from error
        if not isinstance(values, dict):
            raise CorruptFile(location, "no JSON object", "write an object a line")
        yield CaptionRow(location, cast(dict[str, object], values))


def _parquet(path: Path) -> Iterator[CaptionRow]:
    with parquet_file(path) as file:
        names = file.schema_arrow.names
    n = 0
    for batch in parquet_batches(path, names, _ROWS):
        for values in batch.to_pylist():
            n += 1
            yield CaptionRow(f"{path}, row {n}", values)


_READERS = {".csv": _csv, ".jsonl": _json_lines, ".parquet": _parquet}


def _text(row: CaptionRow, column: str) -> str:
    value = row.values[column]
    if not isinstance(value, str):
        raise CorruptFile(row.location, f"{column} {value!r} is no text", "write it as text")
    return value.strip()
