"""Pictures in the crawl's shards: streamed by row group, decoded under a size cap."""

import io
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from isotope.core.errors import CorruptFile, MissingFile, TruncatedFile

MAX_PIXELS = 64_000_000
_ROWS_PER_READ = 64
_BUFFER_BYTES = 1 << 20


def iter_pixels(
    shards: Sequence[Path], ids: Collection[str] | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yield (image_id, WebP bytes) crawl by crawl as given, within one by id.

    Row groups whose id range holds none of `ids` are never read; all pictures when it is None.

    Raises:
        MissingFile: a shard that is not there.
        TruncatedFile: a shard that Parquet cannot open or read to its end.
    """
    wanted = None if ids is None else frozenset(ids)
    bounds = (min(wanted), max(wanted)) if wanted else None
    if wanted is not None and bounds is None:
        return
    for shard in ordered(shards):
        yield from _iter_shard(shard, wanted, bounds)


def _iter_shard(
    shard: Path, wanted: frozenset[str] | None, bounds: tuple[str, str] | None
) -> Iterator[tuple[str, bytes]]:
    if not shard.is_file():
        raise MissingFile(shard, "no such shard of pixels", "run the crawl phase")
    try:
        with pq.ParquetFile(shard, buffer_size=_BUFFER_BYTES, pre_buffer=False) as file:
            groups = groups_within(file, bounds)
            for batch in file.iter_batches(_ROWS_PER_READ, groups, ["image_id", "webp"]):
                for image_id, webp in zip(*batch.to_pydict().values(), strict=True):
                    if wanted is None or image_id in wanted:
                        yield image_id, webp
    except (pa.ArrowInvalid, OSError) as error:
        remedy = "remove the shard and run the crawl phase, which fetches only what it lacks"
        raise TruncatedFile(shard, f"not a readable Parquet file ({error})", remedy) from error


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
    own, other = (pl.scan_parquet(s).select("image_id") for s in (shard, before))
    return frozenset(own.join(other, on="image_id", how="semi").collect()["image_id"])


def groups_within(file: pq.ParquetFile, bounds: tuple[str, str] | None) -> list[int]:
    """Return the row groups whose image_id may lie within `bounds`; all of them without bounds."""
    every = range(file.metadata.num_row_groups)
    column = file.schema_arrow.names.index("image_id")
    return [g for g in every if _overlaps(file.metadata.row_group(g).column(column), bounds)]


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
                found = f"{image.width} x {image.height} px, more than {MAX_PIXELS:,} pixels"
                raise CorruptFile(where, found, "exclude it from the snapshot")
            return _flatten(image)
    except (OSError, ValueError, Image.DecompressionBombError, Warning) as error:
        raise CorruptFile(where, f"not a WebP picture ({error})", remedy) from error


def _flatten(image: Image.Image) -> Image.Image:
    if not image.has_transparency_data:
        return image.convert("RGB")
    # ASSUME transparency is shown over white, as on Wikipedia's pages; the papers do not say.
    white = Image.new("RGBA", image.size, "white")
    return Image.alpha_composite(white, image.convert("RGBA")).convert("RGB")
