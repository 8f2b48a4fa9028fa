"""Logging of jobs, and the progress of long loops.

A job's log has all lines. The terminal, where many jobs write, has warnings and errors.

Where the environment has REPORTS, a folder relative to the run's, a job keeps a small file there
with what its loops have done, also on another machine that shares the folder. The process that runs
the workflow reads them and prints one line a phase (`snakemake_logger_plugin_isotope`). Without
it, loops write a line to the terminal every five seconds.
"""

import _thread
import json
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TextIO
from urllib.parse import quote

from isotope.core import held
from isotope.core.errors import IsotopeError, as_disk_full, as_gpu_full, no_room
from isotope.core.faults import record_of
from isotope.core.terminal import printable

_EVERY_S = 5.0
_REPORT_EVERY_S = 0.5
_MOMENT_S = 0.05
INTERRUPTED, TERMINATED = 130, 143
_STOPS = (signal.SIGINT, signal.SIGTERM)
STOPPED = "interrupted; run again to go on"
REPORTS = "ISOTOPE_PROGRESS"
# Lines that move stand below the cursor, which waits where the first of them begins. What else
# writes to the terminal clears them first; they come back with the next frame.
ERASE = "\r\x1b[J"
log = logging.getLogger("isotope")
_IS_PROGRESS = {"is_progress": True}
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400


def duration(seconds: float) -> str:
    """Return e.g. `45 s`, `12 min`, `3 h 5 min` or `2 d 4 h`."""
    rounded = round(seconds)
    if rounded < 2 * _MINUTE:
        return f"{rounded} s"
    if rounded < _HOUR:
        return f"{rounded // _MINUTE} min"
    if rounded < 2 * _DAY:
        return f"{rounded // _HOUR} h {rounded % _HOUR // _MINUTE} min"
    return f"{rounded // _DAY} d {rounded % _DAY // _HOUR} h"


class Progress:
    """Count work done: in the job's report, and in its log every five seconds and at the end."""

    def __init__(self, things: str, total: int | None = None) -> None:
        """Start the clock for `things`, a plural; with a `total`, lines have a share and an end."""
        self.things, self.total, self.done, self.before = things, total, 0, 0
        self._start = self._logged = time.monotonic()
        self._seconds: float | None = None
        for report in _reports:
            report.begin(self)

    def resume(self, done: int) -> None:
        """Count what an earlier run had done already: it is in the share, not in the rate."""
        self.done = self.before = done
        self._start = time.monotonic()

    def add(self, n: int = 1) -> None:
        """Record `n` more, and say so when half a second, or five for the log, have passed."""
        self.done += n
        now = time.monotonic()
        for report in _reports:
            report.write(now)
        if now - self._logged >= _EVERY_S:
            self._logged = now
            log.info(self.line(), extra=_IS_PROGRESS)

    def finish(self) -> None:
        """Report the total and the mean rate."""
        self._seconds = self.seconds
        for report in _reports:
            report.write()
        log.info(self.line())

    @property
    def is_finished(self) -> bool:
        """Whether `finish` was called."""
        return self._seconds is not None

    @property
    def seconds(self) -> float:
        """The time since the start, or since an earlier run's work was resumed."""
        return self._seconds or max(time.monotonic() - self._start, 1e-9)

    def line(self) -> str:
        """Return e.g. `images: 1,200 of 5,000 (24%), 61.3/s, 62 s left`."""
        rate = (self.done - self.before) / self.seconds
        if self.total is None:
            return f"{self.things}: {self.done:,}, {rate:,.1f}/s"
        share = self.done / max(self.total, 1)
        counts = f"{self.things}: {self.done:,} of {self.total:,} ({share:.0%}), {rate:,.1f}/s"
        return f"{counts}, {duration((self.total - self.done) / rate)} left" if rate else counts


class _Report:
    """What the loops of this process have done, in a file for the process that prints.

    JSON with `rule`, `log` (the job's), `ended`, `now` (what is counted at present) and `counts`:
    what, done, total (null if nobody knows), before (of `done`, by an earlier run), seconds. Loops
    over the same things are summed.
    """

    def __init__(self, folder: Path, log_file: Path, rule: str) -> None:
        self._about = {"rule": rule, "log": str(log_file)}
        self._path = folder / f"{quote(str(log_file), safe='')}.json"
        self._owner, self._written = os.getpid(), 0.0
        self._loops = list[Progress]()

    def begin(self, loop: Progress) -> None:
        """Note that a loop begins, in place of one that was given up and is tried again."""
        if os.getpid() == self._owner:
            kept_loops = (
                earlier
                for earlier in self._loops
                if earlier.is_finished or earlier.things != loop.things
            )
            self._loops = [*kept_loops, loop]
            self.write(time.monotonic())

    def write(self, now: float | None = None, *, ended: bool = False) -> None:
        """Write the file; with the time, only if the last one is half a second old."""
        # A forked process has its parent's loops.
        if os.getpid() != self._owner or (now and now - self._written < _REPORT_EVERY_S):
            return
        self._written = time.monotonic()
        content = {**self._about, "ended": ended, **self._counted()}
        aside = self._path.with_suffix(".part")
        # A run needs no report.
        with suppress(OSError):
            aside.parent.mkdir(parents=True, exist_ok=True)
            aside.write_text(json.dumps(content), encoding="utf-8")
            aside.replace(self._path)

    def _counted(self) -> dict[str, Any]:
        sums = dict[str, dict[str, Any]]()
        for loop in self._loops:
            things = _things(loop)
            none = {"what": things, "done": 0, "total": 0, "before": 0, "seconds": 0.0}
            sums_of_things = sums.setdefault(things, none)
            if sums_of_things["total"] is not None:
                sums_of_things["total"] = (
                    None if loop.total is None else sums_of_things["total"] + loop.total
                )
            for name in ("done", "before", "seconds"):
                sums_of_things[name] += getattr(loop, name)
        at_work = [loop for loop in self._loops if not loop.is_finished] or self._loops
        return {"now": _things(at_work[-1]) if at_work else "", "counts": [*sums.values()]}


