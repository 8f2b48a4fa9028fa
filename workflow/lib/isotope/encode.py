"""Encode a collection's texts and images into shards of L2-normalised float32 vectors.

The text of a section is its five fields in the order of the paper (Yang et al., AToMiC, SIGIR 2023,
section 3): page title, section title, hierarchy, section context, page context.
"""

from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import TypeVar

import polars as pl
from PIL import Image

from isotope import models
from isotope.encode_store import Vectors, created, load_vectors, write_ids
from isotope.errors import BadParams, MissingColumn, MissingFile
from isotope.pixels import decode, iter_pixels
from isotope.progress import Progress
from isotope.tables import FIVE_FIELDS

__all__ = ["Vectors", "encode_images", "encode_texts", "load_vectors"]

_TEXTS_PER_READ = 16_384
_DECODERS = 4
_AHEAD = 1
_T = TypeVar("_T")


def encode_texts(  # noqa: PLR0913
    *,
    texts: Path,
    model: Mapping[str, object],
    weights: Path | None,
    fields: Sequence[str] = FIVE_FIELDS,
    shard: int,
    shards: int,
    batch: int,
    vectors: Path,
    ids: Path,
) -> None:
    """Encode shard `shard` of `shards` contiguous slices of the texts in order of text_id.

    `vectors` gets float32 [n, dim] and `ids` the text_id of each row.

    Raises:
        MissingFile, MissingColumn: a table or a field that is not there.
        BadParams: a shard outside 0..shards-1, or an empty batch.
        UnknownModel, CorruptFile, FetchFailed: see `isotope.models.load`.
    """
    rows = _slice(texts, "text_id", fields, shard, shards)
    encoder = models.load(model, weights=weights)
    progress = Progress(f"texts encoded, shard {shard + 1} of {shards}", len(rows))
    with created(vectors, (len(rows), encoder.dim)) as block:
        for some in _batches(_iter_texts(texts, rows, fields), batch):
            block[progress.done : progress.done + len(some)] = encoder.encode_texts(some)
            progress.add(len(some))
    write_ids(rows, ids)
    progress.finish()


def encode_images(  # noqa: PLR0913
    *,
    images: Path,
    pixels: Sequence[Path],
    model: Mapping[str, object],
    weights: Path | None,
    shard: int,
    shards: int,
    batch: int,
    vectors: Path,
    ids: Path,
) -> None:
    """Encode shard `shard` of `shards` contiguous slices of the images in order of image_id.

    `pixels` are the crawl's shards, streamed; `vectors` gets float32 [n, dim] and `ids` the
    image_id of each row.

    Raises:
        MissingFile: a table or shard that is not there, or an image without pixels.
        TruncatedFile, CorruptFile: a shard that ends early, a picture that does not decode.
        BadParams, UnknownModel, FetchFailed: as for texts.
    """
    rows = _slice(images, "image_id", (), shard, shards)
    encoder = models.load(model, weights=weights)
    progress = Progress(f"images encoded, shard {shard + 1} of {shards}", len(rows))
    with created(vectors, (len(rows), encoder.dim)) as block:
        for some in _iter_images(rows, pixels, batch):
            block[progress.done : progress.done + len(some)] = encoder.encode_images(some)
            progress.add(len(some))
    write_ids(rows, ids)
    progress.finish()


def _slice(table: Path, key: str, fields: Sequence[str], shard: int, shards: int) -> pl.Series:
    """Return the sorted ids of one shard; shards differ in size by at most one row."""
    if not 0 <= shard < shards:
        raise BadParams("encode", f"shard {shard} of {shards}", "count shards from 0")
    if not table.is_file():
        raise MissingFile(table, "no such table", "run the collect phase")
    rows = pl.scan_parquet(table)
    missing = {key, *fields} - set(rows.collect_schema().names())
    if missing:
        raise MissingColumn(table, f"no column {min(missing)!r}", "correct the model's `fields`")
    ids = rows.select(key).collect().to_series().sort()
    start, stop = (len(ids) * i // shards for i in (shard, shard + 1))
    return ids[start:stop]


def _iter_texts(texts: Path, ids: pl.Series, fields: Sequence[str]) -> Iterator[str]:
    filled = [pl.col(f).str.strip_chars().replace("", None) for f in fields]
    joined = pl.concat_str(filled, separator=" ", ignore_nulls=True).fill_null("")
    for start in range(0, len(ids), _TEXTS_PER_READ):
        some = ids[start : start + _TEXTS_PER_READ]
        within = pl.col("text_id").is_between(pl.lit(some[0]), pl.lit(some[-1]))
        rows = pl.scan_parquet(texts).filter(within).sort("text_id").select(joined.alias("text"))
        yield from rows.collect().to_series().to_list()


def _iter_images(ids: pl.Series, pixels: Sequence[Path], batch: int) -> Iterator[list[Image.Image]]:
    """Yield decoded batches, the next ones being decoded while one is encoded."""
    pending: deque[list[Future[Image.Image]]] = deque()
    with ThreadPoolExecutor(_DECODERS) as pool:
        for some in _batches(_in_order(ids, pixels), batch):
            pending.append([pool.submit(decode, w, where=f"image {i}") for i, w in some])
            if len(pending) > _AHEAD:
                yield [future.result() for future in pending.popleft()]
        while pending:
            yield [future.result() for future in pending.popleft()]


def _in_order(ids: pl.Series, pixels: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    """Yield pixels for exactly `ids`, in their order, or say which image has none."""
    wanted = iter(ids)
    for image_id, webp in iter_pixels(pixels, ids.to_list()):
        _demand(next(wanted, None), image_id)
        yield image_id, webp
    _demand(next(wanted, None), None)


def _demand(wanted: str | None, found: str | None) -> None:
    if wanted != found:
        problem = "none of its pixels in the crawl's shards, or not in order of image_id"
        raise MissingFile(f"image {wanted}", problem, "run the crawl and collect phases again")


def _batches(items: Iterator[_T], size: int) -> Iterator[list[_T]]:
    if size < 1:
        raise BadParams("encode", f"batch {size}", "use 1 or more")
    while some := list(islice(items, size)):
        yield some
