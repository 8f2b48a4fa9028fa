"""The process that decodes untrusted pictures: bytes on its input, WebP on its output.

    python -m isotope.intake.decode '{"max_pixels": ..., "decode_s": ..., "decode_mb": ...}'

A parent that has imported everything forks a worker. When that is killed (by a crash in a decoder,
its limit of time or of memory), the parent reports the death in its place and forks another, which
takes milliseconds; the crawl loses one picture. What a library raises is a row of the ledger; what
isotope's own code raises is sent back as such, and ends the job that asked.
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
from pathlib import Path
from select import select
from typing import Any

from isotope.intake import resize
from isotope.intake.convert import answer, to_webp
from isotope.intake.limits import Refused

# A number, so that no answer is taken for that of another picture; then the sizes that follow.
REQUEST, REPLY = struct.Struct("<QIQ"), struct.Struct("<4sQIQ")
MAGIC = b"webp"
# Of an answer that is a fault of isotope's own, with its traceback.
BUG = "bug"
_STATE = struct.Struct("<QQ")
_IDLE, _READING, _WORKING = range(3)
_MB = 10**6


def main(limits: Mapping[str, Any]) -> None:
    """Fork one worker after the other until the input ends."""
    pipes = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    state = mmap(-1, _STATE.size)
    # What is loaded with the first picture is loaded before the fork, outside of the limits.
    with suppress(Refused):
        to_webp(b"")
    if limits.get("side_px"):
        resize.load(limits["side_px"])
    while True:
        worker = os.fork()
        if worker == 0:
            _confine(limits)
            _work(pipes, state, limits)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
        phase, number = _STATE.unpack_from(state)
        if code >= 0:
            sys.exit(code)
        if phase == _READING:
            os.kill(os.getpid(), signal.SIGKILL)
        if phase == _WORKING:
            reply(pipes[1], number, _death(-code), b"")
        _STATE.pack_into(state, 0, _IDLE, number)


def _work(pipes: tuple[int, int], state: mmap, limits: Mapping[str, Any]) -> None:
    """Answer until the input ends; the clock's signal ends the process.

    The clock counts seconds of the processor, so that a busy machine changes no outcome.
    """
    source, sink = pipes
    while True:
        select([source], [], [])
        # From here on a death leaves half a request in the pipe.
        _STATE.pack_into(state, 0, _READING, 0)
        try:
            number, kind_size, size = REQUEST.unpack(read(source, REQUEST.size))
            kind = read(source, kind_size).decode()
            data = read(source, size)
        except EOFError:
            return
        _STATE.pack_into(state, 0, _WORKING, number)
        signal.setitimer(signal.ITIMER_PROF, limits["decode_s"])
        try:
            outcome, webp = answer(data, kind or None, limits)
        except Exception:
            outcome, webp = {"status": BUG, "error": traceback.format_exc()}, b""
        signal.setitimer(signal.ITIMER_PROF, 0)
        reply(sink, number, outcome, webp)
        _STATE.pack_into(state, 0, _IDLE, number)


def _confine(limits: Mapping[str, Any]) -> None:
    now = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    most = now + limits["decode_mb"] * _MB
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _death(number: int) -> dict[str, Any]:
    if number == signal.SIGPROF:
        return {"status": "decode_timeout", "error": None}
    return {"status": "decoder_died", "error": signal.Signals(number).name}


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


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main(json.loads(sys.argv[1]))
