"""Claim: parse, project, collect, search, score and tabulate take time in proportion to their rows.

    python benchmarks/scaling.py [ROWS ...]     (default 1000 10000 100000 300000 1000000)

The embedded encyclopedia with so many rows of WIT is taken down the road, each phase in a process
of its own (quick ones thrice: medians); search and score handle as many hits. A start and a power
of the rows are fitted to the seconds: the constants of `isotope estimate`
(workflow/lib/isotope/cli/estimate_curves.csv), which is held against the largest size, as it is and
calibrated without that size. A phase is spared the sizes at which it would take more than its
budget of seconds. Points and curves are written after each point, benchmarks/results/scaling.md
after each size: a run may be cut short.
"""

import csv
import math
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import common
import polars as pl
from common import Timing, alone, machine, median, timed, write
from curves import GREW, exponent, fit, save
from peers import topics
from score import MEASURES
from score import make as make_run

from isotope.cli import estimate_sizes
from isotope.cli.estimate import PHASE_COSTS, Machine
from isotope.cli.estimate_sizes import Curve, Size, size
from isotope.collect import build
from isotope.core import lucene, measures, sql, store
from isotope.crawl.tables import LEDGER
from isotope.parse.dump import parse_dump
from isotope.parse.wit import parse_wit
from isotope.project import match
from isotope.project.tables import MEMBERS
from isotope.tabulate import catalog
from isotope.toy import snapshot

PHASES = ("parse", "project", "collect", "search", "score", "tabulate")
ROWS_A_PAGE, DEPTH, MEMORY_MB, WITHIN = 1.65, 1000, 2048, 0.25
CORES = os.cpu_count() or 1
SIZES = (1_000, 10_000, 100_000, 300_000, 1_000_000)
# Seconds that a phase may take at all sizes together, and below which it is timed again.
BUDGET_S, QUICK_S, MOST_TIMES = 900, 3, 3
NEEDS = {"project": "parse", "collect": "project", "tabulate": "collect"}
POINT = ["phase", "rows", "s", "wit_s", "dump_s", "peak_gib", "cpu_s"]
Point = dict[str, Any]
SPEC = {"mode": "exact-then-bm25", "k1": 0.9, "b": 0.4, "language": "en"}


def parse(at: dict[str, Path], rows: int) -> Timing:
    """Parse the shards of WIT and the dump, on one core."""
    shards, dumps = sorted(at["wit"].glob("*.tsv.gz")), sorted(at["dump"].glob("*.xml.bz2"))
    names = ("links", "rejected", "infoboxes", "pictures", "counts")
    where: dict[str, Any] = {k: at[k] for k in names}

    kept: dict[str, Any] = {"out": at["associations"], "rejected": at["rejected"]}
    wit_s, _ = timed(lambda: parse_wit(shards, **kept))
    dump_s, _ = timed(lambda: parse_dump(dumps, out=at["sections"], workers=1, **where))
    return {"s": wit_s + dump_s, "wit_s": wit_s, "dump_s": dump_s}


def projected(at: dict[str, Path], rows: int) -> Timing:
    """Name the texts, index the sections, and find each text's own."""

    def work() -> None:
        given = {"associations": at["associations"]}
        by = {"language": "en"}
        members = sql.SQL / "project/members.sql"
        sql.query(members, given, by, out=at["members"], schema=MEMBERS)
        match.index_sections(at["sections"], at["index"], threads=CORES, memory_mb=MEMORY_MB)
        queries = at["members"].with_name("queries")
        match.write_queries(at["associations"], at["members"], queries)
        where = (queries, at["sections"], at["index"])
        match.project(*where, SPEC, at["projection"], threads=CORES)

    return {"s": timed(work)[0]}


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
    return {"s": timed(lambda: build.collect(kind, relations, SPEC, at["collected"]))[0]}


