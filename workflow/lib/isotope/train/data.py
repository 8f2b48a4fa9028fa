"""What training reads: per judged image its texts' fields, its captions and its pixels.

Texts lie row by row in a file beside the pictures, so that memory holds places, not rows.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import sql
from isotope.core.pixels import shown_by
from isotope.core.schemas import FIVE_FIELDS
from isotope.train.pictures import (
    Block,
    Column,
    Cut,
    Decoded,
    Packed,
    Rows,
    packing,
    write_squares,
    write_webp,
)
from isotope.train.ranks import Ranks

_KEYS = ("image_id", "text_id", *FIVE_FIELDS)
_PAIRS = pa.schema([*((k, pa.string()) for k in _KEYS), ("captions", pa.list_(pa.string()))])
_JOIN_MEMORY = "2GB"
_ROWS_PER_READ = 1_024


@dataclass(frozen=True)
class Source:
    """Where a collection's tables and pixels lie, and the language of the captions to use."""

    texts: Path
    images: Path
    qrels: Path
    pixels: Sequence[Path]
    language: str


def write_rows(source: Source, name: str, file: Path) -> None:
    """Write a row of JSON for each image: id, text ids, fields of each text, captions."""
    pairs = file.with_name(f"{file.name}.parquet")
    sql.query(
        sql.SQL / "train" / "pairs.sql",
        {"qrels": source.qrels, "texts": source.texts, "images": source.images},
        {"split": name, "language": source.language},
        out=pairs,
        schema=_PAIRS,
        memory_limit=_JOIN_MEMORY,
    )
    count = sum(1 for _ in groupby(_column(pairs, "image_id")))
    with packing(file, count) as put:
        for i, (image_id, of_image) in enumerate(groupby(_read(pairs), itemgetter(0))):
            of = list(of_image)
            row = [image_id, [r[1] for r in of], [r[2:-1] for r in of], of[0][-1]]
            put(i, json.dumps(row, ensure_ascii=False).encode())
    pairs.unlink()


def _column(pairs: Path, name: str) -> Iterator[str]:
    with pq.ParquetFile(pairs) as table:
        for batch in table.iter_batches(_ROWS_PER_READ, columns=[name]):
            yield from batch.column(0).to_pylist()


def _read(pairs: Path) -> Iterator[tuple[Any, ...]]:
    with pq.ParquetFile(pairs) as table:
        for batch in table.iter_batches(_ROWS_PER_READ):
            yield from zip(*(column.to_pylist() for column in batch.columns), strict=True)


_ALONE = Ranks()
Views = tuple[list[str], list[tuple[str, ...]]]


@dataclass(frozen=True)
class Split:
    """The judged images of one split in order of id, and what is known of each.

    `views`: the ids of the texts that carry it, and their five fields; `captions`: its captions in
    one language; `pixels`: uint8 [n, side, side, 3], mapped from disk or decoded when asked for.
    """

    image_ids: Sequence[str]
    views: Sequence[Views]
    captions: Sequence[list[str]]
    pixels: Block | Decoded

    def __len__(self) -> int:
        return len(self.image_ids)

    def rows(self) -> Iterable[tuple[Any, ...]]:
        """Return id, views and captions of each image."""
        return zip(self.image_ids, self.views, self.captions, strict=True)

    def squares(self, rows: Rows, then: Rows | None = None) -> Block:
        """Return the pictures of `rows`; those wanted `then` may be decoded meanwhile.

        Raises:
            CorruptFile: a picture that does not decode.
        """
        return taken(self.pixels, rows, then)


class Place(NamedTuple):
    """Where a split lies while it is read, and by whom.

    `squares_gib`: up to this size pictures are kept there cut to squares, beyond it as the WebP
    they came in, and decoded by `workers` threads.
    """

    folder: Path
    ranks: Ranks = _ALONE
    squares_gib: float = 4.0
    workers: int = 1


def read_split(source: Source, name: str, cut: Cut, place: Place) -> Split:
    """Join the judged pairs of split `name`, and put texts and pictures in the place's folder.

    Of several ranks the first writes them, and the others read them when they are complete.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: pixels that are not there or do not decode.
    """
    rows, pictures = place.folder / f"{name}.rows", place.folder / f"{name}.pictures"
    if place.ranks.first:
        write_rows(source, name, rows)
        pictured = shown(source, _ids(Packed(rows)))
        write_pictures(pictured, source.pixels, cut, place, pictures)
    place.ranks.wait()
    packed = Packed(rows)
    return Split(
        _ids(packed),
        Column(packed, lambda row: (row[1], [tuple(fields) for fields in row[2]])),
        Column(packed, itemgetter(3)),
        open_pictures(_ids(packed), cut, place, pictures),
    )


def _ids(rows: Packed) -> Sequence[str]:
    return Column(rows, itemgetter(0))


def taken(pixels: Block | Decoded, rows: Rows, then: Rows | None = None) -> Block:
    """Return the pictures of `rows`; those wanted `then` may be decoded meanwhile.

    Raises:
        CorruptFile: a picture that does not decode.
    """
    return pixels.take(rows, then) if isinstance(pixels, Decoded) else pixels[rows]


def write_pictures(
    ids: Sequence[str], shards: Sequence[Path], cut: Cut, place: Place, file: Path
) -> None:
    """Keep the pictures `ids` of the crawl's `shards` in `file`, to be opened by `open_pictures`.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: pixels that are not there or do not decode.
    """
    if _fit(ids, cut, place):
        write_squares(ids, shards, cut, file)
    else:
        write_webp(ids, shards, file)


def open_pictures(ids: Sequence[str], cut: Cut, place: Place, file: Path) -> Block | Decoded:
    """Open what `write_pictures` wrote, of as many pictures as there are `ids`."""
    if not len(ids):
        return np.zeros((0, cut.side, cut.side, 3), np.uint8)
    if _fit(ids, cut, place):
        return np.load(file, mmap_mode="r")
    return Decoded(Packed(file), ids, cut, place.workers)


def _fit(ids: Sequence[str], cut: Cut, place: Place) -> bool:
    return len(ids) * cut.side**2 * 3 <= place.squares_gib * 2**30


def shown(source: Source, ids: Sequence[str]) -> Sequence[str]:
    """Return the picture of the crawl that each image shows: itself, mostly."""
    if "picture_id" not in pq.read_schema(source.images).names:
        return ids
    pictures = [""] * len(ids)
    wanted = pl.Series(list(ids), dtype=pl.String)
    for picture, places in shown_by(source.images, "image_id", wanted).items():
        for place in places:
            pictures[place] = picture
    return pictures
