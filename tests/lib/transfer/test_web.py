"""Results of a web server: with and without ranges, cut, stalled, changed, and of a killed pull."""

import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests import web
from tests.transfers import ISOTOPE, contents, pull, push, results

from isotope.core.errors import ChecksumMismatch, FetchFailed, MissingFile, UnknownId
from isotope.transfer import remote as remotes

SIZE = 300_000


@pytest.fixture
def project(tmp_path) -> Path:
    return results(tmp_path / "project", size=SIZE)


@pytest.fixture
def server(tmp_path, project, monkeypatch):
    monkeypatch.setattr(remotes, "STALL_S", 0.5)
    monkeypatch.setattr(remotes, "PAUSE_S", 0.01)
    push(project, tmp_path / "remote")
    with web.serving(tmp_path) as running:
        running.url += "/remote"
        yield running


def objects_asked(server) -> list[tuple[str, int]]:
    return [(path, first) for path, first in server.asked if "/files/" in path]


def test_what_was_sent_comes_back_each_file_asked_for_once(server, project, elsewhere):
    assert pull(elsewhere, server.url).startswith("Fetched 12 files, ")
    assert contents(elsewhere) == contents(project)
    assert {n for path, n in server.whole.items() if "/files/" in path} == {1}
    assert pull(elsewhere, server.url).startswith("Nothing to fetch: ")
    assert len(objects_asked(server)) == 12


def test_a_reply_that_is_cut_goes_on_where_it_was(server, project, elsewhere):
    server.cut = (100_000, 5)
    pull(elsewhere, server.url)
    assert contents(elsewhere) == contents(project)
    later = [first for _, first in objects_asked(server) if first]
    assert 0 < min(later) <= max(later) <= 200_000
    assert server.sent < 1.05 * sum(map(len, contents(project).values()))


def test_a_server_that_stalls_is_asked_again(server, project, elsewhere):
    server.stall = (100_000, 2)
    began = time.monotonic()
    pull(elsewhere, server.url)
    assert time.monotonic() - began < 20
    assert contents(elsewhere) == contents(project)


def test_a_server_that_knows_no_ranges_begins_again(server, project, elsewhere):
    server.has_ranges, server.cut = False, (100_000, 3)
    pull(elsewhere, server.url)
    assert contents(elsewhere) == contents(project)


def test_a_byte_that_was_changed_on_the_way_is_fetched_again(server, project, elsewhere):
    server.changed = 1
    pull(elsewhere, server.url)
    assert contents(elsewhere) == contents(project)
    server.changed = 1_000
    (elsewhere / "results/score/toy.parquet").unlink()
    with pytest.raises(ChecksumMismatch, match=r"http://.*/files/.*sent with"):
        pull(elsewhere, server.url)
    assert not (elsewhere / "results/score/toy.parquet").exists()


def test_a_connection_that_never_holds_is_given_up_and_goes_on_later(server, project, elsewhere):
    server.cut = (0, 1_000)
    with pytest.raises(FetchFailed, match="run again to go on"):
        pull(elsewhere, server.url)
    assert contents(elsewhere) == {}
    server.cut = (0, 0)
    pull(elsewhere, server.url)
    assert contents(elsewhere) == contents(project)


def test_what_is_not_there_is_named(server, project, elsewhere, tmp_path):
    with pytest.raises(MissingFile, match="no version of any results"):
        pull(elsewhere, f"{server.url}/below")
    with pytest.raises(UnknownId, match="name one of latest"):
        pull(elsewhere, server.url, version="other")
    next(tmp_path.glob("remote/files/*/*.tsv")).unlink()
    with pytest.raises(MissingFile, match=r"http://.*\.tsv: nothing is there"):
        pull(elsewhere, server.url)
    with pytest.raises(FetchFailed, match="cannot be reached"):
        pull(elsewhere, "http://127.0.0.1:1/remote")


def test_pulls_that_are_killed_and_go_on_fetch_no_file_again_and_end_the_same(
    server, project, elsewhere
):
    rng, count, jobs = random.Random(), 0, 2
    for _ in range(4):
        asked = len(objects_asked(server))
        command = [*ISOTOPE, "pull", server.url, "--jobs", f"{jobs}"]
        with subprocess.Popen(
            command, cwd=elsewhere, stdout=subprocess.DEVNULL, process_group=0
        ) as process:
            limit = time.monotonic() + 60
            while process.poll() is None and len(objects_asked(server)) < asked + 2:
                assert time.monotonic() < limit
                time.sleep(0.002)
            time.sleep(rng.uniform(0, 0.05))
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                count += 1
        parts = [*elsewhere.rglob("*.part")]
        assert all(".isotope" in part.parts or part.name.startswith(".") for part in parts)
        here, there = contents(elsewhere), contents(project)
        visible = {name: of for name, of in here.items() if "/." not in name}
        assert visible.items() <= there.items()
    assert count, "no pull was killed in time"
    pull(elsewhere, server.url)
    assert contents(elsewhere) == contents(project)
    again = sum(n - 1 for path, n in server.whole.items() if "/files/" in path)
    assert again <= count * jobs