def _things(loop: Progress) -> str:
    """Return what is counted: `texts encoded` for `texts encoded, shard 1 of 4`."""
    return loop.things.partition(",")[0].partition(" of ")[0]


_reports: list[_Report] = []


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
    """Where many jobs write: warnings and errors, and progress if nobody reads the reports."""

    def filter(self, record: logging.LogRecord) -> bool:
        is_progress = getattr(record, "is_progress", False) and not _reports
        return (is_progress or record.levelno >= logging.WARNING) and bool(super().filter(record))

    def format(self, record: logging.LogRecord) -> str:
        moves = _reports and self.stream.isatty()
        return f"{ERASE if moves else ''}{super().format(record)}"


class _Lines(logging.Formatter):
    """Lines in which what data says is text: a log is printed, too."""

    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))


@contextmanager
def logged(log_file: str | Path, rule: str) -> Iterator[None]:
    """Send the log to `log_file`, and what the terminal is to show there.

    On a user's error the process exits without traceback. SIGTERM ends it as Ctrl-C does.
    """
    stopped = list[int]()
    with (
        _handlers(Path(log_file), rule),
        _reported(Path(log_file), rule),
        _stoppable(stopped),
    ):
        try:
            with _heeded(stopped):
                yield
        except (KeyboardInterrupt, Exception) as error:
            # DuckDB, for one, makes an error of its own of the interrupt.
            if stopped or isinstance(error, KeyboardInterrupt):
                log.error(STOPPED)
                sys.exit(TERMINATED if signal.SIGTERM in stopped else INTERRUPTED)
            named = as_gpu_full(as_disk_full(error, rule), rule)
            if not isinstance(named, IsotopeError):
                log.exception(
                    "unexpected error%s; please report it with this log", record_of(error)
                )
                raise
            log.error("%s: %s", type(named).__name__, named)
            sys.exit(1)


@contextmanager
def _stoppable(stopped: list[int]) -> Iterator[None]:
    """Raise KeyboardInterrupt in the main thread on Ctrl-C and on SIGTERM, and note which came.

    So what is half done is removed. A signal that the process is told to ignore stays ignored.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    owner = os.getpid()

    def stop(number: int, _: object) -> None:
        # A forked process has its parent's handler, and nothing to tidy up.
        if os.getpid() != owner:
            signal.signal(number, signal.SIG_DFL)
            os.kill(os.getpid(), number)
            return
        stopped.append(number)
        raise KeyboardInterrupt

    heard = (number for number in _STOPS if signal.getsignal(number) is not signal.SIG_IGN)
    before = {number: signal.signal(number, stop) for number in heard}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def _heeded(stopped: list[int]) -> Iterator[None]:
    """Raise an interrupt again, a moment later, that was raised where nothing can be.

    Python passes over an exception in a callback from C, as of the compilers of numba, and in a
    finalizer: the job would go on as if nobody had asked it to stop.
    """
    before, again = sys.unraisablehook, list[threading.Timer]()

    def heed(lost: "sys.UnraisableHookArgs") -> None:
        if not stopped or not issubclass(lost.exc_type, KeyboardInterrupt):
            before(lost)
            return
        again.append(threading.Timer(_MOMENT_S, _thread.interrupt_main, [stopped[-1]]))
        again[-1].start()

    sys.unraisablehook = heed
    try:
        yield
    finally:
        sys.unraisablehook = before
        for timer in again:
            timer.cancel()


@contextmanager
def _reported(log_file: Path, rule: str) -> Iterator[None]:
    if not (folder := os.environ.get(REPORTS)):
        yield
        return
    report = _Report(Path(folder), log_file, rule)
    _reports.append(report)
    # A job goes on where the process that started it was killed.
    holder = held.hold()
    try:
        yield
        report.write(ended=True)
    finally:
        held.leave(holder)
        _reports.remove(report)


@contextmanager
def _handlers(log_file: Path, rule: str) -> Iterator[None]:
    log_file.parent.mkdir(parents=True, exist_ok=True)
    file, terminal = _LogFile(log_file, mode="w"), _Terminal(sys.stderr)
    # What libraries warn of is for the log; they configure the root logger on import, so our lines
    # would come twice.
    of_root = logging.getLogger()
    of_root.addHandler(file)
    before = log.propagate, log.level
    log.propagate = False
    log.setLevel(logging.INFO)
    for handler in (file, terminal):
        handler.setFormatter(_Lines(f"%(asctime)s {rule}: %(message)s", "%H:%M:%S"))
        log.addHandler(handler)
    try:
        yield
    finally:
        of_root.removeHandler(file)
        log.propagate = before[0]
        log.setLevel(before[1])
        for handler in (file, terminal):
            log.removeHandler(handler)
            handler.close()
