"""The jobs of a run, as Snakemake plans them, and how long they take side by side."""

import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any, NamedTuple

from isotope.core.errors import ToolFailed

# A phase that `snakemake all` leaves out.
APART = "release"
# The logger of isotope writes the jobs of a dry run to the file that this names.
_JOBS = "ISOTOPE_JOBS"


class Job(NamedTuple):
    """A job: rule, wildcards, threads, and the places in the list of the jobs it waits for.

    `memory_mb` is what it declares, where that does not follow from files.
    """

    rule: str
    wildcards: Mapping[str, str]
    threads: int
    after: tuple[int, ...] = ()
    memory_mb: float = math.inf

    @property
    def phase(self) -> str:
        """The phase, with which a rule's name begins."""
        return self.rule.partition("_")[0]

    @property
    def work(self) -> tuple[str, ...]:
        """What this job's shards have in common: the rule, and what its wildcards name."""
        named = sorted(self.wildcards.items())
        return (self.rule, *(f"{k}={v}" for k, v in named if k not in ("shard", "part")))


def planned(arguments: Sequence[str], cores: int = 1) -> list[Job]:
    """Return the jobs of all phases, a release's too, from nothing, by Snakemake's own dry run.

    Raises:
        ToolFailed: params or files that Snakemake refuses.
    """
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--forceall"]
    command += ["--logger", "isotope", "--cores", str(cores), "all", APART, *arguments]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "jobs"
        environment = {**os.environ, _JOBS: str(path)}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode:
            found = " ".join((done.stdout + done.stderr).split())[-400:]
            raise ToolFailed("snakemake --dry-run", found, "mend what it names")
        lines = path.read_text("utf-8").splitlines() if path.exists() else []
    return jobs_of([json.loads(line) for line in lines])


def jobs_of(described: Sequence[Mapping[str, Any]]) -> list[Job]:
    """Return jobs from their descriptions: rule, wildcards, threads, memory, inputs and outputs.

    A target of several phases, which has no phase in its name, is no job.
    """
    phased = [job for job in described if "_" in job["rule"]]
    makers = {path: n for n, job in enumerate(phased) for path in job["outputs"]}
    waits = [
        {makers[p] for p in job["inputs"] if p in makers} - {n} for n, job in enumerate(phased)
    ]
    return [
        Job(
            *(job["rule"], job["wildcards"], job["threads"]),
            *(tuple(sorted(after)), job.get("memory_mb") or math.inf),
        )
        for job, after in zip(phased, waits, strict=True)
    ]


def wall(
    jobs: Sequence[Job], seconds: Mapping[int, float], core_s: Mapping[int, float], cores: int
) -> float:
    """Return the seconds in which the jobs that `seconds` names, by place, have all ended.

    That is the longest chain of jobs that wait for each other, and the others' core seconds shared
    by all cores: no greedy schedule takes longer (Graham, Bounds on multiprocessing timing
    anomalies, 1969).

    Raises:
        CycleError: jobs that wait for each other in a circle.
    """
    waits = {n: [before for before in jobs[n].after if before in seconds] for n in seconds}
    chains: dict[int, tuple[float, float]] = {}
    for n in TopologicalSorter(waits).static_order():
        end, spent = max((chains[before] for before in waits[n]), default=(0.0, 0.0))
        chains[n] = end + seconds[n], spent + core_s[n]
    end, spent = max(chains.values(), default=(0.0, 0.0))
    return end + (sum(core_s.values()) - spent) / cores
