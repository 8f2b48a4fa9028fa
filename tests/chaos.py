"""A loopback server that does to a crawl whatever a server can do, the same to every crawl.

What it does to a URL is the first part of its path: `/<fault>/<n>`. Transient faults end after
one answer; `forget` begins them anew, as if the world had not been asked before.
"""

import asyncio
import hashlib
import io
import struct
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import cache

from PIL import Image
from tests.loopback import listening

MIB = 2**20


@cache
def picture(n: int, form: str = "PNG", mode: str = "RGB", **options: object) -> bytes:
    """A small picture; there are 32 different ones of each kind."""
    n %= 32
    out = io.BytesIO()
    image = Image.new("RGB", (8 + n % 5, 6), (7 * n % 256, 31 * n % 256, 200)).convert(mode)
    image.save(out, form, **options)
    return out.getvalue()


@cache
def png(width: int, height: int, *, rows: int | None = None) -> bytes:
    """A PNG of zeros that claims a size; only `rows` of it are there."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = struct.pack(">I", zlib.crc32(kind + data))
        return struct.pack(">I", len(data)) + kind + data + check

    header = struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0)
    data = zlib.compress(bytes((1 + 4 * width) * (height if rows is None else rows)), 9)
    parts = (chunk(b"IHDR", header), chunk(b"IDAT", data), chunk(b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


@cache
def animated() -> bytes:
    out = io.BytesIO()
    frames = [Image.new("RGB", (9, 9), (90 * n, 0, 0)) for n in range(3)]
    frames[0].save(out, "GIF", save_all=True, append_images=frames[1:])
    return out.getvalue()


@cache
def polyglot() -> bytes:
    out = io.BytesIO(picture(0, "JPEG"))
    out.seek(0, io.SEEK_END)
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr("run.js", "alert(1)")
    return out.getvalue()


SVG = b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'/>"
# What is sent for a fault, as (type, body); the picture `n` where nothing is told.
BODIES = {
    "html": ("text/html", b"<!doctype html><title>sorry</title>"),
    "empty": ("image/png", b""),
    "svg": ("image/svg+xml", SVG),
    "svg_as_png": ("image/png", SVG),
    "pdf": ("application/pdf", b"%PDF-1.7\n1 0 obj\n"),
    "wrong_type": ("text/html", picture(1)),
    "polyglot": ("image/jpeg", polyglot()),
    "polyglot_head": ("image/gif", b"GIF89a/*<script>*/=1;" + animated()),
    "bomb": ("image/png", png(30_000, 30_000, rows=1)),
    "too_wide": ("image/png", png(20_000, 2)),
    "hungry": ("image/png", png(7_000, 7_000)),
    "cut_png": ("image/png", picture(2)[:30]),
    "noise": ("image/jpeg", b"\xff\xd8\xff" + bytes(range(256))),
    "cmyk": ("image/jpeg", picture(3, "JPEG", "CMYK")),
    "animated": ("image/gif", animated()),
    "tiff": ("image/tiff", picture(4, "TIFF")),
    "gif_as_png": ("image/png", picture(5, "GIF", "P")),
    "untyped": ("", picture(6)),
}
CODES = {"gone": 410, "forbidden": 403, "unauthorised": 401, "teapot": 418, "error": 500}
# After so many such answers the picture comes.
ONCE = {"limited_s": 429, "limited_date": 503, "unavailable": 503, "once_reset": 0, "once_cut": 0}
# An HTTP client repeats what was cut off before any answer, once and by itself (RFC 9112, 9.3.1).
TIMES = {"once_reset": 2}
PLACES = {
    "to_metadata": "http://169.254.169.254/latest/meta-data/",
    "to_private": "http://10.0.0.1/x.png",
    "to_mapped": "http://[::ffff:127.0.0.1]/x.png",
    "to_loopback": "http://127.0.0.1:1/x.png",
    "to_short": "http://127.1/x.png",
    "to_number": "http://2130706433/x.png",
    "to_file": "file:///etc/passwd",
    "to_ftp": "ftp://ftp.example.org/x.png",
    "to_long": f"http://{'a' * 300}.example/x.png",
    "to_puny": "http://xn--a/x.png",
    "to_user": "http://me:secret@127.0.0.1/x.png",
}


class Chaos:
    """The server; it counts requests by path, pictures sent, and the connections of the moment."""

    def __init__(self) -> None:
        self.port, self.requests = 0, Counter[str]()
        self.agents: set[str] = set()
        self.bodies = self.now = 0
        self._asked = Counter[str]()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def forget(self) -> None:
        """Let transient faults happen again."""
        self._asked.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.now += 1
        with suppress(ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                going_on = await self._answer(head, writer)
                if going_on is None:
                    await reader.read()
                if not going_on:
                    break
        self.now -= 1
        with suppress(ConnectionError):
            writer.close()

    async def _answer(self, head: list[str], writer: asyncio.StreamWriter) -> bool | None:
        path = head[0].split(" ")[1]
        told = {k.lower(): v for k, _, v in (line.partition(": ") for line in head[1:])}
        self.agents.add(told.get("user-agent", ""))
        self.requests[path] += 1
        _, fault, number = path.split("/")
        self._asked[path] += 1
        if fault in ONCE and self._asked[path] > TIMES.get(fault, 1):
            fault = "fine"
        n = int(number)
        act = getattr(self, f"_{fault}", None)
        if act is not None:
            return await act(writer, n)
        return self._plain(writer, fault, n, told)

    def _plain(self, out: asyncio.StreamWriter, fault: str, n: int, told: dict[str, str]) -> bool:
        if fault in PLACES:
            return send(out, 302, b"", Location=PLACES[fault])
        if fault in CODES:
            return send(out, CODES[fault], b"no")
        if fault in ONCE:
            later = format_datetime(datetime.now(UTC) + timedelta(seconds=1), usegmt=True)
            wait = {"limited_s": "1", "limited_date": later}.get(fault)
            return send(out, ONCE[fault], b"later", **({"Retry-After": wait} if wait else {}))
        if fault not in BODIES and fault not in ("fine", "moved"):
            return send(out, 404, b"no")
        kind, body = BODIES.get(fault, ("image/png", picture(n)))
        tag = f'"{hashlib.md5(body).hexdigest()}"'
        if told.get("if-none-match") == tag:
            return send(out, 304, b"", ETag=tag)
        self.bodies += 1
        return send(out, 200, body, **({"Content-Type": kind} if kind else {}), ETag=tag)

    async def _reset(self, out: asyncio.StreamWriter, n: int) -> bool:
        out.transport.abort()
        return False

    _once_reset = _reset

    async def _silence(self, out: asyncio.StreamWriter, n: int) -> bool:
        return False

    async def _hang(self, out: asyncio.StreamWriter, n: int) -> None:
        """Say nothing until the client leaves."""

    async def _drip(self, out: asyncio.StreamWriter, n: int) -> bool:
        head(out, 200, {"Content-Length": "1000", "Content-Type": "image/png"})
        for byte in picture(n):
            if out.transport.is_closing():
                break
            out.write(bytes([byte]))
            await asyncio.sleep(0.2)
        return False

    async def _drip_head(self, out: asyncio.StreamWriter, n: int) -> bool:
        """A head that never ends, a byte at a time."""
        for byte in b"HTTP/1.1 200 OK\r\nX-Slow: " + b"y" * 1000:
            if out.transport.is_closing():
                break
            out.write(bytes([byte]))
            await asyncio.sleep(0.2)
        return False

    async def _chunks(self, out: asyncio.StreamWriter, n: int) -> bool:
        """Chunks of a byte, each announced at length, without a last one."""
        head(out, 200, {"Content-Type": "image/png", "Transfer-Encoding": "chunked"})
        while not out.transport.is_closing():
            out.write(b"1;" + b"x" * 100 + b"\r\n\x89\r\n")
            await asyncio.sleep(0.05)
        return False

    async def _latin(self, out: asyncio.StreamWriter, n: int) -> bool:
        told = {"Content-Type": "image/png", "ETag": '"caf\xe9"', "Last-Modified": "\xff"}
        return send(out, 200, picture(n), **told)

    async def _endless(self, out: asyncio.StreamWriter, n: int) -> bool:
        head(out, 200, {"Content-Type": "image/png", "Connection": "close"})
        while not out.transport.is_closing():
            out.write(bytes(65_536))
            await out.drain()
        return False

    async def _huge(self, out: asyncio.StreamWriter, n: int) -> bool:
        head(out, 200, {"Content-Length": str(2**40), "Content-Type": "image/png"})
        await asyncio.sleep(0.05)
        return False

    async def _cut(self, out: asyncio.StreamWriter, n: int) -> bool:
        head(out, 200, {"Content-Length": str(len(picture(n))), "Content-Type": "image/png"})
        out.write(picture(n)[:-20])
        return False

    _once_cut = _cut

    async def _short_length(self, out: asyncio.StreamWriter, n: int) -> bool:
        said = {"Content-Length": "20", "Content-Type": "image/png", "Connection": "close"}
        head(out, 200, said, picture(n))
        return False

    async def _garbage(self, out: asyncio.StreamWriter, n: int) -> bool:
        out.write(b"220 mail.example.org ESMTP\r\n\r\n")
        return False

    async def _flood(self, out: asyncio.StreamWriter, n: int) -> bool:
        head(out, 200, {"X-Long": "x" * 100_000})
        return False

    async def _gzip(self, out: asyncio.StreamWriter, n: int) -> bool:
        body = zlib.compress(bytes(4 * MIB))
        return send(out, 200, body, **{"Content-Encoding": "gzip", "Content-Type": "image/png"})

    async def _robots(self, out: asyncio.StreamWriter, n: int) -> bool:
        return send(out, 200, picture(n), **{"X-Robots-Tag": "noai", "Content-Type": "image/png"})

    async def _digest(self, out: asyncio.StreamWriter, n: int) -> bool:
        told = {"X-Object-Meta-Sha1base36": "a" * 31, "Content-Type": "image/png"}
        return send(out, 200, picture(n), **told)

    async def _loop(self, out: asyncio.StreamWriter, n: int) -> bool:
        return send(out, 301, b"", Location=f"/loop/{n}")

    async def _redirect(self, out: asyncio.StreamWriter, n: int) -> bool:
        return send(out, 307, b"", Location=f"../moved/{n}")


def head(out: asyncio.StreamWriter, code: int, told: dict[str, str], body: bytes = b"") -> None:
    lines = [f"HTTP/1.1 {code} -", *(f"{k}: {v}" for k, v in told.items())]
    out.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1") + body)


def send(out: asyncio.StreamWriter, code: int, body: bytes, **told: str) -> bool:
    head(out, code, {"Content-Length": str(len(body)), **told}, body)
    return True


@contextmanager
def chaos() -> Iterator[Chaos]:
    """Serve on a free loopback port for the duration of the block."""
    server = Chaos()

    async def start() -> list[asyncio.Server]:
        socket = await asyncio.start_server(server.serve, "127.0.0.1", 0, backlog=1000)
        server.port = socket.sockets[0].getsockname()[1]
        return [socket]

    with listening(start):
        yield server
