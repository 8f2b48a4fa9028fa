"""A loopback server that stands in for upload.wikimedia.org, faults included."""

import csv
import hashlib
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import quote, unquote, urlsplit

from isotope.core import digests
from isotope.core.errors import MissingFile

FAULTS = ("not_found", "gone", "rate_limited", "truncated", "html", "redirect")
_TYPES = {".png": "image/png", ".webp": "image/webp", ".svg": "image/svg+xml", ".gif": "image/gif"}
_MOVED = "/moved"


class ImageServer(ThreadingHTTPServer):
    """Serves the files below `root`; `faults` says which paths misbehave, and how."""

    daemon_threads = True

    def __init__(self, root: Path, faults: dict[str, str]) -> None:
        """Listen on a free loopback port."""
        super().__init__(("127.0.0.1", 0), _Handler)
        self.root, self.faults = root.resolve(), faults
        self.limited: set[str] = set()

    @property
    def url(self) -> str:
        """Return scheme, host and port."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: object, client_address: object) -> None:
        """Stay silent: the crawl reports clients that hang up."""


class _Handler(BaseHTTPRequestHandler):
    server: ImageServer  # pyright: ignore[reportIncompatibleVariableOverride]
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        path = unquote(urlsplit(self.path).path)
        moved = path.startswith(_MOVED)
        path = path.removeprefix(_MOVED)
        fault = "" if moved else self.server.faults.get(path, "")
        answer = getattr(self, f"_{fault}", self._file)
        answer(path)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the terminal for the crawl's own progress."""

    def _answer(self, code: int, kind: str, body: bytes, **more: str) -> None:
        extra = {name.replace("_", "-"): value for name, value in more.items()}
        headers = {"Content-Type": kind, "Content-Length": str(len(body)), **extra}
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def _file(self, path: str) -> None:
        target = (self.server.root / path.lstrip("/")).resolve()
        if not target.is_relative_to(self.server.root) or not target.is_file():
            return self._not_found(path)
        kind, body = _TYPES.get(target.suffix.lower(), "image/jpeg"), target.read_bytes()
        tag = f'"{hashlib.md5(body, usedforsecurity=False).hexdigest()}"'
        if self.headers.get("If-None-Match") == tag:
            return self._answer(304, kind, b"", ETag=tag)
        return self._answer(200, kind, body, ETag=tag)

    def _not_found(self, _: str) -> None:
        self._answer(404, "text/plain", b"not found\n")

    def _gone(self, _: str) -> None:
        self._answer(410, "text/plain", b"gone\n")

    def _rate_limited(self, path: str) -> None:
        if path in self.server.limited:
            return self._file(path)
        self.server.limited.add(path)
        return self._answer(429, "text/plain", b"slow down\n", Retry_After="1")

    def _truncated(self, path: str) -> None:
        body = (self.server.root / path.lstrip("/")).read_bytes()
        self.close_connection = True
        self._answer(200, "image/png", body[: len(body) // 2], Content_Length=str(len(body)))

    def _html(self, _: str) -> None:
        self._answer(200, "text/html", b"<!doctype html><title>Not an image</title>\n")

    def _redirect(self, path: str) -> None:
        self._answer(302, "text/plain", b"moved\n", Location=_MOVED + quote(path))


def read_faults(root: Path) -> dict[str, str]:
    """Return {path: fault} from `faults.csv` beside or inside the image folder, if there is one."""
    for path in (root / "faults.csv", root.parent / "faults.csv"):
        if path.exists():
            with path.open(encoding="utf-8", newline="") as f:
                return {row["path"]: row["fault"] for row in csv.DictReader(f)}
    return {}


@contextmanager
def serving(root: Path) -> Iterator[str]:
    """Serve a folder on loopback for the duration of the block; yield its address.

    Raises:
        MissingFile: no such folder.
        ChecksumMismatch: an acquired file that is not as it was acquired, found before any is
            served: what a server sends, a crawl takes for what the picture is.
    """
    if not root.is_dir():
        raise MissingFile(root, "no such folder", "correct crawl.<source>.serve in params")
    digests.demand(*sorted(path for path in root.rglob("*") if path.is_file()))
    server = ImageServer(root, read_faults(root))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield server.url
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
