"""Lines that move at the end of a terminal, one a phase, while other lines go by above them.

The cursor waits where the first of them begins. So a frame needs no memory of the one before, and
nothing has to be put right when the run is killed, the window changes its size, or another process
writes to the terminal: a frame clears what is below the cursor and draws anew.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TextIO

from isotope.core.progress import ERASE, duration
from snakemake_logger_plugin_isotope.phases import PhaseState

WIDTH, HEIGHT = 80, 24
# Phases stand below each other; the longest of those that count has eight letters.
_NAME = 8
_MOST_BAR, _LEAST_BAR = 30, 10
_BARS = {True: "━╌", False: "#-"}
_COLOUR, _DIM, _PLAIN = "\x1b[36m", "\x1b[2m", "\x1b[0m"
# A rate from which tenths tell nothing.
_FAST = 100
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


class Screen:
    """Writes lines, and below them those that move, if the stream is a terminal that can."""

    def __init__(self, stream: TextIO, *, colour: bool) -> None:
        """Write to `stream`; without `colour`, no colours."""
        self._stream, self._lines = stream, list[str]()
        self.moves = stream.isatty() and os.environ.get("TERM") not in (None, "", "dumb")
        self._colour = colour
        self._bar = _BARS["utf" in (stream.encoding or "").lower()]

    @contextmanager
    def above(self) -> Iterator[None]:
        """Clear the lines that move, for others to be written in their place."""
        if self._lines:
            self._stream.write(ERASE)
        try:
            yield
        finally:
            self.draw(self._lines)

    def write(self, text: str) -> None:
        """Write lines above those that move."""
        with self.above():
            self._stream.write(text)
            self._stream.flush()

    def show(self, states: Sequence[PhaseState]) -> None:
        """Draw the lines that move, as wide as the terminal is now."""
        width, height = self._size()
        self.draw([self._drawn(state, width - 1) for state in states[: height - 1]])

    def draw(self, lines: Sequence[str]) -> None:
        """Draw these lines, which are no wider than the terminal; none clears what was there."""
        if lines or self._lines:
            up = f"\x1b[{len(lines) - 1}A" if len(lines) > 1 else ""
            # One call, so that no other process writes into a frame.
            frame = "\n".join(lines)
            self._stream.write(f"{ERASE}{frame}{up}\r")
            self._stream.flush()
        self._lines = [*lines]

    def _size(self) -> tuple[int, int]:
        with suppress(OSError, ValueError):
            size = os.get_terminal_size(self._stream.fileno())
            return size.columns or WIDTH, size.lines or HEIGHT
        return WIDTH, HEIGHT

    def _drawn(self, state: PhaseState, width: int) -> str:
        text = line(state, width)
        room = min(_MOST_BAR, width - len(text) - 2)
        if state.share is None or room < _LEAST_BAR:
            return text
        full = round(room * min(state.share, 1.0))
        done, rest = self._bar[0] * full, self._bar[1] * (room - full)
        bar = f"{_COLOUR}{done}{_PLAIN}{_DIM}{rest}{_PLAIN}" if self._colour else done + rest
        return f"{text[:_NAME]} {bar} {text[_NAME + 1 :]}"


def line(state: PhaseState, width: int | None = None) -> str:
    """Return a phase in words, those first that a narrow terminal has room for.

    E.g. `crawl      52%  31,402 of 60,000 images, 512/s, 56 s left, 2 of 16 jobs`.
    """
    share = "" if state.share is None else f"{min(state.share, 1.0):.0%}"
    left = f"{duration(state.left_s)} left" if state.left_s is not None else ""
    jobs = f"{state.jobs} of {state.planned} jobs" if state.planned > 1 else ""
    parts = [counted(state), rated(state) if state.rate else "", left, jobs]
    head = f"{state.phase:<{_NAME}} {share:>4}"
    # From what matters least: jobs, rate, the count.
    for leave in ((), (3,), (3, 1), (3, 1, 0)):
        words = ", ".join(p for n, p in enumerate(parts) if p and n not in leave)
        text = f"{head}  {words}".rstrip()
        if width is None or len(text) <= width:
            return text
    return text[: max(width or 0, 0)]


def plain(state: PhaseState) -> str:
    """Return a phase for a file, where nothing stands in columns."""
    return " ".join(line(state).split())


def counted(state: PhaseState) -> str:
    """Return e.g. `31,402 of 60,000 images`, or `1.2 of 3.4 GB`; `~` where jobs have not begun."""
    if state.what == "bytes":
        most = state.done if state.total is None else state.total
        power = min(len(_UNITS) - 1, (len(str(most)) - 1) // 3)
        done, total = (f"{n / 1000**power:,.1f}" for n in (state.done, most))
        unit = _UNITS[power]
    else:
        done, total, unit = f"{state.done:,}", f"{state.total or 0:,}", state.what
    if state.total is None:
        return f"{done} {unit}"
    return f"{done} of {'~' if state.about else ''}{total} {unit}"


def rated(state: PhaseState) -> str:
    """Return things a second, or a minute where that is less than one."""
    if state.what == "bytes":
        return f"{state.rate / 1e6:,.1f} MB/s"
    if state.rate < 1:
        return f"{state.rate * 60:,.1f}/min"
    return f"{state.rate:,.{0 if state.rate >= _FAST else 1}f}/s"
