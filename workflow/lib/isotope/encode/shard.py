"""Encode a collection's texts and images into shards of L2-normalised float32 vectors.

The text of a section is its five fields in the order of the paper (Yang et al., AToMiC, SIGIR 2023,
section 5.1): page title, section title, hierarchy, section context, page context. What stands for
an image is its pixels, or its captions: then its vector is the mean of its captions' vectors, as
the model leaves them, L2-normalised (Lymperaiou et al., COLING 2022, section 3.2).

A shard is a slice of the ids in their order, cut at multiples of the batch, so that every item is
in the same batch whatever the number of shards. Rows that an earlier collection has are copied from
there (`isotope.encode.cache`).
"""

import hashlib
import json
import logging
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
import polars as pl
import pyarrow as pa
from PIL import Image

from isotope.core import sql, store
from isotope.core.errors import BadParams, MissingColumn, MissingFile
from isotope.core.fields import text_of
from isotope.core.pixels import batches, iter_pictures, places_by_picture
from isotope.core.progress import Progress, log
from isotope.core.schemas import FIVE_FIELDS
from isotope.core.vectors import FloatArray, contents_of, created, load_vectors, write_ids
from isotope.encode.cache import DIGEST_BYTES, Encoding, VectorCache, picture_key, text_key
from isotope.models import encoders
from isotope.models.encoders import LINES, WHOLE_TEXT, Encode, Encoder, ShapeBatches, lines, means
from isotope.models.kinds._bases import FieldReader
from isotope.params.sections import ModelKind
from isotope.schemas.encode import CONTENTS

PIXELS, CAPTIONS = "pixels", "captions"
_TEXTS_PER_READ = 16_384
_IMAGES_PER_READ = 4_096
# Pictures of many shapes that may wait at a time, decoded.
_PICTURES_WAIT = 1_024


class ShardFiles(NamedTuple):
    """Where the vectors of a shard and their ids go, and another collection's shards of vectors."""

    vectors: Path
    ids: Path
    earlier: Sequence[Path] = ()


class ImageSources(NamedTuple):
    """What may stand for images: pixels, captions in a language, and features (`encode_images`)."""

    pixels: Sequence[Path]
    language: str
    features: Sequence[Path] = ()


def encode_shard(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    pixels: Sequence[Path],
    model: FieldReader,
    weights: Path | None,
    features: Sequence[Path],
    earlier: Sequence[Path],
    language: str,
    shard: int,
    shards: int,
    batch: int,
    precision: str,
    outputs: Mapping[str, Path],
) -> None:
    """Encode a shard of the texts, then one of the images by what stands for them.

    `earlier` are the shards of another collection, in folders `texts` and `images`, with the tables
    of their contents. `outputs` has text_vectors and text_ids, image_vectors and image_ids;
    contents lie beside the vectors.

    Raises:
        As `encode_texts` and `encode_image_shard`.
    """
    encoding = Encoding(model, weights, batch, precision, shard, shards)
    encode_texts(texts, encoding, _files(outputs, "text", earlier), model.fields)
    sources = ImageSources(pixels, language, features)
    encode_image_shard(images, sources, encoding, _files(outputs, "image", earlier))


def encode_texts_shard(  # noqa: PLR0913
    *,
    texts: Path,
    model: FieldReader,
    weights: Path | None,
    earlier: Sequence[Path],
    shard: int,
    shards: int,
    batch: int,
    precision: str,
    outputs: Mapping[str, Path],
) -> None:
    """Encode a shard of the texts alone, as `encode_shard` does.

    Raises:
        As `encode_texts`.
    """
    encoding = Encoding(model, weights, batch, precision, shard, shards)
    encode_texts(texts, encoding, _files(outputs, "text", earlier), model.fields)


def _files(outputs: Mapping[str, Path], side: str, earlier: Sequence[Path]) -> ShardFiles:
    vectors_of_side = [
        path for path in earlier if path.parent.name == f"{side}s" and path.suffix == ".npy"
    ]
    return ShardFiles(outputs[f"{side}_vectors"], outputs[f"{side}_ids"], vectors_of_side)


