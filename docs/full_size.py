"""Write docs/full-size.md: what the size of AToMiC costs, by `isotope estimate`.

python docs/full_size.py [PAGE]
"""

import csv
import os
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from isotope.cli import estimate, estimate_sizes, estimate_work
from isotope.cli.estimate import Machine
from isotope.cli.estimate_jobs import Job
from isotope.params.files import load

ROOT = Path(__file__).parents[1]
PAGE = Path(__file__).with_name("full-size.md")
OVERLAY = ROOT / "params/enwiki.yaml"
MACHINES = (Machine(2, gpu=False), Machine(16, gpu=False), Machine(256, gpu=False))
WITH_GPU = Machine(16, gpu=True)
INTRODUCTION = """# What full size costs

Written by `python docs/full_size.py`: the hours that [`isotope estimate`](cli.md#estimate) has for
`params/enwiki.yaml`, its {jobs} jobs phase after phase, and the memory of the largest job. A
twentieth of it was run on one machine, beside what the estimate had said:
[the rehearsal](rehearsal.md). Nobody has run isotope at this size yet.

"""
RULES = """
## What a unit takes

By rule, as `estimate_rules.csv` has it: a job takes a start, and more for each unit. `cores` took a
unit's seconds together, and more of them make these fewer; 0 is work that they don't help.

"""
FIGURES = """
## What is measured, published and assumed

`estimate_figures.csv`, from which the units follow. The last column says where a figure was
measured or published; of what is assumed, what would measure it.

"""


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def file_table(path: Path) -> str:
    """Return a CSV file as a table in Markdown."""
    with path.open(newline="", encoding="utf-8") as file:
        columns, *rows = csv.reader(file)
    return table(columns, rows)


def jobs_of(overlay: Path = OVERLAY) -> list[Job]:
    """Return the jobs of full size, with the threads that they take where there are enough."""
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        return estimate.planned(["--configfile", str(overlay)], MACHINES[-1].cores)
    finally:
        os.chdir(before)


def page(jobs: Sequence[Job]) -> str:
    """Return the page."""
    params, counts = load([OVERLAY], root=ROOT), Counter(job.phase for job in jobs)
    found = {on: estimate.run(params, on, jobs)[0] for on in (*MACHINES, WITH_GPU)}
    hours = [f"{on.cores} cores{', a GPU' * on.gpu}, h" for on in found]
    last = ("GiB", "bound by")
    rows = [
        [
            *(phase, n, *(f"{of[phase].seconds / 3600:,.2f}" for of in found.values())),
            *(f"{found[MACHINES[0]][phase].memory_gib:.1f}", found[MACHINES[0]][phase].bound),
        ]
        for phase in estimate.PHASES
        if (n := counts[phase])
    ]
    parts = [INTRODUCTION.format(jobs=len(jobs)), table(["phase", "jobs", *hours, *last], rows)]
    parts += [RULES, file_table(estimate_work.RULES), FIGURES, file_table(estimate_sizes.FIGURES)]
    return "".join(parts)


if __name__ == "__main__":
    PAGE.with_name(*(sys.argv[1:] or [PAGE.name])).write_text(page(jobs_of()), "utf-8")
