"""Processes of the rehearsal: what they take, which jobs they are of, and their end by kill -9."""

import ast
import csv
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

MARK = "ISOTOPE_REHEARSAL"
_TICK_S = 1 / os.sysconf("SC_CLK_TCK")
_SCRIPT = re.compile(rb"[^\0]*\.snakemake/scripts/[^\0]+\.py")
_LOG = re.compile(rb"logs/(\w+/[\w.,/=+-]+?|\w+)\.log")
_END_S = 10


@dataclass
class Job:
    """A job of Snakemake: when it was first and last seen, and its peaks in GiB.

    `anonymous` is memory that the system can't drop, `mapped` that of files.
    """

    name: str
    first: float
    last: float
    anonymous: float = 0.0
    mapped: float = 0.0


def children() -> dict[int, list[int]]:
    """Return the processes of this machine by their parents."""
    found: dict[int, list[int]] = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and (stat := _stat(int(entry.name))):
            found.setdefault(int(stat[1]), []).append(int(entry.name))
    return found


def below(pid: int, by_parent: dict[int, list[int]]) -> Iterator[int]:
    """Yield a process and all below it."""
    yield pid
    for child in by_parent.get(pid, []):
        yield from below(child, by_parent)


def _stat(pid: int) -> list[str]:
    """Return the fields of /proc/PID/stat after the name, or nothing if the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    except OSError:
        return []


def cpu_s(pid: int) -> tuple[float, float]:
    """Return the processor seconds of a process, and those of its children that it waited for."""
    own, system, waited, waited_system = (int(n) for n in (_stat(pid) or [0] * 15)[11:15])
    return (own + system) * _TICK_S, (waited + waited_system) * _TICK_S


def memory_gib(pids: Sequence[int]) -> tuple[float, float]:
    """Return what processes hold together: anonymous and shared memory, and pages of files."""
    anonymous = mapped = 0
    for pid in pids:
        try:
            text = Path(f"/proc/{pid}/smaps_rollup").read_text()
        except OSError:
            continue
        pss = {key: int(kb) for key, kb in re.findall(r"Pss_(\w+):\s+(\d+) kB", text)}
        anonymous += pss.get("Anon", 0) + pss.get("Shmem", 0)
        mapped += pss.get("File", 0)
    return anonymous / 2**20, mapped / 2**20


def job_name(pid: int) -> str:
    """Return `<rule>/<wildcards>` of the job that a process is of, or nothing."""
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        script = _SCRIPT.search(command)
        found = _LOG.search(Path(os.fsdecode(script[0])).read_bytes()) if script else None
    except OSError:
        return ""
    return os.fsdecode(found[1]).replace(".", "/") if found else ""


class Watch:
    """What the jobs of one run of Snakemake take, sampled."""

    def __init__(self, pid: int) -> None:
        """Watch the processes below `pid`."""
        self._pid = pid
        self._jobs: dict[int, Job] = {}
        self._running: set[int] = set()
        self._spent: dict[int, float] = {}
        self._waited = 0.0

    @property
    def cpu_s(self) -> float:
        """Processor seconds so far.

        Some processes are not waited for by the one above them, others end between two samples: the
        larger of what was seen and what was waited for.
        """
        return max(sum(self._spent.values()), self._waited)

    def sample(self) -> None:
        """Look at all processes once."""
        now, by_parent = time.time(), children()
        every = list(below(self._pid, by_parent))
        times = {pid: cpu_s(pid) for pid in every}
        self._spent |= {pid: max(own, self._spent.get(pid, 0.0)) for pid, (own, _) in times.items()}
        self._waited = max(self._waited, sum(map(sum, times.values())))
        self._running = {pid for pid in by_parent.get(self._pid, []) if self._known(pid, now)}
        for pid in self._running:
            job = self._jobs[pid]
            anonymous, mapped = memory_gib(list(below(pid, by_parent)))
            job.last = now
            job.anonymous = max(job.anonymous, anonymous)
            job.mapped = max(job.mapped, mapped)

    def _known(self, pid: int, now: float) -> bool:
        if pid not in self._jobs and (name := job_name(pid)):
            self._jobs[pid] = Job(name, now, now)
        return pid in self._jobs

    @property
    def running(self) -> list[Job]:
        """The jobs that ran when last looked at."""
        return [self._jobs[pid] for pid in self._running]

    @property
    def jobs(self) -> list[Job]:
        """All jobs seen."""
        return list(self._jobs.values())


class Measured(NamedTuple):
    """What Snakemake noted of a job: seconds, threads, and the memory that it declares."""

    seconds: float
    declared_gib: float
    made_ns: int
    threads: int


def benchmarks(folder: Path, phase: str = "") -> dict[str, Measured]:
    """Return what Snakemake noted (--benchmark-extended) of each job that is done, by its name."""
    top = folder / "logs/benchmarks"
    found: dict[str, Measured] = {}
    for path in sorted(top.rglob("*.tsv")):
        name = str(path.relative_to(top).with_suffix("")).replace(".", "/")
        if name.startswith(phase):
            with path.open(newline="") as file:
                row = next(csv.DictReader(file, delimiter="\t"), None)
            if row:
                declared = ast.literal_eval(row["resources"])["mem_mb"] / 1024
                made = path.stat().st_mtime_ns
                found[name] = Measured(float(row["s"]), declared, made, int(row["threads"]))
    return found


def marked(folder: Path) -> list[int]:
    """Return the processes that the rehearsal in `folder` has started, but this one."""
    mark = f"{MARK}={folder}".encode()
    found: list[int] = []
    for entry in os.scandir("/proc"):
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                values = Path(entry.path, "environ").read_bytes().split(b"\0")
            except OSError:
                continue
            found += [int(entry.name)] if mark in values else []
    return found


def kill_all(folder: Path, spared: int | None = None) -> int:
    """Send SIGKILL to all processes of a rehearsal but `spared`; return how many there were.

    Raises:
        TimeoutError: some are still there after ten seconds.
    """
    killed: set[int] = set()
    deadline = time.monotonic() + _END_S
    while left := [pid for pid in marked(folder) if pid != spared and not _ended(pid)]:
        for pid in left:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
            killed.add(pid)
        if time.monotonic() > deadline:
            raise TimeoutError(f"processes {left} outlive SIGKILL")
        time.sleep(0.02)
    return len(killed)


def _ended(pid: int) -> bool:
    return (_stat(pid) or "Z")[0] in "ZX"


def started(command: Sequence[str | Path], folder: Path, said: Path) -> "subprocess.Popen[bytes]":
    """Start a program of the rehearsal in `folder`, in a session of its own; `said` is its log."""
    said.parent.mkdir(parents=True, exist_ok=True)
    with said.open("ab") as log:
        return subprocess.Popen(
            [str(part) for part in command],
            cwd=folder,
            env={**os.environ, MARK: str(folder)},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