def encode_texts(
    texts: Path, encoding: Encoding, files: ShardFiles, fields: Sequence[str] = FIVE_FIELDS
) -> None:
    """Encode a shard of the texts: a contiguous slice in order of text_id.

    `files.vectors` gets [n, dim] in a precision of core.vectors.PRECISIONS, `files.ids` the text_id
    of each row, and `core.vectors.contents_of(files.vectors)` what the row was made of. A text that
    `files.earlier` has already is not encoded again. With `texts: lines` of the model, a text's
    vector is the mean of its lines' (`models.encoders.means`).

    Raises:
        MissingFile, MissingColumn: a table or a field that is not there.
        BadParams: a shard outside 0..shards-1, or an empty batch.
        UnknownModel, CorruptFile, FetchFailed: see `isotope.models.encoders.load`.
    """
    rows = slice_ids(texts, "text_id", fields, encoding)
    encoder = encoders.load(encoding.model, weights=encoding.weights)
    progress = Progress(f"texts encoded, {encoding.position}", len(rows))
    with filling(files, rows, encoder.dim, encoding, text_key(encoder, encoding)) as filled:
        fill = _fill_lines if getattr(encoding.model, "texts", WHOLE_TEXT) == LINES else _fill_texts
        numbered = batches(enumerate(iter_texts(texts, rows, fields)), encoding.batch)
        fill(filled, _new(filled, numbered, progress), encoder, encoding.batch)
    progress.finish()


def _new(
    filled: "Filling", numbered: Iterable[list[tuple[int, str]]], progress: Progress
) -> Iterator[list[tuple[int, str]]]:
    """Yield the texts of each batch that are to be encoded, with their places."""
    for some in numbered:
        yield [(row, text) for row, text in some if not filled.copy([row], text.encode())]
        progress.add(len(some))


def _fill_texts(
    filled: "Filling", texts: Iterable[list[tuple[int, str]]], encoder: Encoder, batch: int
) -> None:
    waiting = ShapeBatches(filled.block, encoder.encode_texts, batch)
    for new in texts:
        shapes = encoder.shapes([text for _, text in new])
        for (row, text), shape in zip(new, shapes, strict=True):
            waiting.add([row], text, shape)
    waiting.finish()


def _fill_lines(
    filled: "Filling", texts: Iterable[list[tuple[int, str]]], encoder: Encoder, batch: int
) -> None:
    for new in filter(None, texts):
        places = [row for row, _ in new]
        filled.block[places] = means([lines(text) for _, text in new], encoder, batch)


def encode_image_shard(
    images: Path, sources: ImageSources, encoding: Encoding, files: ShardFiles
) -> None:
    """Encode a shard of the images by the model's `images`: captions, or pixels by default.

    Raises:
        As `encode_images` and `encode_captions`.
    """
    if getattr(encoding.model, "images", PIXELS) == CAPTIONS:
        encode_captions(images, sources.language, encoding, files)
    else:
        encode_images(images, sources.pixels, encoding, files, sources.features)


def encode_images(
    images: Path,
    pixels: Sequence[Path],
    encoding: Encoding,
    files: ShardFiles,
    features: Sequence[Path] = (),
) -> None:
    """Encode a shard of the images by their pixels: a contiguous slice in order of image_id.

    `pixels` are the crawl's shards, streamed; an image shows the picture of its `picture_id` where
    the table has that column. How many are smaller than what the model reads, and enlarged for it,
    is logged, as a warning where it is most of them. `files` are as for texts. `features`, a block
    and its ids, are those
    that `train_heads` has of pictures: the model's tower encodes none of them again.

    Raises:
        MissingFile: a table or shard that is not there, or an image without pixels.
        TruncatedFile, CorruptFile: a shard that ends early, a picture that does not decode.
        BadParams, UnknownModel, FetchFailed: as for texts.
    """
    rows = slice_ids(images, "image_id", (), encoding)
    encoder = encoders.load(encoding.model, weights=encoding.weights)
    places_of = places_by_picture(images, "image_id", rows)
    progress = Progress(f"images encoded, {encoding.position}", len(places_of))
    with filling(files, rows, encoder.dim, encoding, picture_key(encoder, encoding)) as filled:
        waiting = _Pictures(filled.block, encoder, encoding.batch)
        ready = _Features(features, ShapeBatches(filled.block, _head(encoder), encoding.batch))

        def new(picture: str, webp: bytes) -> bool:
            progress.add()
            copied = filled.copy(places_of[picture], webp)
            return not copied and not ready.add(places_of[picture], picture)

        side_px, small = getattr(encoder, "side_px", 0), 0
        for some in iter_pictures(places_of, pixels, encoding.batch, new):
            small += sum(min(image.size) < side_px for _, image in some)
            waiting.add([places_of[picture] for picture, _ in some], [image for _, image in some])
        waiting.finish()
        ready.finish()
    progress.finish()
    if small:
        message = "%s of %s pictures were enlarged to the %d px that the model reads"
        # Of most pictures it bears on what the model can see.
        level = logging.WARNING if 2 * small > len(places_of) else logging.INFO
        log.log(level, message, f"{small:,}", f"{len(places_of):,}", side_px)


