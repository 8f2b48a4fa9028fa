"""Claim: phases take time in proportion to their rows, and BM25's cost by pool is foretold.

    python benchmarks/scaling.py [ROWS ...] [--pools N ...] [--at FOLDER] [--nearest]

The embedded encyclopedia with so many rows of WIT is taken down the road, each phase in a process
of its own (quick ones thrice: medians); score handles as many hits. A phase is spared the sizes at
which it would take more than its budget of seconds. Then BM25, by pools of so many captions and
sections (`pool_costs`): lines in queries, words and pool, checked by the largest pool, which they
have not seen. `isotope estimate` goes by that pool (isotope_estimate/estimate.csv). Points
and curves are written after each point, benchmarks/results/scaling.md after each size: a run may be
cut short. The folder of --at keeps texts and indexes for another run.
With --nearest only the search for the nearest section is measured anew, by pool.
"""

import argparse
import csv
import math
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import common
import polars as pl
import pool_costs
import pools
from common import Timing, alone, machine, median, timed, write
from curves import GREW, exponent, fit
from score import MEASURES
from score import make as make_run

from isotope.collect import build
from isotope.core import measures, sql, store
from isotope.params.project import Project
from isotope.parse.dump import parse_dump
from isotope.parse.wit import parse_wit
from isotope.project import match
from isotope.schemas.crawl import LEDGER
from isotope.tabulate import catalog
from isotope_toy import snapshot

PHASES = ("parse", "project", "collect", "score", "tabulate")
ROWS_A_PAGE, DEPTH = 1.65, 1000
CORES = os.cpu_count() or 1
SIZES = (1_000, 10_000, 100_000, 300_000)
POOLS = (10_000, 100_000, 1_000_000, 10_000_000)
# Seconds that a phase may take at all sizes together, and below which it is timed again.
BUDGET_S, QUICK_S, MOST_TIMES = 900, 3, 3
NEEDS = {"project": "parse", "collect": "project", "tabulate": "collect"}
POINT = ["phase", "rows", "s", "wit_s", "dump_s", "peak_gib", "cpu_s"]
Point = dict[str, Any]
SPEC = Project(mode="bm25")


def parse(at: dict[str, Path], rows: int) -> Timing:
    """Parse the shards of WIT and the dump, on one core."""
    shards, dumps = sorted(at["wit"].glob("*.tsv.gz")), sorted(at["dump"].glob("*.xml.bz2"))
    names = ("links", "outline", "rejected", "infoboxes", "pictures", "counts")
    where: dict[str, Any] = {k: at[k] for k in names}

    kept: dict[str, Any] = {"out": at["associations"], "rejected": at["rejected"]}
    wit_s, _ = timed(lambda: parse_wit(shards, **kept))
    dump_s, _ = timed(lambda: parse_dump(dumps, out=at["sections"], workers=1, **where))
    return {"s": wit_s + dump_s, "wit_s": wit_s, "dump_s": dump_s}


def projected(at: dict[str, Path], rows: int) -> Timing:
    """Name the texts, index the sections, and find each text's own."""
    tables = {name: at[name] for name in ("associations", "sections", "members", "projection")}
    limits: dict[str, Any] = {"spec": SPEC, "language": "en", "threads": CORES}
    return {"s": timed(lambda: match.project_source(**tables, **limits))[0]}


def collected(at: dict[str, Path], rows: int) -> Timing:
    """Collect texts, images and qrels, checks included; every picture is alive."""
    given = {"associations": at["associations"]}
    sql.query(sql.SQL / "crawl/urls.sql", given, {"shards": 1}, out=at["urls"])
    urls = pl.read_parquet(at["urls"]).select("image_url", status=pl.lit("success"))
    missing = {f: pl.lit(None) for f in LEDGER.names if f not in urls.columns}
    store.write(urls.with_columns(**missing).to_arrow(), at["ledger"], LEDGER)
    wanted = ("associations", "sections", "members", "projection", "urls", "ledger")
    relations = {name: at[name] for name in wanted}
    kind = sql.SQL / "collect/wikipedia"
    given, out = {"language": "en"}, at["collected"]
    return {"s": timed(lambda: build.collect(kind, relations, given, out))[0]}


def scored(at: dict[str, Path], rows: int) -> Timing:
    """Score a run of `rows` hits in six measures."""
    qrels = pl.read_parquet(at["root"] / "qrels.parquet")
    run = at["root"] / "run.parquet"
    return {"s": timed(lambda: measures.score_file(run, qrels, MEASURES))[0]}


def tabulated(at: dict[str, Path], rows: int) -> Timing:
    """Open the catalog of the collection, and print the sizes of AToMiC's Table 1."""
    relations = {n: at["collected"] / f"{n}.parquet" for n in ("texts", "images", "qrels")}

    def work() -> None:
        catalog.build(at["root"] / "results/catalog.duckdb", at["root"])
        sql.query(sql.SQL / "tabulate/tables/table1.sql", relations, {})

    return {"s": timed(work)[0]}


WORK: dict[str, Callable[..., Timing]] = dict(
    zip(PHASES, (parse, projected, collected, scored, tabulated), strict=True)
)


def places(root: Path) -> dict[str, Path]:
    """Return where everything of one size lies."""
    names = ("associations", "sections", "members", "projection", "urls", "ledger")
    names += ("rejected", "links", "outline", "infoboxes", "pictures", "counts", "wit", "dump")
    at = {"root": root, "collected": root / "data/collect/toy", **{n: root / n for n in names}}
    at["collected"].mkdir(parents=True)
    return at


def measured(phase: str, at: dict[str, Path], rows: int) -> Point:
    """Return a phase's time and memory; the median of some where it is quick."""
    timings = [alone(WORK[phase], at, rows)]
    while len(timings) < MOST_TIMES and timings[0]["s"] < QUICK_S:
        timings.append(alone(WORK[phase], at, rows))
    return {"phase": phase, "rows": rows, **median(timings)}


