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
_FILE = re.compile(r"/(?P<repo>[^/]+/[^/]+)/resolve/(?P<revision>.+?)/(?P<file>.+)")
_INFO = re.compile(r"/api/models/(?P<repo>[^/]+/[^/]+)(/revision/(?P<revision>[^/]+))?")
_TREE = re.compile(r"/api/models/(?P<repo>[^/]+/[^/]+)/tree/(?P<revision>[^/]+).*")


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
        rows = [{"type": "file", "path": n, "size": 1, "oid": "0" * 40} for n in names]
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
        self._reply(data, headers, body=body)

    def _reply(self, data: bytes, headers: Mapping[str, str], *, body: bool) -> None:
        self.send_response(200)
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
