"""A server out of reach is no missing file, and one whose file changed is asked again."""

import http.server
import json
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import aiohttp
import pytest

from isotope.acquire import fetch
from isotope.core.errors import AccessDenied, FetchFailed, MissingFile
from isotope.params.acquire import DigestedSource

FILES: dict[str, bytes] = {}
HEADERS: dict[str, str] = {}


class Server(http.server.BaseHTTPRequestHandler):
    """Serves FILES with HEADERS, lists folders, and answers /status/N with that status."""

    def do_HEAD(self):
        self.answer()

    def do_GET(self):
        self.wfile.write(self.answer())

    def answer(self) -> bytes:
        if self.path.startswith("/status/"):
            self.send_error(int(self.path.rpartition("/")[2]))
            return b""
        data = self.listing() if self.path.endswith("/") else FILES.get(self.path)
        if data is None:
            self.send_error(404)
            return b""
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        if not self.path.endswith("/"):
            for name, value in HEADERS.items():
                self.send_header(name, value)
        else:
            self.send_header("Content-Type", "text/html")
        self.end_headers()
        return data

    def listing(self) -> bytes:
        below = (path.removeprefix(self.path) for path in FILES if path.startswith(self.path))
        names = sorted({f"{first}{slash}" for first, slash, _ in (p.partition("/") for p in below)})
        return "".join(f'<a href="{name}">{name}</a>' for name in names).encode()

    def log_message(self, format, *args):
        pass


@pytest.fixture
def server(monkeypatch) -> Iterator[str]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    FILES.clear()
    HEADERS.clear()
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


def acquired(folder: Path, *urls: str | dict) -> dict[str, bytes]:
    manifest = folder / "data/manifest.json"
    fetch.acquire(
        DigestedSource.of_plain({"files": {"wit": list(urls)}}), manifest, folder / "scratch"
    )
    files = json.loads(manifest.read_text())["files"]
    return {e["path"]: (manifest.parent / e["path"]).read_bytes() for e in files}


def test_a_refused_connection_says_that_the_network_is_to_be_checked(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{closed.getsockname()[1]}/x.gz"
        with pytest.raises(FetchFailed, match=r"cannot be reached.*check the network.*resume"):
            acquired(tmp_path, url)


def test_a_name_that_is_not_resolved_says_that_the_network_is_to_be_checked(tmp_path, monkeypatch):
    def unresolved(*_args, **_more):
        raise socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution")

    for proxy in ("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"):
        monkeypatch.delenv(proxy, raising=False)
    monkeypatch.setattr(socket, "getaddrinfo", unresolved)
    with pytest.raises(FetchFailed, match=r"name resolution.*check the network and the proxy"):
        acquired(tmp_path, "https://nowhere.example/x.gz")


@pytest.mark.parametrize("error", [TimeoutError(), aiohttp.ServerTimeoutError("too slow")])
def test_a_server_that_does_not_answer_in_time_is_a_matter_of_the_network(
    tmp_path, monkeypatch, error
):
    async def late(*_args, **_more):
        raise error

    monkeypatch.setattr(aiohttp.ClientSession, "_request", late)
    with pytest.raises(FetchFailed, match=r"Timeout.*check the network"):
        acquired(tmp_path, "https://nowhere.example/x.gz")


@pytest.mark.parametrize(
    ("status", "error", "words"),
    [
        (404, MissingFile, "nothing is there; check the address"),
        (410, MissingFile, "nothing is there; check the address"),
        (403, AccessDenied, r"it answers 403; give credentials in ~/\.netrc"),
        (503, FetchFailed, "its server answers 503; wait, then run again"),
    ],
)
def test_a_server_that_answers_is_there_whatever_it_says(tmp_path, server, status, error, words):
    with pytest.raises(error, match=words):
        acquired(tmp_path, f"{server}/status/{status}")


def test_an_unreachable_listing_is_a_matter_of_the_network_too(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with pytest.raises(FetchFailed, match="check the network"):
        acquired(tmp_path, "http://127.0.0.1:9/folder/*.gz")


@pytest.mark.parametrize("header", ["ETag", "Last-Modified"])
def test_another_version_of_one_size_at_an_address_is_fetched(tmp_path, server, header):
    for data, version in ((b"old", '"1"'), (b"new", '"2"')):
        FILES["/x.gz"], HEADERS[header] = data, version
        assert acquired(tmp_path, f"{server}/x.gz") == {"wit/x.gz": data}


def test_half_a_file_is_forgotten_when_the_server_has_another_version(
    tmp_path, server, monkeypatch
):
    def breaking(source, partial, start, progress, enough):
        with partial.open("ab") as out:
            out.write(source.read(2))
        raise EOFError("cut off")

    FILES["/x.gz"], HEADERS["Last-Modified"] = b"oldold", "Mon, 01 Jan 2024 00:00:00 GMT"
    with monkeypatch.context() as patch:
        patch.setattr(fetch, "copy", breaking)
        with pytest.raises(FetchFailed, match="run again to resume"):
            acquired(tmp_path, f"{server}/x.gz")
    FILES["/x.gz"], HEADERS["Last-Modified"] = b"newnew", "Tue, 02 Jan 2024 00:00:00 GMT"
    assert acquired(tmp_path, f"{server}/x.gz") == {"wit/x.gz": b"newnew"}


def test_the_same_version_is_not_fetched_twice(tmp_path, server, monkeypatch):
    FILES["/x.gz"], HEADERS["ETag"] = b"data", '"1"'
    acquired(tmp_path, f"{server}/x.gz")
    monkeypatch.setattr(fetch, "download", None)
    assert acquired(tmp_path, f"{server}/x.gz") == {"wit/x.gz": b"data"}


def test_a_file_with_a_published_digest_stays_when_its_mirror_moves(tmp_path, server, monkeypatch):
    FILES["/a/x.gz"] = FILES["/b/x.gz"] = b"data"
    published = {"sha1": "a17c9aaa61e80a1bf71d0d850af4e5baa9800bbd"}
    acquired(tmp_path, {"url": f"{server}/a/x.gz"} | published)
    monkeypatch.setattr(fetch, "download", None)
    acquired(tmp_path, {"url": f"{server}/b/x.gz"} | published)
    listed = json.loads((tmp_path / "data/manifest.json").read_text())["files"]
    assert [entry["url"] for entry in listed] == [f"{server}/b/x.gz"]


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*/x.gz", {"a/x.gz", "b/x.gz"}),
        ("a/*.gz", {"x.gz", "y.gz"}),
        ("**/y.gz", {"a/y.gz"}),
        ("*/c/*", {"b/c/x.gz"}),
    ],
)
def test_a_star_is_looked_up_in_the_folders_that_a_server_lists(
    tmp_path, server, pattern, expected
):
    for name in ("a/x.gz", "a/y.gz", "a/z.txt", "b/x.gz", "b/c/x.gz"):
        FILES[f"/top/{name}"] = name.encode()
    listed = acquired(tmp_path, f"{server}/top/{pattern}")
    assert {name.removeprefix("wit/") for name in listed} == expected
    assert all(data.decode().endswith(name[4:]) for name, data in listed.items())


def test_a_pattern_that_a_server_lists_nothing_for_is_named(tmp_path, server):
    FILES["/top/x.gz"] = b"x"
    with pytest.raises(MissingFile, match=r"none\*.*the server lists no such file"):
        acquired(tmp_path, f"{server}/top/none*.gz")


def test_a_star_in_a_query_is_no_pattern(tmp_path, server):
    FILES["/x?name=*"] = b"data"
    assert list(acquired(tmp_path, f"{server}/x?name=*").values()) == [b"data"]
