"""A stand-in for Wikimedia's hosts as they are since August 2026, on loopback.

Originals are on upload.wikimedia.org, thumbnails of the permitted widths on thumb.wikimedia.org,
and the page Special:Redirect/file of a wiki leads to either. Any other width, and one that is
larger than the picture, is answered with 400. Hashed folders, names of thumbnails and widths are
written here again, from MediaWiki's documentation, so that they are not those of the crawl.
"""

import hashlib
import io
import re
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, quote, unquote, urlsplit

import pytest
from aiohttp.abc import ResolveResult
from aiohttp.resolver import ThreadedResolver
from PIL import Image
from yarl import URL

from isotope.crawl import addresses, fetch, requests
from isotope.crawl.fetch import parse_url

STEPS = {20, 40, 60, 120, 250, 330, 500, 960, 1280, 1920, 3840}
UPLOAD, THUMB, COMMONS = "upload.wikimedia.org", "thumb.wikimedia.org", "commons.wikimedia.org"
_PATH = re.compile(
    r"/(?P<repository>[a-z]+/[a-z-]+)(?P<thumb>/thumb)?/(?P<folder>[0-9a-f]/[0-9a-f]{2})"
    r"/(?P<name>[^/]+)(?:/(?P<size>[^/]+))?"
)
_SIZE = re.compile(r"(?:[a-z]+-)?(?:page1-)?(?P<width>\d+)px-.*", re.DOTALL)


def folder(name: str) -> str:
    """Return the folder of a file: the first digits of the MD5 of its name."""
    digest = hashlib.md5(name.encode(), usedforsecurity=False).hexdigest()
    return f"{digest[0]}/{digest[:2]}"


