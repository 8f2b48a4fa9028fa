"""A DVC remote on S3-compatible storage loses nothing when a push dies."""

import os
import random
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests import forkserver, s3

pytestmark = pytest.mark.long
FILES = 60
REMOTE = "bucket/isotope"


@pytest.fixture(scope="module")
def server():
    with s3.started() as running:
        yield running


@pytest.fixture
def keys(monkeypatch):
    for name, value in (s3.KEYS | s3.NOTHING_ELSE).items():
        monkeypatch.setenv(name, value)


@pytest.fixture
def place(tmp_path, server, keys, shell, commit_all) -> Iterator[Path]:
    """A repository that versions a folder of files, with an empty remote."""
    made, rng = tmp_path / "project", random.Random(0)
    (made / "data").mkdir(parents=True)
    for n in range(FILES):
        (made / f"data/shard-{n:05d}.bin").write_bytes(rng.randbytes(rng.randrange(1, 100_000)))
    shell("git", "init", "-q", "-b", "main", cwd=made)
    shell("dvc", "init", "-q", cwd=made)
    shell("dvc", "config", "core.analytics", "false", cwd=made)
    shell("dvc", "remote", "add", "-d", "store", f"s3://{REMOTE}", cwd=made)
    shell("dvc", "remote", "modify", "store", "endpointurl", server.url, cwd=made)
    shell("dvc", "add", "-q", "data", cwd=made)
    commit_all(made, "data")
    yield made
    if server.files().exists(REMOTE):
        server.files().rm(REMOTE, recursive=True)


def kept(server) -> int:
    """How many objects the remote holds."""
    files = server.files()
    return len(files.find(REMOTE)) if files.exists(REMOTE) else 0


def push_until(place: Path, server, objects: int) -> int:
    """Push, and kill -9 the push as soon as the remote holds so many objects."""
    command = [forkserver.stand_in("dvc"), "push", "--jobs", "2"]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, process_group=0) as push:
        while push.poll() is None and kept(server) < objects:
            time.sleep(0.01)
        os.killpg(push.pid, signal.SIGKILL)
    return push.returncode


def contents(place: Path) -> dict[str, bytes]:
    return {p.name: p.read_bytes() for p in sorted((place / "data").iterdir())}


def test_a_push_completes_what_killed_ones_left(place, server, shell, tmp_path):
    for moment in sorted(random.Random().sample(range(1, FILES // 2), 2)):
        assert push_until(place, server, moment) == -signal.SIGKILL, f"killed at {moment}"
        assert moment <= kept(server) <= FILES
    shell("dvc", "push", cwd=place)
    assert kept(server) == FILES + 1
    clone = tmp_path / "clone"
    shell("git", "clone", "-q", place, clone, cwd=tmp_path)
    shell("dvc", "pull", cwd=clone)
    assert contents(clone) == contents(place)
    assert "up to date" in shell("dvc", "status", cwd=clone)
