"""Write full-size.md: what the size of AToMiC costs, by `isotope estimate`.

python workflow/plugins/isotope_estimate/docs/full_size.py [PAGE]
"""

import csv
import sys
from collections.abc import Sequence
from pathlib import Path

from isotope.params.files import load
from isotope_estimate import estimate
from isotope_estimate.estimate import Machine
from isotope_estimate.sizes import TABLE, sizes

ROOT = Path(__file__).parents[4]
PAGE = Path(__file__).with_name("full-size.md")
OVERLAY = ROOT / "params/enwiki.yaml"
MACHINES = (Machine(2, gpu=False), Machine(16, gpu=False), Machine(256, gpu=False))
WITH_GPU = Machine(16, gpu=True)
INTRODUCTION = """# What full size costs

Written by `full_size.py`: the hours that [`isotope estimate`](estimate.md) has for
`params/enwiki.yaml`, phase after phase, and the memory of the largest job. A twentieth of it was
run on one machine by `make rehearsal`. Nobody has run isotope at this size yet.

"""
FIGURES = """
## What is measured, published and assumed

`estimate.csv`. Of a phase, `value` is core seconds of a unit, of which a share is `serial`;
`start_s` seconds come before, and `disk` are bytes kept of a unit. Its largest job holds
`start_mb`, and `unit_mb` of each unit that a shard has. Other rows are figures from which the units
follow. The last column says where a row was measured or published; of what is assumed, what would
measure it.

"""


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def page() -> str:
    """Return the page."""
    params = load([OVERLAY], root=ROOT)
    found = {on: estimate.run(params, on, sizes(params)) for on in (*MACHINES, WITH_GPU)}
    hours = [f"{on.cores} cores{', a GPU' * on.gpu}, h" for on in found]
    rows = [
        [
            *(phase, *(f"{of[phase].seconds / 3600:,.2f}" for of in found.values())),
            *(f"{cost.memory_gib:.1f}", cost.bound),
        ]
        for phase, cost in found[MACHINES[0]].items()
    ]
    with TABLE.open(newline="", encoding="utf-8") as file:
        columns, *figures = csv.reader(file)
    parts = [INTRODUCTION, table(["phase", *hours, "GiB", "bound by"], rows)]
    return "".join([*parts, FIGURES, table(columns, figures)])


if __name__ == "__main__":
    PAGE.with_name(*(sys.argv[1:] or [PAGE.name])).write_text(page(), "utf-8")
