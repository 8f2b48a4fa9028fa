"""What every benchmark needs: a clock, a process of its own, and the words for the machine."""

import multiprocessing
import os
import platform
import resource
import sys
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parent / "results"
Timing = dict[str, Any]


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the seconds that `work` took, and what it returned."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def alone(work: Callable[..., Timing], *arguments: Any) -> Timing:  # noqa: ANN401
    """Run in a fresh process; add its peak memory in GiB and its processor seconds."""
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply(work, arguments)
        return {**found, **pool.apply(usage)}


def usage() -> Timing:
    """Return the peak resident memory and processor time of this process so far."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {"peak_gib": used.ru_maxrss / 2**20, "cpu_s": used.ru_utime + used.ru_stime}


def machine(packages: Sequence[str]) -> str:
    """Return machine, load and versions as the closing lines of a result."""
    versions = ", ".join(f"{package} {version(package)}" for package in packages)
    command = " ".join(["python", f"benchmarks/{Path(sys.argv[0]).name}", *sys.argv[1:]])
    return (
        f"Machine: {platform.machine()}, {os.cpu_count()} CPUs, load {os.getloadavg()[0]:.1f} at "
        f"the end; Python {platform.python_version()}, {versions}.\n\nCommand: `{command}`\n"
    )


def write(name: str, report: str) -> None:
    """Print a report and put it among the results."""
    RESULTS.mkdir(exist_ok=True)
    (RESULTS / f"{name}.md").write_text(report)
    print(report)
