"""The rehearsal's stand-in for upload.wikimedia.org: thumbnails on loopback, some dead, some slow.

    python benchmarks/rehearsal_server.py PORT

A picture is made from its address alone, when it is requested. `/.counts` answers with the number
of requests, of addresses, and of requests for a picture that had been sent whole.
"""

import asyncio
import hashlib
import io
import json
import random
import re
import sys
from collections import Counter

from aiohttp import web
from PIL import Image

# Of a thousand addresses so many fail in this way; real crawls find about 6 in 100 dead.
FAULTS = {"not_found": 50, "gone": 5, "slow": 3, "truncated": 2, "html": 2, "rate_limited": 2}
_SLOW_S = 2.0
_RATIO = 2 / 3
_GRAIN = 7
_WIDTH = re.compile(r"/(\d+)px-")
_DEFAULT_WIDTH = 250
_PNG_COLOURS = 32


def fault(path: str) -> str:
    """Return how an address fails, or nothing."""
    place = int.from_bytes(hashlib.md5(path.encode(), usedforsecurity=False).digest()[:4], "big")
    place %= 1000
    for name, share in FAULTS.items():
        if place < share:
            return name
        place -= share
    return ""


def picture(path: str) -> tuple[str, bytes]:
    """Return the type and the bytes of the picture at an address."""
    found = _WIDTH.search(path)
    width = int(found[1]) if found else _DEFAULT_WIDTH
    seed = hashlib.md5(path.encode(), usedforsecurity=False).digest()
    size = (width, round(width * _RATIO))
    few = (max(2, width // _GRAIN // 2), max(2, size[1] // _GRAIN // 2))
    noise = random.Random(seed).randbytes(few[0] * few[1] * 3)
    image = Image.frombytes("RGB", few, noise).resize(size, Image.Resampling.BILINEAR)
    out = io.BytesIO()
    if path.lower().endswith(".png"):
        image.quantize(_PNG_COLOURS, Image.Quantize.FASTOCTREE).save(out, "PNG", compress_level=1)
        return "image/png", out.getvalue()
    image.save(out, "JPEG", quality=80)
    return "image/jpeg", out.getvalue()


class Uploads:
    """Answers for every address, and counts."""

    def __init__(self) -> None:
        """Start with nothing requested."""
        self.requests = Counter[str]()
        self.well = set[str]()
        self.again = 0

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """Answer with a picture, or as its address fails."""
        path = request.path
        if path == "/.counts":
            counts = {"requests": self.requests.total(), "addresses": len(self.requests)}
            return web.Response(text=json.dumps({**counts, "again": self.again}))
        self.requests[path] += 1
        kind = fault(path)
        if kind in {"not_found", "gone"}:
            return web.Response(status=404 if kind == "not_found" else 410, text="no such file\n")
        if kind == "html":
            return web.Response(text="<!doctype html>", content_type="text/html")
        if kind == "rate_limited" and self.requests[path] == 1:
            return web.Response(status=429, headers={"Retry-After": "0"}, text="slow down\n")
        if kind == "slow":
            await asyncio.sleep(_SLOW_S)
        mime, body = picture(path)
        if kind == "truncated":
            return await _cut(request, mime, body)
        self.again += path in self.well
        self.well.add(path)
        return web.Response(body=body, content_type=mime)


async def _cut(request: web.Request, mime: str, body: bytes) -> web.StreamResponse:
    response = web.StreamResponse(headers={"Content-Type": mime, "Content-Length": str(len(body))})
    await response.prepare(request)
    await response.write(body[: len(body) // 2])
    if request.transport is not None:
        request.transport.close()
    return response


def main(port: int) -> None:
    """Serve until the process is ended."""
    application = web.Application()
    application.router.add_get("/{path:.*}", Uploads().answer)
    web.run_app(application, host="127.0.0.1", port=port, print=None, access_log=None)


if __name__ == "__main__":
    main(int(sys.argv[1]))
