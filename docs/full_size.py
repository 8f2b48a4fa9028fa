"""Write docs/full-size.md: what the size of AToMiC costs, from the measured scaling.

python docs/full_size.py [PAGE]
"""

import csv
import math
import sys
from pathlib import Path
from typing import NamedTuple

from isotope.cli.estimate_sizes import size
from isotope.params.files import load

ROOT = Path(__file__).parents[1]
PAGE = Path(__file__).with_name("full-size.md")
POINTS = ROOT / "benchmarks/results/scaling_points.csv"
SHARDED = ROOT / "benchmarks/results/collect_points.csv"
OVERLAY = ROOT / "params/enwiki.yaml"
# Jobs of a cluster that work at once on a phase cut in shards.
NODES = 16
# Below this growth the start hides the work: the start is then counted as if it were work too.
GREW = 1.5
# AToMiC: 17,173 texts ask for validation (Table 1), to R@1K (section 4.4), in three settings, two
# splits with queries and two tasks.
QUERIES, DEPTH, RUNS = 17_173, 1_000, 12
INTRODUCTION = """# What full size costs

Written by `python docs/full_size.py` from `benchmarks/results/scaling_points.csv`, the points
behind the [scaling curves](benchmarks.md), and from the sizes that `isotope estimate` reads off
`params/enwiki.yaml`. A phase's seconds at full size are

    start + (rows at full size) / (rows a second between the two largest sizes measured)

on the machine that measured; where those two sizes took nearly the same time (the start hides the
work), the whole time of the largest is counted as work, which is too much. A phase whose exponent
is above 1 takes more than that: project asks, for each text, an index that grows too. What the
network, a GPU and the crawl take is not in here: see `isotope estimate --configfile
params/enwiki.yaml`. Its curves (`workflow/lib/isotope/cli/estimate_curves.csv`) are drawn from the
same points and [checked](benchmarks.md) at the largest size of each phase; it counts a dump by its
bytes of XML.

"""


class Line(NamedTuple):
    """The arithmetic of one phase; `alone` is the share of its work that no shards make less."""

    phase: str
    rows: int
    rate: float
    start: float
    alone: float = 0.0

    @property
    def seconds(self) -> float:
        """Return the seconds on the machine that measured."""
        return self.start + self.rows / self.rate

    @property
    def spread(self) -> float:
        """Return the seconds where each of NODES nodes takes its share."""
        rows = self.rows * self.alone + math.ceil(self.rows * (1 - self.alone) / NODES)
        return self.start + rows / self.rate


def full_rows() -> dict[str, int]:
    """Return the rows that each phase meets at the size of params/enwiki.yaml."""
    params = load([OVERLAY], [])
    source = params["collect"][params["build"][0]]["source"]
    of = size(params["acquire"][source])
    hits = QUERIES * DEPTH * RUNS
    one = {"project": of.pairs, "collect": of.pairs, "tabulate": of.pairs}
    return {"parse": of.associations, **one, "search": hits, "score": hits}


def uncut(points: Path = SHARDED) -> float:
    """Return the share of collect's work that shards don't make less: to gather, to read it all.

    Of the jobs that follow each other the time is share + rest / shards, by two numbers of shards.
    """
    told: dict[tuple[str, int], float] = {}
    with points.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            told[row["job"], int(row["shards"])] = float(row["cpu_s"]) / int(row["jobs"])
    start = told["start", 1]
    few, many = sorted({n for _, n in told} - {1})[-2:]
    a, b = (sum(told[j, n] - start for j in ("texts", "images", "gather")) for n in (few, many))
    rest = (a - b) / (1 / few - 1 / many)
    return (b - rest / many) / (told["whole", 1] - start)


def lines(points: Path) -> list[Line]:
    """Return the arithmetic of each measured phase."""
    measured: dict[str, list[tuple[int, float]]] = {}
    with points.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            measured.setdefault(row["phase"], []).append((int(row["rows"]), float(row["s"])))
    found: list[Line] = []
    alone = {"collect": uncut(), "tabulate": 1.0}
    for phase, rows in full_rows().items():
        (n, a), (m, b) = sorted(measured[phase])[-2:]
        grew = b > GREW * a
        rate = (m - n) / (b - a) if grew else m / b
        start = max(b - m / rate, 0.0) if grew else 0.0
        found.append(Line(phase, rows, rate, start, alone.get(phase, 0.0)))
    return found


def machine() -> str:
    """Return the line of the scaling result that tells the machine."""
    told = POINTS.with_name("scaling.md").read_text("utf-8").splitlines()
    return next(line for line in told if line.startswith("Machine:"))


def page(points: Path = POINTS) -> str:
    """Return the page."""
    head = f"| phase | rows | rows a second | start, s | one machine, h | {NODES} nodes, h |"
    told = [head, "|---|---:|---:|---:|---:|---:|"]
    found = lines(points)
    for x in found:
        hours = f"{x.seconds / 3600:.2f} | {x.spread / 3600:.2f}"
        told.append(f"| {x.phase} | {x.rows:,} | {x.rate:,.0f} | {x.start:.1f} | {hours} |")
    one, many = (
        sum(each) / 3600 for each in zip(*((x.seconds, x.spread) for x in found), strict=True)
    )
    told.append(f"| together | | | | {one:.2f} | {many:.2f} |")
    hits = f"{QUERIES:,} queries x {DEPTH:,} hits in {RUNS} cells (settings, splits, tasks)"
    end = (
        f"\nRows: of WIT for parse, of one language's WIT for project, collect and tabulate (a dump"
        f" in proportion), hits for search and score: {hits}. On {NODES} nodes every phase but"
        f" tabulate is cut in as many shards; gathering, and what every shard reads, is"
        f" {uncut():.0%} of collect's work. The whole dump of a large wiki has more pages"
        " than WIT names: `isotope estimate` counts its bytes.\n\n" + machine() + "\n"
    )
    return INTRODUCTION + "\n".join(told) + "\n" + end


def main(path: Path = PAGE) -> None:
    """Write the page."""
    path.write_text(page(), "utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
