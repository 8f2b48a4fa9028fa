"""Encode a collection for late interaction: many vectors an item, and a pooled one.

The pooled vector is the mean of an item's vectors, L2-normalised: what finds candidates in a large
pool. A model that reads a query otherwise than a document makes both of every item, as either side
may query. Where captions stand for an image, they are read as one text, a line each.

Items of one shape are encoded together, `batch` at a time, the last ones filled up with the last
item: so an item's vectors do not depend on the others, nor on the number of shards.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from isotope.core import sql
from isotope.core.multivectors import VectorSpan, Writer, pooled, write_items, written
from isotope.core.pixels import iter_pictures, places_by_picture
from isotope.core.progress import Progress
from isotope.core.vectors import FloatArray, created, demand_finite, write_ids
from isotope.encode.cache import Encoding
from isotope.encode.shard import CAPTIONS, iter_texts, slice_ids
from isotope.models import late
from isotope.models.kinds.late import LateModel
from isotope.models.late import LateEncoder, PreparedItem

_IMAGES_PER_READ = 4_096


class LateFiles(NamedTuple):
    """Where pooled vectors, their ids, all vectors, and the table of these go."""

    vectors: Path
    ids: Path
    tokens: Path
    items: Path


def encode_late_shard(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    pixels: Sequence[Path],
    model: LateModel,
    language: str,
    shard: int,
    shards: int,
    batch: int,
    precision: str,
    outputs: Mapping[str, Path],
) -> None:
    """Encode a shard of the texts by its fields, then one of the images by pixels or captions.

    `outputs` has vectors, ids, tokens and items of `text_` and `image_`; `precision` is that of
    pooled vectors.

    Raises:
        MissingFile, MissingColumn: a table, a field or a picture that is not there.
        BadParams, UnknownModel, CorruptFile, FetchFailed: as `models.late.load`.
    """
    encoding = Encoding(model, None, batch, precision, shard, shards)
    encoder, fields = late.load(model), model.fields
    text_files, image_files = (
        LateFiles(*(outputs[f"{side}_{kind}"] for kind in LateFiles._fields))
        for side in ("text", "image")
    )
    ids = slice_ids(texts, "text_id", fields, encoding)
    encode_texts(ids, iter_texts(texts, ids, fields), encoder, encoding, text_files)
    ids = slice_ids(images, "image_id", (), encoding)
    if model.images == CAPTIONS:
        encode_texts(ids, captions(images, ids, language), encoder, encoding, image_files)
    else:
        encode_images(images, pixels, encoder, encoding, image_files)


def encode_texts(
    ids: pl.Series, texts: Iterator[str], encoder: LateEncoder, encoding: Encoding, files: LateFiles
) -> None:
    """Write the vectors of texts; those of `ids`, in their order.

    Raises:
        DiskFull, Unwritable: as `core.store.aside`.
    """
    progress = Progress(f"texts encoded, {encoding.position}", len(ids))
    with _filling(ids, encoder, encoding, files) as filled:
        documents, queries = (
            _Waiting(encoder, encoding.batch, put) for put in (filled.put, filled.put_query)
        )
        for row, text in enumerate(texts):
            documents.add([row], encoder.text(text))
            if encoder.has_queries:
                queries.add([row], encoder.text(text, query=True))
            progress.add()
        documents.finish()
        queries.finish()
    progress.finish()


def encode_images(
    images: Path, pixels: Sequence[Path], encoder: LateEncoder, encoding: Encoding, files: LateFiles
) -> None:
    """Write the vectors of a shard of the images, by their pixels, which are streamed.

    Raises:
        MissingFile: an image without pixels.
        TruncatedFile, CorruptFile: a shard that ends early, a picture that does not decode.
    """
    ids = slice_ids(images, "image_id", (), encoding)
    places_of = places_by_picture(images, "image_id", ids)
    progress = Progress(f"images encoded, {encoding.position}", len(places_of))
    with _filling(ids, encoder, encoding, files) as filled:
        waiting = _Waiting(encoder, encoding.batch, filled.put)
        for some in iter_pictures(places_of, pixels, encoding.batch):
            for picture, image in some:
                waiting.add(places_of[picture], encoder.picture(image))
                progress.add()
        waiting.finish()
    progress.finish()


def captions(images: Path, ids: pl.Series, language: str) -> Iterator[str]:
    """Yield the captions of each image in a language, a line each; an empty text without any."""
    for start in range(0, len(ids), _IMAGES_PER_READ):
        ids_read = ids[start : start + _IMAGES_PER_READ]
        params = {"first": ids_read[0], "last": ids_read[-1], "language": language}
        rows = sql.query(sql.SQL / "encode/captions.sql", {"images": images}, params)
        if rows is None or rows.is_empty():
            yield from [""] * len(ids_read)
            continue
        joined = rows.group_by("image_id", maintain_order=True).agg(
            pl.col("caption").str.join("\n")
        )
        complete = ids_read.to_frame().join(
            joined, on="image_id", how="left", maintain_order="left"
        )
        yield from complete["caption"].fill_null("")


class _Filling:
    """The files of a side that are being filled."""

    def __init__(self, block: FloatArray, writer: Writer, ids: pl.Series) -> None:
        self._block, self._writer, self._ids = block, writer, ids
        self.spans = [VectorSpan(0, 0)] * len(block)
        self.queries: list[VectorSpan | None] = [None] * len(block)

    def put(self, places: Sequence[int], vectors: FloatArray) -> None:
        """Store the vectors of an item that stands in these rows."""
        demand_finite(vectors, f"item {self._ids[places[0]]!r}")
        span = self._writer.add(vectors)
        mean = pooled(vectors)
        for row in places:
            self.spans[row], self._block[row] = span, mean

    def put_query(self, places: Sequence[int], vectors: FloatArray) -> None:
        """Store the vectors that an item has as a query."""
        demand_finite(vectors, f"item {self._ids[places[0]]!r} as a query")
        span = self._writer.add(vectors)
        for row in places:
            self.queries[row] = span


@contextmanager
def _filling(
    ids: pl.Series, encoder: LateEncoder, encoding: Encoding, files: LateFiles
) -> Iterator[_Filling]:
    with (
        created(files.vectors, (len(ids), encoder.dim), encoding.precision, ids) as block,
        written(files.tokens, encoder.dim) as writer,
    ):
        filled = _Filling(block, writer, ids)
        yield filled
    write_items(ids.to_list(), filled.spans, filled.queries, files.items)
    write_ids(ids, files.ids)


class _Waiting:
    """Items that wait for a batch of their shape to be full."""

    def __init__(
        self, encoder: LateEncoder, size: int, put: Callable[[Sequence[int], FloatArray], None]
    ) -> None:
        self._encoder, self._size, self._put = encoder, size, put
        self._waiting: dict[tuple[int, ...], list[tuple[Sequence[int], PreparedItem]]] = {}

    def add(self, places: Sequence[int], item: PreparedItem) -> None:
        waiting = self._waiting.setdefault(item.shape, [])
        waiting.append((places, item))
        if len(waiting) == self._size:
            self._flush(item.shape)

    def finish(self) -> None:
        for shape in sorted(self._waiting):
            self._flush(shape)

    def _flush(self, shape: tuple[int, ...]) -> None:
        some = self._waiting.pop(shape)
        items = [item for _, item in some]
        vectors = self._encoder.encode(items + items[-1:] * (self._size - len(items)))
        for (places, _), vectors_of_item in zip(some, vectors, strict=False):
            self._put(places, np.ascontiguousarray(vectors_of_item, np.float32))
