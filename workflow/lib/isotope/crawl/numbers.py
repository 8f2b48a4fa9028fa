"""Numbers that all jobs of a crawl share, in a locked file: politeness and budgets are of all."""

import fcntl
import os
import struct
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from isotope.core.errors import BudgetSpent, as_disk_full

_GIB, _HOUR_S = 2**30, 3600


class Numbers:
    """`count` numbers, zeros at first; in memory only where no path is given.

    The lock is the system's (flock), so a killed job leaves none behind. The file is open only
    while it is held, since a crawl may know more hosts than a process may have files.
    """

    def __init__(self, path: Path | None, count: int) -> None:
        """Make the folder of the file."""
        self._form = struct.Struct(f"<{count}d")
        self._values = [0.0] * count
        self._path = path
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def held(self) -> Generator[list[float], None, None]:
        """Yield the numbers, to be changed in place while no other job sees them."""
        if self._path is None:
            yield self._values
            return
        file = opened(self._path)
        try:
            fcntl.flock(file, fcntl.LOCK_EX)
            known = os.pread(file, self._form.size, 0)
            if len(known) == self._form.size:
                self._values[:] = self._form.unpack(known)
            yield self._values
            self._write(file, self._path)
        finally:
            os.close(file)

    def _write(self, file: int, path: Path) -> None:
        try:
            os.pwrite(file, self._form.pack(*self._values), 0)
        except OSError as error:
            raise as_disk_full(error, path) from error


def opened(path: Path) -> int:
    """Open a small file that jobs share, or make it.

    Raises:
        DiskFull: no room for it.
    """
    try:
        return os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise as_disk_full(error, path) from error


class Budget:
    """Bytes received and hours worked, summed over all jobs and runs of a source's crawl."""

    def __init__(self, path: Path, gib: float | None, hours: float | None) -> None:
        """Count in the file `path`; None is no limit."""
        self._numbers, self._gib, self._hours = Numbers(path, 2), gib, hours

    def add(self, received: int, seconds: float) -> None:
        """Add what was used."""
        with self._numbers.held() as spent:
            spent[0] += received
            spent[1] += seconds

    def check(self) -> None:
        """Look whether something is left.

        Raises:
            BudgetSpent: there is not; what was fetched so far stays.
        """
        with self._numbers.held() as spent:
            used = {"gib": spent[0] / _GIB, "hours": spent[1] / _HOUR_S}
        limits = {"gib": self._gib, "hours": self._hours}
        for unit, limit in limits.items():
            if limit is not None and used[unit] >= limit:
                remedy = "raise it and run again; nothing that was fetched is asked for twice"
                raise BudgetSpent(f"crawl.<source>.budget_{unit}", f"{limit} are spent", remedy)
