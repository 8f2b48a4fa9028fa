"""A mirror that sends anything ends a download with a named error, or with the file."""

import gzip
import json
import time
from pathlib import Path
from typing import Any

import pytest
from tests.chaos import picture
from tests.hostile import FIELDS, POISONS, clean, hostile, length, reply, written

from isotope.acquire import fetch
from isotope.core.errors import ChecksumMismatch, FetchFailed, IsotopeError
from isotope.params.acquire import DigestedSource

OK = b"HTTP/1.1 200 OK"
SOME = [name for n, name in enumerate(POISONS) if n % 16 == 0]


@pytest.fixture(autouse=True)
def _no_proxy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_PROXY", "127.0.1.1,127.0.0.1")


def acquired(folder: Path, entry: str | dict[str, Any]) -> dict[str, Any]:
    """Acquire one file; return its row of the manifest, which is text that any reader takes."""
    manifest = folder / "data/manifest.json"
    fetch.acquire(
        DigestedSource.of_plain({"files": {"wit": [entry]}}), manifest, folder / "scratch"
    )
    [row] = json.loads(manifest.read_text("utf-8"))["files"]
    json.dumps(row, ensure_ascii=False).encode()
    assert (row["version"] or "").isprintable()
    assert (manifest.parent / row["path"]).stat().st_size == row["bytes"]
    return row


def attempted(folder: Path, url: str) -> str:
    """Acquire one file, which may fail by name; return how it ended."""
    try:
        return f"{acquired(folder, url)['bytes']} bytes"
    except IsotopeError as error:
        assert not list(folder.glob("data/wit/*"))
        return type(error).__name__


@pytest.mark.parametrize(
    "name", [n if n in SOME else pytest.param(n, marks=pytest.mark.exhaustive) for n in POISONS]
)
def test_a_poisoned_mirror_leaves_nothing_that_a_mended_one_does_not_mend(tmp_path, name):
    with hostile(clean) as server:
        server.replies = POISONS[name]
        attempted(tmp_path, server.url(1))
        server.replies = clean
        row = acquired(tmp_path, server.url(1))
        wanted = acquired(tmp_path / "calm", server.url(1))
    assert (row["sha256"], row["bytes"]) == (wanted["sha256"], wanted["bytes"])


@pytest.mark.parametrize(
    ("count", "seed"),
    [(25, 0), *(pytest.param(500, s, marks=pytest.mark.exhaustive) for s in (1, 2))],
)
def test_mutated_replies_end_with_a_file_or_a_named_error(tmp_path, count, seed):
    with hostile(lambda n: reply(n, seed)) as server:
        ends = {attempted(tmp_path / str(n), server.url(n)) for n in range(count)}
    assert "FetchFailed" in ends
    assert len(ends) >= 3


def test_a_range_that_has_no_end_is_not_read_into_memory(tmp_path):
    size = 20_000_000
    head = [*FIELDS, (b"Content-Length", b"%d" % size)]
    part = b"HTTP/1.1 206 Partial Content"
    short = [*FIELDS, (b"Content-Length", b"1000")]

    with hostile(lambda _: written(OK, short, b"")) as server:
        # The head of the file says 1,000 bytes; the block that is asked for then has no such end.
        answers = iter([written(OK, short, b"")])
        server.replies = lambda _: next(answers, None) or written(part, head, bytes(size))
        with pytest.raises(FetchFailed, match="more than the 9437184 bytes asked for"):
            acquired(tmp_path, server.url(1))


def test_a_page_that_grows_as_it_is_unpacked_is_not_read_into_memory(tmp_path):
    bomb = gzip.compress(bytes(70_000_000))
    fields = [(b"Content-Type", b"text/html"), (b"Content-Encoding", b"gzip"), length(bomb)]
    message = "more than the 67108864 bytes asked for"
    with (
        hostile(lambda _: written(OK, fields, bomb)) as server,
        pytest.raises(FetchFailed, match=message),
    ):
        acquired(tmp_path, f"http://127.0.1.1:{server.port}/*.gz")


def test_a_file_of_unknown_size_ends_where_the_published_size_does(tmp_path):
    endless = written(OK, [(b"Content-Type", b"x/y")], bytes(30_000_000))
    with hostile(lambda _: endless) as server:
        entry = {"url": server.url(1), "bytes": 1000}
        with pytest.raises(ChecksumMismatch, match=r"bytes \d{6,7}; published bytes is 1000"):
            acquired(tmp_path, entry)


def test_a_version_that_is_no_text_becomes_one(tmp_path):
    fields = [f for f in FIELDS if f[0] != b"ETag"]
    sent = [*fields, (b"ETag", b'"\xe9\x1b[2J\xff"'), length(picture(1))]
    with hostile(lambda _: written(OK, sent, picture(1))) as server:
        row = acquired(tmp_path, server.url(1))
        assert row["version"] == r'"é\x1b[2Jÿ"'
        assert acquired(tmp_path, server.url(1)) == row


@pytest.mark.parametrize("link", ["x" * 300 + ".gz", "%00.gz", "a\x1b.gz", "\x00.gz", "\udcff.gz"])
def test_a_link_that_no_disk_can_hold_ends_no_listing(tmp_path, link, caplog):
    listing = f'<a href="{link}">a</a><a href="b.gz">b</a>'.encode("utf-8", "surrogateescape")
    page = written(OK, [(b"Content-Type", b"text/html"), length(listing)], listing)
    with hostile(clean) as server:
        began = time.monotonic()
        url = f"http://127.0.1.1:{server.port}/0/*.gz"
        server.at = {"/0/": page}
        manifest = tmp_path / "data/manifest.json"
        fetch.acquire(
            DigestedSource.of_plain({"files": {"wit": [url]}}), manifest, tmp_path / "scratch"
        )
        assert time.monotonic() - began < 60
    paths = [entry["path"] for entry in json.loads(manifest.read_text())["files"]]
    assert "wit/b.gz" in paths
    assert all(path.isprintable() for path in paths)
    assert (len(paths) == 2) != ("is no name of a file" in caplog.text)
