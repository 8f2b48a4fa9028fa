"""One line a phase moves at the end of a terminal; it adds up what the phase's jobs do."""

import fcntl
import json
import os
import re
import signal
import struct
import termios
import time
from pathlib import Path
from typing import Any

import pytest
from tests import forkserver
from tests.terminal import Program, Terminal

from isotope.core.progress import duration
from snakemake_logger_plugin_isotope import folder_of
from snakemake_logger_plugin_isotope.phases import PhaseState, Run, place
from snakemake_logger_plugin_isotope.screen import Screen, line, plain

ROOT = Path(__file__).parents[2]
# A job of so many things that takes a second, or 20 STEPs; it fails where a file says so.
JOB = """
import os, sys, time
from pathlib import Path
from isotope.core.errors import FetchFailed
from isotope.core.progress import Progress, log, logged

rule, name, total = sys.argv[1], sys.argv[2], int(sys.argv[3])
with logged(f"logs/{rule}/{name}.log", rule):
    progress = Progress("images", total)
    for _ in range(20):
        time.sleep(float(os.environ.get("STEP", 0.05)))
        progress.add(total // 20)
    if name == "1":
        log.warning("example.org is slow")
    if Path("broken").exists() and name == "1":
        raise FetchFailed("example.org", "no answer", "run again later")
    progress.finish()
    Path(f"{rule}.{name}").touch()
"""
SNAKEFILE = """
rule all:
    input: "crawl_shard.0", "crawl_shard.1", "project_source.x"

rule crawl_shard:
    output: "crawl_shard.{n}"
    log: "logs/crawl_shard/{n}.log"
    message: "download the pictures of shard {wildcards.n}"
    shell: "python job.py crawl_shard {wildcards.n} 1000"

rule project_source:
    output: "project_source.x"
    log: "logs/project_source/x.log"
    message: "find the section of each text"
    shell: "python job.py project_source x 300"
"""
JOBS = 3
BAR = re.compile("[━╌]+")


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "job.py").write_text(JOB)
    return tmp_path


@pytest.fixture
def started(folder):
    """Start the workflow in a terminal: `started(columns, **environment)`."""

    def start(columns: int, **environment: str) -> Program:
        profile = ["--workflow-profile", ROOT / "profiles/default", "--cores", "3"]
        env = {**os.environ, "PYTHONIOENCODING": "utf-8", **environment}
        words = [forkserver.stand_in("snakemake"), *profile]
        return Program(words, columns, cwd=folder, env=env)

    return start


def moving(screen: Terminal) -> list[list[str]]:
    """The lines that moved: frames without a line that had been written for good."""
    return [[BAR.sub("", row) for row in frame] for frame in screen.frames if frame]


def test_each_phase_has_one_line_that_moves_below_those_of_its_jobs(started):
    status, screen = started(100).end()
    assert status == 0
    frames = moving(screen)
    for frame in frames:
        phases = [row.split()[0] for row in frame]
        assert len(phases) == len(set(phases))
        assert set(phases) <= {"crawl", "project"}
    counts = [re.findall(r"([\d,]+) of ~?([\d,]+) images", row) for f in frames for row in f]
    assert {total for [(_, total)] in counts} == {"2,000", "300"}
    assert any("s left" in row for frame in frames for row in frame)
    rows = screen.text.splitlines()
    assert sum(bool(re.match(r"\d\d:\d\d:\d\d \d/4 ", row)) for row in rows) == 4
    assert sum(row.endswith("crawl_shard: example.org is slow") for row in rows) == 1
    assert not any(BAR.search(row) for row in rows)
    assert re.search(r"\n4 of 4 jobs in \d+ s\nLog: \.snakemake/log/.*\n$", screen.text)


@pytest.mark.long
def test_a_narrow_terminal_has_no_line_that_is_broken_and_no_colour_is_a_wish(started):
    program = started(40, NO_COLOR="1")
    status, screen = program.end()
    assert status == 0
    assert not re.search(r"\x1b\[[1-9]\d*m", program.written)
    assert {len(row) < 40 for frame in screen.frames for row in frame} == {True}
    assert any("crawl" in row and "left" in row for f in screen.frames for row in f)
    assert "crawl " not in screen.text


