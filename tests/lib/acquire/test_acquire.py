"""Upstream files arrive whole or not at all, and a broken download goes on where it stopped."""

import hashlib
import http.server
import json
import threading
from pathlib import Path

import fsspec
import pytest

from isotope.acquire import fetch
from isotope.core import manifest as manifests
from isotope.core.errors import (
    ChecksumMismatch,
    CorruptFile,
    FetchFailed,
    MissingFile,
    TruncatedFile,
)
from isotope.params.acquire import DigestedSource
from isotope_toy.source import acquire_toy

LOOSE = ("manifest.json", "objects.parquet", "faults.csv", "topics.csv", "views.csv")
BYTES = bytes(range(256)) * 20_000


class Flaky(http.server.BaseHTTPRequestHandler):
    """Answers range requests; the first answers of a flaky server break off in the middle."""

    protocol_version = "HTTP/1.1"
    breaks = 0
    ranges: list[str] = []  # noqa: RUF012

    def do_HEAD(self):
        self.answer(body=False)

    def do_GET(self):
        self.answer(body=True)

    def answer(self, *, body: bool):
        if self.path != "/file.bin":
            self.send_error(404)
            return
        start, end = 0, len(BYTES)
        asked = self.headers.get("Range")
        if asked:
            first, last = asked.removeprefix("bytes=").split("-")
            start, end = int(first), min(int(last or end - 1) + 1, end)
        if body and asked:
            type(self).ranges.append(asked)
        self.send_response(206 if asked else 200)
        self.send_header("Accept-Ranges", "bytes")
        self.send_header("Content-Length", str(end - start))
        if asked:
            self.send_header("Content-Range", f"bytes {start}-{end - 1}/{len(BYTES)}")
        self.end_headers()
        if body and start > 0 and type(self).breaks > 0:
            type(self).breaks -= 1
            self.close_connection = True
            self.wfile.write(BYTES[start : start + 1000])
        elif body:
            self.wfile.write(BYTES[start:end])

    def log_message(self, format, *args):
        pass


@pytest.fixture
def server():
    Flaky.breaks, Flaky.ranges = 0, []
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Flaky) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{running.server_address[1]}"
        running.shutdown()
        thread.join()


def manifest_of(folder: Path, files: dict) -> Path:
    manifest = folder / "data" / "manifest.json"
    manifest.parent.mkdir(parents=True, exist_ok=True)
    fetch.acquire(DigestedSource.of_plain({"files": files}), manifest, folder / "scratch")
    return manifest


def test_a_local_file_is_placed_read_only_with_its_digest(tmp_path):
    source = tmp_path / "dump.xml.bz2"
    source.write_bytes(BYTES)
    manifest = manifest_of(tmp_path, {"dump": [str(source)]})
    entry = json.loads(manifest.read_text())["files"][0]
    placed = manifest.parent / entry["path"]
    assert placed.read_bytes() == BYTES
    assert entry["sha256"] == hashlib.sha256(BYTES).hexdigest()
    assert placed.stat().st_mode & 0o222 == 0


@pytest.mark.parametrize("scheme", ["file", "memory"])
def test_any_scheme_of_fsspec_is_a_source(tmp_path, scheme):
    url = f"{scheme}://{tmp_path}/remote/file.bin"
    fs, path = fsspec.url_to_fs(url, auto_mkdir=True)
    fs.pipe_file(path, BYTES)
    manifest = manifest_of(tmp_path, {"wit": [url]})
    assert manifests.placed(manifest, "wit")[0].read_bytes() == BYTES


def test_a_file_arrives_over_http(tmp_path, server):
    manifest = manifest_of(tmp_path, {"wit": [f"{server}/file.bin"]})
    assert manifests.placed(manifest, "wit")[0].read_bytes() == BYTES


