"""What training reads: per judged image its texts' fields, its captions and its pixels.

Texts lie row by row in a file beside the pictures, so that memory holds places, not rows.
"""

import json
import os
import weakref
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import pixels as shards
from isotope.core import sql
from isotope.core.errors import MissingFile
from isotope.core.pixels import Cut, places_by_picture
from isotope.core.progress import Progress
from isotope.core.schemas import FIVE_FIELDS, STRINGS
from isotope.core.vectors import mapped
from isotope.train.step import Ranks

Places = npt.NDArray[np.int64]
Put = Callable[[int, bytes], None]
# Disk for the pictures of a split as squares of a model's size, 28,000 of 224 px; a split of pairs
# of pictures has two such files. It bounds disk, not the result: more are decoded batch by batch.
SQUARES_GIB = 4.0
_ABSENT = -1


class Packed(Sequence[bytes]):
    """What `packing` wrote; 16 bytes of memory a string, and safe to read from many threads."""

    def __init__(self, path: Path) -> None:
        """Open the file; it may lose its name while it is read."""
        self._places: Places = np.load(_beside(path))
        self._file = os.open(path, os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice) -> list[bytes]: ...
    def __getitem__(self, index: int | slice) -> bytes | list[bytes]:
        """Read one string, or several.

        Raises:
            IndexError: a number beyond the last.
        """
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        start, size = (int(n) for n in self._places[index])
        return os.pread(self._file, size, start)

    def absent(self) -> Places:
        """Return the numbers that nothing was put under."""
        return np.flatnonzero(self._places[:, 1] == _ABSENT)


@contextmanager
def packing(path: Path, count: int) -> Generator[Put]:
    """Yield a function that puts bytes under a number below `count`, in any order.

    Raises:
        OSError: no room for them.
    """
    places: Places = np.full((count, 2), _ABSENT, np.int64)
    with path.open("wb") as file:

        def put(number: int, value: bytes) -> None:
            places[number] = file.tell(), len(value)
            file.write(value)

        yield put
    np.save(_beside(path), places)


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}.places.npy")


class JsonColumn(Sequence[Any]):
    """A sequence of objects, each made of a row of JSON when it is read."""

    def __init__(self, rows: Packed, make: Callable[[list[Any]], Any]) -> None:
        """Make it of rows by `make`."""
        self._rows, self._make = rows, make

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return self._make(json.loads(self._rows[index]))


Block = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.int64]


class Decoded:
    """uint8 [n, side, side, 3]; only the requested rows, and the next ones, are in memory."""

    def __init__(self, webp: Packed, image_ids: Sequence[str], cut: Cut, threads: int) -> None:
        """Decode by some threads; Pillow and libwebp let them run side by side."""
        self._webp, self._ids, self._cut = webp, image_ids, cut
        self._pool = ThreadPoolExecutor(threads)
        self._coming: dict[int, Future[Block]] = {}

    def __len__(self) -> int:
        return len(self._webp)

    def __getitem__(self, rows: slice | Rows) -> Block:
        """Decode the rows, and none ahead.

        Raises:
            CorruptFile: bytes that do not decode.
        """
        return self.take(np.arange(len(self))[rows])

    def take(self, rows: Rows, then: Rows | None = None) -> Block:
        """Return the rows; meanwhile begin with those that are wanted `then`.

        Raises:
            CorruptFile: bytes that do not decode.
        """
        now = [self._begun(int(row)) for row in rows]
        self._coming = {int(row): self._begun(int(row)) for row in ([] if then is None else then)}
        block = np.empty((len(now), self._cut.side, self._cut.side, 3), np.uint8)
        for i, square in enumerate(now):
            block[i] = square.result()
        return block

    def _begun(self, row: int) -> "Future[Block]":
        return self._coming.get(row) or self._pool.submit(self._square, row)

    def _square(self, row: int) -> Block:
        return self._cut.square(self._webp[row], self._ids[row])


def write_squares(ids: Sequence[str], pixels: Sequence[Path], cut: Cut, file: Path) -> None:
    """Write uint8 [n, side, side, 3] to the `.npy` file, in the order of the pictures' `ids`.

    Raises:
        MissingFile: an image whose pixels no shard holds; see `pixels.iter_pixels` for others.
    """
    if not ids:
        return
    block = mapped(file, (len(ids), cut.side, cut.side, 3), np.uint8)
    missing = np.ones(len(ids), np.bool_)
    for row, webp in _pictures_of(ids, pixels):
        block[row] = cut.square(webp, ids[row])
        missing[row] = False
    block.flush()
    _demand_all(ids, np.flatnonzero(missing))


def write_webp(ids: Sequence[str], pixels: Sequence[Path], file: Path) -> None:
    """Pack the WebP bytes into `file`, to be read by the place of their id.

    Raises:
        MissingFile: an image whose pixels no shard holds; see `pixels.iter_pixels` for others.
    """
    with packing(file, len(ids)) as put:
        for row, webp in _pictures_of(ids, pixels):
            put(row, webp)
    _demand_all(ids, Packed(file).absent())


