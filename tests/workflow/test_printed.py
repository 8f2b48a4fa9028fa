"""What a run prints: one line a job and the progress of long ones; the log has the rest."""

import re
from pathlib import Path

import pytest
from tests import forkserver

ROOT = Path(__file__).parents[2]
JOB = re.compile(r"\d\d:\d\d:\d\d +(\d+)/(\d+) (\w+)(?:: (.+))?, \d+ s")
PROGRESS = re.compile(r"\d\d:\d\d:\d\d \w+: .+: [\d,]+.*, [\d,.]+/s(, [\d,.inf]+ s left)?")
# Snakemake's own first and last words.
ENDS = ("Using workflow specific profile", "Complete log(s): ", "Elapsed time: ")
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


def test_the_demo_prints_a_line_for_each_of_its_40_jobs_in_turn(printed):
    jobs = [found.groups() for line in printed if (found := JOB.fullmatch(line))]
    assert [int(number) for number, *_ in jobs] == list(range(1, 41))
    assert {total for _, total, *_ in jobs} == {"40"}
    assert all(message for *_, rule, message in jobs if rule != "all")
    assert any("40 jobs" in line for line in printed)


def test_besides_the_demo_prints_progress_and_where_its_log_is(printed):
    rest = [line for line in printed if not JOB.fullmatch(line) and "40 jobs" not in line]
    assert any(line.startswith("Complete log(s): ") for line in rest)
    assert [line for line in rest if not PROGRESS.fullmatch(line) and line[:16].strip()] == [
        line for line in rest if line.startswith(ENDS)
    ]


def test_the_reason_of_every_job_is_in_the_log(printed):
    [log] = [line.partition(": ")[2] for line in printed if line.startswith("Complete log(s): ")]
    text = Path(log).read_text()
    # The target `all` has no message, and its reason stands among its details.
    assert len(re.findall(r"^(?:Job \d+: .+\nReason: | +reason: )", text, re.MULTILINE)) == 40


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


def test_a_dry_run_and_a_verbose_one_print_what_snakemake_prints(small):
    told = small("--dry-run")
    assert "Reason: Missing output files: b" in told
    assert re.search(r"^total +3$", told, re.MULTILINE)
    assert "Reason: Missing output files: a" in small("--verbose", "--", "a")


def test_quiet_leaves_out_what_it_names(small, place):
    assert "score_first" not in small("--quiet", "rules", "--", "a")
    (place / "a").unlink()
    assert "1/1" not in small("--quiet", "--", "a")


def test_a_logger_of_the_user_s_takes_its_place(small, place, monkeypatch):
    package = place / "lib/snakemake_logger_plugin_other"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(OTHER)
    monkeypatch.setenv("PYTHONPATH", f"{package.parent}:{ROOT / 'workflow/lib'}")
    told = small("--logger", "other", "--", "a", forked=False)
    assert "other\nother\n" in told
    assert "score_first" not in told
