"""What a run prints: one line a job, and how far its phases are; at its end a summary.

Snakemake finds this logger by the name of its package.

`profiles/default/config.yaml` chooses it; `--logger` on the command line chooses another. Blocks of
reasons, inputs and resources stand in the complete log, `.snakemake/log/`, which Snakemake writes
itself. A dry run, `--verbose` and `--debug-dag` print what Snakemake prints without a plugin, and
`--quiet` leaves out what it leaves out there. Where the environment names a file in `ISOTOPE_JOBS`,
a dry run also writes its jobs there, one JSON object a line (benchmarks/rehearsal.py reads them).

A job's line comes when it has ended:

    14:56:31 12/40 search_bm25: search toy with bm25, 4 s

How far a phase is, one line says that moves at the end of a terminal (`screen`); in a file a line
is added every few seconds. Jobs report it in files (`phases`); warnings they print themselves.
`--quiet progress` leaves these out, and `--quiet all` the summary too.
"""

import argparse
import json
import logging
import os
import re
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from snakemake.logging import ColorizingTextHandler, DefaultFilter, DefaultFormatter
from snakemake.settings.enums import Quietness
from snakemake_interface_logger_plugins.base import LogHandlerBase
from snakemake_interface_logger_plugins.common import LogEvent

from isotope.core import held
from isotope.core.errors import IsotopeError
from isotope.core.progress import REPORTS, STOPPED, duration
from isotope.core.terminal import printable
from snakemake_logger_plugin_isotope import phases
from snakemake_logger_plugin_isotope.screen import Screen, plain

# Lines of a failed job's log that are printed with its error.
TAIL = 20
# Jobs that failed, in the summary.
MOST_FAILED = 5
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
    "Elapsed time: ",
    "Group jobs: inactive",
    "Removing temporary output",
    "Select jobs to execute",
    "Singularity containers: ignored",
    "Using shell:",
    "Write-protecting output file",
)


_LOG, _NOTHING = "Complete log(s): ", "Nothing to be done"
JOBS = "ISOTOPE_JOBS"
# On Ctrl-C and on SIGTERM.
_STOPPING = ("Terminating processes on user request", "Will exit after finishing currently running")
_LOCKED = "Directory cannot be locked"
# What Snakemake says before a job's error, and at the end of a run that had one.
_BEFORE_ERROR, _LAST = "RuleException", "At least one job did not complete successfully"
# How a process ended that a signal of the user's has stopped.
_BY_SIGNAL = re.compile(r"exit status (130|143)\b|died with <Signals\.SIG(INT|TERM)")
# Seconds between frames, and between lines in a file.
_FRAME_S, _LINE_S = 0.5, 5.0
# What a job's log has before each message: the time and the rule.
_HEAD = re.compile(r"\d\d:\d\d:\d\d \w+: ")


class _Formatter(DefaultFormatter):
    """Snakemake's own text, in which what data says is text."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the text of a record."""
        return printable(str(super().format(record) or ""))


