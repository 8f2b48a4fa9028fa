"""Logging for the adapters and throttled progress lines for long loops."""

import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from isotope.core.errors import IsotopeError, as_disk_full, no_room

_EVERY_S = 5.0
INTERRUPTED = 130
log = logging.getLogger("isotope")


class Progress:
    """Count work done and say so at most every five seconds, and once at the end."""

    def __init__(self, what: str, total: int | None = None) -> None:
        """Start the clock for `what` (a plural); with a `total`, lines have a share and an end."""
        self.what, self.total, self.done = what, total, 0
        self._start = self._said = time.monotonic()

    def add(self, n: int = 1) -> None:
        """Record `n` more, and report when five seconds have passed since the last line."""
        self.done += n
        if time.monotonic() - self._said >= _EVERY_S:
            self._said = time.monotonic()
            log.info(self.line())

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
    """A log that ends where the disk is full; the terminal has the same lines."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        error = sys.exc_info()[1]
        if error is None or not no_room(error):
            super().handleError(record)

    def close(self) -> None:
        with suppress(OSError):
            super().close()


@contextmanager
def logged(log_file: str | Path, rule: str) -> Iterator[None]:
    """Send the log to `log_file` and the terminal; on a user's error exit without traceback."""
    Path(log_file).parent.mkdir(parents=True, exist_ok=True)
    handlers = [_LogFile(log_file, mode="w"), logging.StreamHandler(sys.stderr)]
    for handler in handlers:
        handler.setFormatter(logging.Formatter(f"%(asctime)s {rule}: %(message)s", "%H:%M:%S"))
        log.addHandler(handler)
    log.setLevel(logging.INFO)
    # Libraries configure the root logger on import; our lines would come twice.
    log.propagate = False
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
    finally:
        for handler in handlers:
            log.removeHandler(handler)
            handler.close()
