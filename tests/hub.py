"""A model hub on loopback: repositories of files at revisions, as huggingface_hub asks for them."""

import hashlib
import json
import re
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from urllib.parse import unquote, urlsplit

Repositories = Mapping[str, Mapping[str, Path]]
_FILE = re.compile(r"(/datasets)?/(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>.+?)/(?P<file>.+)")
_KIND = r"/api/(?:models|datasets)"
_INFO = re.compile(_KIND + r"/(?P<repo>[^/]+/[^/]+)(/revision/(?P<revision>[^/]+))?")
_TREE = re.compile(_KIND + r"/(?P<repo>[^/]+/[^/]+)/tree/(?P<revision>[^/]+)(?:/(?P<below>.+))?")
_RANGE = re.compile(r"bytes=(\d+)-(\d+)")


class _Handler(BaseHTTPRequestHandler):
    repositories: Repositories
    asked: list[str]

    def do_HEAD(self) -> None:
        self._answer(body=False)

    def do_GET(self) -> None:
        self._answer(body=True)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""

    def _answer(self, *, body: bool) -> None:
        path = urlsplit(self.path).path
        if told := _TREE.fullmatch(path) or _INFO.fullmatch(path):
            self._describe(told, listing=_TREE.fullmatch(path) is not None)
        elif told := _FILE.fullmatch(path):
            self._send(told["repo"], unquote(told["revision"]), unquote(told["file"]), body=body)
        else:
            self._refuse("EntryNotFound")

    def _describe(self, told: re.Match[str], *, listing: bool) -> None:
        revision = unquote(told["revision"] or "main")
        folder = self.repositories.get(told["repo"], {}).get(revision)
        if folder is None:
            self._refuse("RevisionNotFound")
            return
        names = [p.relative_to(folder).as_posix() for p in sorted(folder.rglob("*")) if p.is_file()]
        below = unquote(told.groupdict().get("below") or "")
        rows = _listing(folder, below)
        siblings = [{"rfilename": name} for name in names]
        info = {"id": told["repo"], "sha": _commit(revision), "siblings": siblings}
        data = json.dumps(rows if listing else info).encode()
        self._reply(data, {"Content-Type": "application/json"}, body=True)

    def _send(self, repo: str, revision: str, file: str, *, body: bool) -> None:
        known = self.repositories.get(repo, {})
        found = [(r, f) for r, f in known.items() if revision in (r, _commit(r))]
        if not found:
            self._refuse("RevisionNotFound")
            return
        name, folder = found[0]
        self.asked.append(f"{repo}@{name}/{file}")
        if not (folder / file).is_file():
            self._refuse("EntryNotFound")
            return
        data = (folder / file).read_bytes()
        digest = hashlib.sha256(data).hexdigest()
        headers = {"ETag": f'"{digest}"', "X-Repo-Commit": _commit(name)}
        asked = _RANGE.fullmatch(self.headers.get("Range", ""))
        data = data[int(asked[1]) : int(asked[2]) + 1] if asked else data
        self._reply(data, headers, body=body, code=206 if asked else 200)

    def _reply(
        self, data: bytes, headers: Mapping[str, str], *, body: bool, code: int = 200
    ) -> None:
        self.send_response(code)
        for name, value in {**headers, "Content-Length": str(len(data))}.items():
            self.send_header(name, value)
        self.end_headers()
        if body:
            self.wfile.write(data)

    def _refuse(self, code: str) -> None:
        self.send_response(404)
        self.send_header("X-Error-Code", code)
        self.send_header("Content-Length", "0")
        self.end_headers()


def _listing(folder: Path, below: str) -> list[dict[str, object]]:
    """Return files and folders in a folder of a repository, all of them at its root."""
    inside = folder / below
    paths = sorted(inside.iterdir() if below else folder.rglob("*")) if inside.is_dir() else []
    rows: list[dict[str, object]] = []
    for path in paths:
        name = path.relative_to(folder).as_posix()
        kind = {"type": "directory" if path.is_dir() else "file", "path": name}
        data = b"" if path.is_dir() else path.read_bytes()
        digest = hashlib.sha1(data, usedforsecurity=False).hexdigest()
        rows.append({**kind, "size": len(data), "oid": digest})
    return rows


def _commit(revision: str) -> str:
    return hashlib.sha1(revision.encode(), usedforsecurity=False).hexdigest()


@contextmanager
def serving(repositories: Repositories) -> Generator[tuple[str, list[str]]]:
    """Serve {repository: {revision: folder}}; yield the address and what it was asked for."""
    asked: list[str] = []  # repository@revision/file
    handler = type("Handler", (_Handler,), {"repositories": repositories, "asked": asked})
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