class LogHandler(LogHandlerBase):
    """Prints one line for each job that ends, errors in full, how far phases are, and a summary."""

    def __post_init__(self) -> None:
        """Choose the stream, and whether Snakemake's own output is asked for.

        Raises:
            SystemExit: an overlay can't be read. Snakemake, which reads them next, has neither file
                nor line to say, or a traceback of its own.
        """
        # Python closes at its end what has not begun, too.
        self._ended = threading.Event()
        self._ended.set()
        demand_overlays(sys.argv[1:])
        common = self.common_settings
        quiet: set[Any] = {*(common.quiet or ())}
        self._stream = sys.stdout if common.stdout else sys.stderr
        colour = not (common.nocolor or os.environ.get("NO_COLOR"))
        self._screen = Screen(self._stream, colour=colour)
        self._plain = ColorizingTextHandler(
            nocolor=not colour,
            stream=self._stream,
            formatter=_Formatter(common.quiet, common.show_failed_logs),
        )
        self._shown = DefaultFilter(
            quiet, common.debug_dag, common.verbose, common.dryrun, common.printshellcmds
        )
        self._is_full = bool(common.dryrun or common.verbose or common.debug_dag)
        self._is_silent = Quietness.ALL in quiet
        self._has_progress = not {Quietness.ALL, Quietness.PROGRESS} & quiet
        self._jobs: dict[int, logging.LogRecord] = {}
        self._starts: dict[int, float] = {}
        self._made, self._withheld = list[str](), list[logging.LogRecord]()
        self._failed: dict[int, logging.LogRecord] = {}
        # What is said of jobs that a signal ended is an error if nobody stopped the run.
        self._stopped: dict[int, list[logging.LogRecord]] = {}
        self._done, self._total, self._is_stopped = 0, 0, False
        self._ends = {"log": "", "nothing": ""}
        self._began, self._ended = time.monotonic(), threading.Event()
        self._ticker: threading.Thread | None = None
        self._run = phases.Run(phases.place(sys.argv[1:]))
        self._hold(folder_of(sys.argv[1:]))

    def _hold(self, folder: Path) -> None:
        """Say that this run is at work, unless it is dry, and remove the lock of a killed one.

        Records reach `emit` by a thread, when Snakemake may have looked for the lock already.
        """
        self._held, self._holder = held.holders(folder), None
        if self.common_settings.dryrun:
            return
        # Jobs inherit it; also Slurm hands it on.
        os.environ[REPORTS] = str(self._run.folder)
        if told := held.free(self._held, folder):
            self._stream.write(f"{told}\n")
        self._holder = held.hold(folder)

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
        """What `--quiet` leaves out is counted nevertheless."""
        return True

    @property
    def has_formatter(self) -> bool:
        """Snakemake's formatter serves what is printed in full."""
        return False

    @property
    def needs_rulegraph(self) -> bool:
        """No rule graph is printed."""
        return False

    def emit(self, record: logging.LogRecord) -> None:
        """Count what a record tells, and print what belongs to the terminal."""
        try:
            line = self._line(record)
            if not self._shown.filter(record) or line == "":
                return
            if self._is_full or line is None:
                self._print(record)
            else:
                self._screen.write(f"{time.strftime('%H:%M:%S')} {printable(line)}\n")
        except (OSError, ValueError):
            # The terminal has gone away; the run goes on.
            return

    def _print(self, record: logging.LogRecord) -> None:
        with self._screen.above():
            self._plain.emit(record)
            self._stream.write(printable(self._tails(record)))

    def close(self) -> None:
        """Clear the lines that move, and print the summary."""
        if not self._ended.is_set():
            self._ended.set()
            if self._ticker:
                self._ticker.join(_FRAME_S)
            with suppress(OSError, ValueError):
                self._screen.draw([])
                self._release()
                if not self._is_silent:
                    self._stream.write(printable(self._summary()))
                    self._stream.flush()
            if self._total and self._is_whole:
                self._run.forget()
            os.environ.pop(REPORTS, None)
            held.leave(self._holder)
        super().close()

    def _line(self, record: logging.LogRecord) -> str | None:
        """Return a line, empty where nothing is to be printed, None for Snakemake's own text."""
        event: LogEvent | None = getattr(record, "event", None)
        if event == LogEvent.JOB_STARTED:
            self._starts |= dict.fromkeys(_field(record, "jobs"), record.created)
            return None if self._is_full else ""
        if event == LogEvent.JOB_INFO:
            self._jobs[_field(record, "jobid")] = record
            if self.common_settings.dryrun:
                _list_job(record)
            self._run.start(_field(record, "rule_name"), _field(record, "log"))
            return None if self._is_full else ""
        if event == LogEvent.JOB_FINISHED:
            line = self._finished(record)
            return None if self._is_full else line
        if event == LogEvent.RUN_INFO:
            return self._planned(record)
        if event == LogEvent.JOB_ERROR:
            return self._ended_badly(record)
        return None if self._is_full else self._other(record)

    def _ended_badly(self, record: logging.LogRecord) -> str | None:
        """Note that a job failed, or was stopped, of which the summary alone tells."""
        number, logs = _field(record, "jobid"), _logs(record)
        self._failed[number] = record
        self._run.stop(logs)
        said, self._withheld = [*self._withheld, record], []
        is_stopped = _was_stopped(logs, "".join(each.getMessage() for each in said[:-1]))
        if is_stopped and not self._is_full:
            self._stopped[number] = said
            return ""
        self._print_shown(said[:-1])
        return None

    def _release(self) -> None:
        """Print what was withheld, unless it is that jobs ended when the run was stopped."""
        if not self._is_stopped:
            for said in self._stopped.values():
                self._print_shown(said)
            self._stopped.clear()
        is_last = self._failed.keys() <= self._stopped.keys() and self._is_stopped
        self._print_shown([r for r in self._withheld if not (is_last and _LAST in r.getMessage())])
        self._withheld.clear()

    def _print_shown(self, records: Sequence[logging.LogRecord]) -> None:
        for record in records:
            if self._shown.filter(record):
                self._print(record)

    def _other(self, record: logging.LogRecord) -> str | None:
        event: LogEvent | None = getattr(record, "event", None)
        text = record.getMessage() if event is None else ""
        if text.startswith(_LOG):
            logs = text.removeprefix(_LOG).split(", ")
            self._ends["log"] = ", ".join(map(os.path.relpath, logs))
            return ""
        if text.startswith(_NOTHING):
            self._ends["nothing"] = text
            return ""
        if text.startswith(_STOPPING):
            is_new, self._is_stopped = not self._is_stopped, True
            return None if self._is_full or is_new else ""
        message = record.getMessage()
        if not self._is_full and (message.startswith(_BEFORE_ERROR) or _LAST in message):
            self._withheld.append(record)
            return ""
        if _LOCKED in message:
            return held.lock_message(self._held)
        is_noise = text.startswith(_NOISE)
        return "" if record.levelno < logging.WARNING and (event in _LOG_ONLY or is_noise) else None

    def _planned(self, record: logging.LogRecord) -> str | None:
        counts: dict[str, int] | None = getattr(record, "stats", None)
        if self._is_full or not counts:
            return None
        self._total = counts["total"]
        self._run.plan(counts)
        if self._has_progress:
            self._ticker = threading.Thread(target=self._tick, daemon=True)
            self._ticker.start()
        return f"{self._total} jobs; reasons and resources of each are in .snakemake/log"

    def _finished(self, record: logging.LogRecord) -> str:
        self._done += 1
        number = _field(record, "job_id")
        job = self._jobs.pop(number, None)
        self._failed.pop(number, None)
        count = f"{self._done:>{len(str(self._total))}}/{self._total}"
        if job is None:
            return f"{count} jobs done"
        self._made += _field(job, "output")
        self._run.end(_field(job, "rule_name"), _field(job, "log"))
        # `--quiet rules` leaves out what the job is.
        if not self._shown.filter(job):
            return f"{count} jobs done"
        seconds = record.created - self._starts.pop(number, job.created)
        deed = _field(job, "rule_msg")
        what = f"{_field(job, 'rule_name')}: {deed}" if deed else _field(job, "rule_name")
        return f"{count} {what}, {seconds:.0f} s"

    def _tails(self, record: logging.LogRecord) -> str:
        is_error = getattr(record, "event", None) == LogEvent.JOB_ERROR
        if self._is_full or self.common_settings.show_failed_logs or not is_error:
            return ""
        return "".join(tail(path) for path in _field(record, "log"))

    def _tick(self) -> None:
        """Say how far the phases are, until the run ends: in a file each in its turn."""
        shown = dict[str, tuple[float, str]]()
        while not self._ended.wait(_FRAME_S if self._screen.moves else _LINE_S):
            with self.lock or threading.Lock(), suppress(OSError, ValueError):
                states = self._run.states()
                # Whoever closes this may have held the lock until now.
                if self._ended.is_set():
                    return
                if self._screen.moves:
                    self._screen.show(states)
                    continue
                lines = {state.phase: plain(state) for state in states}
                news = [p for p, line in lines.items() if shown.get(p, (0, ""))[1] != line]
                for phase in sorted(news, key=lambda p: shown.get(p, (0.0, ""))[0])[:1]:
                    shown[phase] = time.monotonic(), lines[phase]
                    self._screen.write(f"{time.strftime('%H:%M:%S')} {lines[phase]}\n")

    @property
    def _is_whole(self) -> bool:
        """Whether all jobs are done; with `--quiet progress` Snakemake says only which are not."""
        if self._has_progress:
            return self._done >= self._total
        return not self._failed and not self._is_stopped

    def _summary(self) -> str:
        """Return what is printed at the end; nothing after a dry run, or where no run began."""
        log = f"Log: {self._ends['log']}\n" if self._ends["log"] else ""
        if self._ends["nothing"]:
            return f"{self._ends['nothing']}\n{_site()}"
        if not self._total:
            return log
        done = self._total if self._is_whole else self._done
        jobs = f"{done} of {self._total} jobs in {duration(time.monotonic() - self._began)}\n"
        if self._is_whole:
            begun = [path for job in self._jobs.values() for path in _field(job, "output")]
            return f"\n{jobs}{_made([*self._made, *begun])}{log}"
        ended = {n: (_field(j, "rule_name"), _logs(j)) for n, j in self._failed.items()}
        failed = failures([job for n, job in ended.items() if n not in self._stopped])
        failed += failures([ended[n] for n in self._stopped], "Stopped")
        how = "What is done stays: run the same command again to go on.\n"
        how = f"Stopped as asked. {how}" if self._is_stopped and not failed else how
        return f"\n{jobs if self._has_progress else ''}{failed}{how}{log}"


