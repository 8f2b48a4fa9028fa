"""Pictures in the crawl's shards: streamed by row group, decoded under a size cap."""

import base64
import io
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from isotope.core import digests, store
from isotope.core.errors import BadParams, CorruptFile, MissingFile, TruncatedFile

SIDE_PX = 160
_QUALITY = 72


def thumbnail(encoded: bytes, side_px: int = SIDE_PX) -> str | None:
    """Return the picture as a data: URI of WebP within side_px squared; None if unreadable."""
    small = io.BytesIO()
    try:
        with Image.open(io.BytesIO(encoded)) as picture:
            picture.thumbnail((side_px, side_px))
            picture.convert("RGB").save(small, "WEBP", quality=_QUALITY, method=4)
    except (OSError, Image.DecompressionBombError):
        return None
    return "data:image/webp;base64," + base64.b64encode(small.getvalue()).decode("ascii")


MAX_PIXELS = 64_000_000
_ROWS_PER_READ, _ROWS_PER_WRITE = 64, 1_000
_BUFFER_BYTES = 1 << 20


def iter_pixels(
    shards: Sequence[Path], ids: Collection[str] | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yield (image_id, WebP bytes) crawl by crawl as given, within one by id.

    Row groups whose id range holds none of `ids` are never read; all pictures when it is None.

    Raises:
        MissingFile: a shard that is not there.
        TruncatedFile: a shard that Parquet cannot open or read to its end.
        ChecksumMismatch: in a job, a shard with other bytes than were written.
    """
    chosen = None if ids is None else frozenset(ids)
    bounds = (min(chosen), max(chosen)) if chosen else None
    if chosen is not None and bounds is None:
        return
    for shard in ordered(shards):
        yield from _iter_shard(shard, chosen, bounds)


def _iter_shard(
    shard: Path, chosen: frozenset[str] | None, bounds: tuple[str, str] | None
) -> Iterator[tuple[str, bytes]]:
    for rows in shard_rows(shard, ["image_id", "webp"], bounds):
        for image_id, webp in rows:
            if chosen is None or image_id in chosen:
                yield image_id, webp


def shard_rows(
    shard: Path, columns: Sequence[str], bounds: tuple[str, str] | None = None
) -> Iterator[list[tuple[Any, ...]]]:
    """Yield the rows of a shard, some at a time; with `bounds` of image_id, of row groups in them.

    Raises:
        As `iter_pixels`.
    """
    if not shard.is_file():
        raise MissingFile(shard, "no such shard of pixels", "run the crawl phase")
    try:
        with pq.ParquetFile(shard, buffer_size=_BUFFER_BYTES, pre_buffer=False) as file:
            groups = groups_within(file, bounds)
            if groups:
                digests.demand(shard)
            for batch in file.iter_batches(_ROWS_PER_READ, groups, list(columns)):
                yield list(zip(*batch.to_pydict().values(), strict=True))
    except (pa.ArrowInvalid, OSError) as error:
        remedy = "remove the shard and run the crawl phase, which fetches only what it lacks"
        raise TruncatedFile(shard, f"not a readable Parquet file ({error})", remedy) from error


def write_shard(rows: Iterator[tuple[Any, ...]], shard: Path, schema: pa.Schema) -> None:
    """Write rows of a shard, given in the order of the schema's columns, some at a time."""
    with store.writer(shard, schema) as out:
        while some := list(islice(rows, _ROWS_PER_WRITE)):
            columns = zip(*some, strict=True)
            arrays = [pa.array(c, f.type) for c, f in zip(columns, schema, strict=True)]
            out.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))


def ordered(shards: Sequence[str | Path]) -> list[Path]:
    """Return shards in the order of their crawls, which are folders, and of their names in each."""
    paths = [Path(shard) for shard in shards]
    crawls = list(dict.fromkeys(path.parent for path in paths))
    return sorted(paths, key=lambda path: (crawls.index(path.parent), path.name))


def repeated(shard: Path, shards: Sequence[Path]) -> frozenset[str]:
    """Return the ids in a shard that another crawl's shard, before it in `shards`, holds too."""
    before = [s for s in shards[: shards.index(shard)] if s.parent != shard.parent]
    if not before:
        return frozenset()
    held, other = (pl.scan_parquet(s, glob=False).select("image_id") for s in (shard, before))
    return frozenset(held.join(other, on="image_id", how="semi").collect()["image_id"])


def groups_within(file: pq.ParquetFile, bounds: tuple[str, str] | None) -> list[int]:
    """Return the row groups whose image_id may lie within `bounds`; all of them without bounds."""
    groups = range(file.metadata.num_row_groups)
    column = file.schema_arrow.names.index("image_id")
    return [g for g in groups if _overlaps(file.metadata.row_group(g).column(column), bounds)]