def test_a_broken_download_is_named_and_goes_on_where_it_stopped(tmp_path, server, monkeypatch):
    monkeypatch.setattr(fetch, "_BLOCK", 1 << 17)
    Flaky.breaks = 99
    with pytest.raises(FetchFailed, match="run again to resume"):
        manifest_of(tmp_path, {"wit": [f"{server}/file.bin"]})
    assert not (tmp_path / "data/wit/file.bin").exists()
    arrived = (tmp_path / "scratch/wit/file.bin").stat().st_size
    assert 0 < arrived < len(BYTES)
    Flaky.breaks, Flaky.ranges = 0, []
    manifest = manifest_of(tmp_path, {"wit": [f"{server}/file.bin"]})
    assert manifests.placed(manifest, "wit")[0].read_bytes() == BYTES
    starts = {int(r.removeprefix("bytes=").split("-")[0]) for r in Flaky.ranges}
    assert min(starts) >= arrived


def test_what_arrived_of_another_version_is_forgotten(tmp_path):
    partial = tmp_path / "file.bin"
    partial.write_bytes(b"old")
    (partial.parent / f".{partial.name}.of").write_text('{"url": "x", "size": 5}')
    assert fetch.resume_point(partial, {"url": "x", "size": 6}) == 0
    assert not partial.exists()


def test_a_missing_url_is_named(tmp_path, server):
    with pytest.raises(MissingFile, match=r"nothing\.bin"):
        manifest_of(tmp_path, {"wit": [f"{server}/nothing.bin"]})


def test_a_wrong_checksum_removes_the_file_and_says_both(tmp_path):
    source = tmp_path / "f.gz"
    source.write_bytes(b"abc")
    entry = {"url": str(source), "sha1": "0" * 40}
    with pytest.raises(ChecksumMismatch, match=r"a9993e36.*published sha1 is 0000"):
        manifest_of(tmp_path, {"wit": [entry]})
    assert not (tmp_path / "data/wit/f.gz").exists()


def test_a_wrong_size_is_a_mismatch(tmp_path):
    source = tmp_path / "f.gz"
    source.write_bytes(b"abc")
    with pytest.raises(ChecksumMismatch, match="bytes 3"):
        manifest_of(tmp_path, {"wit": [{"url": str(source), "bytes": 4}]})


@pytest.mark.parametrize(
    ("spoil", "error"),
    [
        (lambda p: p.unlink(), MissingFile),
        (lambda p: p.write_bytes(b"ab"), TruncatedFile),
        (lambda p: p.write_bytes(b"abcd"), CorruptFile),
    ],
    ids=["gone", "truncated", "grown"],
)
def test_a_shard_that_changed_after_it_was_acquired_is_named(tmp_path, spoil, error):
    source = tmp_path / "f.gz"
    source.write_bytes(b"abc")
    manifest = manifest_of(tmp_path, {"wit": [str(source)]})
    placed = manifest.parent / "wit/f.gz"
    placed.chmod(0o644)
    spoil(placed)
    with pytest.raises(error, match=r"wit/f\.gz"):
        manifests.placed(manifest, "wit")


def test_a_part_without_files_is_named(tmp_path):
    (tmp_path / "f.gz").write_bytes(b"abc")
    manifest = manifest_of(tmp_path, {"wit": [str(tmp_path / "f.gz")]})
    with pytest.raises(MissingFile, match="no files of part 'dump'"):
        manifests.placed(manifest, "dump")


def test_a_generated_snapshot_takes_the_place_of_an_earlier_one(tmp_path):
    manifest = tmp_path / "data" / "manifest.json"
    manifest.parent.mkdir()
    for pages in (40, 20):
        spec = DigestedSource.of_plain({"generate": {"pages": pages}})
        acquire_toy(spec, manifest, tmp_path / "scratch")
    spec = DigestedSource.of_plain({"generate": {"pages": 20}})
    acquire_toy(spec, tmp_path / "manifest.json", tmp_path / "s")
    names = {p.relative_to(manifest.parent) for p in manifest.parent.rglob("*")}
    assert names == {
        p.relative_to(tmp_path)
        for part in ("wit", "dump", "images", "wordnet", *LOOSE)
        for p in [tmp_path / part, *(tmp_path / part).rglob("*")]
    }