@runtime_checkable
class PictureShapes(Protocol):
    """An encoder that reads pictures in their own shapes, which do not share a batch."""

    def picture_shapes(self, images: list[Image.Image]) -> list[int]:
        """Return a number for each picture; only pictures of one number share a batch."""
        ...


class _Pictures:
    """Pictures that wait for others of their shape; where all are cut alike, there is one shape."""

    def __init__(self, block: FloatArray, encoder: Encoder, batch: int) -> None:
        self._batches, self._count = ShapeBatches(block, encoder.encode_images, batch), 0
        self._shapes = encoder.picture_shapes if isinstance(encoder, PictureShapes) else None

    def add(self, places: Sequence[Sequence[int]], images: list[Image.Image]) -> None:
        """Encode pictures for these rows."""
        shapes = self._shapes(images) if self._shapes else [0] * len(images)
        for rows, image, shape in zip(places, images, shapes, strict=True):
            self._batches.add(rows, image, shape)
        self._count += len(images)
        if self._shapes and self._count >= _PICTURES_WAIT:
            self.finish()

    def finish(self) -> None:
        """Encode what is left."""
        self._batches.finish()
        self._count = 0


class _Features:
    """Features of pictures by a frozen tower, on their way through the heads."""

    def __init__(self, features: Sequence[Path], waiting: ShapeBatches) -> None:
        self._waiting = waiting
        loaded = load_vectors(features[:1], features[1:]) if features else None
        self._block = loaded.blocks[0] if loaded else None
        self._rows = {picture: row for row, picture in enumerate(loaded.ids)} if loaded else {}

    def add(self, places: Sequence[int], picture: str) -> bool:
        """Fill the rows of a picture that has features; return whether it has."""
        if self._block is None or picture not in self._rows:
            return False
        self._waiting.add(places, self._block[self._rows[picture]])
        return True

    def finish(self) -> None:
        self._waiting.finish()


def _head(encoder: Encoder) -> Encode:
    """Return what makes vectors of features: only a model with heads over a tower can."""
    return getattr(encoder, "encode_features", encoder.encode_images)


def encode_captions(images: Path, language: str, encoding: Encoding, files: ShardFiles) -> None:
    """Encode a shard of the images by their captions in a language, [n, dim].

    An image without a caption in the language is encoded as an empty text, as is a text whose
    fields are empty; their number is logged.

    Raises:
        As `encode_texts`.
    """
    rows = slice_ids(images, "image_id", ("language",), encoding)
    encoder = encoders.load(_of_captions(encoding.model), weights=encoding.weights)
    progress, silent = Progress("images encoded by their captions", len(rows)), 0
    with filling(files, rows, encoder.dim, encoding, text_key(encoder, encoding)) as filled:
        for ids, captions in _captions(images, rows, language):
            silent += ids.len() - captions["image_id"].n_unique()
            complete = ids.to_frame().join(
                captions, on="image_id", how="left", maintain_order="left_right"
            )
            complete = complete.with_columns(pl.col("caption").fill_null(""))
            groups = complete.group_by("image_id", maintain_order=True).agg("caption")["caption"]
            _fill_captions(filled, progress.done, groups.to_list(), encoder, encoding.batch)
            progress.add(ids.len())
    progress.finish()
    log.info("%d of %d images have no caption in %s", silent, len(rows), language)


def _of_captions(model: ModelKind) -> ModelKind:
    """Return the entry of a model whose texts are captions: they have the images' instruction."""
    if (instruction := getattr(model, "instruction", None)) is None:
        return model
    moved = instruction.model_copy(update={"texts": instruction.images, "images": None})
    return model.model_copy(update={"instruction": moved})


def _captions(
    images: Path, rows: pl.Series, language: str
) -> Iterator[tuple[pl.Series, pl.DataFrame]]:
    for start in range(0, len(rows), _IMAGES_PER_READ):
        ids = rows[start : start + _IMAGES_PER_READ]
        params = {"first": ids[0], "last": ids[-1], "language": language}
        captions = sql.query(sql.SQL / "encode/captions.sql", {"images": images}, params)
        yield ids, pl.DataFrame() if captions is None else captions


