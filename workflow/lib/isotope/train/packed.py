"""Byte strings of any length in one file, read by number: only their places stay in memory."""

import json
import os
import weakref
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, overload

import numpy as np
import numpy.typing as npt

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