def _overlaps(chunk: pq.ColumnChunkMetaData, bounds: tuple[str, str] | None) -> bool:
    statistics = chunk.statistics
    if bounds is None or statistics is None or not statistics.has_min_max:
        return True
    return statistics.min <= bounds[1] and bounds[0] <= statistics.max


def decode(webp: bytes, *, where: str = "picture") -> Image.Image:
    """Decode one WebP picture to RGB, its first frame where it is animated.

    Raises:
        CorruptFile: bytes that Pillow cannot decode, or more than `MAX_PIXELS` pixels.
    """
    remedy = "remove its shard and run the crawl phase again"
    try:
        with Image.open(io.BytesIO(webp), formats=["WEBP"]) as image:
            if image.width * image.height > MAX_PIXELS:
                problem = f"{image.width} x {image.height} px, more than {MAX_PIXELS:,} pixels"
                raise CorruptFile(where, problem, "exclude it from the snapshot")
            return _flatten(image)
    except (OSError, ValueError, Image.DecompressionBombError, Warning) as error:
        raise CorruptFile(where, f"not a WebP picture ({error})", remedy) from error


def _flatten(image: Image.Image) -> Image.Image:
    if not image.has_transparency_data:
        return image.convert("RGB")
    # ASSUME transparency is shown over white, as on Wikipedia's pages; the papers do not say.
    white = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(white, image.convert("RGBA")).convert("RGB")


class Cut(NamedTuple):
    """How a picture of any shape becomes a square of `side` px, before it is scaled to floats."""

    side: int
    cut: Callable[[Image.Image], Image.Image]

    def square(self, webp: bytes, image_id: str) -> npt.NDArray[np.uint8]:
        """Decode a picture and cut it: uint8 [side, side, 3].

        Raises:
            CorruptFile: bytes that do not decode.
        """
        return np.asarray(self.cut(decode(webp, where=f"image {image_id}")))


def squashed(side: int) -> Cut:
    """Return the cut that changes a picture's aspect ratio."""
    return Cut(side, lambda image: image.resize((side, side), Image.Resampling.BICUBIC))


_DECODERS = 4
_AHEAD = 1
_T = TypeVar("_T")
New = Callable[[str, bytes], bool]
_Pending = tuple[str, Future[Image.Image]]


def places_by_picture(table: Path, key: str, ids: pl.Series) -> dict[str, list[int]]:
    """Return, for each picture of the crawl, the places in `ids` of the rows that show it.

    A row shows its `picture_id`, where `table` has that column, and nothing where it is null;
    without the column an image shows itself.
    """
    rows = pl.scan_parquet(table, glob=False)
    column = "picture_id" if "picture_id" in rows.collect_schema().names() else key
    within = pl.col(key).is_in(ids.implode())
    pictures = rows.filter(within).select(key, picture=column).collect()
    placed = pl.DataFrame({key: ids}).with_row_index("place").join(pictures, on=key)
    places = placed.drop_nulls("picture").group_by("picture").agg(pl.col("place").sort())
    return dict(places.iter_rows())


def iter_pictures(
    ids: Collection[str], pixels: Sequence[Path], batch: int, new: New = lambda _, __: True
) -> Iterator[list[tuple[str, Image.Image]]]:
    """Yield decoded pictures by id, the next ones being decoded while one batch is encoded.

    A picture that is not `new`, by its id and its WebP, is passed over.

    Raises:
        MissingFile: a shard that is not there, or a picture that no shard holds.
        TruncatedFile, CorruptFile: a shard that ends early, a picture that does not decode.
        BadParams: a batch below 1.
    """
    pending: deque[list[_Pending]] = deque()
    with ThreadPoolExecutor(_DECODERS) as pool:
        for some in batches((p for p in _all_of(ids, pixels) if new(*p)), batch):
            pending.append([(i, pool.submit(decode, w, where=f"image {i}")) for i, w in some])
            if len(pending) > _AHEAD:
                yield [(i, future.result()) for i, future in pending.popleft()]
        while pending:
            yield [(i, future.result()) for i, future in pending.popleft()]


def _all_of(ids: Collection[str], pixels: Sequence[Path]) -> Iterator[tuple[str, bytes]]:
    left = set(ids)
    for picture, webp in iter_pixels(pixels, left.copy()):
        if picture in left:
            left.discard(picture)
            yield picture, webp
    if left:
        problem = f"none of its pixels in the crawl's shards ({len(left):,} such images)"
        remedy = "run the crawl and collect phases again"
        raise MissingFile(f"image {min(left)}", problem, remedy)


def batches(items: Iterator[_T], size: int) -> Iterator[list[_T]]:
    """Yield lists of `size` items, the last one perhaps shorter.

    Raises:
        BadParams: a size below 1.
    """
    if size < 1:
        raise BadParams("encode", f"batch {size}", "use 1 or more")
    while some := list(islice(items, size)):
        yield some
