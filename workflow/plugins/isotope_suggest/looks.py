"""What pixels alone tell of a picture: its colours, how flat it is, and a perceptual hash.

A picture is decoded once and then looked at small, so that the cost is the decoder's. The crawl
has put transparent pictures on white, so what was transparent counts as white here. The pixels are
read shard by shard, and what was measured of one is kept: after a kill the next run goes on with
the shards that are left.
"""

import hashlib
from collections.abc import Generator, Iterable, Iterator, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import cv2
import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import store
from isotope.core.parallel import ordered_map
from isotope.core.pixels import batches, decode, iter_pixels, repeated
from isotope.core.progress import Progress
from isotope.core.schemas import schema

# Shares are in [0, 1]; `entropy` is in bits, of at most 12; `saturation` is that of HSV, in [0, 1].
LOOKS = schema(
    image_id=pa.string(),
    width=pa.int32(),
    height=pa.int32(),
    colours=pa.int32(),
    entropy=pa.float64(),
    largest=pa.float64(),
    four_largest=pa.float64(),
    tones=pa.int32(),
    flat=pa.float64(),
    edges=pa.float64(),
    white=pa.float64(),
    saturation=pa.float64(),
    hash=pa.uint64(),
)
_SIDE_PX = 128
_COLOURS = 16**3
# A colour counts from this share of the pixels: fewer are what lossy compression leaves at edges.
_COLOUR_SHARE = 1 / 1000
_FLAT, _EDGE = 2, 48
_TONES = 64
_WHITE = 15
_HASH_SIDE_PX, _HASH_BITS = 32, 8
# Coefficients of a picture without contrast are rounding errors, and so would its hash be.
_LEAST_CONTRAST = 1.0
_GREY = 3
_BATCH = 64
# Starting a process takes as long as measuring some hundred pictures.
_FEW_PICTURES = 2_000
Pixels = npt.NDArray[np.uint8]
Picture = tuple[str, bytes]


class Colours(NamedTuple):
    """A histogram in 4 bits a channel: colours that matter, entropy, and the largest shares."""

    colours: int
    entropy: float
    largest: float
    four_largest: float
    white: float


class _Shard(NamedTuple):
    """A shard of the crawl, the table of what was measured of it, and how many pictures it has."""

    pixels: Path
    looks: Path
    pictures: int


def measure(names: Path, shards: Sequence[Path], folder: Path, threads: int) -> list[Path]:
    """Write LOOKS of each shard's pictures into `folder`, unless they are there; return them.

    `names` has the ids of the pictures, `picture_id`, that count; of a picture that several shards
    have the first one does.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: a shard that is not there or not readable, a
            picture that does not decode.
    """
    folder.mkdir(parents=True, exist_ok=True)
    states = [_shard(path, names, folder) for path in shards]
    left = [i for i, shard in enumerate(states) if not shard.looks.is_file()]
    progress = Progress("pictures measured", total=sum(shard.pictures for shard in states))
    progress.resume(sum(s.pictures for i, s in enumerate(states) if i not in left))
    workers = threads if sum(states[i].pictures for i in left) >= _FEW_PICTURES else 1
    pending = _batches_of([(i, states[i].pixels) for i in left], names, shards)
    for i, tables in groupby(ordered_map(_looked, pending, workers), key=lambda pair: pair[0]):
        parts = list[pa.Table]()
        for _, part in tables:
            parts.append(part)
            progress.add(len(part))
        store.write(pa.concat_tables(parts), states[i].looks, LOOKS)
    progress.finish()
    return [shard.looks for shard in states]


def _shard(path: Path, names: Path, folder: Path) -> _Shard:
    """Return a shard with the place of its looks, which says of what and by what they are made."""
    state, code = path.stat() if path.is_file() else None, Path(__file__).read_bytes()
    facts = [path, state and state.st_size, state and state.st_mtime_ns, names.stat().st_size]
    digest = hashlib.sha256(repr(facts).encode() + code).hexdigest()[:16]
    rows = pq.read_metadata(path).num_rows if state else 0
    return _Shard(path, folder / f"{path.parent.name}-{path.stem}-{digest}.parquet", rows)


def _batches_of(
    shards: Sequence[tuple[int, Path]], names: Path, all_shards: Sequence[Path]
) -> Generator[tuple[int, list[Picture]]]:
    """Yield the pictures of shards that images show, in batches; at least one a shard."""
    for i, path in shards:
        ids = frozenset[str]()
        if path.is_file():
            shown = pl.scan_parquet(names, glob=False).select(image_id="picture_id")
            shard_rows = pl.scan_parquet(path, glob=False).select("image_id")
            shown_ids = shard_rows.join(shown, on="image_id", how="semi").collect()["image_id"]
            ids = frozenset[str](shown_ids.to_list()) - repeated(path, all_shards)
        yield i, []
        for some in batches(_pixels(path, ids), _BATCH):
            yield i, some


def _pixels(path: Path, ids: frozenset[str]) -> Iterator[Picture]:
    """Yield the pictures of one shard; one that is not there is an error."""
    yield from iter_pixels([path], ids if path.is_file() else None)


def _looked(item: tuple[int, list[Picture]]) -> tuple[int, pa.Table]:
    return item[0], looks_of(item[1])


