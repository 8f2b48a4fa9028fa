"""What a run prints in a file: a line a job, how far phases are, a summary; the log has the rest.

What it prints on a terminal: test_moving.py.
"""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest
from tests import forkserver

from snakemake_logger_plugin_isotope import failures

ROOT = Path(__file__).parents[2]
JOB = re.compile(r"\d\d:\d\d:\d\d +(\d+)/(\d+) (\w+)(?:: (.+))?, \d+ s")
PROGRESS = re.compile(r"\d\d:\d\d:\d\d \w+(?: \d+%)? [\d,.]+ (?:of ~?[\d,.]+ )?[a-zA-Z].*")
# A job that succeeds and one that fails, with thirty lines in its log.
SNAKEFILE = """
rule all:
    input: "b"

rule score_first:
    output: "a"
    message: "make a"
    shell: "touch {output}"

rule score_second:
    input: "a"
    output: "b"
    log: "logs/b.log"
    message: "make b"
    shell: "for i in $(seq 30); do echo line $i; done > {log}; exit 1"
"""
# What a job of ours does on a signal: it says so in its log, and ends by the signal's number.
STOPPING = r"""
rule score:
    output: "b"
    log: "logs/b.log"
    shell:
        "trap 'echo \"12:00:00 score: {told}\" >> {{log}}; exit {code}' TERM INT; "
        "touch started; for i in $(seq 600); do sleep 0.1; done"
"""
OTHER = """
from snakemake_logger_plugin_isotope import LogHandler as Ours


class LogHandler(Ours):
    def emit(self, record):
        self._stream.write("other\\n")
"""


@pytest.fixture
def place(tmp_path) -> Path:
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    return tmp_path


@pytest.fixture
def small(place, shell):
    """Run the small Snakefile with the project's profile: `small(*arguments)`."""
    profile = ["--workflow-profile", ROOT / "profiles/default", "--cores", "1"]
    return lambda *words, **how: shell(
        "snakemake", *profile, *words, cwd=place, **{"check": False, **how}
    )


@pytest.fixture
def printed(embedded) -> list[str]:
    """What the run of the demo printed."""
    assert embedded.is_dir()
    return (forkserver.folder() / "demo.printed").read_text().splitlines()


def test_the_demo_prints_a_line_for_each_of_its_54_jobs_in_turn(printed):
    jobs = [found.groups() for line in printed if (found := JOB.fullmatch(line))]
    assert [int(number) for number, *_ in jobs] == list(range(1, 55))
    assert {total for _, total, *_ in jobs} == {"54"}
    assert all(message for *_, rule, message in jobs if rule != "all")
    assert any("54 jobs" in line for line in printed)


def test_before_its_end_the_demo_prints_nothing_else_but_how_far_its_phases_are(printed):
    rest = [line for line in printed if not JOB.fullmatch(line) and "54 jobs" not in line]
    body = rest[: rest.index("")]
    assert [line for line in body if not PROGRESS.fullmatch(line)] == [
        line for line in body if line.startswith("Using workflow specific profile")
    ]
    assert not any("\x1b" in line for line in printed)
    # It trains for more than five seconds, and a line is printed every five.
    assert any(" train " in line for line in body)


def summary(lines: list[str]) -> str:
    """The summary at the end of what was printed, without what differs from run to run."""
    start = next(n for n, line in enumerate(lines) if "54 of 54 jobs in " in line)
    text = "\n".join(lines[start:])
    return re.sub(r"(jobs in ).*|(log/).*", lambda found: found[1] or found[2], text)


def test_the_demo_ends_with_the_summary_that_the_tutorial_shows(printed):
    assert "picture lost" in summary(printed)
    page = (ROOT / "docs/quickstart.md").read_text().split("```\n")
    [shown] = [block for block in page if block.startswith("54 of 54 jobs in ")]
    assert summary(shown.splitlines()) == summary(printed)


def test_the_reason_of_every_job_is_in_the_log(embedded, printed):
    [log] = [line.removeprefix("Log: ") for line in printed if line.startswith("Log: ")]
    text = (embedded / log).read_text()
    # The target `all` has no message, and its reason stands among its details.
    assert len(re.findall(r"^(?:Job \d+: .+\nReason: | +reason: )", text, re.MULTILINE)) == 54


