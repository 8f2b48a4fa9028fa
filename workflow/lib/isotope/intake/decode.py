"""The process that decodes untrusted pictures: bytes on its input, WebP on its output.

    python -m isotope.intake.decode '{"max_pixels": ..., "decode_s": ..., "decode_mb": ...}'

A parent that has imported everything forks a worker. When that is killed (by a crash in a decoder,
its limit of time or of memory), the parent reports the death in its place and forks another, which
takes milliseconds; the crawl loses one picture. Before anything decodes the bytes of a picture,
they are validated by their beginning, their end and the picture's header.
"""

import io
import json
import os
import re
import resource
import signal
import struct
import sys
import zipfile
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from mmap import mmap
from pathlib import Path
from select import select
from typing import Any

import numpy as np
from PIL import Image

# A number, so that no answer is taken for that of another picture; then the sizes that follow.
REQUEST, REPLY = struct.Struct("<QIQ"), struct.Struct("<4sQIQ")
MAGIC = b"webp"
_STATE = struct.Struct("<QQ")
_IDLE, _READING, _WORKING = range(3)
_MB = 10**6
_NO_MEMORY = ("insufficient memory", "bad_alloc", "cannot allocate", "unable to allocate")
# Pillow's own limit for a picture that may be a decompression bomb, doubled as Pillow does.
IMAGE_LIMIT_PIXELS = 178_956_970
_WEBP_QUALITY = 100
_SIGNATURES = (
    (b"\xff\xd8\xff", "jpeg"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
    (b"BM", "bmp"),
    (b"%PDF-", "pdf"),
)
NO_PIXELS = ("svg", "pdf")
_ANIMATED_FORMATS = {"gif", "png", "webp"}
_HEAD_BYTES = 1024
_SVG = re.compile(rb"\s*(?:<\?xml|<!DOCTYPE svg|<!--|<svg)", re.IGNORECASE)
# What browsers and readers of PDF run or open wherever they find it in the first 1,024 bytes.
_OTHER_HEADS = re.compile(rb"%PDF-|<script|<html|<!doctype html|<\?php|<svg", re.IGNORECASE)
_TYPES = ("image/", "application/octet-stream", "binary/octet-stream")
# A side of a WebP picture has 14 bits (RFC 9649, 2.6).
WEBP_SIDE = 16_383


def main(limits: Mapping[str, Any]) -> None:
    """Fork one worker after the other until the input ends."""
    pipes = os.dup(0), os.dup(1)
    os.dup2(2, 1)
    state = mmap(-1, _STATE.size)
    # What OpenCV loads with its first picture is loaded before the fork, outside of the limits.
    with suppress(ValueError):
        to_webp(b"")
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
        outcome, webp = answer(data, kind or None, limits)
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


def answer(
    data: bytes, content_type: str | None, limits: Mapping[str, Any]
) -> tuple[dict[str, Any], bytes]:
    """Return what became of a picture (columns of the ledger), and its WebP bytes."""
    finding = validate(data, content_type, limits["max_pixels"])
    outcome = {"status": finding.status, "format": finding.format, "trait": finding.trait}
    if finding.status is not None:
        return {**outcome, "error": finding.error}, b""
    try:
        webp, width, height = to_webp(data)
    except MemoryError:
        return {**outcome, "status": "decoder_died", "error": "out of memory"}, b""
    except ValueError as error:
        full = any(words in str(error).lower() for words in _NO_MEMORY)
        status, message = (
            ("decoder_died", "out of memory") if full else ("not_an_image", str(error))
        )
        return {**outcome, "status": status, "error": message}, b""
    return {**outcome, "status": "success", "width": width, "height": height}, webp


@dataclass(frozen=True)
class Finding:
    """A status if the bytes must not be decoded; `trait` is animated, cmyk or None."""

    status: str | None = None
    format: str | None = None
    trait: str | None = None
    error: str | None = None


def validate(data: bytes, content_type: str | None, max_pixels: int) -> Finding:
    """Check bytes before anything decodes them."""
    kind = image_format(data)
    if kind in NO_PIXELS:
        return Finding(kind, kind, error="no picture of pixels")
    if kind is None:
        return Finding("not_an_image", error="no format that is known")
    if content_type and not content_type.strip().lower().startswith(_TYPES):
        return Finding("wrong_type", kind, error=f"sent as {content_type.partition(';')[0]}")
    if is_polyglot(data):
        return Finding("polyglot", kind, error="a picture and something else")
    return _header(data, kind, max_pixels)


def image_format(data: bytes) -> str | None:
    """Return the format by the first bytes, None for what is no picture or document."""
    for signature, name in _SIGNATURES:
        if data.startswith(signature):
            return name
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    head = data[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf")
    if data[:2] == b"\x1f\x8b" or (_SVG.match(head) and b"<svg" in data[: 8 * _HEAD_BYTES].lower()):
        return "svg"
    return None


def is_polyglot(data: bytes) -> bool:
    """Tell whether a picture is also a document, a page, a script or an archive."""
    # ASSUME a photograph has no ZIP archive behind it (those of some cameras end with a film, MP4);
    # no paper says.
    return bool(_OTHER_HEADS.search(data[:_HEAD_BYTES])) or zipfile.is_zipfile(io.BytesIO(data))


def _header(data: bytes, kind: str, max_pixels: int) -> Finding:
    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(io.BytesIO(data), formats=[kind.upper()]) as image:
            width, height = image.size
            is_animated = kind in _ANIMATED_FORMATS and getattr(image, "is_animated", False)
            trait = "animated" if is_animated else "cmyk" if image.mode == "CMYK" else None
    except (OSError, ValueError, SyntaxError, EOFError, OverflowError) as error:
        return Finding(
            "not_an_image", kind, error=f"no header of a {kind} ({type(error).__name__})"
        )
    if width * height > max_pixels or max(width, height) > WEBP_SIDE:
        return Finding("too_many_pixels", kind, trait, f"{width} x {height} pixels")
    return Finding(None, kind, trait)


def to_webp(data: bytes) -> tuple[bytes, int, int]:
    """Convert a picture to (WebP, width, height in pixels) at its own size, on white.

    These are the calls of OpenCV that img2dataset 1.47's Resizer makes when it resizes nothing; a
    test holds the bytes equal. Importing that package takes 4 s of a core, OpenCV alone 0.2 s.

    Raises:
        ValueError: bytes that are no picture, too many pixels, or no memory for them.
    """
    import cv2  # noqa: PLC0415 (the process that crawls reads this module for its protocol alone)

    with _silence():
        cv2.setNumThreads(1)
        try:
            image: Any = cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
            if image is None:
                raise ValueError("Image decoding error")
            height, width = image.shape[:2]
            if height * width > IMAGE_LIMIT_PIXELS:
                raise ValueError("image area too large")
            quality = [cv2.IMWRITE_WEBP_QUALITY, _WEBP_QUALITY]
            done, webp = cv2.imencode(".webp", _on_white(image), quality)
        except cv2.error as error:
            raise ValueError(str(error)) from error
    if not done:
        raise ValueError(f"no WebP of {width} x {height} pixels")
    return webp.tobytes(), width, height


def _on_white(image: Any) -> Any:  # noqa: ANN401 (an array of OpenCV's, uint8 or wider)
    if image.ndim < 3 or image.shape[-1] != 4:  # noqa: PLR2004 (blue, green, red, alpha)
        return image
    alpha = image[..., 3:]
    mixed = alpha / 255 * image[..., :3] + 255 - alpha
    return np.rint(mixed.clip(min=0, max=255)).astype(np.uint8)


@contextmanager
def _silence() -> Generator[None]:
    """Drop what a decoder written in C prints about a damaged picture."""
    saved = os.dup(1), os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 1)
        os.dup2(null, 2)
        yield
    finally:
        for number, file in enumerate(saved, 1):
            os.dup2(file, number)
            os.close(file)
        os.close(null)


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    main(json.loads(sys.argv[1]))