def _fill_captions(
    filled: "Filling", first: int, groups: list[list[str]], encoder: Encoder, batch: int
) -> None:
    """Fill the rows from `first` on: one for each image's captions."""
    numbered = enumerate(groups, first)
    new = [
        (n, captions)
        for n, captions in numbered
        if not filled.copy([n], json.dumps(captions).encode())
    ]
    if new:
        filled.block[[n for n, _ in new]] = means([captions for _, captions in new], encoder, batch)


@contextmanager
def filling(
    files: ShardFiles, rows: pl.Series, dim: int, encoding: Encoding, key: str
) -> Generator["Filling"]:
    """Yield what fills the files of the ids `rows`; they get their names when it is complete.

    `key` names what makes the vectors (`text_key`, `picture_key`).

    Raises:
        MissingFile, TruncatedFile, CorruptFile: as `VectorCache`.
    """
    cache = VectorCache(files.earlier, key)
    with created(files.vectors, (len(rows), dim), encoding.precision, rows) as block:
        filled = Filling(block, cache)
        yield filled
    _write_contents(contents_of(files.vectors), rows, filled, key)
    write_ids(rows, files.ids)
    if files.earlier:
        log.info("%d of %d vectors reused", filled.copied, len(rows))


class Filling:
    """A block of vectors [n, dim] whose rows are copied from the cache, or left to be encoded."""

    def __init__(self, block: FloatArray, cache: VectorCache) -> None:
        """Fill `block` [n, dim]."""
        self.block, self._cache, self.copied = block, cache, 0
        self.contents = np.zeros((len(block), DIGEST_BYTES), np.uint8)
        self.filled = np.zeros(len(block), bool)

    def copy(self, places: Sequence[int], content: bytes) -> bool:
        """Note what rows are made of; copy their vector and return True where the cache has it."""
        digest = hashlib.sha256(content).digest()
        self.contents[places] = np.frombuffer(digest, np.uint8)
        self.filled[places] = True
        vector = self._cache.vector(digest) if self._cache else None
        if vector is not None:
            self.block[places] = vector
            self.copied += len(places)
        return vector is not None


def _write_contents(file: Path, rows: pl.Series, filled: Filling, key: str) -> None:
    digests, width = filled.contents.tobytes().hex(), 2 * DIGEST_BYTES
    contents = [
        digests[width * n : width * (n + 1)] if is_filled else None
        for n, is_filled in enumerate(filled.filled)
    ]
    columns = {"id": rows.to_arrow(), "content": pa.array(contents, pa.string())}
    columns["model"] = pa.array([key] * len(contents), pa.string())
    store.write(pa.table(columns), file, CONTENTS)


def slice_ids(table: Path, key: str, fields: Sequence[str], encoding: Encoding) -> pl.Series:
    """Return the sorted ids of one shard; shards are cut at multiples of the batch.

    They differ in size by at most one batch.

    Raises:
        BadParams: no such shard, or a batch below 1.
        MissingFile, MissingColumn: no such table, or a field that it lacks.
    """
    shard, shards, batch = encoding.shard, encoding.shards, encoding.batch
    if not 0 <= shard < shards:
        raise BadParams("encode", f"shard {shard} of {shards}", "count shards from 0")
    if batch < 1:
        raise BadParams("encode", f"batch {batch}", "use 1 or more")
    if not table.is_file():
        raise MissingFile(table, "no such table", "run the collect phase")
    rows = pl.scan_parquet(table, glob=False)
    missing = {key, *fields} - set(rows.collect_schema().names())
    if missing:
        raise MissingColumn(table, f"no column {min(missing)!r}", "correct the model's `fields`")
    ids = rows.select(key).collect().to_series().sort()
    units = -(-len(ids) // batch)
    start, stop = (batch * (units * i // shards) for i in (shard, shard + 1))
    return ids[start:stop]


def iter_texts(
    table: Path, ids: pl.Series, fields: Sequence[str], key: str = "text_id"
) -> Iterator[str]:
    """Yield `text_of` the rows with these sorted ids, a few thousand in memory."""
    for start in range(0, len(ids), _TEXTS_PER_READ):
        some = ids[start : start + _TEXTS_PER_READ]
        within = pl.col(key).is_between(pl.lit(some[0]), pl.lit(some[-1]))
        rows = pl.scan_parquet(table, glob=False).filter(within).sort(key).select(text_of(fields))
        yield from rows.collect().to_series().to_list()
