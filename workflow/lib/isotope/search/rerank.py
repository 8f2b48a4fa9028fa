"""Reranking: a model orders the first hits of another system's runs; the others follow them.

The first `depth` hits of a query get the score that the model gives them
(`isotope.models.rerankers`). A hit below has a little less than the one before it, and the first of
them a little less than the lowest of the model's: so a run has one order, which single precision
keeps, and what is found within its whole depth stays the same. To a fusion that scales scores to
0..1 all of them are as good as the lowest that the model has read.

A pair is a text and an image, one of which asks for the other. It is scored once, whatever cells
have it, and not at all where an earlier run has (`isotope.search.pairs`).
"""

import json
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from isotope.core.errors import IntegrityError, MissingFile
from isotope.core.grid import RunKey, document_side, id_columns, query_ids, query_side
from isotope.core.lucene import contents_of
from isotope.core.pixels import iter_pixels, places_by_picture
from isotope.core.progress import Progress, log
from isotope.core.runs import KEY, aligned, ranked, write_pieces
from isotope.core.store import UNDIVIDED, aside
from isotope.models.encoders import ShapeBatches
from isotope.models.kinds.reranker import Instructions
from isotope.models.kinds.reranker import Reranker as Entry
from isotope.models.pairs import FloatArray, PairScorer, Ready, ScoredPair
from isotope.search.kinds.rerank import Rerank
from isotope.search.pairs import CACHE_MB, PairCache, content, digest, key_of

_PAIR = ["image_id", "task", "text_id"]
_HITS_PER_PIECE = 1 << 19
# Of the score from which it is taken, or of 1: eight steps of single precision or more.
_STEP = 2.0**-20


def search_reranked(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    pixels: Sequence[Path],
    parts: Sequence[Path],
    runs: Sequence[Path],
    spec: Rerank,
    model: Entry,
    language: str,
    collection: str,
    system: str,
    costs: str,
) -> None:
    """Rerank the first `spec.depth` hits of the runs `parts`, cell by cell, by `model`.

    A text is its `fields` of the model; an image is a picture of `pixels`, or its captions in
    `language`. Queries without hits have none. The file `costs` gets what was scored, and how long
    it took: JSON with collection, system, queries, pairs (of all cells), scored and seconds.

    Raises:
        MissingFile: a picture that no shard of pixels holds.
        IntegrityError: a score that is no finite number.
        As `models.rerankers.load` and `core.runs.batches`.
    """
    cells = _cells(parts, runs, qrels)
    heads = [cell.head(spec.depth) for cell in cells]
    pairs = pl.concat(heads).select(_PAIR).unique().sort(_PAIR)
    with TemporaryDirectory() as folder:
        sides = _Sides.read(pairs, (texts, images, pixels), (model.fields, language), Path(folder))
    scores, scored, seconds = _scored(pairs, sides, model)
    for cell in cells:
        hits = write_pieces(cell.reranked(scores, spec.depth), cell.path)
        log.info("%s %s %s: %d hits", *cell.labels, hits)
    queries = sum(head["query_id"].n_unique() for head in heads)
    account = {"queries": queries, "pairs": sum(head.height for head in heads)}
    account |= {"scored": scored, "seconds": round(seconds, 3)}
    _write(Path(costs), {"collection": collection, "system": system, **account})


def reranked(run: pl.DataFrame, scores: pl.DataFrame, depth: int) -> pl.DataFrame:
    """Order the first `depth` hits of each query by `scores` (query_id, doc_id, score).

    `run` has whole queries, in order; the result is a run (core.schemas.RUN) of the same hits. A
    score of a hit below, which another run may have higher up, counts for nothing.
    """
    read = (pl.col("rank") <= depth) & pl.col("read").is_not_null()
    joined = run.join(scores.select(*KEY, read="score"), on=KEY, how="left", maintain_order="left")
    first = ranked(joined.filter(read).select(*KEY, score="read"))
    lows = first.group_by("query_id").agg(low=pl.col("score").min(), before=pl.len())
    below = joined.filter(~read).join(lows, on="query_id", how="left", maintain_order="left")
    position = pl.int_range(1, pl.len() + 1).over("query_id")
    step = pl.max_horizontal(pl.col("low").abs(), pl.lit(1.0)) * _STEP
    below_scored = below.select(
        *KEY,
        (position + pl.col("before").fill_null(0)).cast(pl.Int32).alias("rank"),
        pl.coalesce(pl.col("low") - position * step, "score").alias("score"),
    )
    return pl.concat([first, below_scored]).sort("query_id", "rank")