def folder_of(command: Sequence[str]) -> Path:
    """Return the folder that a command of Snakemake works in."""
    words = iter(command)
    for word in words:
        if word in ("--directory", "-d"):
            return Path(next(words, "."))
        if word.startswith("--directory="):
            return Path(word.partition("=")[2])
    return Path()


def demand_overlays(command: Sequence[str]) -> None:
    """Check that the overlays of a command of Snakemake can be read.

    Raises:
        SystemExit: with the file, its line and what was found.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=[], type=Path)
    overlays: list[Path] = parser.parse_known_args(command)[0].configfile
    if not overlays:
        return
    from isotope.params import files  # noqa: PLC0415 (a run without overlays needs neither)

    try:
        for overlay in overlays:
            files.read(overlay)
    except IsotopeError as error:
        raise SystemExit(f"{type(error).__name__}: {printable(str(error))}") from error


def failures(jobs: Sequence[tuple[str, Sequence[str]]], how: str = "Failed") -> str:
    """Return the lines on jobs that failed, (rule, logs): the first few, and how many more."""
    more = len(jobs) - MOST_FAILED
    rest = f"and {more} more jobs {how.lower()}\n" if more > 0 else ""
    return "".join(failure(rule, logs, how) for rule, logs in jobs[:MOST_FAILED]) + rest


def failure(rule: str, logs: Sequence[str], how: str) -> str:
    """Return the lines on a job that failed, or was stopped: rule, log, and the log's last line."""
    last = _last_line(logs)
    how = "Stopped" if last.startswith(STOPPED) else how
    lines = [f"{how}: {', '.join([rule, *logs[:1]])}", *([f"  {last}"] if last else [])]
    return "".join(f"{line}\n" for line in lines)


