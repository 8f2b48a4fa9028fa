"""`isotope estimate`: what a run will cost, phase by phase, before anything runs."""

import os
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from isotope.cli.estimate_phases import PHASE_COSTS, Cost, Machine
from isotope.cli.estimate_sizes import GIB, size, thumbnails
from isotope.cli.questions import aligned
from isotope.core.errors import ToolFailed
from isotope.params.union import sources

PHASES = tuple(PHASE_COSTS)
APART = "release"
# ASSUME a job starts in 4 seconds: Snakemake, Python, its libraries; of other machines no
# measurement says.
START_S = 4.0


def planned(arguments: Sequence[str]) -> dict[str, int]:
    """Return the jobs of each phase, a release's too, from nothing, by Snakemake's own dry run.

    Raises:
        ToolFailed: params or files that Snakemake refuses.
    """
    command = [sys.executable, "-m", "snakemake", "--dry-run", "--forceall", "--cores", "1"]
    targets = ["all", APART]
    done = subprocess.run(
        [*command, *targets, *arguments], capture_output=True, text=True, check=False
    )
    if done.returncode:
        found = " ".join((done.stderr or done.stdout).split())[-400:]
        raise ToolFailed("snakemake --dry-run", found, "mend what it names")
    rows = re.findall(r"^(\w+?)_\w+ +(\d+)$", done.stdout + done.stderr, re.MULTILINE)
    counts = dict.fromkeys(PHASES, 0)
    # Job stats are printed before the plan and after it.
    for phase, n in rows[: len(rows) // 2]:
        counts[phase] = counts.get(phase, 0) + int(n)
    return counts


def costs(params: Mapping[str, Any], machine: Machine) -> dict[str, Cost]:
    """Return each phase's cost, over all collections that are built."""
    total = {phase: Cost() for phase in PHASES}
    for name in params["build"]:
        # ASSUME a union costs what its members would, as they share few pictures; no measurement
        # says.
        for source in sources(params, name):
            for phase, one in _of_source(params, source, machine).items():
                total[phase] = _add(total[phase], one)
    return total


def _of_source(params: Mapping[str, Any], source: str, machine: Machine) -> dict[str, Cost]:
    crawl = params["crawl"].get(source, {})
    of = size(params["acquire"][source], crawl.get("pictures", {}).get("part"))
    of = thumbnails(of, crawl["width"]) if "width" in crawl else of
    costs = {phase: cost(of, params, machine) for phase, cost in PHASE_COSTS.items()}
    polite = max(costs["crawl"].seconds, _polite_s(costs["crawl"], params["crawl"], source))
    return costs | {"crawl": replace(costs["crawl"], seconds=polite)}


def _polite_s(cost: Cost, crawls: Mapping[str, Any], source: str) -> float:
    """Return the seconds that a crawl's manners make it take, all pictures being of one host."""
    spec = crawls.get(source, {})
    if not spec or {"serve", "pictures"} & spec.keys():
        return 0.0
    bits = cost.fetched * 8e-6
    return max(cost.requests / spec["rate_per_s"], bits / spec["megabits_per_s"])


def _add(a: Cost, b: Cost) -> Cost:
    return Cost(
        a.requests + b.requests,
        a.fetched + b.fetched,
        a.disk + b.disk,
        a.seconds + b.seconds,
        max(a.memory_gib, b.memory_gib),
    )


def machine() -> Machine:
    """Return this machine: its cores, and whether torch sees a GPU."""
    import torch  # noqa: PLC0415 (slow to import)

    return Machine(os.cpu_count() or 1, torch.cuda.is_available())


def told(jobs: Mapping[str, int], found: Mapping[str, Cost], of: Machine) -> str:
    """Return the table that the command prints: GiB, hours, and a line for the whole run.

    A release follows it, as `snakemake --cores all` makes none.
    """
    every = [
        (phase, n, c.requests, _gib(c.fetched), _gib(c.disk), _hours(c, n, of), c.memory_gib)
        for phase, c in found.items()
        if (n := jobs.get(phase, 0))
    ]
    rows, apart = ([r for r in every if (r[0] == APART) == is_apart] for is_apart in (False, True))
    sums = [sum(float(row[i]) for row in rows) for i in range(1, 6)]
    whole = ("all", *map(round, sums[:2]), *(round(x, 3) for x in sums[2:]))
    peak = max((row[6] for row in rows), default=0.0)
    columns = ("phase", "jobs", "requests", "fetched_gib", "disk_gib", "hours", "memory_gib")
    note = f"for {of.cores} cores and {'a GPU' if of.gpu else 'no GPU'}; measured: "
    where = "workflow/lib/isotope/cli/estimate_curves.csv; assumed: grep -n ASSUME "
    where += "workflow/lib/isotope/estimate*.py"
    return aligned(columns, [*rows, (*whole, peak), *apart]) + note + where + "\n"


def _gib(n: int) -> float:
    return round(n / GIB, 3)


def _hours(cost: Cost, jobs: int, of: Machine) -> float:
    return round((cost.seconds + jobs * START_S / of.cores) / 3600, 3)
