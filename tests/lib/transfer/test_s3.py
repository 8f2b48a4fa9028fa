"""Results on a server that speaks S3 come back, whatever is killed, refused or sent at once."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from s3fs import S3FileSystem
from tests import s3
from tests.transfers import ISOTOPE, contents, pull, push, results

from isotope.core.errors import AccessDenied, MissingFile
from isotope.transfer import remote as remotes
from isotope.transfer import versions
from isotope.transfer.remote import Remote

KILLS = 4


@pytest.fixture(scope="module")
def running():
    with s3.started() as server:
        yield server


@pytest.fixture
def server(running, monkeypatch):
    """The server without any object of a test before, and what leads boto3 to it."""
    running.refused = ()
    if running.files().exists("bucket/results"):
        running.files().rm("bucket/results", recursive=True)
    running.puts.clear()
    for name, value in (s3.KEYS | s3.NOTHING_ELSE).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", running.url)
    S3FileSystem.clear_instance_cache()
    return running


REMOTE = "s3://bucket/results"


def test_what_was_sent_comes_back(server, project, elsewhere):
    assert push(project, REMOTE).startswith("Sent 12 files, ")
    assert push(project, REMOTE).startswith("Nothing to send: ")
    pull(elsewhere, REMOTE, "data/collect/toy")
    pull(elsewhere, REMOTE)
    assert contents(elsewhere) == contents(project)


def test_a_large_file_goes_in_parts_and_appears_when_all_have_arrived(
    server, tmp_path, elsewhere, monkeypatch
):
    monkeypatch.setattr(remotes, "_REQUEST_BYTES", 5 << 20)
    project = results(tmp_path / "large", size=6 << 20)
    push(project, REMOTE, "data/collect/later")
    assert len([path for path in server.puts if "/files/" in path]) == 4
    pull(elsewhere, REMOTE, "data/collect/later")
    assert contents(elsewhere).items() <= contents(project).items()
    texts = project / "data/collect/toy/texts.parquet"
    before = server.files().find(REMOTE)
    texts.write_bytes(bytes(reversed(texts.read_bytes())))
    with pytest.raises(remotes.IsotopeError, match=r"texts\.parquet: written with"):
        push(project, REMOTE, "data/collect/toy/texts.parquet")
    assert server.files().find(REMOTE) == before


def test_a_server_that_refuses_is_named_with_what_to_do(server, project, elsewhere, monkeypatch):
    with pytest.raises(MissingFile, match="nothing is there; check the address of the remote"):
        push(project, "s3://no-such-bucket/results")
    server.refused = ("PUT",)
    with pytest.raises(AccessDenied, match=r"files/.*give credentials that may do this, as boto3"):
        push(project, REMOTE)
    server.refused = ()
    push(project, REMOTE)
    server.refused = ("GET",)
    with pytest.raises(AccessDenied, match="give credentials"):
        pull(elsewhere, REMOTE)


def environment(server) -> dict[str, str]:
    return {**os.environ, "AWS_ENDPOINT_URL": server.url}


def killed(command: list[str], place: Path, server, begun, rng) -> bool:
    """Run a command, and kill it a moment after it has begun to move bytes; tell whether it was."""
    with subprocess.Popen(
        [*ISOTOPE, *command],
        cwd=place,
        env=environment(server),
        stdout=subprocess.DEVNULL,
        process_group=0,
    ) as process:
        limit = time.monotonic() + 60
        while process.poll() is None and not begun() and time.monotonic() < limit:
            time.sleep(0.005)
        time.sleep(rng.uniform(0, 0.15))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    return process.returncode == -signal.SIGKILL


def kept(server) -> set[str]:
    files = server.files()
    return set(files.find("bucket/results/files")) if files.exists(REMOTE) else set()


@pytest.mark.long
def test_pushes_that_are_killed_and_go_on_send_no_file_again_and_end_the_same(
    server, many, elsewhere
):
    rng, count = random.Random(), 0
    for _ in range(KILLS):
        before = kept(server)
        server.puts.clear()
        count += killed(
            ["push", REMOTE, "--jobs", "2"], many, server, lambda: len(server.puts) > 5, rng
        )
        assert not {f"{path}" for path in server.puts} & {f"/{path}" for path in before}
    assert count, "no push was killed in time"
    push(many, REMOTE)
    pull(elsewhere, REMOTE)
    assert contents(elsewhere) == contents(many)


@pytest.mark.long
def test_two_pushes_at_once_lose_nothing_of_each_other(server, many, elsewhere):
    parts = (["data/crawl"], ["data/collect", "data/acquire"], ["data/index", "results"])
    running = [
        subprocess.Popen(
            [*ISOTOPE, "push", REMOTE, *paths],
            cwd=many,
            env=environment(server),
            stdout=subprocess.PIPE,
            text=True,
        )
        for paths in parts
    ]
    told = [process.communicate(timeout=120)[0] for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], told
    pull(elsewhere, REMOTE)
    assert contents(elsewhere) == contents(many)
    remote = Remote(REMOTE)
    listed = versions._index(remote)
    assert listed == {"latest": versions._pushes(remote, "latest")}
    assert len(listed["latest"]) == 3


@pytest.mark.long
def test_the_same_files_pushed_at_once_are_there_once(server, many, elsewhere):
    running = [
        subprocess.Popen([*ISOTOPE, "push", REMOTE], cwd=many, env=environment(server))
        for _ in range(2)
    ]
    assert [process.wait(timeout=120) for process in running] == [0, 0]
    files = sum(path.stat().st_size for path in many.glob("data/crawl/wiki/*.parquet"))
    there = server.files().du("bucket/results/files")
    assert files < there < files + 100_000
    pull(elsewhere, REMOTE)
    assert contents(elsewhere) == contents(many)