def test_an_error_is_printed_whole_with_its_log_and_the_end_of_it(small):
    told = small()
    assert re.search(r"^\d\d:\d\d:\d\d 1/3 score_first: make a, \d+ s$", told, re.MULTILINE)
    assert "Error in rule score_second:" in told
    assert "log: logs/b.log" in told
    assert "non-zero exit status 1" in told
    assert "Last lines of logs/b.log:\n    line 11\n" in told
    assert "    line 30\n" in told
    assert "line 10\n" not in told
    assert "Reason" not in told
    end = told[told.index("\n1 of 3 jobs in ") :]
    assert "\nFailed: score_second, logs/b.log\n  line 30\nWhat is done stays: " in end
    assert end.splitlines()[-1].startswith("Log: .snakemake/log/")


def stopped(place: Path, number: signal.Signals, told: str) -> str:
    """Start a job, and send a signal to all processes of the run; return what was said."""
    (place / "Snakefile").write_text(STOPPING.format(told=told, code=128 + number))
    profile = ["--workflow-profile", ROOT / "profiles/default", "--cores", "1"]
    with (place / "said").open("a") as said:
        program = [forkserver.stand_in("snakemake"), *profile]
        run = subprocess.Popen(program, cwd=place, stdout=said, stderr=said, process_group=0)
        try:
            for _ in range(6_000):
                if (place / "started").exists() or run.poll() is not None:
                    break
                time.sleep(0.01)
            os.killpg(run.pid, number)
            assert run.wait(60) != 0
        finally:
            if run.poll() is None:
                os.killpg(run.pid, signal.SIGKILL)
                run.wait()
    return (place / "said").read_text()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("told", ["interrupted; run again to go on", "at work"])
def test_a_run_that_is_stopped_ends_with_how_to_go_on_and_no_error(tmp_path, number, told):
    said = stopped(tmp_path, number, told)
    assert not re.search("Error|Exception|Failed|did not complete", said)
    assert f"\nStopped: score, logs/b.log\n  {told}\nWhat is done stays: run the same " in said


def test_a_job_that_a_signal_ended_in_a_run_that_nobody_stopped_failed(small, place):
    (place / "Snakefile").write_text(SNAKEFILE.replace("exit 1", "exit 143"))
    told = small()
    assert "Error in rule score_second:" in told
    assert "non-zero exit status 143" in told
    assert "At least one job did not complete successfully" in told
    assert "\nFailed: score_second, logs/b.log\n  line 30\nWhat is done stays: " in told


def test_of_many_failures_the_first_are_named_and_the_others_counted(tmp_path):
    log = tmp_path / "a.log"
    log.write_text("21:50:34 score_runs: DiskFull: no room\n\n")
    told = failures([("score_runs", [str(log)])] * 7 + [("all", [])]).splitlines()
    assert told == [f"Failed: score_runs, {log}", "  DiskFull: no room"] * 5 + [
        "and 3 more jobs failed"
    ]
    assert failures([("all", [])]) == "Failed: all\n"
    log.write_text("21:50:34 score_runs: interrupted; run again to go on\n")
    assert failures([("score_runs", [str(log)])]).startswith(f"Stopped: score_runs, {log}\n")
    assert failures([("all", ["none.log"])]) == "Failed: all, none.log\n"


def test_a_dry_run_and_a_verbose_one_print_what_snakemake_prints(small):
    told = small("--dry-run")
    assert "Reason: Missing output files: b" in told
    assert re.search(r"^total +3$", told, re.MULTILINE)
    assert "jobs in " not in told
    assert "Reason: Missing output files: a" in small("--verbose", "--", "a")


def test_quiet_leaves_out_what_it_names(small, place):
    assert "score_first" not in small("--quiet", "rules", "--", "a")
    (place / "a").unlink()
    told = small("--quiet", "progress", "--", "a")
    assert "1/1" not in told
    assert "\n1 of 1 jobs in " in told
    (place / "a").unlink()
    assert not re.search("1/1|1 of 1", small("--quiet", "all", "--", "a"))


@pytest.mark.long
def test_a_logger_of_the_user_s_takes_its_place(small, place, monkeypatch):
    package = place / "lib/snakemake_logger_plugin_other"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(OTHER)
    monkeypatch.setenv("PYTHONPATH", f"{package.parent}:{ROOT / 'workflow/lib'}")
    told = small("--logger", "other", "--", "a", forked=False)
    assert "other\nother\n" in told
    assert "score_first" not in told
