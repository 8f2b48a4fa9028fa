"""What a run prints: one line a job. Snakemake finds this logger by the name of its package.

`profiles/default/config.yaml` chooses it; `--logger` on the command line chooses another. Blocks of
reasons, inputs and resources stand in the complete log, `.snakemake/log/`, which Snakemake writes
itself. A dry run, `--verbose` and `--debug-dag` print what Snakemake prints without a plugin, and
`--quiet` leaves out what it leaves out there.

A job's line comes when it has ended:

    14:56:31 12/40 search_bm25: search toy with bm25, 4 s

Progress of long jobs and warnings come from the jobs themselves (`isotope.core.progress`).
"""

import logging
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from snakemake.logging import ColorizingTextHandler, DefaultFormatter
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

# Lines of a failed job's log that are printed with its error.
TAIL = 20
# Events and messages that the complete log alone has.
_LOG_ONLY = frozenset(
    {
        LogEvent.WORKFLOW_STARTED,
        LogEvent.RESOURCES_INFO,
        LogEvent.GROUP_INFO,
        LogEvent.PROGRESS,
        LogEvent.RULEGRAPH,
    }
)
_NOISE = (
    "Assuming unrestricted shared filesystem",
    "Building DAG of jobs",
    "Group jobs: inactive",
    "Removing temporary output",
    "Select jobs to execute",
    "Singularity containers: ignored",
    "Using shell:",
    "Write-protecting output file",
)


class LogHandler(LogHandlerBase):
    """Prints one line for each job that ends, and errors in full."""

    def __post_init__(self) -> None:
        """Choose the stream, and whether Snakemake's own output is asked for."""
        common = self.common_settings
        self._stream = sys.stdout if common.stdout else sys.stderr
        self._plain = ColorizingTextHandler(
            nocolor=common.nocolor,
            stream=self._stream,
            formatter=DefaultFormatter(common.quiet, common.show_failed_logs),
        )
        self._is_full = bool(common.dryrun or common.verbose or common.debug_dag)
        self._jobs: dict[int, logging.LogRecord] = {}
        self._starts: dict[int, float] = {}
        self._done = self._total = 0

    @property
    def writes_to_stream(self) -> bool:
        """It takes the place of Snakemake's own output."""
        return True

    @property
    def writes_to_file(self) -> bool:
        """The complete log is Snakemake's."""
        return False

    @property
    def has_filter(self) -> bool:
        """Snakemake filters by `--quiet`."""
        return False

    @property
    def has_formatter(self) -> bool:
        """Snakemake's formatter serves what is printed in full."""
        return False

    @property
    def needs_rulegraph(self) -> bool:
        """No rule graph is printed."""
        return False

    def emit(self, record: logging.LogRecord) -> None:
        """Print what belongs to the terminal of one record."""
        try:
            line = None if self._is_full else self._line(record)
            if line is None:
                self._plain.emit(record)
            elif line:
                self._stream.write(f"{time.strftime('%H:%M:%S')} {line}\n")
                self._stream.flush()
        except (OSError, ValueError):
            # The terminal has gone away; the run goes on.
            return

    def _line(self, record: logging.LogRecord) -> str | None:
        """Return a line, empty where nothing is to be printed, None for Snakemake's own text."""
        event: LogEvent | None = getattr(record, "event", None)
        if event == LogEvent.JOB_STARTED:
            self._starts |= dict.fromkeys(_ids(record), record.created)
            return ""
        if event == LogEvent.JOB_INFO:
            self._jobs[_field(record, "jobid")] = record
            return ""
        if event == LogEvent.JOB_FINISHED:
            return self._finished(record)
        if event == LogEvent.RUN_INFO:
            return self._planned(record)
        if event == LogEvent.JOB_ERROR and not self.common_settings.show_failed_logs:
            self._plain.emit(record)
            self._stream.write("".join(tail(path) for path in _field(record, "log")))
            return ""
        is_noise = event is None and record.getMessage().startswith(_NOISE)
        return "" if record.levelno < logging.WARNING and (event in _LOG_ONLY or is_noise) else None

    def _planned(self, record: logging.LogRecord) -> str | None:
        counts: dict[str, int] | None = getattr(record, "stats", None)
        if not counts:
            return None
        self._total = counts["total"]
        return f"{self._total} jobs; reasons and resources of each are in .snakemake/log"

    def _finished(self, record: logging.LogRecord) -> str:
        self._done += 1
        number = _field(record, "job_id")
        job = self._jobs.pop(number, None)
        count = f"{self._done:>{len(str(self._total))}}/{self._total}"
        # `--quiet rules` has left out what the job is.
        if job is None:
            return f"{count} jobs done"
        seconds = record.created - self._starts.pop(number, job.created)
        deed = _field(job, "rule_msg")
        what = f"{_field(job, 'rule_name')}: {deed}" if deed else _field(job, "rule_name")
        return f"{count} {what}, {seconds:.0f} s"


def tail(log: str, lines: int = TAIL) -> str:
    """Return the last lines of a job's log under its path, or nothing where there is none."""
    try:
        every = Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    head = f"Last lines of {log}:\n"
    return head + "".join(f"    {line}\n" for line in every[-lines:])


def _ids(record: logging.LogRecord) -> Sequence[int]:
    return _field(record, "jobs")


def _field(record: logging.LogRecord, name: str) -> Any:  # noqa: ANN401 (Snakemake gives no type)
    return getattr(record, name)
