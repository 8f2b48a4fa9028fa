"""What a job counts: lines in its log, and a report for the process that prints."""

import ctypes
import json
import os
import signal
import time
from pathlib import Path
from typing import Any

import pytest

from isotope.core import progress
from isotope.core.progress import REPORTS, Progress, log, logged


@pytest.fixture
def clock(monkeypatch) -> list[float]:
    """The time, which stands still until a test adds to it."""
    now = [1_000.0]
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    return now


@pytest.fixture
def place(tmp_path, monkeypatch) -> Path:
    """A run's folder, whose jobs report to `reports`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(REPORTS, "reports")
    return tmp_path


def report(place: Path) -> dict[str, Any]:
    [path] = (place / "reports").iterdir()
    return json.loads(path.read_text())


def counts(place: Path) -> dict[str, tuple[object, ...]]:
    return {
        each["what"]: (each["done"], each["total"], each["before"], each["seconds"])
        for each in report(place)["counts"]
    }


def test_a_line_has_the_share_the_rate_and_the_time_that_is_left(clock):
    images = Progress("images", 5_000)
    clock[0] += 20
    images.add(1_200)
    assert images.line() == "images: 1,200 of 5,000 (24%), 60.0/s, 63 s left"
    pages = Progress("pages")
    clock[0] += 2
    pages.add(3)
    assert pages.line() == "pages: 3, 1.5/s"


def test_what_an_earlier_run_has_done_is_in_the_share_and_not_in_the_rate(clock):
    images = Progress("images", 5_000)
    images.resume(4_000)
    assert images.line() == "images: 4,000 of 5,000 (80%), 0.0/s"
    clock[0] += 10
    images.add(100)
    assert images.line() == "images: 4,100 of 5,000 (82%), 10.0/s, 90 s left"


def test_a_job_reports_every_half_second_and_at_its_end(place, clock):
    with logged("logs/crawl_shard/a.log", "crawl_shard"):
        images = Progress("images", 10)
        clock[0] += 0.4
        images.add(2)
        assert counts(place) == {"images": (0, 10, 0, pytest.approx(0, abs=1e-6))}
        clock[0] += 0.2
        images.add(2)
        assert counts(place)["images"][:3] == (4, 10, 0)
        assert not report(place)["ended"]
    found = report(place)
    assert (found["rule"], found["log"]) == ("crawl_shard", "logs/crawl_shard/a.log")
    assert found["ended"]


def test_a_job_that_fails_has_not_ended(place):
    def work() -> None:
        with logged("logs/a.log", "crawl_shard"):
            Progress("images", 10)
            raise KeyboardInterrupt

    with pytest.raises(SystemExit):
        work()
    assert not report(place)["ended"]


class Finalized:
    """Raises in its finalizer what a signal raises there."""

    def __init__(self, number: signal.Signals) -> None:
        self.number = number

    def __del__(self) -> None:
        signal.raise_signal(self.number)


def called_from_c(number: signal.Signals) -> None:
    ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(number))()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("swallow", [called_from_c, Finalized])
def test_an_interrupt_that_python_passes_over_ends_the_job_all_the_same(
    place, capfd, swallow, number
):
    def work() -> None:
        with logged("logs/a.log", "project_source"):
            swallow(number)
            until = time.monotonic() + 20
            while time.monotonic() < until:
                time.sleep(0.01)

    with pytest.raises(SystemExit) as ended:
        work()
    assert ended.value.code == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert "Traceback" not in capfd.readouterr().err
    assert "interrupted; run again to go on" in (place / "logs/a.log").read_text()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_of_which_a_library_makes_an_error_of_its_own_is_no_error(place, number):
    """As DuckDB does, which looks for signals while it works."""

    def query() -> None:
        try:
            signal.raise_signal(number)
        except KeyboardInterrupt as error:
            raise RuntimeError("Query interrupted") from error

    def work() -> None:
        with logged("logs/a.log", "project_source"):
            query()

    with pytest.raises(SystemExit) as ended:
        work()
    assert ended.value.code == {signal.SIGINT: 130, signal.SIGTERM: 143}[number]
    assert "unexpected error" not in (place / "logs/a.log").read_text()


def test_a_signal_that_the_process_is_told_to_ignore_stays_ignored(place):
    """So starts what a shell runs in the background."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with logged("logs/a.log", "project_source"):
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


def test_an_interrupt_that_was_passed_over_at_the_end_of_a_job_leaves_the_next_alone(place):
    for _ in range(5):
        with logged("logs/a.log", "project_source"):
            called_from_c(signal.SIGINT)
    time.sleep(0.2)


def test_loops_over_the_same_things_are_summed_and_the_last_at_work_is_told(place, clock):
    with logged("logs/a.log", "encode_shard"):
        for shard in (1, 2):
            texts = Progress(f"texts encoded, shard {shard} of 2", 10)
            clock[0] += 3
            texts.add(10)
            texts.finish()
        steps = Progress("training steps", 100)
        pairs = Progress("pairs of bm25")
        clock[0] += 1
        pairs.add(7)
        assert report(place)["now"] == "pairs"
        pairs.finish()
        assert report(place)["now"] == "training steps"
        steps.add()
    assert counts(place) == {
        "texts encoded": (20, 20, 0, 6.0),
        "training steps": (1, 100, 0, 1.0),
        "pairs": (7, None, 0, 1.0),
    }


def test_what_is_tried_again_does_not_count_twice(place, clock):
    with logged("logs/a.log", "acquire_source"):
        Progress("bytes of http://a/b", 100).add(70)
        clock[0] += 1
        again = Progress("bytes of http://a/b", 100)
        again.resume(70)
        clock[0] += 1
        again.add(30)
        again.finish()
    assert counts(place) == {"bytes": (100, 100, 70, 1.0)}


def test_a_forked_process_reports_nothing_for_its_parent(place, clock):
    with logged("logs/a.log", "crawl_shard"):
        images = Progress("images", 10)
        clock[0] += 1
        child = os.fork()
        if child == 0:
            images.add(5)
            os._exit(0)
        os.waitpid(child, 0)
        assert counts(place)["images"][0] == 0


def test_a_report_that_cannot_be_written_stops_no_job(place, clock):
    (place / "reports").touch()
    with logged("logs/a.log", "crawl_shard"):
        Progress("images", 10).finish()


@pytest.mark.parametrize("reported", [True, False])
def test_the_terminal_has_progress_only_where_nobody_reads_reports(
    place, clock, capsys, monkeypatch, reported
):
    if not reported:
        monkeypatch.delenv(REPORTS)
    with logged("logs/a.log", "crawl_shard"):
        images = Progress("images", 10)
        clock[0] += 6
        images.add(1)
        log.warning("example.org is slow")
    lines = [line.partition(" ")[2] for line in capsys.readouterr().err.splitlines()]
    line = "crawl_shard: images: 1 of 10 (10%), 0.2/s, 54 s left"
    assert lines == [*([] if reported else [line]), "crawl_shard: example.org is slow"]
    assert line in (place / "logs/a.log").read_text()
    assert not progress._reports
