"""The process that decodes: it reads pictures from its input, answers with WebP, and may die.

    python -m isotope.crawl.decode '{"max_pixels": ..., "decode_s": ..., "decode_mb": ...}'

A parent that has imported everything forks the process that works. When that is killed (a crash in
a decoder, its clock, its memory), the parent says so in its place and forks another; so a death
costs milliseconds, and the crawl one picture.
"""

import json
import os
import resource
import signal
import struct
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from mmap import mmap
from pathlib import Path
from select import select
from typing import Any

from isotope.crawl.validate import sift

# A number, so that no answer is taken for that of another picture; then the sizes that follow.
REQUEST, REPLY = struct.Struct("<QIQ"), struct.Struct("<4sQIQ")
MAGIC = b"webp"
_STATE = struct.Struct("<QQ")
_IDLE, _READING, _WORKING = range(3)
_MB = 10**6
_NO_MEMORY = ("insufficient memory", "bad_alloc", "cannot allocate", "unable to allocate")
Encode = Callable[[bytes], tuple[bytes, int, int]]


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


def answer(
    data: bytes, content_type: str | None, limits: Mapping[str, Any], encode: Encode
) -> tuple[dict[str, Any], bytes]:
    """Return what became of a picture (columns of the ledger), and its WebP bytes."""
    found = sift(data, content_type, limits["max_pixels"])
    told = {"status": found.status, "format": found.form, "trait": found.trait}
    if found.status is not None:
        return {**told, "error": found.error}, b""
    try:
        webp, width, height = encode(data)
    except MemoryError:
        return {**told, "status": "decoder_died", "error": "out of memory"}, b""
    except ValueError as error:
        full = any(words in str(error).lower() for words in _NO_MEMORY)
        status, said = ("decoder_died", "out of memory") if full else ("not_an_image", str(error))
        return {**told, "status": status, "error": said}, b""
    return {**told, "status": "success", "width": width, "height": height}, webp


def reply(file: int, number: int, told: Mapping[str, Any], webp: bytes) -> None:
    """Send one answer."""
    said = json.dumps(told).encode()
    write(file, REPLY.pack(MAGIC, number, len(said), len(webp)) + said + webp)


def _confine(limits: Mapping[str, Any]) -> None:
    now = int(Path("/proc/self/statm").read_text("ascii").split()[0]) * resource.getpagesize()
    most = now + limits["decode_mb"] * _MB
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _work(pipes: tuple[int, int], state: mmap, limits: Mapping[str, Any], encode: Encode) -> None:
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
        told, webp = answer(data, kind or None, limits, encode)
        signal.setitimer(signal.ITIMER_PROF, 0)
        reply(sink, number, told, webp)
        _STATE.pack_into(state, 0, _IDLE, number)


def _death(number: int) -> dict[str, Any]:
    if number == signal.SIGPROF:
        return {"status": "decode_timeout", "error": None}
    return {"status": "decoder_died", "error": signal.Signals(number).name}


def main(limits: Mapping[str, Any]) -> None:
    """Fork one worker after the other until the input ends."""
    pipes = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    encode, state = _encoder(), mmap(-1, _STATE.size)
    while True:
        worker = os.fork()
        if worker == 0:
            _confine(limits)
            _work(pipes, state, limits, encode)
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


def _encoder() -> Encode:
    """Import everything before the fork, and outside of the worker's limits."""
    import cv2  # noqa: PLC0415 (seconds of imports)

    from isotope.crawl.validate import webp_encoder  # noqa: PLC0415

    cv2.setNumThreads(1)
    encode = webp_encoder()
    with suppress(ValueError):
        encode(b"")
    return encode


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main(json.loads(sys.argv[1]))
