"""What training reads: per image its texts' fields and captions, and its pixels, small, on disk."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from PIL import Image

from isotope import pixels as shards
from isotope.encode_pictures import shown_by
from isotope.encode_store import mapped
from isotope.errors import MissingFile
from isotope.progress import Progress
from isotope.tables import CAPTION_FIELDS, FIVE_FIELDS
from isotope.train_ranks import Ranks

_ALONE = Ranks()
# What lies beyond never reaches a context of 77 tokens, so it need not be kept in memory.
_CHARS_PER_FIELD = 1_000
Views = tuple[list[str], list[tuple[str, ...]]]


@dataclass(frozen=True)
class Split:
    """The judged images of one split in order of id, and what is known of each.

    `views`: the ids of the texts that carry it, and their five fields; `captions`: its captions in
    one language; `pixels`: uint8 [n, side, side, 3], mapped from disk.
    """

    image_ids: list[str]
    views: list[Views]
    captions: list[list[str]]
    pixels: npt.NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.image_ids)


@dataclass(frozen=True)
class Source:
    """Where a collection's tables and pixels lie, and the language of the captions to use."""

    texts: Path
    images: Path
    qrels: Path
    pixels: Sequence[Path]
    language: str


class Cut(NamedTuple):
    """How a picture of any shape becomes a square of `side` px, before it is scaled to floats."""

    side: int
    cut: Callable[[Image.Image], Image.Image]


def squashed(side: int) -> Cut:
    """Return the cut that changes a picture's aspect ratio."""
    return Cut(side, lambda image: image.resize((side, side), Image.Resampling.BICUBIC))


def read_split(source: Source, name: str, cut: Cut, file: Path, ranks: Ranks = _ALONE) -> Split:
    """Join the judged pairs of split `name`; keep its pictures, cut to squares, in `file`.

    Of several ranks the first writes `file`, and the others read it when it is complete.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: pixels that are not there or do not decode.
    """
    rows = _pairs(source, name).collect()
    image_ids = rows["image_id"].to_list()
    fields = [[tuple(f.values()) for f in fs] for fs in rows["fields"].to_list()]
    return Split(
        image_ids,
        list(zip(rows["text_id"].to_list(), fields, strict=True)),
        rows["captions"].to_list(),
        _shared_pixels(source, image_ids, cut, file, ranks),
    )


def _shared_pixels(
    source: Source, ids: Sequence[str], cut: Cut, file: Path, ranks: Ranks
) -> npt.NDArray[np.uint8]:
    block = None
    if ranks.first:
        shown = shown_by(source.images, "image_id", pl.Series(ids, dtype=pl.String))
        block = read_pixels(shown, source.pixels, cut, file)
    if isinstance(block, np.memmap):
        block.flush()
    ranks.wait()
    if block is not None:
        return block
    return np.load(file, mmap_mode="r") if ids else np.zeros((0, cut.side, cut.side, 3), np.uint8)


def _pairs(source: Source, name: str) -> pl.LazyFrame:
    judged = pl.col("split") == name, pl.col("relevance") > 0
    fields = [pl.col(f).fill_null("").str.head(_CHARS_PER_FIELD) for f in FIVE_FIELDS]
    texts = pl.scan_parquet(source.texts).select("text_id", *fields)
    return (
        pl.scan_parquet(source.qrels)
        .filter(*judged)
        .join(texts, on="text_id")
        .sort("image_id", "text_id")
        .group_by("image_id", maintain_order=True)
        .agg("text_id", pl.struct(FIVE_FIELDS).alias("fields"))
        .join(_captions(source), on="image_id", how="left", maintain_order="left")
        .with_columns(pl.col("captions").fill_null([]))
    )


def _captions(source: Source) -> pl.LazyFrame:
    # ASSUME the caption lists run parallel to the list of languages, as in AToMiC's Parquet.
    spoken = pl.col("language") == source.language
    said = [
        pl.scan_parquet(source.images)
        .select("image_id", "language", pl.col(field).alias("captions"))
        .explode("language", "captions", empty_as_null=False)
        .filter(spoken, pl.col("captions").str.len_chars() > 0)
        for field in CAPTION_FIELDS
    ]
    return pl.concat(said).group_by("image_id").agg(pl.col("captions").unique().sort())


def read_pixels(
    shown: Mapping[str, Sequence[int]], pixels: Sequence[Path], cut: Cut, file: Path
) -> npt.NDArray[np.uint8]:
    """Write uint8 [n, side, side, 3] to `file`, each picture at its places, and map it into memory.

    Raises:
        MissingFile: an image whose pixels no shard holds; see `pixels.iter_pixels` for others.
    """
    shape = (sum(map(len, shown.values())), cut.side, cut.side, 3)
    if not shown:
        return np.zeros(shape, np.uint8)
    block, left = mapped(file, shape, np.uint8), set(shown)
    progress = Progress("pictures read", len(shown))
    for picture, webp in shards.iter_pixels(pixels, left.copy()):
        image = shards.decode(webp, where=f"image {picture}")
        block[list(shown[picture])] = np.asarray(cut.cut(image))
        left.discard(picture)
        progress.add()
    progress.finish()
    if left:
        remedy = "run the crawl and collect phases again"
        raise MissingFile(f"image {min(left)}", f"no pixels for {len(left)} images", remedy)
    return block
