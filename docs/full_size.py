"""Write docs/full-size.md: what the size of AToMiC costs, by `isotope estimate`.

python docs/full_size.py [PAGE]
"""

import csv
import os
import sys
from collections.abc import Mapping, Sequence
from copy import deepcopy
from pathlib import Path
from typing import Any

from isotope.cli import estimate, estimate_curves, estimate_work
from isotope.cli.estimate import Machine
from isotope.cli.estimate_jobs import Job
from isotope.params.files import load

ROOT = Path(__file__).parents[1]
PAGE = Path(__file__).with_name("full-size.md")
OVERLAY = ROOT / "params/enwiki.yaml"
POOLS = ROOT / "benchmarks/results/scaling_pools.csv"
# One machine of two cores, one of sixteen, and sixteen of these.
CORES = (2, 16, 16 * 16)
BM25 = {
    "search": ("search_bm25",),
    "projection": ("project_texts",),
    "indexes": ("index_bm25_shard", "project_index"),
}
ENGINES = {"impacts": "isotope's own, the default", "lucene": "Lucene, the witness"}
INTRODUCTION = """# What full size costs

Written by `python docs/full_size.py`: the hours that [`isotope estimate`](cli.md#estimate) has for
`params/enwiki.yaml`, phases one after the other, and the memory of the largest job. It simulates
Snakemake's schedule of the {jobs} jobs. What a job takes follows curves that were measured on one
machine with {threads} cores and no GPU, up to sizes far below this: {upto}. What the network and
pretrained models take is assumed (`grep -n "ASSUME" workflow/lib/isotope/cli/*.py`), and nobody has
run isotope at this size yet. A twentieth of it was run on one machine, beside what the estimate had
said of each phase: [the rehearsal](rehearsal.md).

"""
BEFORE = """
## What this page said before

Until November 2026 this page gave 0.28 hours (17 minutes) to the projection and 0.09 hours to all
searches on one machine with 2 cores; `isotope estimate` gave the projection 14 minutes. Both were
wrong, because they held that Lucene takes as long for a hit in a large pool as in a small one. A
query touches the postings of its words, and a pool ten times as large has ten times as many. What
`engine: lucene` takes, measured again for a query of a section's words that asks captions for 1,000
hits, and for a section that asks for the nearest one (milliseconds of one core):

"""


def jobs_of(overlay: Path = OVERLAY) -> list[Job]:
    """Return the jobs of full size, with the threads that they take where there are enough."""
    before = Path.cwd()
    os.chdir(ROOT)
    try:
        return estimate.planned(["--configfile", str(overlay)], CORES[-1])
    finally:
        os.chdir(before)


def phases_table(params: Mapping[str, Any], jobs: Sequence[Job]) -> list[str]:
    """Return a row for each phase: hours by cores, and memory."""
    found = {n: estimate.run(params, Machine(n, gpu=False), jobs)[0] for n in CORES}
    names = [p for p in estimate.PHASES if any(job.phase == p for job in jobs)]
    head = " | ".join(f"{n} cores, h" for n in CORES)
    lines = [f"| phase | jobs | {head} | GiB |", "|---|---:|" + "---:|" * (len(CORES) + 1)]
    for phase in names:
        count = sum(job.phase == phase for job in jobs)
        hours = " | ".join(f"{found[n][phase].seconds / 3600:,.2f}" for n in CORES)
        lines.append(f"| {phase} | {count} | {hours} | {found[2][phase].memory_gib:.1f} |")
    return lines


def bm25_table(params: Mapping[str, Any], jobs: Sequence[Job]) -> list[str]:
    """Return the hours of BM25's rules by engine and cores, if all cores share them evenly."""
    head = " | ".join(f"{n} cores, h" for n in CORES)
    lines = [f"| engine | work | {head} |", "|---|---|" + "---:|" * len(CORES)]
    for engine, name in ENGINES.items():
        other = by_engine(params, engine)
        units = estimate_work.core_seconds(other, estimate.sizes(other), jobs)
        for work, rules in BM25.items():
            core_s = sum(u for u, job in zip(units, jobs, strict=True) if job.rule in rules)
            hours = " | ".join(f"{core_s / n / 3600:,.2f}" for n in CORES)
            lines.append(f"| {engine}: {name} | {work} | {hours} |")
    return lines


def by_engine(params: Mapping[str, Any], engine: str) -> dict[str, Any]:
    """Return the params with BM25 by an engine, for search and projection."""
    found = deepcopy(dict(params))
    for entry in (*found["systems"].values(), *found["project"].values()):
        if entry.get("kind", "bm25") == "bm25":
            entry["engine"] = engine
    return found


def lucene_table(path: Path = POOLS) -> list[str]:
    """Return what Lucene took for a query by the pool, as it was measured."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["work"] != "index"]
    works = {"search in images": "1,000 captions", "nearest": "the nearest section"}
    lines = [
        "| asked for | pool | engine lucene, ms | engine impacts, ms |",
        "|---|---:|---:|---:|",
    ]
    for work, told in works.items():
        pools = sorted({float(row["pool"]) for row in rows if row["work"] == work})
        for pool in pools:
            own = {
                row["engine"]: f"{float(row['s']) * 1e3:,.2f}"
                for row in rows
                if row["work"] == work and float(row["pool"]) == pool
            }
            both = f"{own.get('lucene', '')} | {own.get('impacts', '')}"
            lines.append(f"| {told} | {pool:,.0f} | {both} |")
    return lines


def page(jobs: Sequence[Job] | None = None) -> str:
    """Return the page."""
    params, every = load([OVERLAY], root=ROOT), jobs or jobs_of()
    largest = max(
        c.upto for (_, work), c in estimate_curves.bm25_curves().items() if "images" in work
    )
    rows = estimate_curves.curves()["parse_wit"].upto
    upto = f"{largest:,.0f} captions for BM25, {rows:,.0f} rows of WIT a job for the rest"
    threads = max(c.threads for c in estimate_curves.curves().values())
    head = INTRODUCTION.format(jobs=len(every), threads=threads, upto=upto)
    bm25 = (
        "\n## BM25\n\nSeconds of cores in search, projection and indexing alone, shared by all"
        " cores, without what reading, writing and starting add:\n\n"
    )
    parts = [head, *_lines(phases_table(params, every)), bm25, *_lines(bm25_table(params, every))]
    return "".join([*parts, BEFORE, *_lines(lucene_table())])


def _lines(table: Sequence[str]) -> list[str]:
    return [f"{line}\n" for line in table]


def main(path: Path = PAGE) -> None:
    """Write the page."""
    path.write_text(page(), "utf-8")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:]))
