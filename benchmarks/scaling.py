"""Claim: parse, project, collect, search, score and tabulate take time in proportion to their rows.

    python benchmarks/scaling.py [ROWS ...]     (default 1000 10000 100000)

The embedded encyclopedia with so many rows of WIT is taken down the road, each phase in a process
of its own; search and score handle as many hits. The start of Java, SQL and Python, and a power
of the rows, are fitted to the seconds, and what `isotope estimate` says is held
against the largest size. Written to benchmarks/results/scaling.md.
"""

import csv
import os
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from common import RESULTS, Timing, alone, machine, timed, write
from peers import topics
from score import MEASURES
from score import make as make_run

from isotope import catalog, collect, estimate, lucene, project, score, sql, store, tables, toy
from isotope.dump import parse_dump
from isotope.estimate_phases import PHASE_COSTS, Machine
from isotope.estimate_sizes import size
from isotope.wit import parse_wit

PHASES = ("parse", "project", "collect", "search", "score", "tabulate")
ROWS_A_PAGE, DEPTH, MEMORY_MB, WITHIN = 1.65, 1000, 2048, 0.25
CORES = os.cpu_count() or 1
SPEC = {"mode": "exact-then-bm25", "k1": 0.9, "b": 0.4, "language": "en"}


def parse(at: dict[str, Path], rows: int) -> Timing:
    """Parse the shards of WIT and the dump, on one core."""
    shards, dumps = sorted(at["wit"].glob("*.tsv.gz")), sorted(at["dump"].glob("*.xml.bz2"))
    names = ("links", "rejected", "infoboxes", "pictures", "counts")
    where: dict[str, Any] = {k: at[k] for k in names}

    def work() -> None:
        parse_wit(shards, out=at["associations"], rejected=at["rejected"])
        parse_dump(dumps, out=at["sections"], workers=1, **where)

    return {"s": timed(work)[0]}


def projected(at: dict[str, Path], rows: int) -> Timing:
    """Name the texts, index the sections, and find each text's own."""

    def work() -> None:
        given = {"associations": at["associations"]}
        by = {"language": "en"}
        members = sql.SQL / "project/members.sql"
        sql.query(members, given, by, out=at["members"], schema=tables.MEMBERS)
        project.index_sections(at["sections"], at["index"], threads=CORES, memory_mb=MEMORY_MB)
        queries = at["members"].with_name("queries")
        project.ask({k: at[k] for k in ("associations", "members")}, queries)
        where = (queries, at["sections"], at["index"])
        project.project(*where, SPEC, at["projection"], threads=CORES)

    return {"s": timed(work)[0]}


def collected(at: dict[str, Path], rows: int) -> Timing:
    """Collect texts, images and qrels, checks included; every picture is alive."""
    given = {"associations": at["associations"]}
    sql.query(sql.SQL / "crawl/urls.sql", given, {"shards": 1}, out=at["urls"])
    urls = pl.read_parquet(at["urls"]).select("image_url", status=pl.lit("success"))
    missing = {f: pl.lit(None) for f in tables.LEDGER.names if f not in urls.columns}
    store.write(urls.with_columns(**missing).to_arrow(), at["ledger"], tables.LEDGER)
    wanted = ("associations", "sections", "members", "projection", "urls", "ledger")
    relations = {name: at[name] for name in wanted}
    kind = sql.SQL / "collect/wikipedia"
    return {"s": timed(lambda: collect.collect(kind, relations, SPEC, at["collected"]))[0]}


