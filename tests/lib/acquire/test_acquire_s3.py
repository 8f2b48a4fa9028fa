"""Upstream files arrive from S3-compatible storage: whole, resumed, or with a named error."""

import hashlib
import random

import pytest
from s3fs import S3FileSystem
from tests import s3

from isotope.acquire import fetch
from isotope.core import manifest as manifests
from isotope.core.errors import AccessDenied, ChecksumMismatch, FetchFailed, MissingFile
from isotope.params.acquire import DigestedSource

URL = "s3://bucket/wit/file.bin"
# Two blocks of a download.
BYTES = random.Random(0).randbytes(12 << 20)


@pytest.fixture(scope="module")
def running():
    """A server with one file."""
    with s3.started() as server:
        server.files().pipe_file("bucket/wit/file.bin", BYTES)
        yield server


@pytest.fixture
def server(running, monkeypatch):
    """The same, and the keys to it in the environment, but not its address."""
    running.ranges.clear()
    running.refuse_from = None
    for name, value in (s3.KEYS | s3.NOTHING_ELSE).items():
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("AWS_ENDPOINT_URL", raising=False)
    S3FileSystem.clear_instance_cache()
    return running


def acquired(folder, server, *files, **more):
    manifest = folder / "data/manifest.json"
    manifest.parent.mkdir(exist_ok=True)
    spec = {"endpoint": server.url, "files": {"wit": list(files)}} | more
    fetch.acquire(
        DigestedSource.of_plain({k: v for k, v in spec.items() if v}), manifest, folder / "scratch"
    )
    return manifests.placed(manifest, "wit")[0].read_bytes()


def test_a_file_arrives_from_the_server_that_the_params_name(tmp_path, server):
    entry = {"url": URL, "sha256": hashlib.sha256(BYTES).hexdigest(), "bytes": len(BYTES)}
    assert acquired(tmp_path, server, entry) == BYTES


def test_a_file_arrives_from_the_server_that_the_environment_names(tmp_path, server, monkeypatch):
    monkeypatch.setenv("AWS_ENDPOINT_URL", server.url)
    assert acquired(tmp_path, server, URL, endpoint=None) == BYTES


def test_what_arrived_before_access_was_lost_is_not_fetched_again(tmp_path, server):
    server.refuse_from = 1
    with pytest.raises(AccessDenied, match=r"wit/file\.bin.*give credentials"):
        acquired(tmp_path, server, URL)
    arrived = (tmp_path / "scratch/wit/file.bin").stat().st_size
    assert 0 < arrived < len(BYTES)
    assert not (tmp_path / "data/wit/file.bin").exists()
    server.refuse_from = None
    server.ranges.clear()
    assert acquired(tmp_path, server, URL) == BYTES
    assert min(server.ranges) == arrived


def test_half_a_file_is_forgotten_when_another_of_its_size_takes_its_place(tmp_path, server):
    server.refuse_from = 1
    with pytest.raises(AccessDenied):
        acquired(tmp_path, server, "s3://bucket/wit/file.bin")
    server.refuse_from = None
    other = BYTES[::-1]
    server.files().pipe_file("bucket/wit/file.bin", other)
    try:
        assert acquired(tmp_path, server, URL) == other
    finally:
        server.files().pipe_file("bucket/wit/file.bin", BYTES)


@pytest.mark.parametrize("url", ["s3://bucket/wit/other.bin", "s3://nobody/wit/file.bin"])
def test_a_missing_key_or_bucket_is_named(tmp_path, server, url):
    with pytest.raises(MissingFile, match=url):
        acquired(tmp_path, server, url)


def test_missing_credentials_are_named(tmp_path, server, monkeypatch):
    for name in s3.KEYS:
        monkeypatch.delenv(name)
    with pytest.raises(AccessDenied, match=r"NoCredentialsError.*as boto3 reads them"):
        acquired(tmp_path, server, URL)


def test_a_wrong_digest_leaves_nothing(tmp_path, server):
    with pytest.raises(ChecksumMismatch, match="published sha256 is 0000"):
        acquired(tmp_path, server, {"url": URL, "sha256": "0" * 64})
    assert not list((tmp_path / "data").rglob("*.bin"))


def test_a_server_that_is_away_can_be_asked_again(tmp_path, server, monkeypatch):
    monkeypatch.setenv("AWS_MAX_ATTEMPTS", "1")
    with pytest.raises(FetchFailed, match="run again to resume"):
        acquired(tmp_path, server, URL, endpoint="http://127.0.0.1:9")
