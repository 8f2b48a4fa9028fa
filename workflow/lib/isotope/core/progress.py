"""Logging of jobs and throttled progress lines for long loops.

A job's log has all lines. The terminal, where many jobs write, has warnings, errors, and what long
loops report every five seconds.
"""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TextIO

from isotope.core.errors import IsotopeError, as_disk_full, no_room

_EVERY_S = 5.0
INTERRUPTED = 130
log = logging.getLogger("isotope")
_IS_PROGRESS = {"is_progress": True}


class Progress:
    """Count work done and say so at most every five seconds, and once at the end."""

    def __init__(self, what: str, total: int | None = None) -> None:
        """Start the clock for `what` (a plural); with a `total`, lines have a share and an end."""
        self.what, self.total, self.done = what, total, 0
        self._start = self._reported = time.monotonic()

    def add(self, n: int = 1) -> None:
        """Record `n` more, and report when five seconds have passed since the last line."""
        self.done += n
        if time.monotonic() - self._reported >= _EVERY_S:
            self._reported = time.monotonic()
            log.info(self.line(), extra=_IS_PROGRESS)

    def finish(self) -> None:
        """Report the total and the mean rate."""
        log.info(self.line())

    def line(self) -> str:
        """Return e.g. `images: 1,200 of 5,000 (24%), 61.3/s, 62 s left`."""
        elapsed = max(time.monotonic() - self._start, 1e-9)
        rate = self.done / elapsed
        if self.total is None:
            return f"{self.what}: {self.done:,}, {rate:,.1f}/s"
        share = self.done / max(self.total, 1)
        left = (self.total - self.done) / rate if rate else float("inf")
        counts = f"{self.what}: {self.done:,} of {self.total:,} ({share:.0%})"
        return f"{counts}, {rate:,.1f}/s, {left:,.0f} s left"


class _LogFile(logging.FileHandler):
    """A log that ends where the disk is full; the terminal has its errors."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        error = sys.exc_info()[1]
        if error is None or not no_room(error):
            super().handleError(record)

    def close(self) -> None:
        with suppress(OSError):
            super().close()


class _Terminal(logging.StreamHandler[TextIO]):
    """Where many jobs write: progress, warnings and errors."""

    def filter(self, record: logging.LogRecord) -> bool:
        is_visible = record.levelno >= logging.WARNING or getattr(record, "is_progress", False)
        return is_visible and bool(super().filter(record))


@contextmanager
def logged(log_file: str | Path, rule: str) -> Iterator[None]:
    """Send the log to `log_file`, and what the terminal is to show there.

    On a user's error the process exits without traceback.
    """
    with _handlers(Path(log_file), rule):
        try:
            yield
        except KeyboardInterrupt:
            log.error("interrupted; run again to go on")
            sys.exit(INTERRUPTED)
        except Exception as error:
            named = as_disk_full(error, rule)
            if not isinstance(named, IsotopeError):
                log.exception("unexpected error; please report it with this log")
                raise
            log.error("%s: %s", type(named).__name__, named)
            sys.exit(1)


@contextmanager
def _handlers(log_file: Path, rule: str) -> Iterator[None]:
    log_file.parent.mkdir(parents=True, exist_ok=True)
    file, terminal = _LogFile(log_file, mode="w"), _Terminal(sys.stderr)
    # What libraries warn of is for the log; they configure the root logger on import, so our lines
    # would come twice.
    of_root = logging.getLogger()
    of_root.addHandler(file)
    log.propagate = False
    log.setLevel(logging.INFO)
    for handler in (file, terminal):
        handler.setFormatter(logging.Formatter(f"%(asctime)s {rule}: %(message)s", "%H:%M:%S"))
        log.addHandler(handler)
    try:
        yield
    finally:
        of_root.removeHandler(file)
        for handler in (file, terminal):
            log.removeHandler(handler)
            handler.close()
