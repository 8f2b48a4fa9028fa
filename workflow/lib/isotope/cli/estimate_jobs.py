"""The jobs of a run, as Snakemake plans them, and how long they take side by side."""

import heapq
import json
import math
import os
import subprocess
import sys
import tempfile
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from isotope.core.errors import ToolFailed

# The logger of isotope writes the jobs of a dry run to the file that this names.
_JOBS = "ISOTOPE_JOBS"
_SHARDS = ("shard", "part")


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
        named = (f"{k}={v}" for k, v in sorted(self.wildcards.items()) if k not in _SHARDS)
        return (self.rule, *named)


def planned(arguments: Sequence[str], cores: int, targets: Sequence[str]) -> list[Job]:
    """Return the jobs that make the targets from nothing on so many cores, by a dry run.

    Raises:
        ToolFailed: params or files that Snakemake refuses.
    """
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--forceall"]
    command += ["--logger", "isotope", "--cores", str(cores), *targets, *arguments]
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

    They are in the order of what they write, as a dry run lists them in another order each time. A
    target of several phases, which has no phase in its name, is no job.
    """
    phased = [each for each in described if "_" in each["rule"]]
    described = sorted(phased, key=lambda each: sorted(each["outputs"]))
    makers = {path: n for n, each in enumerate(described) for path in each["outputs"]}
    found: list[Job] = []
    for n, each in enumerate(described):
        after = {makers[path] for path in each["inputs"] if path in makers} - {n}
        memory_mb = each.get("memory_mb") or math.inf
        own = each["rule"], each["wildcards"], each["threads"], tuple(sorted(after)), memory_mb
        found.append(Job(*own))
    return found


def wall(
    jobs: Sequence[Job], chosen: Collection[int], seconds: Mapping[int, float], cores: int
) -> float:
    """Return the seconds until the chosen jobs have all ended.

    Each starts as soon as the chosen ones that it waits for have ended and its threads are free, in
    the order of the list, as Snakemake's greedy scheduler does.

    Raises:
        ValueError: chosen jobs that wait for each other.
    """
    waits = {
        n: sum(before in seconds and before in chosen for before in jobs[n].after) for n in chosen
    }
    followers: dict[int, list[int]] = {n: [] for n in chosen}
    for n in chosen:
        for before in jobs[n].after:
            if before in followers:
                followers[before].append(n)
    ready = sorted(n for n in chosen if not waits[n])
    running: list[tuple[float, int, int]] = []
    now, free = 0.0, cores
    while ready or running:
        for n in list(ready):
            threads = min(jobs[n].threads, cores)
            if threads <= free:
                ready.remove(n)
                free -= threads
                heapq.heappush(running, (now + seconds[n], n, threads))
        now, ended, threads = heapq.heappop(running)
        free += threads
        for n in followers[ended]:
            waits[n] -= 1
            if not waits[n]:
                ready.append(n)
        ready.sort()
    _refuse_circle([jobs[n].rule for n in waits if waits[n]])
    return now


def _refuse_circle(rules: Sequence[str]) -> None:
    if rules:
        raise ValueError(f"these wait for each other: {', '.join(rules)}")
