"""How many bytes have passed: sizes for people, and the progress of a transfer."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from isotope.core.progress import Progress, duration
from isotope.core.terminal import printable

_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")
_THOUSAND = 1_000
_MOMENT_S = 0.25
_ERASE = "\r\x1b[K"


def size_of(count: float) -> str:
    """Return e.g. `812 B`, `1.4 MB` or `23 GB`."""
    unit = 0
    while count >= _THOUSAND and unit < len(_UNITS) - 1:
        count, unit = count / _THOUSAND, unit + 1
    return f"{count:.1f} {_UNITS[unit]}" if unit and count < 10 else f"{count:.0f} {_UNITS[unit]}"  # noqa: PLR2004


class Bytes(Progress):
    """Count bytes that several threads move; `line` has their size, rate and time left."""

    def __init__(self, things: str, total: int) -> None:
        """Start the clock for `things`, of `total` bytes."""
        super().__init__(things, total)
        self._lock = threading.Lock()
        self._shown = 0.0

    def add(self, n: int = 1) -> None:
        """Record `n` more bytes, or fewer; on a terminal say so four times a second."""
        with self._lock:
            super().add(n)
            now = time.monotonic()
            if sys.stderr.isatty() and now - self._shown >= _MOMENT_S:
                self._shown = now
                sys.stderr.write(f"{_ERASE}{printable(self.line())}")
                sys.stderr.flush()

    def line(self) -> str:
        """Return e.g. `fetched: 1.2 GB of 5.0 GB (24%), 61 MB/s, 62 s left`."""
        total = self.total or 0
        rate = max(self.done - self.before, 0) / self.seconds
        share = self.done / total if total else 1.0
        line = f"{self.things}: {size_of(self.done)} of {size_of(total)} ({share:.0%})"
        if not rate:
            return line
        return f"{line}, {size_of(rate)}/s, {duration((total - self.done) / rate)} left"


@contextmanager
def counted(things: str, total: int) -> Iterator[Bytes]:
    """Yield the progress of a transfer; the line on the terminal goes when it ends."""
    progress = Bytes(things, total)
    try:
        yield progress
    finally:
        if sys.stderr.isatty():
            sys.stderr.write(_ERASE)
            sys.stderr.flush()
    progress.finish()
