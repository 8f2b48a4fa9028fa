"""Pictures for training: squares on disk where they fit, or decoded when they are asked for."""

import json
import os
import weakref
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, overload

import numpy as np
import numpy.typing as npt
from PIL import Image

from isotope.core import pixels as shards
from isotope.core.errors import MissingFile
from isotope.core.progress import Progress
from isotope.core.vectors import mapped

Places = npt.NDArray[np.int64]
Put = Callable[[int, bytes], None]
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


class Column(Sequence[Any]):
    """One thing made of each row of JSON, whenever it is asked for."""

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


class Cut(NamedTuple):
    """How a picture of any shape becomes a square of `side` px, before it is scaled to floats."""

    side: int
    cut: Callable[[Image.Image], Image.Image]

    def square(self, webp: bytes, image_id: str) -> Block:
        """Decode a picture and cut it: uint8 [side, side, 3].

        Raises:
            CorruptFile: bytes that do not decode.
        """
        return np.asarray(self.cut(shards.decode(webp, where=f"image {image_id}")))


def squashed(side: int) -> Cut:
    """Return the cut that changes a picture's aspect ratio."""
    return Cut(side, lambda image: image.resize((side, side), Image.Resampling.BICUBIC))


class Decoded:
    """uint8 [n, side, side, 3] of which only the rows asked for, and those to come, ever exist."""

    def __init__(self, webp: Packed, image_ids: Sequence[str], cut: Cut, workers: int) -> None:
        """Decode by `workers` threads; Pillow and libwebp let them run side by side."""
        self._webp, self._ids, self._cut = webp, image_ids, cut
        self._pool = ThreadPoolExecutor(workers)
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
    for row, webp in _found(ids, pixels):
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
        for row, webp in _found(ids, pixels):
            put(row, webp)
    _demand_all(ids, Packed(file).absent())


def _found(ids: Sequence[str], pixels: Sequence[Path]) -> Iterator[tuple[int, bytes]]:
    """Yield each wanted picture for each of its places in `ids`."""
    if not ids:
        return
    # As bytes, a tenth of what a set of strings would take.
    wanted = np.array([name.encode() for name in ids])
    order = np.argsort(wanted, kind="stable")
    wanted = wanted[order]
    new = np.ones(len(wanted), np.bool_)
    progress = Progress("pictures read", len(wanted))
    for image_id, webp in shards.iter_pixels(pixels):
        key = np.bytes_(image_id.encode())
        first, end = (int(np.searchsorted(wanted, key, side)) for side in ("left", "right"))
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