def affordable(phase: str, rows: int, found: Sequence[Point]) -> bool:
    """Tell whether what the phase needs was made, and its budget is enough for one more size."""
    if phase in NEEDS and (NEEDS[phase], rows) not in {(f["phase"], f["rows"]) for f in found}:
        return False
    own = [f for f in found if f["phase"] == phase]
    if not own:
        return True
    seconds = [f["s"] for f in own]
    return sum(seconds) + fit([f["rows"] for f in own], seconds).seconds(rows) <= BUDGET_S


def table(found: Sequence[Point], sizes: Sequence[int]) -> list[str]:
    """Return a row for each phase: seconds and memory at each size, and the exponent."""
    head = [f"{n:,} rows, s (GiB)" for n in sizes]
    lines = [f"| phase | {' | '.join(head)} | exponent |", "|---|" + "---:|" * (len(sizes) + 1)]
    for phase in PHASES:
        own = {f["rows"]: f for f in found if f["phase"] == phase}
        cells = [f"{own[n]['s']:.2f} ({own[n]['peak_gib']:.2f})" if n in own else "" for n in sizes]
        power = exponent(list(own), [f["s"] for f in own.values()])
        told = "hidden" if math.isnan(power) else f"{power:.2f}"
        lines.append(f"| {phase} | {' | '.join(cells)} | {told} |")
    return lines


def keep(found: Sequence[Point]) -> None:
    """Write every point measured so far."""
    common.RESULTS.mkdir(exist_ok=True)
    with (common.RESULTS / "scaling_points.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, POINT, restval="", lineterminator="\n")
        out.writeheader()
        for f in found:
            out.writerow({k: v if k in POINT[:2] else f"{v:.4g}" for k, v in f.items()})


def earlier() -> tuple[list[Point], list[pool_costs.Point]]:
    """Return the points of an earlier run: by rows, and of BM25 by pool."""
    named = {"scaling_points": ("phase",), "scaling_pools": ("engine", "work")}
    found, known = (pool_costs.load(common.RESULTS / f"{n}.csv", k) for n, k in named.items())
    return found, known


def keep_pools(points: Sequence[pool_costs.Point]) -> None:
    """Write every point of BM25 measured so far, and the rates of the estimate."""
    common.RESULTS.mkdir(exist_ok=True)
    pool_costs.keep(points, common.RESULTS / "scaling_pools.csv")
    if not common.ELSEWHERE:
        pool_costs.save(points)


def report(
    found: Sequence[Point],
    asked: Sequence[pool_costs.Point],
    sizes: Sequence[int],
    seconds: float,
    alone_: bool = False,
) -> None:
    """Write the page of what was measured so far; `alone_` says that only BM25's nearest was."""
    bm25 = "\n".join(pool_costs.table(asked)) if asked else "Not measured yet."
    write(
        "scaling",
        "# Scaling\n\nRows of WIT for parse, project, collect and tabulate; hits for"
        " score. Seconds, peak GiB of the phase's own process (Lucene's Java apart),"
        " and the power of the rows that fits the seconds above the start, where"
        f" there are three sizes and the largest takes {GREW:g} times the smallest; else the start"
        " hides it. An empty cell:"
        f" the phase would have taken more than {BUDGET_S} s with the sizes before it, or the phase"
        f" before it had. Measured in {seconds / 60:.1f} minutes"
        f"{', the nearest section by pool alone' * alone_}.\n\n"
        + "\n".join(table(found, sizes))
        + "\n\n## BM25 by pool\n\nMilliseconds of one core a query, or an index. Sections of some"
        " 120 words ask captions of some 25, and captions ask sections, for 1,000 hits; copies of"
        " sections, a fifth of their words drawn anew, ask for the nearest section. Starts are left"
        " out. Foretold is what a line says that has not seen the largest pool; `isotope"
        " estimate` goes by that pool.\n\n"
        + bm25
        + "\n\n"
        + machine(["polars", "duckdb", "pyarrow", "pyserini", "numba"]),
    )


def options() -> argparse.Namespace:
    """Return what the command says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("rows", type=int, nargs="*", default=SIZES)
    parser.add_argument("--pools", type=int, nargs="+", default=POOLS)
    parser.add_argument("--at", type=Path)
    parser.add_argument("--nearest", action="store_true")
    return parser.parse_args()


def main() -> None:
    """Measure every size, then BM25's pools, and report."""
    chosen, start = options(), time.monotonic()
    sizes = sorted(chosen.rows)
    found, known = earlier() if chosen.nearest else ([], [])
    with tempfile.TemporaryDirectory() as name:
        for rows in [] if chosen.nearest else sizes:
            root = Path(name) / str(rows)
            at = places(root)
            snapshot.generate(root, pages=max(20, round(rows / ROWS_A_PAGE)), draw=False)
            make_run(root, max(1, rows // DEPTH), DEPTH)
            for phase in PHASES:
                if affordable(phase, rows, found):
                    found.append(measured(phase, at, rows))
                    keep(found)
                    past = time.monotonic() - start
                    print(f"{past:.0f} s: {found[-1]}", file=sys.stderr, flush=True)
            shutil.rmtree(root)
            report(found, [], sizes, time.monotonic() - start)

        def done(points: Sequence[pool_costs.Point]) -> None:
            keep_pools(points)
            report(found, points, sizes, time.monotonic() - start, chosen.nearest)

        kept = pools.kept(chosen.at or Path(name))
        kept.mkdir(parents=True, exist_ok=True)
        pool_costs.measure(chosen.pools, kept, done, known)


if __name__ == "__main__":
    main()