@dataclass(frozen=True)
class _Cell:
    """A run to write, the run that it is made of, and the queries of its part if it is one."""

    path: Path
    part: Path
    cell: RunKey
    queries: Sequence[str] | None

    @property
    def labels(self) -> tuple[str, str, str]:
        return self.cell.setting, self.cell.split, self.cell.task

    def pieces(self) -> Iterator[pl.DataFrame]:
        """Yield the hits of the run below, those of some whole queries at a time."""
        for [piece] in aligned([self.part], _HITS_PER_PIECE):
            asked_hits = piece
            if self.queries is not None:
                asked = pl.Series(self.queries, dtype=pl.String)
                asked_hits = piece.filter(pl.col("query_id").is_in(asked.implode()))
            if asked_hits.height:
                yield asked_hits

    def head(self, depth: int) -> pl.DataFrame:
        """Return the pairs of the first hits: query_id, task, text_id, image_id."""
        query, document = id_columns(self.cell.task)
        schema: Any = dict.fromkeys(("query_id", "task", "text_id", "image_id"), pl.String)
        sides = [pl.col("query_id").alias(query), pl.col("doc_id").alias(document)]
        heads = [
            piece.filter(pl.col("rank") <= depth).select(
                "query_id", pl.lit(self.cell.task).alias("task"), *sides
            )
            for piece in self.pieces()
        ]
        return pl.concat([pl.DataFrame(schema=schema), *(h.select([*schema]) for h in heads)])

    def reranked(self, scores: pl.DataFrame, depth: int) -> Iterator[pl.DataFrame]:
        """Yield the run, from the scores of pairs (task, text_id, image_id, score)."""
        query, document = id_columns(self.cell.task)
        scores_of_task = scores.filter(pl.col("task") == self.cell.task)
        scores_of_task = scores_of_task.rename({query: "query_id", document: "doc_id"})
        return (reranked(piece, scores_of_task, depth) for piece in self.pieces())


def _cells(parts: Sequence[Path], runs: Sequence[Path], qrels: Path) -> list[_Cell]:
    below = {RunKey.from_path(path): path for path in parts}
    cells = list[_Cell]()
    for path in runs:
        cell = RunKey.from_path(path)
        queries = None if cell.part == UNDIVIDED else query_ids(qrels, cell)
        cells.append(_Cell(path, below[replace(cell, part=UNDIVIDED)], cell, queries))
    return cells


class _Sides(NamedTuple):
    """The texts and the images of some pairs: words by id, or pictures that are streamed."""

    texts: Mapping[str, str]
    captions: Mapping[str, str]
    # The images that show each picture.
    shown: Mapping[str, Sequence[str]]
    pixels: Sequence[Path]

    @classmethod
    def read(
        cls,
        pairs: pl.DataFrame,
        files: tuple[Path, Path, Sequence[Path]],
        words: tuple[Sequence[str], str],
        folder: Path,
    ) -> "_Sides":
        """Read what the pairs need of `files`: texts, images, pixels; `words` are what texts are
        made of, and the language of captions, which stand for images where there are no pixels.
        """
        (texts, images, pixels), (fields, language) = files, words
        ids = {side: pairs[side].unique().sort() for side in ("text_id", "image_id")}
        rows = contents_of("texts", texts, ids["text_id"], folder, language=language, fields=fields)
        read = dict(rows.iter_rows())
        if pixels:
            places = places_by_picture(images, "image_id", ids["image_id"])
            shown = {p: [ids["image_id"][n] for n in ns] for p, ns in places.items()}
            return cls(read, {}, shown, pixels)
        captions = contents_of("images", images, ids["image_id"], folder, language=language)
        silent = int((captions["contents"] == "").sum())
        log.info("%d of %d images have no caption in %s", silent, captions.height, language)
        return cls(read, dict(captions.iter_rows()), {}, ())

    def images(self, ids: set[str]) -> Iterator[tuple[str, str | bytes]]:
        """Yield the images of `ids`, with what they are; one without a picture is an empty text.

        Raises:
            MissingFile: a picture that is in no shard.
        """
        if not self.pixels:
            yield from ((n, self.captions[n]) for n in sorted(ids))
            return
        left = {
            p: image_ids
            for p, ns in self.shown.items()
            if (image_ids := [n for n in ns if n in ids])
        }
        with_picture = {n for image_ids in left.values() for n in image_ids}
        for picture, webp in iter_pixels(self.pixels, [*left]):
            yield from ((n, webp) for n in left.pop(picture, ()))
        if left:
            problem = f"none of its pixels in the crawl's shards ({len(left):,} such pictures)"
            remedy = "run the crawl and collect phases again"
            raise MissingFile(f"image {min(left)}", problem, remedy)
        yield from ((n, "") for n in sorted(ids - with_picture))


def _instructions(model: Entry) -> dict[str, str]:
    """Return the instruction of each task that a model's entry has one for."""
    instruction = model.instruction
    if isinstance(instruction, Instructions):
        return {task: words for task, words in instruction.values().items() if words}
    return {"t2m": instruction, "m2t": instruction} if instruction else {}