def picture(width: int, shade: int, form: str = "PNG") -> bytes:
    """Return a picture three by two, of one colour."""
    out = io.BytesIO()
    Image.new("RGB", (width, width * 2 // 3), (shade, 90, 160)).save(out, form)
    return out.getvalue()


@dataclass(frozen=True)
class File:
    """A file: its name with underscores, what a thumbnail of width W is called, its own width."""

    name: str
    thumbnail: str
    width: int = 1000
    repository: str = "wikipedia/commons"
    robots: tuple[str, ...] = ()

    @property
    def shade(self) -> int:
        """The red of its pixels."""
        return 10 + sum(self.name.encode()) % 200

    @property
    def address(self) -> str:
        """The address of the original."""
        path = f"{self.repository}/{folder(self.name)}/{quote(self.name, safe='')}"
        return f"https://{UPLOAD}/{path}"

    def thumb(self, width: int, host: str = THUMB) -> str:
        """Return the address of a thumbnail."""
        size = quote(self.thumbnail.replace("W", str(width), 1), safe="")
        path = f"{self.repository}/thumb/{folder(self.name)}/{quote(self.name, safe='')}/{size}"
        return f"https://{host}/{path}"


@dataclass
class Wikimedia:
    """The hosts; `moved` is what upload.wikimedia.org does with thumbnails.

    `redirects` leads them to thumb.wikimedia.org, `gone` has none, and `not yet` still has them,
    where the other host has none.
    """

    files: list[File]
    moved: str = "gone"
    asked: list[tuple[float, str, str]] = field(default_factory=list)
    # Answers of 429 that a host still gives, each asking for so many seconds.
    limited: dict[str, list[int]] = field(default_factory=dict)
    # Hosts whose names do not resolve.
    unknown: tuple[str, ...] = ()
    at_once: int = 0
    most_at_once: int = 0
    slow_s: float = 0.0

    def paths(self, host: str) -> list[str]:
        """Return what a host was asked for."""
        return [path for _, asked, path in self.asked if asked == host]

    def requests(self) -> Counter[str]:
        """Return the number of requests by host."""
        return Counter(host for _, host, _ in self.asked)

    def found(self, repository: str, name: str) -> File | None:
        return next((f for f in self.files if (f.repository, f.name) == (repository, name)), None)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        of: Wikimedia = self.server.wikimedia  # pyright: ignore[reportAttributeAccessIssue]
        host = (self.headers["Host"] or "").partition(":")[0]
        of.asked.append((time.monotonic(), host, self.path))
        of.at_once += 1
        of.most_at_once = max(of.most_at_once, of.at_once)
        try:
            time.sleep(of.slow_s)
            if of.limited.get(host):
                return self._answer(429, {"Retry-After": str(of.limited[host].pop())})
            return self._wiki(of) if host == COMMONS else self._store(of, host)
        finally:
            of.at_once -= 1

    def log_message(self, format: str, *args: object) -> None: ...

    def _answer(self, code: int, fields: dict[str, str], body: bytes = b"", *tags: str) -> None:
        self.send_response(code)
        for name, value in [*fields.items(), *(("X-Robots-Tag", tag) for tag in tags)]:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _wiki(self, of: Wikimedia) -> None:
        parts = urlsplit(self.path)
        name = unquote(parts.path).removeprefix("/wiki/Special:Redirect/file/")
        file = of.found("wikipedia/commons", name)
        if file is None:
            return self._answer(404, {})
        width = parse_qs(parts.query).get("width")
        return self._answer(302, {"Location": file.thumb(int(width[0])) if width else file.address})

    def _store(self, of: Wikimedia, host: str) -> None:
        path = _PATH.fullmatch(self.path)
        file = path and of.found(path["repository"], unquote(path["name"]))
        if path is None or file is None or path["folder"] != folder(file.name):
            return self._answer(404, {})
        if not path["thumb"]:
            there = host == UPLOAD and not path["size"]
            return self._picture(file, file.width) if there else self._answer(404, {})
        if host == UPLOAD and of.moved == "redirects":
            return self._answer(301, {"Location": f"https://{THUMB}{self.path}"})
        if (of.moved == "not yet") is not (host == UPLOAD):
            return self._answer(404, {})
        return self._thumbnail(file, unquote(path["size"] or ""))

    def _thumbnail(self, file: File, size: str) -> None:
        wide = _SIZE.fullmatch(size)
        if wide is None or size != file.thumbnail.replace("W", wide["width"], 1):
            return self._answer(404, {})
        width = int(wide["width"])
        if width not in STEPS or width > file.width:
            return self._answer(400, {})
        return self._picture(file, width)

    def _picture(self, file: File, width: int) -> None:
        body = picture(width, file.shade)
        tag = f'"{hashlib.sha256(body).hexdigest()}"'
        if self.headers["If-None-Match"] == tag:
            return self._answer(304, {"ETag": tag}, b"", *file.robots)
        return self._answer(200, {"Content-Type": "image/png", "ETag": tag}, body, *file.robots)


def _resolving(wikimedia: Wikimedia) -> Callable[..., Awaitable[list[ResolveResult]]]:
    """Return what has every name on loopback, but for those that are not known."""

    async def resolve(self: object, host: str, at: int = 0, family: int = 0) -> list[ResolveResult]:
        del self, family
        if host in wikimedia.unknown:
            raise OSError(f"{host}: no such name")
        return [
            {"hostname": host, "host": "127.0.0.1", "port": at, "family": 2, "proto": 0, "flags": 0}
        ]

    return resolve


@contextmanager
def standing_in(files: list[File], **settings: Any) -> Iterator[Wikimedia]:
    """Have all hosts of this process on loopback, without TLS, for the duration of the block."""
    wikimedia = Wikimedia(files, **settings)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    server.wikimedia = wikimedia  # pyright: ignore[reportAttributeAccessIssue]
    port = server.server_address[1]
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})

    def parsed(url: str, base: URL | None = None) -> URL:
        whole = parse_url(url, base)
        return whole.with_scheme("http").with_port(port)

    thread.start()
    try:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fetch, "parse_url", parsed)
            patch.setattr(requests, "parse_url", parsed)
            patch.setattr(addresses, "is_public", lambda _: True)
            patch.setattr(ThreadedResolver, "resolve", _resolving(wikimedia))
            yield wikimedia
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