@pytest.mark.long
def test_a_killed_run_leaves_its_lines_below_the_cursor_and_they_are_in_colour(started):
    program = started(100).until("━")
    program.kill()
    screen = Terminal(100).feed(program.written[: program.written.rindex("\r") + 1])
    assert screen.at[1] == 0
    assert re.match("(crawl|project) ", screen.rows[screen.at[0]])
    assert "\x1b[36m" in program.written


@pytest.mark.long
def test_a_run_that_failed_says_where_and_its_next_one_counts_what_is_done(started, folder, shell):
    (folder / "broken").touch()
    status, screen = started(100).end()
    assert status == 1
    end = screen.text[screen.text.index(" jobs in ") :]
    assert "\nFailed: crawl_shard, logs/crawl_shard/1.log\n  FetchFailed: example.org" in end
    assert "What is done stays: run the same command again" in end
    assert not BAR.search(screen.text)
    (folder / "broken").unlink()
    program = started(100)
    rows = [row for frame in moving(program.end()[1]) for row in frame]
    counts = {found[1] for row in rows if (found := re.search(r"(\S+) of 2,000 images", row))}
    assert counts
    assert min(int(count.replace(",", "")) for count in counts) >= 1_000
    assert not any("project" in row for row in rows)
    assert not [*(folder / ".isotope/progress").glob("*/*")]
    told = shell("snakemake", *_profile(), cwd=folder)
    assert told.splitlines()[-1].startswith("Nothing to be done")
    assert "\x1b" not in told


def _profile() -> list[str | Path]:
    return ["--workflow-profile", ROOT / "profiles/default", "--cores", "1"]


@pytest.mark.long
def test_ctrl_c_leaves_no_line_that_moved(started, folder):
    program = started(80, STEP="1")
    program.until("images")
    # An interpreter that is stopped while it begins prints what it likes.
    deadline = time.monotonic() + 60
    while sum(map(Path.is_file, (folder / ".isotope/progress").rglob("*"))) < JOBS:
        assert time.monotonic() < deadline, "jobs report nothing"
        time.sleep(0.01)
    os.killpg(program.process.pid, signal.SIGINT)
    status, screen = program.end()
    assert status
    assert not BAR.search(screen.text)
    assert re.search(r"\n\d of 4 jobs in \d+ s\n", screen.text)
    assert "run the same command again" in screen.text


# What the lines say, from reports that were written by hand.


def report(name: str, **content: Any) -> None:
    """Write what a job of `crawl_shard` reports about `images`, or others."""
    counts = content.pop("counts", [])
    about = {"rule": "crawl_shard", "log": f"logs/{name}.log", "ended": False, "now": "images"}
    path = run_folder() / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({**about, **content, "counts": counts}))


def run_folder() -> Path:
    return Path(".isotope/progress/command/2")


def images(done: int, total: int | None, before: int = 0, seconds: float = 10.0) -> dict[str, Any]:
    return {"what": "images", "done": done, "total": total, "before": before, "seconds": seconds}


@pytest.fixture
def four(tmp_path, monkeypatch) -> Run:
    """A run of four jobs of `crawl_shard` of which two run."""
    monkeypatch.chdir(tmp_path)
    run = Run(run_folder())
    run.plan({"crawl_shard": 4, "total": 4})
    for name in ("a", "b"):
        run.start("crawl_shard", [f"logs/{name}.log"])
    return run


def test_jobs_add_up_and_those_that_have_not_begun_count_as_the_mean(four):
    report("a", counts=[images(50, 100)])
    report("b", counts=[images(150, 300)])
    [state] = four.states()
    assert (state.phase, state.done, state.total, state.about) == ("crawl", 200, 800, True)
    assert state.share == pytest.approx(0.25)
    assert state.rate == pytest.approx(20, rel=0.01)
    # 600 images at 0.1 s of a job each, by two jobs at a time.
    assert state.left_s == pytest.approx(30, rel=0.01)


def test_the_slowest_job_says_when_the_last_phase_ends(four):
    four.planned["crawl_shard"] = 2
    report("a", counts=[images(100, 100)])
    report("b", counts=[images(20, 100)])
    [state] = four.states()
    assert state.left_s == pytest.approx(40, rel=0.01)