def _scored(pairs: pl.DataFrame, sides: _Sides, model: Entry) -> tuple[pl.DataFrame, int, float]:
    """Return pairs with their score, how many were scored now, and the seconds that it took."""
    from isotope.models import rerankers  # noqa: PLC0415 (torch)

    reranker = rerankers.load(model)
    cache = PairCache(key_of(model, reranker))
    cached = cache.scores(_digested(pairs, sides, _instructions(model)))
    once = cached.unique(["head", "tail"], keep="first", maintain_order=True)
    new = once.filter(pl.col("score").is_null())
    progress = Progress("pairs scored", once.height)
    progress.resume(once.height - new.height)
    start = time.monotonic()
    new_scores = _Scoring(reranker, cache, new, progress).run(sides, model)
    seconds = time.monotonic() - start
    progress.finish()
    cache.close(CACHE_MB)
    all_scores = pl.concat([once.filter(pl.col("score").is_not_null()), new_scores])
    scores = cached.drop("score").join(
        all_scores.select("head", "tail", "score"), on=["head", "tail"], maintain_order="left"
    )
    log.info("%d of %d pairs had a score already", once.height - new.height, once.height)
    return scores.drop("head", "tail"), new.height, seconds


def _digested(pairs: pl.DataFrame, files: _Sides, instruction: Mapping[str, str]) -> pl.DataFrame:
    """Return pairs with their digest: task, text_id, image_id, head, tail."""
    words = {n: content(text) for n, text in files.texts.items()}
    shown = {n: content(image) for n, image in files.images({*pairs["image_id"]})}
    digests = list[tuple[int, int]]()
    for image, task, text in pairs.select(_PAIR).iter_rows():
        sides = {"texts": words[text], "images": shown[image]}
        query, document = sides[query_side(task)], sides[document_side(task)]
        digests.append(digest(instruction.get(task, ""), query, document))
    halves = {
        name: [digest_pair[n] for digest_pair in digests] for n, name in enumerate(("head", "tail"))
    }
    columns = [pl.Series(name, values, pl.UInt64) for name, values in halves.items()]
    return pairs.select(_PAIR).with_columns(columns)


class _Scoring:
    """Pairs on their way through a model, a batch of one shape at a time."""

    def __init__(
        self, reranker: PairScorer, cache: PairCache, pairs: pl.DataFrame, progress: Progress
    ) -> None:
        self._reranker, self._cache, self._pairs, self._progress = reranker, cache, pairs, progress
        self._digests = pairs.select("head", "tail").rows()
        self._scores = np.full(pairs.height, np.nan, np.float32)
        self._shapes: dict[tuple[int, ...], int] = {}

    def run(self, sides: _Sides, model: Entry) -> pl.DataFrame:
        """Return the pairs with their scores."""
        instruction = _instructions(model)
        waiting = ShapeBatches(self._scores, self._batch, model.batch)
        by_image: dict[str, list[tuple[int, str, str]]] = {}
        for row, (image, task, text) in enumerate(self._pairs.select(_PAIR).iter_rows()):
            by_image.setdefault(image, []).append((row, task, text))
        for image, shown in sides.images({*by_image}):
            rows = by_image[image]
            pairs_of_image = [
                _pair(task, sides.texts[text], shown, instruction.get(task, ""))
                for _, task, text in rows
            ]
            for (row, *_), ready in zip(rows, self._reranker.prepare(pairs_of_image), strict=True):
                shape = self._shapes.setdefault(ready.shape, len(self._shapes))
                waiting.add([row], (row, ready), shape)
        waiting.finish()
        return self._pairs.with_columns(pl.Series("score", self._scores))

    def _batch(self, items: list[tuple[int, Ready]]) -> FloatArray:
        """Score a batch, whose last pair may stand there several times, and take note of it."""
        scores = self._reranker.scores([ready for _, ready in items])
        new = {row: float(score) for (row, _), score in zip(items, scores, strict=True)}
        for row, score in new.items():
            if not np.isfinite(score):
                image, task, text = self._pairs.select(_PAIR).row(row)
                problem = f"the score {score} of text {text!r} and image {image!r}, {task}"
                remedy = "use another checkpoint, or another precision"
                raise IntegrityError("the reranker", problem, remedy)
            head, tail = self._digests[row]
            self._cache.add(head, tail, score)
        self._progress.add(len(new))
        return scores


def _pair(task: str, text: str, image: str | bytes, instruction: str) -> ScoredPair:
    if query_side(task) == "texts":
        return ScoredPair(text, image, instruction)
    return ScoredPair(image, text, instruction)


def _write(path: Path, account: Mapping[str, str | float]) -> None:
    with aside(path) as part:
        part.write_text(json.dumps(account) + "\n", encoding="utf-8")
