"""What every benchmark needs: a clock, a process of its own, and the words for the machine."""

import csv
import multiprocessing
import os
import platform
import re
import resource
import statistics
import sys
import threading
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any, NamedTuple

import psutil

# Elsewhere for a run that only shows that every benchmark works.
ELSEWHERE = os.environ.get("ISOTOPE_BENCHMARKS")
RESULTS = Path(ELSEWHERE or Path(__file__).parent / "results")
Timing = dict[str, Any]
HEAD = ("benchmark", "phase", "input", "peer", "ours", "theirs", "unit", "ratio", "at_least")
COLUMNS = (*HEAD, "reached", "peak_gib", "machine", "command")
_LOOK_EVERY_S = 0.2


class Claim(NamedTuple):
    """One comparison: what isotope and its peer took for the same answer, as `unit` (less is more).

    The claim is reached where theirs / ours is at least `at_least` (None: shown as it is) and ours
    stayed within `within_gib` of memory, where that is given.
    """

    phase: str
    input: str
    peer: str
    ours: float
    theirs: float
    at_least: float | None
    peak_gib: float | None = None
    within_gib: float | None = None
    unit: str = "s"

    @property
    def ratio(self) -> float:
        """Return how many times the peer took what isotope took."""
        return self.theirs / self.ours

    @property
    def reached(self) -> str:
        """Return yes, no, or nothing where nothing is claimed."""
        if self.at_least is None:
            return ""
        small = not self.within_gib or (self.peak_gib or 0) <= self.within_gib
        return "yes" if self.ratio >= self.at_least and small else "no"


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that `work` took, and what it returned."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def alone(work: Callable[..., Timing], *arguments: Any) -> Timing:  # noqa: ANN401
    """Run in a fresh process; add its peak memory in GiB and its processor seconds.

    Raises:
        BrokenProcessPool: the process was ended, as for want of memory.
    """
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        found = pool.submit(work, *arguments).result()
        return {**found, **pool.submit(usage).result()}


def rounds(
    tools: Mapping[str, Callable[..., Timing]],
    *arguments: Any,  # noqa: ANN401
    times: int = 3,
) -> dict[str, Timing]:
    """Run the tools in turn, `times` times over, each in a fresh process; return their medians.

    What is no number is taken from the first round.
    """
    found: dict[str, list[Timing]] = {tool: [] for tool in tools}
    for n in range(times):
        for tool, work in tools.items():
            found[tool].append(alone(work, *arguments))
            told = {k: v for k, v in found[tool][-1].items() if isinstance(v, float)}
            print(f"round {n + 1} of {times}, {tool}: {told}", file=sys.stderr, flush=True)
    return {tool: median(timings) for tool, timings in found.items()}


def median(timings: Sequence[Timing]) -> Timing:
    """Return the median of each number."""
    return {
        key: statistics.median(t[key] for t in timings) if isinstance(value, float) else value
        for key, value in timings[0].items()
    }


def spent() -> float:
    """Return the processor seconds of this process and of its children that have ended."""
    own, theirs = (resource.getrusage(w) for w in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + theirs.ru_utime + theirs.ru_stime


def usage() -> Timing:
    """Return the peak resident memory and processor time of this process so far.

    The kernel's high-water mark is asked, as getrusage counts what the parent held when it forked.
    """
    used = resource.getrusage(resource.RUSAGE_SELF)
    status = Path("/proc/self/status")
    marks = re.findall(r"VmHWM:\s+(\d+) kB", status.read_text() if status.exists() else "")
    peak = float(marks[0] if marks else used.ru_maxrss)
    return {"peak_gib": peak / 2**20, "cpu_s": used.ru_utime + used.ru_stime}


@dataclass
class Memory:
    """The most anonymous memory seen, in GiB."""

    peak_gib: float = 0.0


@contextmanager
def anonymous() -> Generator[Memory]:
    """Watch the anonymous memory of this process and of those that it started, until the end.

    Mapped pages of files, which the system may drop, do not count (proc(5): RssAnon, RssShmem).
    """
    memory, ended, own = Memory(), threading.Event(), psutil.Process()

    def look() -> None:
        while not ended.wait(_LOOK_EVERY_S):
            held = sum(_held(p.pid) for p in (own, *own.children(recursive=True)))
            memory.peak_gib = max(memory.peak_gib, held)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield memory
    finally:
        ended.set()
        watcher.join()


def _held(process: int) -> float:
    try:
        status = Path(f"/proc/{process}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return sum(map(int, re.findall(r"Rss(?:Anon|Shmem):\s+(\d+) kB", status))) / 2**20


def machine(packages: Sequence[str]) -> str:
    """Return machine, load and versions as the closing lines of a result."""
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    return f"Machine: {this_machine()}; {versions}.\n\nCommand: `{_command()}`\n"


def this_machine() -> str:
    """Return the machine, its load and its Python in words."""
    return (
        f"{platform.machine()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at the end; "
        f"Python {platform.python_version()}"
    )


def _command() -> str:
    return " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])


def verdicts(claims: Sequence[Claim]) -> str:
    """Return the claims as a table of Markdown."""
    lines = ["| beside | isotope | peer | ratio | at least | reached |"]
    lines.append("|---|---:|---:|---:|---:|---|")
    for c in claims:
        least = "" if c.at_least is None else f"{c.at_least:g}"
        told = f"{c.ours:.3g} {c.unit} | {c.theirs:.3g} {c.unit} | {c.ratio:.2f} | {least}"
        lines.append(f"| {c.peer} | {told} | {c.reached} |")
    return "\n".join(lines) + "\n"


def write(name: str, report: str, claims: Sequence[Claim] = ()) -> None:
    """Print a report and put it among the results, and its claims into a table beside it."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(report, "utf-8")
    if claims:
        with (RESULTS / f"{name}.csv").open("w", newline="") as file:
            out = csv.writer(file, lineterminator="\n")
            out.writerow(COLUMNS)
            out.writerows(_row(name, claim) for claim in claims)
    print(report)


def _row(name: str, c: Claim) -> list[str]:
    least, peak = (f"{v:.3g}" if v is not None else "" for v in (c.at_least, c.peak_gib))
    numbers = [f"{c.ours:.4g}", f"{c.theirs:.4g}", c.unit, f"{c.ratio:.3f}", least, c.reached, peak]
    return [name, c.phase, c.input, c.peer, *numbers, this_machine(), _command()]