def test_what_an_earlier_run_did_is_in_the_share_and_not_in_the_rate(four):
    four.planned["crawl_shard"] = 2
    report("a", counts=[images(60, 100, before=50)])
    report("b", counts=[images(60, 100, before=50)])
    [state] = four.states()
    assert state.share == pytest.approx(0.6)
    assert state.rate == pytest.approx(2, rel=0.01)
    assert state.left_s == pytest.approx(40, rel=0.01)


def test_jobs_that_ended_before_the_same_run_was_cut_off_count(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for number, ended in enumerate((True, False)):
        earlier = Path(f".isotope/progress/command/1/{number}.json")
        report("old", log=f"logs/{number}.log", ended=ended, counts=[images(100, 100)])
        earlier.parent.mkdir(parents=True, exist_ok=True)
        (run_folder() / "old.json").replace(earlier)
    other = Path(".isotope/progress/other/1/x.json")
    other.parent.mkdir(parents=True)
    other.touch()
    run = Run(run_folder())
    run.plan({"crawl_shard": 1, "total": 1})
    assert not other.exists()
    run.start("crawl_shard", ["logs/a.log"])
    report("a", counts=[images(0, 100)])
    [state] = run.states()
    assert (state.done, state.total, state.jobs, state.planned) == (100, 200, 0, 1)
    # A job that runs anew counts anew.
    run.start("crawl_shard", ["logs/0.log"])
    assert [(s.done, s.total) for s in run.states()] == [(0, 100)]


def test_things_of_two_kinds_weigh_what_they_cost(four):
    four.planned["crawl_shard"] = 1
    texts = {"what": "texts", "done": 100, "total": 100, "before": 0, "seconds": 1.0}
    report("a", counts=[texts, images(10, 100)])
    [state] = four.states()
    assert (state.what, state.done, state.total) == ("images", 10, 100)
    assert state.share == pytest.approx((1 + 10) / (1 + 100))
    assert state.left_s == pytest.approx(90, rel=0.01)


def test_things_that_have_just_begun_weigh_as_much_as_others(four):
    four.planned["crawl_shard"] = 1
    texts = {"what": "texts", "done": 100, "total": 100, "before": 0, "seconds": 3.0}
    report("a", counts=[texts, images(0, 1_000)])
    [state] = four.states()
    assert (state.what, state.done, state.total) == ("images", 0, 1_000)
    assert state.share == pytest.approx(0.5)
    assert state.left_s == pytest.approx(3, rel=0.01)


def test_the_first_things_of_many_say_nothing_of_the_time_left(four):
    four.planned["crawl_shard"] = 1
    first = {"what": "images", "done": 1, "total": 10_000, "before": 0, "seconds": 5.0}
    report("a", counts=[first])
    [state] = four.states()
    # 10,000 at 5 s each were 14 hours.
    assert (state.done, state.total, state.left_s) == (1, 10_000, None)
    report("a", counts=[{**first, "done": 400, "seconds": 8.0}])
    [state] = four.states()
    assert state.left_s == pytest.approx(192, rel=0.01)


def test_a_job_that_has_just_begun_costs_what_those_before_it_did(four):
    four.planned["crawl_shard"] = 2
    four.end("crawl_shard", ["logs/b.log"])
    report("b", ended=True, counts=[images(1_000, 1_000)])
    slow = {"what": "images", "done": 2, "total": 1_000, "before": 0, "seconds": 10.0}
    report("a", counts=[slow])
    [state] = four.states()
    cost = (images(1_000, 1_000)["seconds"] + 10) / 1_002
    assert state.left_s == pytest.approx(998 * cost, rel=0.02)


def test_between_two_jobs_the_time_left_is_that_of_as_many_jobs_as_before(four):
    report("a", counts=[images(50, 100)])
    report("b", counts=[images(50, 100)])
    [two] = four.states()
    four.end("crawl_shard", ["logs/b.log"])
    report("b", ended=True, counts=[images(100, 100)])
    report("a", counts=[images(60, 100)])
    [one] = four.states()
    assert two.left_s is not None
    assert one.left_s is not None
    assert one.left_s < two.left_s


def test_a_job_that_stands_still_becomes_slow(four, monkeypatch):
    report("a", counts=[images(50, 100)])
    [before] = four.states()
    later = time.monotonic() + 40
    monkeypatch.setattr("time.monotonic", lambda: later)
    [after] = four.states()
    assert after.rate == pytest.approx(before.rate / 5, rel=0.01)


def test_without_a_report_or_a_total_there_is_no_time_left(four):
    assert four.states() == []
    report("a", counts=[images(50, None)])
    [state] = four.states()
    assert (state.done, state.total, state.share, state.left_s) == (50, None, None, None)
    (run_folder() / "a.json").write_text("{")
    os.utime(run_folder() / "a.json", (1, 1))
    assert four.states() == []


def test_a_command_with_other_params_is_another_run(tmp_path):
    (tmp_path / "params.yaml").write_text("a: 1")
    one = place(["--cores", "2"], tmp_path)
    assert place(["--cores", "2"], tmp_path).parent == one.parent
    assert place(["--cores", "2"], tmp_path) != one
    assert place(["--cores", "3"], tmp_path).parent != one.parent
    (tmp_path / "params.yaml").write_text("a: 2")
    assert place(["--cores", "2"], tmp_path).parent != one.parent


STATE = PhaseState("crawl", "images", 31_402, 60_000, False, 512.4, 56.0, 0.523, 2, 16)


def test_a_line_has_what_there_is_room_for():
    assert line(STATE) == ("crawl     52%  31,402 of 60,000 images, 512/s, 56 s left, 2 of 16 jobs")
    assert line(STATE, 60) == "crawl     52%  31,402 of 60,000 images, 512/s, 56 s left"
    assert line(STATE, 55) == "crawl     52%  31,402 of 60,000 images, 56 s left"
    assert line(STATE, 39) == "crawl     52%  56 s left"
    assert line(STATE, 10) == "crawl     "
    assert plain(STATE) == "crawl 52% 31,402 of 60,000 images, 512/s, 56 s left, 2 of 16 jobs"


def test_a_window_that_changes_its_size_has_lines_of_its_width(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    own, theirs = os.openpty()
    states = [STATE, STATE._replace(phase="encode")]
    with os.fdopen(theirs, "w", encoding="utf-8") as stream, os.fdopen(own, "rb", 0) as written:
        screen, drawn = Screen(stream, colour=False), list[str]()
        for columns, rows in ((120, 24), (40, 24), (120, 2)):
            fcntl.ioctl(stream, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
            screen.show(states)
            drawn.append(written.read(10_000).decode())
        screen.draw([])
        seen = Terminal(120).feed("".join(drawn) + written.read(100).decode())
    wide, narrow, low = seen.frames[1:]
    assert [len(row) > 80 for row in wide] == [True, True]
    assert [row.split()[0] for row in narrow] == ["crawl", "encode"]
    assert max(map(len, narrow)) < 40
    assert len(low) == 1
    assert seen.rows == [""]


@pytest.mark.parametrize("terminal", ["", "dumb"])
def test_a_terminal_that_cannot_move_its_cursor_is_like_a_file(monkeypatch, terminal):
    monkeypatch.setenv("TERM", terminal)
    own, theirs = os.openpty()
    with os.fdopen(theirs, "w", encoding="utf-8") as stream:
        assert not Screen(stream, colour=True).moves
    os.close(own)


def test_bytes_and_slow_things_have_units_to_their_size():
    fetch = STATE._replace(what="bytes", done=1_234_567_890, total=5 * 10**9, rate=2.5e7)
    assert "1.2 of 5.0 GB, 25.0 MB/s" in line(fetch)
    assert "2.4/min" in line(STATE._replace(rate=0.04))
    assert "31,402 of ~60,000 images, 5.1/s" in line(STATE._replace(about=True, rate=5.123))


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "0 s"),
        (119, "119 s"),
        (125, "2 min"),
        (3_599, "59 min"),
        (11_100, "3 h 5 min"),
        (187_300, "2 d 4 h"),
    ],
)
def test_a_duration_has_its_two_largest_units(seconds, words):
    assert duration(seconds) == words


@pytest.mark.parametrize(
    ("command", "folder"),
    [
        (["--cores", "1"], "."),
        (["-d", "a", "all"], "a"),
        (["--directory", "a"], "a"),
        (["--directory=a"], "a"),
    ],
)
def test_the_folder_of_a_run_is_found_before_snakemake_enters_it(command, folder):
    assert folder_of(command) == Path(folder)
