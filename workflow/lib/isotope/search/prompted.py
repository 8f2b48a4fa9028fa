"""Dense search in which a text is read together with what a typed column says of the picture.

The vector of a text then depends on the picture that it is held against, so texts are encoded anew
for every distinct frame of words, such as every year: texts times frames, not texts times pictures.
"""

import datetime as dt
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import faiss
import numpy as np
import polars as pl

from isotope.core.errors import BadParams, MissingColumn
from isotope.core.exact import Shards, Vectors
from isotope.core.grid import Cell, document_ids, query_ids
from isotope.core.lucene import contents
from isotope.core.progress import Progress
from isotope.core.runs import empty, ranked
from isotope.models import encoders
from isotope.search.systems import fill

TEXT = "text"
# What a template may say of a date; of a value of another type only `value`.
PLACES = (TEXT, "value", "year", "decade", "month")
_PLACE = re.compile(r"\{(\w+)\}")
Frame = tuple[str, ...]


def check(templates: Sequence[str], where: str) -> None:
    """Refuse templates without `{text}`, or with a place that nothing fills.

    Raises:
        BadParams: such a template.
    """
    for template in templates:
        named = _PLACE.findall(template)
        unknown = [name for name in named if name not in PLACES]
        if unknown or TEXT not in named:
            found = f"template {template!r}"
            known = ", ".join(f"{{{name}}}" for name in PLACES)
            raise BadParams(where, found, f"use {{text}} and any of {known}")


def frame(value: object, templates: Sequence[str]) -> Frame:
    """Fill in the templates for one value, all but `{text}`; without a value the text stands alone.

    Raises:
        BadParams: a template that asks for the year of what is no date.
    """
    if value is None:
        return ("{text}",)
    told = facts(value)

    def fill(place: re.Match[str]) -> str:
        if place[1] == TEXT:
            return place[0]
        if place[1] not in told:
            raise BadParams("systems: templates", f"{place[0]} of {value!r}", "use {value}")
        return told[place[1]]

    return tuple(_PLACE.sub(fill, template) for template in templates)


def facts(value: object) -> dict[str, str]:
    """Return what can be said of a value; of a date its year, decade and month as well."""
    if not isinstance(value, dt.date):
        return {"value": str(value)}
    year, decade = f"{value.year}", f"{value.year // 10 * 10}s"
    return {"value": f"{value:%Y-%m-%d}", "year": year, "decade": decade, "month": f"{value:%B}"}


def frames(items: Iterable[tuple[str, object]], templates: Sequence[str]) -> dict[Frame, list[str]]:
    """Return the ids of the (id, value) items that share a frame, by frame, both sorted."""
    found: dict[Frame, list[str]] = {}
    for ident, value in items:
        found.setdefault(frame(value, templates), []).append(ident)
    return {key: sorted(found[key]) for key in sorted(found)}


def apply(template: str, texts: Sequence[str]) -> list[str]:
    """Put each text in its place."""
    return [template.replace("{text}", text) for text in texts]


_TEXTS_AT_A_TIME = 16_384


class Reader(NamedTuple):
    """The model that encodes, its weights, the fields that it reads, and texts at a time."""

    model: Mapping[str, Any]
    weights: Path | None
    fields: list[str]
    batch: int


class _Block(NamedTuple):
    """Some items with their vectors, by id."""

    ids: list[str]
    vectors: Vectors

    def of(self, wanted: set[str]) -> "_Block":
        rows = [i for i, ident in enumerate(self.ids) if ident in wanted]
        return _Block([self.ids[i] for i in rows], self.vectors[rows])


def search_prompted(  # noqa: PLR0913
    collected: Mapping[str, Path],
    encoded: Mapping[str, Sequence[Path]],
    outputs: Sequence[Path],
    spec: Mapping[str, Any],
    *,
    reader: Reader,
    depth: int,
) -> None:
    """Fill every cell; `spec` has the column of the images and the templates.

    `encoded` has the shards `images` and `images_ids` of the model; a text's vector is the mean
    over the templates.

    Raises:
        MissingColumn: a column that the images lack.
        BadParams: a template that does not fit the column.
        As `models.load`.
    """
    cells = {Cell.of(path): (path, *_sides(collected, Cell.of(path))) for path in outputs}
    found = {cell: empty().drop("rank") for cell in cells}
    pictures, encoder = _Pictures(encoded), encoders.load(reader.model, weights=reader.weights)
    words = contents("texts", collected["texts"], language="", fields=reader.fields)
    framed = _frames(collected["images"], spec)
    progress = Progress("frames", len(framed))
    for frame, image_ids in framed.items():
        images = pictures.take(image_ids)
        asked = {c: sides for c, (_, *sides) in cells.items() if _has(c, sides, images)}
        wanted = {i for c, sides in asked.items() for i in sides[c.task == "m2t"]}
        for texts in _texts(words, wanted, frame, (encoder, reader.batch)):
            for cell, (queries, documents) in asked.items():
                sides = (texts, images) if cell.task == "t2m" else (images, texts)
                new = _nearest(sides[0].of(queries), sides[1].of(documents), depth)
                found[cell] = ranked(pl.concat([found[cell], new]), depth).drop("rank")
        progress.add()
    progress.finish()
    fill(outputs, lambda cell: found[cell])


def _sides(collected: Mapping[str, Path], cell: Cell) -> tuple[set[str], set[str]]:
    documents = document_ids(collected[cell.document_side], cell)
    return set(query_ids(collected["qrels"], cell)), set(documents)


def _has(cell: Cell, sides: Sequence[set[str]], images: _Block) -> bool:
    """Whether the cell has something to do with these pictures."""
    return not sides[cell.task == "t2m"].isdisjoint(images.ids)


def _frames(images: Path, spec: Mapping[str, Any]) -> dict[Frame, list[str]]:
    column = spec.get("column", "date")
    if column not in pl.read_parquet_schema(images):
        found = f"no column {column!r}"
        raise MissingColumn(images, found, "correct the system's `column`, or collect it")
    table = pl.read_parquet(images, columns=["image_id", column]).select("image_id", column)
    return frames(table.iter_rows(), spec["templates"])


class _Pictures:
    """The vectors of all pictures, of which those asked for are read."""

    def __init__(self, encoded: Mapping[str, Sequence[Path]]) -> None:
        self._shards = Shards(encoded["images"])
        ids = pl.concat([pl.read_parquet(p) for p in encoded["images_ids"]])["id"]
        self._rows = {ident: row for row, ident in enumerate(ids)}

    def take(self, ids: list[str]) -> _Block:
        rows = np.array([self._rows[i] for i in ids], np.int64)
        return _Block(ids, self._shards.take(rows))


def _texts(
    words: pl.DataFrame, wanted: set[str], frame: Frame, by: tuple[encoders.Encoder, int]
) -> Iterator[_Block]:
    """Yield the wanted texts in the frame's words, some thousands at a time."""
    encoder, batch = by
    rows = words.filter(pl.col("id").is_in(sorted(wanted)))
    for some in rows.iter_slices(_TEXTS_AT_A_TIME):
        texts = some["contents"].to_list()
        total = np.zeros((len(texts), encoder.dim), np.float32)
        for template in frame:
            said = apply(template, texts)
            for start in range(0, len(said), batch):
                part = slice(start, start + batch)
                total[part] += encoder.encode_texts(said[part])
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
