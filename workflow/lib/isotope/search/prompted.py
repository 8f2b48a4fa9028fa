"""Dense search in which a text is read together with what a typed column says of the picture.

The vector of a text then depends on the picture that it is compared with, so texts are encoded anew
for every distinct frame of words, such as every year: texts times frames, not texts times pictures.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import faiss
import numpy as np
import polars as pl
import pyarrow.parquet as pq

from isotope.core.errors import BadParams, MissingColumn
from isotope.core.exact import Vectors, VectorShards
from isotope.core.grid import SIDES, RunKey, document_ids, query_ids
from isotope.core.lucene import contents
from isotope.core.progress import Progress
from isotope.core.runs import empty, ranked
from isotope.core.schemas import PLACEHOLDER, TEXT
from isotope.models import encoders
from isotope.models.kinds._bases import FieldReader
from isotope.search.kinds.prompt import Prompt
from isotope.search.systems import fill

Frame = tuple[str, ...]


def frame(value: object, templates: Sequence[str]) -> Frame:
    """Fill in the templates for one value, all but `{text}`; without a value the text stands alone.

    Raises:
        BadParams: a template that asks for the year of what is no date.
    """
    if value is None:
        return ("{text}",)
    words = facts(value)

    def filled(placeholder: re.Match[str]) -> str:
        if placeholder[1] == TEXT:
            return placeholder[0]
        if placeholder[1] not in words:
            raise BadParams("systems: templates", f"{placeholder[0]} of {value!r}", "use {value}")
        return words[placeholder[1]]

    return tuple(PLACEHOLDER.sub(filled, template) for template in templates)


def facts(value: object) -> dict[str, str]:
    """Return the words for a value; of a date its year, decade and month as well."""
    if not isinstance(value, dt.date):
        return {"value": str(value)}
    year, decade = f"{value.year}", f"{value.year // 10 * 10}s"
    return {"value": f"{value:%Y-%m-%d}", "year": year, "decade": decade, "month": f"{value:%B}"}


def frames(items: Iterable[tuple[str, object]], templates: Sequence[str]) -> dict[Frame, list[str]]:
    """Return the ids of the (id, value) items that share a frame, by frame, both sorted."""
    ids: dict[Frame, list[str]] = {}
    for ident, value in items:
        ids.setdefault(frame(value, templates), []).append(ident)
    return {key: sorted(ids[key]) for key in sorted(ids)}


def apply(template: str, texts: Sequence[str]) -> list[str]:
    """Put each text in its place."""
    return [template.replace("{text}", text) for text in texts]


_TEXTS_AT_A_TIME = 16_384


class _Block(NamedTuple):
    """Some items with their vectors, by id."""

    ids: list[str]
    vectors: Vectors

    def only(self, ids: set[str]) -> "_Block":
        rows = [i for i, ident in enumerate(self.ids) if ident in ids]
        return _Block([self.ids[i] for i in rows], self.vectors[rows])


def search_prompted(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    vectors: Sequence[Path],
    ids: Sequence[Path],
    weights: Path | None,
    runs: Sequence[Path],
    spec: Prompt,
    model: FieldReader,
    batch: int,
    depth: int,
) -> None:
    """Fill every cell; `spec` has the column of the images and the templates.

    `vectors` and `ids` are the shards of the images as `model` has encoded them; it reads its
    `fields` of a text, `batch` texts at a time. A text's vector is the mean over the templates.

    Raises:
        MissingColumn: a column that the images lack.
        BadParams: a template that does not fit the column.
        As `models.encoders.load`.
    """
    tables = {"texts": texts, "images": images}
    cells = {cell: _sides(tables, qrels, cell) for cell in map(RunKey.from_path, runs)}
    hits = {cell: empty().drop("rank") for cell in cells}
    pictures, encoder = _Pictures(vectors, ids), encoders.load(model, weights=weights)
    words = contents("texts", texts, language="", fields=model.fields)
    framed = _frames(images, spec)
    progress = Progress("frames", len(framed))
    for frame, image_ids in framed.items():
        cells_of_frame = {c: s for c, s in cells.items() if not s["images"].isdisjoint(image_ids)}
        block = pictures.take(image_ids)
        text_ids = {ident for sides in cells_of_frame.values() for ident in sides["texts"]}
        for some in _texts(words, text_ids, frame, (encoder, batch)):
            both = {"texts": some, "images": block}
            for cell, sides in cells_of_frame.items():
                part = {side: both[side].only(sides[side]) for side in SIDES}
                new = _nearest(part[cell.query_side], part[cell.document_side], depth)
                hits[cell] = ranked(pl.concat([hits[cell], new]), depth).drop("rank")
        progress.add()
    progress.finish()
    fill(runs, lambda cell: hits[cell])


def _sides(tables: Mapping[str, Path], qrels: Path, cell: RunKey) -> dict[str, set[str]]:
    """Return the ids of the texts and of the images that a cell's search is about."""
    documents = document_ids(tables[cell.document_side], cell)
    return {cell.query_side: {*query_ids(qrels, cell)}, cell.document_side: {*documents}}


def _frames(images: Path, spec: Prompt) -> dict[Frame, list[str]]:
    column = spec.column
    if column not in pq.read_schema(images).names:
        problem = f"no column {column!r}"
        raise MissingColumn(images, problem, "correct the system's `column`, or collect it")
    table = pl.read_parquet(images, columns=["image_id", column], glob=False).select(
        "image_id", column
    )
    return frames(table.iter_rows(), spec.templates)


class _Pictures:
    """The vectors of all pictures, mapped, of which `take` reads some."""

    def __init__(self, vectors: Sequence[Path], ids: Sequence[Path]) -> None:
        self._shards = VectorShards(vectors)
        names = pl.concat([pl.read_parquet(path, glob=False) for path in ids])["id"]
        self._rows = {name: row for row, name in enumerate(names)}

    def take(self, ids: list[str]) -> _Block:
        rows = np.array([self._rows[i] for i in ids], np.int64)
        return _Block(ids, self._shards.take(rows))


def _texts(
    words: pl.DataFrame, ids: set[str], frame: Frame, by: tuple[encoders.Encoder, int]
) -> Iterator[_Block]:
    """Yield the texts of `ids` in the frame's words, some thousands at a time."""
    encoder, batch = by
    rows = words.filter(pl.col("id").is_in(sorted(ids)))
    for some in rows.iter_slices(_TEXTS_AT_A_TIME):
        texts = some["contents"].to_list()
        total = np.zeros((len(texts), encoder.dim), np.float32)
        for template in frame:
            filled = apply(template, texts)
            for start in range(0, len(filled), batch):
                part = slice(start, start + batch)
                total[part] += encoder.encode_texts(filled[part])
        length = np.linalg.norm(total, axis=1, keepdims=True)
        yield _Block(some["id"].to_list(), total / np.maximum(length, 1e-12))


def _nearest(queries: _Block, documents: _Block, depth: int) -> pl.DataFrame:
    """Return the hits of some queries among some documents: query_id, doc_id, score."""
    if not queries.ids or not documents.ids:
        return empty().drop("rank")
    k = min(depth, len(documents.ids))
    scores, rows = faiss.knn(
        queries.vectors, documents.vectors, k, metric=faiss.METRIC_INNER_PRODUCT
    )
    return pl.DataFrame(
        {
            "query_id": np.repeat(np.array(queries.ids), k),
            "doc_id": np.array(documents.ids)[rows.ravel()],
            "score": scores.ravel().astype(np.float64),
        }
    )