def searched(at: dict[str, Path], rows: int) -> Timing:
    """Ask an index of one size for `rows` hits, a thousand a query."""
    asked = pl.read_parquet(at["topics"]).head(max(1, rows // DEPTH))
    model = lucene.Bm25(memory_mb=MEMORY_MB)
    limits = {"hits": DEPTH, "threads": CORES}
    return {"s": timed(lambda: lucene.search(at["fixed"], asked.iter_rows(), model, **limits))[0]}


def scored(at: dict[str, Path], rows: int) -> Timing:
    """Score a run of `rows` hits in six measures."""
    qrels = pl.read_parquet(at["root"] / "qrels.parquet")
    run = at["root"] / "run.parquet"
    return {"s": timed(lambda: score.score_file(run, qrels, MEASURES))[0]}


def tabulated(at: dict[str, Path], rows: int) -> Timing:
    """Open the catalog of the collection, and print the sizes of the paper's first table."""
    relations = {n: at["collected"] / f"{n}.parquet" for n in ("texts", "images", "qrels")}

    def work() -> None:
        catalog.build(at["root"] / "results/catalog.duckdb", at["root"])
        sql.query(sql.SQL / "tabulate/table1.sql", relations, {})

    return {"s": timed(work)[0]}


WORK = dict(zip(PHASES, (parse, projected, collected, searched, scored, tabulated), strict=True))


def places(root: Path) -> dict[str, Path]:
    """Return where everything of one size lies."""
    names = ("associations", "sections", "members", "projection", "index", "urls", "ledger")
    names += ("rejected", "links", "infoboxes", "pictures", "counts", "wit", "dump")
    at = {"root": root, "collected": root / "data/collect/toy", **{n: root / n for n in names}}
    at["collected"].mkdir(parents=True)
    return at


def one_size(root: Path, rows: int, fixed: dict[str, Path]) -> list[dict[str, Any]]:
    """Return the phases' times and memory at one size."""
    at = {**places(root), **fixed}
    toy.generate(root, pages=max(20, round(rows / ROWS_A_PAGE)), draw=False)
    make_run(root, max(1, rows // DEPTH), DEPTH)
    found: list[dict[str, Any]] = []
    for phase, work in WORK.items():
        found.append({"phase": phase, "rows": rows, **alone(work, at, rows)})
        print(found[-1], file=sys.stderr, flush=True)
    return found


def fixed_index(root: Path) -> dict[str, Path]:
    """Make what search asks at every size: an index of some thousand sections, and topics."""
    at = places(root)
    toy.generate(root, pages=2_000, draw=False)
    alone(parse, at, 0)
    alone(projected, at, 0)
    asked = topics(at, sys.maxsize)
    enough = pl.concat([asked] * (1 + 1_000 // asked.height))
    numbered = enough.with_row_index("n").with_columns(pl.format("{}-{}", "source_text_id", "n"))
    numbered.drop("n").write_parquet(root / "topics")
    return {"fixed": at["index"], "topics": root / "topics"}


def exponent(rows: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the x for which start + a * rows**x fits best, each point as heavy as its size."""
    taken, scale = np.array(seconds), np.array(rows) / max(rows)
    errors: dict[float, float] = {}
    for power in np.arange(0.5, 2.01, 0.01):
        terms = np.column_stack([np.ones(len(taken)), scale**power]) / taken[:, None]
        (start, slope), *_ = np.linalg.lstsq(terms, np.ones(len(taken)))
        if start >= 0 and slope > 0:
            errors[float(power)] = float(((terms @ [start, slope] - 1) ** 2).sum())
    return min(errors, key=lambda power: errors[power]) if errors else float("nan")


def estimated(rows: int) -> dict[str, float]:
    """Return the seconds that `isotope estimate` has for a source of this size, per phase."""
    of = size({"generate": {"pages": round(rows / ROWS_A_PAGE)}})
    params: dict[str, Any] = {"score": {"measures": MEASURES}, "models": {}, "systems": {}}
    params["search"] = {"settings": ["s"], "splits": ["s"], "tasks": ["t"], "depth": DEPTH}
    params["search"] |= {"systems": [], "memory_mb": MEMORY_MB}
    told = ("parse", "project", "collect", "tabulate")
    return {p: PHASE_COSTS[p](of, params, Machine(CORES, False)).seconds for p in told}


def table(found: list[dict[str, Any]], sizes: Sequence[int]) -> list[str]:
    """Return a row for each phase: seconds and memory at each size, and the exponent."""
    head = [f"{n:,} rows, s (GiB)" for n in sizes]
    lines = [f"| phase | {' | '.join(head)} | exponent |", "|---|" + "---:|" * (len(sizes) + 1)]
    for phase in PHASES:
        own = [f for f in found if f["phase"] == phase]
        cells = " | ".join(f"{f['s']:.2f} ({f['peak_gib']:.2f})" for f in own)
        slope = exponent(sizes, [f["s"] for f in own]) if len(own) > 2 else float("nan")  # noqa: PLR2004
        lines.append(f"| {phase} | {cells} | {slope:.2f} |")
    return lines


def against(found: list[dict[str, Any]], largest: int) -> list[str]:
    """Return what the estimate says of the largest size, and whether it is near enough."""
    lines = ["| phase | measured, s | estimated, s | within 25 % |", "|---|---:|---:|---|"]
    for phase, guess in estimated(largest).items():
        own = next(f["s"] for f in found if f["phase"] == phase and f["rows"] == largest)
        near = "yes" if abs(guess + estimate.START_S / CORES - own) <= WITHIN * own else "no"
        lines.append(f"| {phase} | {own:.1f} | {guess + estimate.START_S / CORES:.1f} | {near} |")
    return lines


def main(*given: int) -> None:
    """Measure every size, fit, and report."""
    sizes = sorted(given or (1_000, 10_000, 100_000))
    found: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        fixed = fixed_index(Path(name) / "fixed")
        for rows in sizes:
            found += one_size(Path(name) / str(rows), rows, fixed)
    RESULTS.mkdir(exist_ok=True)
    with (RESULTS / "scaling_points.csv").open("w", newline="") as file:
        out = csv.DictWriter(file, ["phase", "rows", "s", "peak_gib", "cpu_s"], lineterminator="\n")
        out.writeheader()
        out.writerows(
            {k: v if k in ("phase", "rows") else f"{v:.4g}" for k, v in f.items()} for f in found
        )
    write(
        "scaling",
        "# Scaling\n\nRows of WIT for parse, project, collect and tabulate; hits for search and"
        " score. Seconds, peak GiB of the phase's own process (Lucene's Java apart, capped at"
        f" {MEMORY_MB} MB), and the power of the rows that fits the seconds above the start.\n\n"
        + "\n".join(table(found, sizes))
        + f"\n\n`isotope estimate` at {sizes[-1]:,} rows, the start of a job included:\n\n"
        + "\n".join(against(found, sizes[-1]))
        + "\n\n"
        + machine(["polars", "duckdb", "pyarrow", "pyserini"]),
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