def looks_of(pictures: Iterable[Picture]) -> pa.Table:
    """Return LOOKS of pictures, as image_id and WebP bytes, in their order.

    Raises:
        CorruptFile: bytes that do not decode.
    """
    rows = [{"image_id": image_id} | look(webp, image_id) for image_id, webp in pictures]
    return pa.Table.from_pylist(rows, LOOKS)


def look(webp: bytes, image_id: str) -> dict[str, Any]:
    """Return what LOOKS has of one picture, but for its id.

    Raises:
        CorruptFile: bytes that do not decode.
    """
    # OpenCV decodes in two thirds of Pillow's time; what it can't take, or has an alpha channel,
    # goes the usual way.
    cv2.setNumThreads(1)
    pixels: Any = cv2.imdecode(np.frombuffer(webp, np.uint8), cv2.IMREAD_UNCHANGED)
    if (
        pixels is None
        or pixels.ndim != _GREY
        or pixels.shape[-1] != _GREY
        or pixels.dtype != np.uint8
    ):
        return measured(np.asarray(decode(webp, where=f"image {image_id}")))
    return _measured(pixels)


def measured(rgb: Pixels) -> dict[str, Any]:
    """Return what LOOKS has of one picture, uint8 [height, width, 3], but for its id."""
    return _measured(_reversed(rgb))


def _measured(bgr: Pixels) -> dict[str, Any]:
    """Measure a picture in OpenCV's order of channels; reordering a large one costs as much."""
    height, width = bgr.shape[:2]
    small = _shrunk(bgr)
    grey: Any = cv2.cvtColor(small, cv2.COLOR_BGR2GRAY)
    steps = _steps(grey)
    tones = np.bincount(grey.ravel() >> 2, minlength=_TONES) >= _COLOUR_SHARE * grey.size
    return {
        **{"width": width, "height": height, "hash": _phash(bgr), "tones": int(tones.sum())},
        "saturation": float(cv2.cvtColor(small, cv2.COLOR_BGR2HSV)[..., 1].mean()) / 255,
        "flat": float((steps < _FLAT).mean()),
        "edges": float((steps > _EDGE).mean()),
        **colours(_reversed(small))._asdict(),
    }


def colours(rgb: Pixels) -> Colours:
    """Return the histogram's figures of a picture, uint8 [height, width, 3]."""
    codes = (rgb.astype(np.int32) >> 4) @ np.array([256, 16, 1], np.int32)
    shares = np.bincount(codes.ravel(), minlength=_COLOURS) / codes.size
    present = shares[shares > 0]
    ordered = np.sort(present)[::-1]
    return Colours(
        colours=int((present >= _COLOUR_SHARE).sum()),
        entropy=float(-(present * np.log2(present)).sum()),
        largest=float(ordered[0]),
        four_largest=float(ordered[:4].sum()),
        white=float(shares[-1]),
    )


def phash(rgb: Pixels) -> int | None:
    """Return a perceptual hash of 64 bits; None for a picture without contrast.

    The signs, about their median, of the 8 x 8 lowest frequencies but the constant ones, of a
    cosine transform of 32 x 32 greys; the first is the highest bit. Pictures that differ in scale
    or compression differ in few bits. Source: Zauner, Implementation and benchmarking of perceptual
    image hash functions, 2010, section 3.2.1.
    """
    return _phash(_reversed(rgb))


def _phash(bgr: Pixels) -> int | None:
    grey: Any = cv2.cvtColor(bgr, cv2.COLOR_BGR2GRAY)
    small = cv2.resize(grey, (_HASH_SIDE_PX, _HASH_SIDE_PX), interpolation=cv2.INTER_AREA)
    wave: Any = cv2.dct(small.astype(np.float32))
    low = wave[1 : _HASH_BITS + 1, 1 : _HASH_BITS + 1]
    if np.abs(low).max() < _LEAST_CONTRAST:
        return None
    bits = np.packbits((low > np.median(low)).ravel())
    return int.from_bytes(bits.tobytes(), "big")


def bits_apart(first: npt.ArrayLike, second: npt.ArrayLike) -> npt.NDArray[np.uint8]:
    """Return in how many of 64 bits hashes differ, elementwise."""
    both = np.asarray(first, np.uint64) ^ np.asarray(second, np.uint64)
    return np.bitwise_count(both)


def _reversed(pixels: Pixels) -> Pixels:
    """Return red, green and blue for blue, green and red, and the other way round."""
    return np.ascontiguousarray(pixels[..., ::-1])


def _shrunk(bgr: Pixels) -> Pixels:
    """Return the picture with its longest side at most 128 px."""
    height, width = bgr.shape[:2]
    scale = _SIDE_PX / max(height, width)
    if scale >= 1:
        return bgr
    size = max(round(width * scale), 1), max(round(height * scale), 1)
    small: Any = cv2.resize(bgr, size, interpolation=cv2.INTER_AREA)
    return small


def _steps(grey: Pixels) -> npt.NDArray[np.int32]:
    """Return how far each pixel is from its right and lower neighbours, together."""
    wide = np.pad(grey.astype(np.int32), ((0, 1), (0, 1)), mode="edge")
    centre = wide[:-1, :-1]
    return np.abs(wide[:-1, 1:] - centre) + np.abs(wide[1:, :-1] - centre)