def searched(at: dict[str, Path], rows: int) -> Timing:
    """Ask an index of one size for `rows` hits, a thousand a query."""
    asked = pl.read_parquet(at["topics"]).head(max(1, rows // DEPTH))
    model = lucene.Bm25(0.9, 0.4, memory_mb=MEMORY_MB)
    limits = {"hits": DEPTH, "threads": CORES}
    return {"s": timed(lambda: lucene.search(at["fixed"], asked.iter_rows(), model, **limits))[0]}


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
    zip(PHASES, (parse, projected, collected, searched, scored, tabulated), strict=True)
)


def places(root: Path) -> dict[str, Path]:
    """Return where everything of one size lies."""
    names = ("associations", "sections", "members", "projection", "index", "urls", "ledger")
    names += ("rejected", "links", "infoboxes", "pictures", "counts", "wit", "dump")
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


def fixed_index(root: Path) -> dict[str, Path]:
    """Make what search asks at every size: an index of some thousand sections, and topics."""
    at = places(root)
    snapshot.generate(root, pages=2_000, draw=False)
    alone(parse, at, 0)
    alone(projected, at, 0)
    asked = topics(at, sys.maxsize)
    enough = pl.concat([asked] * (1 + 1_000 // asked.height))
    numbered = enough.with_row_index("n").with_columns(pl.format("{}-{}", "source_text_id", "n"))
    numbered.drop("n").write_parquet(root / "topics")
    return {"fixed": at["index"], "topics": root / "topics"}


def source(rows: int) -> Size:
    """Return what `isotope estimate` takes an encyclopedia of so many rows of WIT for."""
    return size({"generate": {"pages": round(rows / ROWS_A_PAGE)}})


def units(rows: int) -> dict[str, tuple[str, float, int]]:
    """Return, by curve, its unit, how many there are at so many rows, and the cores at work.

    Cores are 0 where the estimate takes the time for the same on any number of cores.
    """
    of, hits = source(rows), max(1, rows // DEPTH) * DEPTH
    return {
        "parse_wit": ("row", of.associations, 0),
        "parse_dump": ("byte of XML", of.xml, 1),
        "project": ("pair", of.pairs, CORES),
        "collect": ("text or image", of.texts + of.images, 0),
        "search": ("hit", hits, CORES),
        "score": ("hit and measure", hits * len(MEASURES), 0),
        "tabulate": ("text", of.texts, 0),
    }


def calibrated(
    found: Sequence[Point], below: float = math.inf
) -> dict[str, tuple[str, Curve, int]]:
    """Return unit, curve and largest size of each phase, drawn from its sizes `below` some rows."""
    curves: dict[str, tuple[str, Curve, int]] = {}
    for name, (unit, _, cores) in units(0).items():
        phase, _, part = name.partition("_")
        used = [f for f in found if f["phase"] == phase and f["rows"] < below]
        if used:
            at = [units(f["rows"])[name][1] for f in used]
            seconds = [f[f"{part}_s" if part else "s"] for f in used]
            curves[name] = (unit, fit(at, seconds, cores), used[-1]["rows"])
    return curves


@contextmanager
def estimating(curves: Mapping[str, tuple[str, Curve, int]]) -> Generator[None]:
    """Let `isotope estimate` go by these curves."""
    kept = estimate_sizes.FILE
    with tempfile.TemporaryDirectory() as name:
        estimate_sizes.FILE = Path(name) / "curves.csv"
        save(curves, estimate_sizes.FILE)
        estimate_sizes.curves.cache_clear()
        try:
            yield
        finally:
            estimate_sizes.FILE = kept
            estimate_sizes.curves.cache_clear()


def estimated(phase: str, rows: int) -> float:
    """Return the seconds that `isotope estimate` has for a phase, the dump parsed on one core."""
    if phase in ("search", "score"):
        return estimate_sizes.curves()[phase].seconds(units(rows)[phase][1], CORES)
    here = Machine(1 if phase == "parse" else CORES, False)
    return PHASE_COSTS[phase](source(rows), {}, here).seconds


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


def against(found: Sequence[Point]) -> list[str]:
    """Return what the estimate says of each phase's largest size, and whether it is near enough.

    Beside it stands what curves without that size foretell.
    """
    head = ["checked at", "measured, s", "estimated, s", f"within {WITHIN:.0%}", "foretold, s"]
    lines = [f"| phase | {' | '.join(head)} |", "|---|---:|---:|---:|---|---:|"]
    for phase in PHASES:
        own = [f for f in found if f["phase"] == phase]
        if len(own) > 1:
            rows, took = own[-1]["rows"], own[-1]["s"]
            with estimating(calibrated(found)):
                guess = estimated(phase, rows)
            with estimating(calibrated(found, below=rows)):
                foretold = estimated(phase, rows)
            near = "yes" if abs(guess - took) <= WITHIN * took else "no"
            told = f"{rows:,} | {took:.2f} | {guess:.2f} | {near} | {foretold:.2f}"
            lines.append(f"| {phase} | {told} |")
    return lines


def keep(found: Sequence[Point]) -> None:
    """Write every point measured so far, and the curves of the estimate."""
    if not common.ELSEWHERE:
        save(calibrated(found), estimate_sizes.FILE)
    common.RESULTS.mkdir(exist_ok=True)
    with (common.RESULTS / "scaling_points.csv").open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, POINT, restval="", lineterminator="\n")
        out.writeheader()
        for f in found:
            out.writerow({k: v if k in POINT[:2] else f"{v:.4g}" for k, v in f.items()})


def report(found: Sequence[Point], sizes: Sequence[int], seconds: float) -> None:
    """Write points, curves and the page of what was measured so far."""
    write(
        "scaling",
        "# Scaling\n\nRows of WIT for parse, project, collect and tabulate; hits for search and"
        " score. Seconds, peak GiB of the phase's own process (Lucene's Java apart, capped at"
        f" {MEMORY_MB} MB), and the power of the rows that fits the seconds above the start, where"
        f" there are three sizes and the largest takes {GREW:g} times the smallest; else the start"
        " hides it. An empty cell:"
        f" the phase would have taken more than {BUDGET_S} s with the sizes before it, or the phase"
        f" before it had. Measured in {seconds / 60:.1f} minutes.\n\n"
        + "\n".join(table(found, sizes))
        + "\n\n`isotope estimate` takes its constants from these curves. At the largest size of a"
        " phase (on so many cores as measured: the dump is parsed on one) it says what stands under"
        " estimated; what it would say had that size not been measured stands under foretold:\n\n"
        + "\n".join(against(found))
        + "\n\n"
        + machine(["polars", "duckdb", "pyarrow", "pyserini"]),
    )


def main(*given: int) -> None:
    """Measure every size, calibrate, check, and report."""
    sizes, start = sorted(given or SIZES), time.monotonic()
    found: list[Point] = []
    with tempfile.TemporaryDirectory() as name:
        fixed = fixed_index(Path(name) / "fixed")
        for rows in sizes:
            root = Path(name) / str(rows)
            at = {**places(root), **fixed}
            snapshot.generate(root, pages=max(20, round(rows / ROWS_A_PAGE)), draw=False)
            make_run(root, max(1, rows // DEPTH), DEPTH)
            for phase in PHASES:
                if affordable(phase, rows, found):
                    found.append(measured(phase, at, rows))
                    keep(found)
                    past = time.monotonic() - start
                    print(f"{past:.0f} s: {found[-1]}", file=sys.stderr, flush=True)
            shutil.rmtree(root)
            report(found, sizes, time.monotonic() - start)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
