"""Write full-size.md: what the size of AToMiC costs, by `isotope estimate`.

python workflow/plugins/isotope_estimate/docs/full_size.py [PAGE]
"""

import csv
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
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

The hours and the memory that [`isotope estimate`](estimate.md) has for `params/enwiki.yaml`, and
what of them is assumed.

Written by `full_size.py`. Hours are those of one phase after the other, memory is that of the
largest job. A twentieth of it was run on one machine by `make rehearsal`; nobody has run isotope at
this size yet.

"""
FIGURES = """
## What is assumed

[`estimate.csv`](../estimate.csv) has every figure, where it was measured or published, and what
would measure an assumption: {counts}. Of a phase, the first figure is core seconds of a unit, of
which a share is `serial`; `start_s` seconds come before, and `disk` are bytes kept of a unit. Its
largest job holds `start_mb`, and `unit_mb` of each unit that a shard has.

"""


def table(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table in Markdown."""
    lines = [columns, ["---"] * len(columns), *rows]
    return "".join(f"| {' | '.join(map(str, line))} |\n" for line in lines)


def _numbers(figure: Mapping[str, str]) -> str:
    """Return the figures of a row that say something, each by its column."""
    names = ("value", "serial", "start_s", "disk", "unit_mb", "start_mb")
    shown = {name: figure[name] for name in names if figure[name] not in ("", "0")}
    return ", ".join(f"{name} {text}".removeprefix("value ") for name, text in shown.items())


def page() -> str:
    """Return the page."""
    params = load([OVERLAY], root=ROOT)
    costs = {on: estimate.run(params, on, sizes(params)) for on in (*MACHINES, WITH_GPU)}
    hours = [f"{on.cores} cores{', a GPU' * on.gpu}, h" for on in costs]
    rows = [
        [
            *(phase, *(f"{phases[phase].seconds / 3600:,.2f}" for phases in costs.values())),
            *(f"{cost.memory_gib:.1f}", cost.bound),
        ]
        for phase, cost in costs[MACHINES[0]].items()
    ]
    with TABLE.open(newline="", encoding="utf-8") as file:
        figures = list(csv.DictReader(file))
    times = Counter(figure["basis"] for figure in figures)
    counts = ", ".join(f"{n} {basis}" for basis, n in sorted(times.items(), reverse=True))
    assumed = [
        [figure["what"], figure["unit"], numbers]
        for figure in figures
        if figure["basis"] == "assumed" and (numbers := _numbers(figure))
    ]
    parts = [INTRODUCTION, table(["phase", *hours, "GiB", "bound by"], rows)]
    shown = table(["what", "unit", "figures"], assumed)
    return "".join([*parts, FIGURES.format(counts=counts), shown])


if __name__ == "__main__":
    PAGE.with_name(*(sys.argv[1:] or [PAGE.name])).write_text(page(), "utf-8")