def _was_stopped(logs: Sequence[str], said: str) -> bool:
    """Tell whether a job was ended by a signal, by its log or by what Snakemake said of it."""
    return bool(_BY_SIGNAL.search(said)) or _last_line(logs).startswith(STOPPED)


def _last_line(logs: Sequence[str]) -> str:
    """Return the last line of a job's log, without what stands before each message."""
    for log in logs[:1]:
        with suppress(OSError):
            text = Path(log).read_text(encoding="utf-8", errors="replace")
            last = next((line for line in reversed(text.splitlines()) if line.strip()), "")
            return _HEAD.sub("", last)
    return ""


def _made(files: Sequence[str]) -> str:
    from isotope.report import account  # noqa: PLC0415 (a short run needs neither)

    # What was built stays built, whether or not its tables can be read.
    try:
        return account.summary(files)
    except Exception as error:
        return f"no summary: {type(error).__name__}: {error}\n"


def _site() -> str:
    from isotope.report import account  # noqa: PLC0415 (as above)

    return f"Report: {account.SITE}\n" if Path(account.SITE).is_file() else ""


def tail(log: str, lines: int = TAIL) -> str:
    """Return the last lines of a job's log under its path, or nothing where there is none."""
    try:
        every = Path(log).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    head = f"Last lines of {log}:\n"
    return head + "".join(f"    {line}\n" for line in every[-lines:])


def _list_job(record: logging.LogRecord) -> None:
    """Append a job to the file that JOBS names: rule, wildcards and memory.

    Memory is null where it follows from files that are not there yet.
    """
    path = os.environ.get(JOBS)
    if path:
        named: Any = _field(record, "wildcards") or {}
        memory = getattr(_field(record, "resources"), "mem_mb", None)
        job = {
            "rule": _field(record, "rule_name"),
            "wildcards": {str(k): str(v) for k, v in dict(named).items()},
            "memory_mb": memory if isinstance(memory, int) else None,
        }
        with Path(path).open("a", encoding="utf-8") as file:
            file.write(json.dumps(job) + "\n")


def _logs(record: logging.LogRecord) -> Sequence[str]:
    return _field(record, "log")


def _field(record: logging.LogRecord, name: str) -> Any:  # noqa: ANN401 (Snakemake gives no type)
    return getattr(record, name)
