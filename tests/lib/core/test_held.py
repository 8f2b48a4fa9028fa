"""Who holds a project: the lock of a killed run is removed, that of a living one is not."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from isotope.core import held

PROGRAM = "from isotope.core import held; f = held.hold(); print(1, flush=True); input()"
LOGGED = """
import os, sys, time
from isotope.core.progress import logged
with logged("job.log", "some_rule"):
    if len(sys.argv) > 1 and os.fork() == 0:
        time.sleep(60)
    print(1, flush=True)
    time.sleep(60)
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@contextmanager
def running(program: str = PROGRAM, *arguments: str) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-c", program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"1\n"
        try:
            yield process
        finally:
            process.kill()


def lock() -> None:
    held.LOCKS.mkdir(parents=True)
    (held.LOCKS / "0.input.lock").write_text("data/a")


def killed() -> None:
    with running() as process:
        process.kill()
        process.wait()


def test_the_lock_of_a_killed_run_is_removed_and_that_is_said():
    killed()
    lock()
    [holder] = held.holders()
    assert holder.is_alive is False
    assert f"(process {holder.process}) was killed; its lock is removed" in held.free([holder])
    # Snakemake has made sure of the folder by then, and writes there.
    assert list(held.LOCKS.iterdir()) == []
    assert held.holders() == []


def test_the_lock_of_a_living_run_stays_and_its_process_is_named():
    killed()
    with running() as process:
        lock()
        others = held.holders()
        assert sorted(each.is_alive is True for each in others) == [False, True]
        assert held.free(others) == ""
        assert held.LOCKS.exists()
        assert f"process {process.pid} of this machine runs" in held.lock_message(others)


def test_a_run_on_another_machine_may_be_at_work():
    held.RECORDS.mkdir(parents=True)
    about = {"host": "node7", "process": 12, "since": "2026-01-01 00:00:00"}
    (held.RECORDS / "node7-12-1.json").write_text(json.dumps(about))
    lock()
    [holder] = held.holders()
    assert holder.is_alive is None
    assert held.free([holder]) == ""
    assert held.LOCKS.exists()
    assert "process 12 on node7" in held.lock_message([holder])
    assert "`snakemake --unlock`" in held.lock_message([holder])


def test_a_lock_that_no_known_run_made_stays():
    lock()
    assert held.free(held.holders()) == ""
    assert held.LOCKS.exists()
    assert "`snakemake --unlock`" in held.lock_message([])


def test_a_run_that_ends_leaves_nothing():
    file = held.hold()
    assert [holder.process for holder in held.holders()] == [os.getpid()]
    held.leave(file)
    assert not held.RECORDS.exists()


def test_a_job_that_outlives_its_run_holds_the_project(monkeypatch):
    monkeypatch.setenv("ISOTOPE_PROGRESS", ".isotope/progress/x")
    with running(LOGGED) as process:
        [holder] = held.holders()
        assert (holder.process, holder.is_alive) == (process.pid, True)


@pytest.mark.parametrize("arguments", [(), ("with a child",)])
def test_sigterm_stops_a_job_as_ctrl_c_does(arguments):
    with running(LOGGED, *arguments) as process:
        process.send_signal(signal.SIGTERM)
        assert process.wait(60) == 143
    assert "interrupted; run again to go on" in Path("job.log").read_text()


def test_a_file_that_is_none_is_passed_over():
    held.RECORDS.mkdir(parents=True)
    (held.RECORDS / "a.json").write_text("{")
    assert held.holders() == []