def _pictures_of(ids: Sequence[str], pixels: Sequence[Path]) -> Iterator[tuple[int, bytes]]:
    """Yield each wanted picture for each of its places in `ids`."""
    if not ids:
        return
    # As bytes, a tenth of what a set of strings would take.
    keys = np.array([name.encode() for name in ids])
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    new = np.ones(len(keys), np.bool_)
    progress = Progress("pictures read", len(keys))
    for image_id, webp in shards.iter_pixels(pixels):
        key = np.bytes_(image_id.encode())
        first, end = (int(np.searchsorted(keys, key, side)) for side in ("left", "right"))
        if first < end and new[first]:
            new[first:end] = False
            progress.add(end - first)
            yield from ((int(row), webp) for row in order[first:end])
    progress.finish()


def _demand_all(ids: Sequence[str], missing: Rows) -> None:
    if len(missing):
        remedy = "run the crawl and collect phases again"
        first = ids[int(missing[0])]
        raise MissingFile(f"image {first}", f"no pixels for {len(missing)} images", remedy)


_KEYS = ("image_id", "text_id", *FIVE_FIELDS)
_PAIRS = pa.schema([*((k, pa.string()) for k in _KEYS), ("captions", STRINGS)])
_JOIN_MEMORY = "2GB"
_ROWS_PER_READ = 1_024


@dataclass(frozen=True)
class TrainingSource:
    """Where a collection's tables and pixels lie, and the language of the captions to use."""

    texts: Path
    images: Path
    qrels: Path
    pixels: Sequence[Path]
    language: str


def write_rows(source: TrainingSource, name: str, file: Path) -> None:
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
            pairs_of_image = list(of_image)
            row = [
                image_id,
                [r[1] for r in pairs_of_image],
                [r[2:-1] for r in pairs_of_image],
                pairs_of_image[0][-1],
            ]
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
        return take_rows(self.pixels, rows, then)


class Workplace(NamedTuple):
    """Where a split lies while it is read, and by whom.

    Pictures are kept there cut to squares, beyond `SQUARES_GIB` as the WebP they came in, and
    decoded by `threads`.
    """

    folder: Path
    ranks: Ranks = _ALONE
    threads: int = 1


def read_split(source: TrainingSource, name: str, cut: Cut, workplace: Workplace) -> Split:
    """Join the judged pairs of split `name`, and put texts and pictures in the place's folder.

    Of several ranks the first writes them, and the others read them when they are complete.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: pixels that are not there or do not decode.
    """
    rows, pictures = workplace.folder / f"{name}.rows", workplace.folder / f"{name}.pictures"
    if workplace.ranks.first:
        write_rows(source, name, rows)
        pictured = picture_ids(source, _ids(Packed(rows)))
        write_pictures(pictured, source.pixels, cut, workplace, pictures)
    workplace.ranks.wait()
    packed = Packed(rows)
    return Split(
        _ids(packed),
        JsonColumn(packed, lambda row: (row[1], [tuple(fields) for fields in row[2]])),
        JsonColumn(packed, itemgetter(3)),
        open_pictures(_ids(packed), cut, workplace, pictures),
    )


def _ids(rows: Packed) -> Sequence[str]:
    return JsonColumn(rows, itemgetter(0))


def take_rows(pixels: Block | Decoded, rows: Rows, then: Rows | None = None) -> Block:
    """Return the pictures of `rows`; those wanted `then` may be decoded meanwhile.

    Raises:
        CorruptFile: a picture that does not decode.
    """
    return pixels.take(rows, then) if isinstance(pixels, Decoded) else pixels[rows]


def write_pictures(
    ids: Sequence[str], shards: Sequence[Path], cut: Cut, workplace: Workplace, file: Path
) -> None:
    """Keep the pictures `ids` of the crawl's `shards` in `file`, to be opened by `open_pictures`.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: pixels that are not there or do not decode.
    """
    if _fit(ids, cut):
        write_squares(ids, shards, cut, file)
    else:
        write_webp(ids, shards, file)


def open_pictures(
    ids: Sequence[str], cut: Cut, workplace: Workplace, file: Path
) -> Block | Decoded:
    """Open what `write_pictures` wrote, of as many pictures as there are `ids`."""
    if not len(ids):
        return np.zeros((0, cut.side, cut.side, 3), np.uint8)
    if _fit(ids, cut):
        return np.load(file, mmap_mode="r")
    return Decoded(Packed(file), ids, cut, workplace.threads)


def _fit(ids: Sequence[str], cut: Cut) -> bool:
    return len(ids) * cut.side**2 * 3 <= SQUARES_GIB * 2**30


def picture_ids(source: TrainingSource, ids: Sequence[str]) -> Sequence[str]:
    """Return the picture of the crawl that each image shows: itself, mostly."""
    if "picture_id" not in pq.read_schema(source.images).names:
        return ids
    pictures = [""] * len(ids)
    named = pl.Series(list(ids), dtype=pl.String)
    for picture, places in places_by_picture(source.images, "image_id", named).items():
        for row in places:
            pictures[row] = picture
    return pictures
