"""The process that decodes: it reads pictures from its input, answers with WebP, and may die.

    python -m isotope.crawl_decode '{"max_pixels": ..., "decode_s": ..., "decode_mb": ...}'

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
from typing import Any

from isotope.crawl_sift import sift

REQUEST, REPLY = struct.Struct("<IQ"), struct.Struct("<4sIQ")
MAGIC = b"webp"
_MB = 10**6
_NO_MEMORY = ("insufficient memory", "bad_alloc", "cannot allocate")
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


def reply(file: int, told: Mapping[str, Any], webp: bytes) -> None:
    """Send one answer."""
    said = json.dumps(told).encode()
    write(file, REPLY.pack(MAGIC, len(said), len(webp)) + said + webp)


def _work(source: int, sink: int, limits: Mapping[str, Any], encode: Encode) -> None:
    """Answer until the input ends; the alarm's default action ends the process."""
    with open("/proc/self/statm", encoding="ascii") as file:  # noqa: PTH123 (after the fork)
        now = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    most = now + limits["decode_mb"] * _MB
    resource.setrlimit(resource.RLIMIT_AS, (most, most))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    while True:
        try:
            kind_size, size = REQUEST.unpack(read(source, REQUEST.size))
            kind = read(source, kind_size).decode()
            data = read(source, size)
        except EOFError:
            return
        signal.setitimer(signal.ITIMER_REAL, limits["decode_s"])
        told, webp = answer(data, kind or None, limits, encode)
        signal.setitimer(signal.ITIMER_REAL, 0)
        reply(sink, told, webp)


def _death(number: int) -> dict[str, Any]:
    if number == signal.SIGALRM:
        return {"status": "decode_timeout", "error": None}
    return {"status": "decoder_died", "error": signal.Signals(number).name}


def main(limits: Mapping[str, Any]) -> None:
    """Fork one worker after the other until the input ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    source, sink = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    import cv2  # noqa: PLC0415 (seconds of imports)

    from isotope.crawl_tool import webp_encoder  # noqa: PLC0415

    cv2.setNumThreads(1)
    encode = webp_encoder()
    # Imported before the fork, and outside of the worker's limits.
    with suppress(ValueError):
        encode(b"")
    while True:
        worker = os.fork()
        if worker == 0:
            _work(source, sink, limits, encode)
            os._exit(0)
        code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
        if code >= 0:
            sys.exit(code)
        reply(sink, _death(-code), b"")


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
