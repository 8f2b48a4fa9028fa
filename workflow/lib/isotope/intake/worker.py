"""What decodes one picture after the other, and says in a few bytes of memory what it is at.

    python -m isotope.intake.worker '{"max_pixels": ..., "decode_s": ...}' 3 4 5

A worker is forked of its parent (`isotope.intake.decode`), or a program of its own with the numbers
of three open files: where pictures come from, where answers go, and what it shares with its parent.
"""

import json
import os
import resource
import signal
import struct
import sys
import traceback
from collections.abc import Mapping
from contextlib import suppress
from mmap import mmap
from select import select
from typing import Any

import psutil

from isotope.intake import resize
from isotope.intake.convert import answer, to_webp
from isotope.intake.limits import Refused

# A number, so that no answer is taken for that of another picture; then the sizes that follow.
REQUEST, REPLY = struct.Struct("<QIQ"), struct.Struct("<4sQIQ")
MAGIC = b"webp"
# Of an answer that is a fault of isotope's own, with its traceback.
BUG = "bug"
STARTING, IDLE, READING, WORKING = range(4)
_PHASE = struct.Struct("<QQ")
_BYTES = struct.Struct("<Q")
STATE_BYTES = _PHASE.size + _BYTES.size


class WorkerState:
    """What a worker and its parent share: a phase, the number of a picture, bytes of memory."""

    def __init__(self, shared: mmap) -> None:
        """Take a map of STATE_BYTES that both have."""
        self._shared = shared

    def enter(self, phase: int, number: int = 0) -> None:
        """Say what the worker is at."""
        _PHASE.pack_into(self._shared, 0, phase, number)

    def phase(self) -> tuple[int, int]:
        """Return what the worker is at, and the number of its picture."""
        phase, number = _PHASE.unpack_from(self._shared)
        return phase, number

    @property
    def loaded(self) -> int:
        """Memory of a worker that has read nothing yet, bytes."""
        return _BYTES.unpack_from(self._shared, _PHASE.size)[0]

    @loaded.setter
    def loaded(self, size: int) -> None:
        _BYTES.pack_into(self._shared, _PHASE.size, size)


def load(limits: Mapping[str, Any]) -> None:
    """Load what is loaded with the first picture, outside of the limits."""
    with suppress(Refused):
        to_webp(b"")
    if limits.get("side_px"):
        resize.load(limits["side_px"])


def work(source: int, sink: int, state: WorkerState, limits: Mapping[str, Any]) -> None:
    """Answer until the input ends; the clock's signal ends the process.

    The clock counts seconds of the processor, so that a busy machine changes no outcome.
    """
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        select([source], [], [])
        # From here on a death leaves half a request in the pipe.
        state.enter(READING)
        try:
            number, kind_size, size = REQUEST.unpack(read(source, REQUEST.size))
            kind = read(source, kind_size).decode()
            data = read(source, size)
        except EOFError:
            return
        state.enter(WORKING, number)
        signal.setitimer(signal.ITIMER_PROF, limits["decode_s"])
        try:
            outcome, webp = answer(data, kind or None, limits)
        except Exception:
            outcome, webp = {"status": BUG, "error": traceback.format_exc()}, b""
        signal.setitimer(signal.ITIMER_PROF, 0)
        reply(sink, number, outcome, webp)
        state.enter(IDLE, number)


def memory(process: int) -> int:
    """Return how much memory a process has, bytes; 0 for one that is gone."""
    try:
        return psutil.Process(process).memory_info().rss
    except psutil.Error:
        return 0


def read(file: int, count: int) -> bytes:
    """Return exactly so many bytes.

    Raises:
        EOFError: the other side is gone.
    """
    parts = bytearray()
    while len(parts) < count:
        part = os.read(file, min(count - len(parts), 1 << 20))
        if not part:
            raise EOFError
        parts += part
    return bytes(parts)


def write(file: int, data: bytes) -> None:
    """Write all bytes."""
    left = memoryview(data)
    while left:
        left = left[os.write(file, left) :]


def reply(file: int, number: int, outcome: Mapping[str, Any], webp: bytes) -> None:
    """Send one answer."""
    text = json.dumps(outcome).encode()
    write(file, REPLY.pack(MAGIC, number, len(text), len(webp)) + text + webp)


def main(limits: Mapping[str, Any], source: int, sink: int, shared: int) -> None:
    """Load, say with how much memory, and work."""
    state = WorkerState(mmap(shared, STATE_BYTES))
    load(limits)
    state.loaded = memory(os.getpid())
    state.enter(IDLE)
    work(source, sink, state, limits)


if __name__ == "__main__":
    main(json.loads(sys.argv[1]), *map(int, sys.argv[2:]))
