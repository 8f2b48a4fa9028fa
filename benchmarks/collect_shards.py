"""Claim: a collection made in shards is the same, and no shard takes the memory of the whole.

    python benchmarks/collect_shards.py [ROWS]     (default 30000)

The embedded encyclopedia with so many rows of WIT is parsed, its texts find sections by title, and
COPIES of it under other names make one source. It is collected by one job, then in each of SHARDS,
every job in a process of its own; the files must be the same, byte for byte. The points
(benchmarks/results/collect_points.csv) tell what shards don't make less.
"""

import csv
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from common import RESULTS, Timing, alone, machine, write
from scaling import ROWS_A_PAGE, parse, places

from isotope.collect import build
from isotope.collect import build as collect_parts
from isotope.core import sql, store
from isotope.project import match
from isotope.schemas.collect import EXCHANGED, GATHERED, IMAGE_PIECES, TEXT_PIECES
from isotope.schemas.crawl import LEDGER
from isotope.schemas.parse import ASSOCIATIONS, SECTIONS
from isotope.schemas.project import MEMBERS, PROJECTION
from isotope_toy import snapshot

COPIES, SHARDS = 10, (4, 16)
READ = ("associations", "sections", "members", "projection", "urls", "ledger")
COLUMNS = ["job", "shards", "jobs", "cpu_s", "peak_gib"]
SPEC = {"language": "en"}
# What tells the copies apart in each table.
NAMES = {
    "associations": ("file", "image_url", "page_title"),
    "sections": ("text_id", "page_title"),
    "members": ("source_text_id", "file"),
    "projection": ("source_text_id", "text_id"),
}
SCHEMAS = {
    "associations": ASSOCIATIONS,
    "sections": SECTIONS,
    "members": MEMBERS,
    "projection": PROJECTION,
}
KEYS = {"associations": ["file", "row"], "members": ["file", "row"], "sections": ["text_id"]}


def one(at: Mapping[str, Path], rows: int) -> Timing:
    """Make the source that is copied."""
    snapshot.generate(at["root"], pages=round(rows / ROWS_A_PAGE), draw=False)
    parse(dict(at), rows)
    given = {"associations": at["associations"]}
    members, queries = at["members"], at["root"] / "queries"
    sql.query(sql.SQL / "project/members.sql", given, SPEC, out=members, schema=MEMBERS)
    match.write_queries(given["associations"], members, queries)
    exact = {"queries": queries, "sections": at["sections"]}
    sql.query(sql.SQL / "project/exact.sql", exact, {}, out=at["root"] / "exact")
    texts = pl.read_parquet(queries).select("source_text_id")
    found = texts.join(pl.read_parquet(at["root"] / "exact"), "source_text_id", how="left")
    told = found.with_columns(method=pl.lit("exact"), score=pl.lit(None, pl.Float64))
    store.write(told.to_arrow(), at["projection"], PROJECTION)
    return {}


def copied(at: Mapping[str, Path], out: Path) -> dict[str, Path]:
    """Write COPIES of the source as one; one image in sixteen is dead."""
    for name, columns in NAMES.items():
        rows = pl.read_parquet(at[name])
        again = [
            rows.with_columns(
                *(pl.format("{}~{}", c, pl.lit(n)) for c in columns),
                *([pl.col("page_id") + n * 10**8] if "page_id" in rows.columns else []),
            )
            for n in range(COPIES)
        ]
        ordered = pl.concat(again).sort(KEYS.get(name, ["source_text_id"]))
        store.write(ordered.to_arrow(), out / name, SCHEMAS[name])
    given = {"associations": out / "associations"}
    sql.query(sql.SQL / "crawl/urls.sql", given, {"shards": 1}, out=out / "urls")
    dead = pl.col("image_id").str.starts_with("0")
    status = pl.when(dead).then(pl.lit("not_found")).otherwise(pl.lit("success"))
    urls = pl.read_parquet(out / "urls").select("image_url", status=status)
    missing = {f: pl.lit(None) for f in LEDGER.names if f not in urls.columns}
    store.write(urls.with_columns(**missing).to_arrow(), out / "ledger", LEDGER)
    return {name: out / name for name in READ}


def whole(given: Mapping[str, Path], out: Path) -> Timing:
    """Collect in one job."""
    build.collect(collect_parts.KIND, given, SPEC, out)
    return {}


def nothing() -> Timing:
    """Do what every job does first: import."""
    return {}


def job(half: str, given: Mapping[str, Path], root: Path, part: tuple[int, int]) -> Timing:
    """Do what one job of the rule collect_<half> does; pieces of part n are in the folder n."""
    n, shards = part

    def pieces(*names: str) -> dict[str, list[Path]]:
        return {t: [root / f"{i}/{t}" for i in range(shards)] for t in names}

    def own(names: list[str]) -> dict[str, Path]:
        return {t: root / f"{n}/{t}" for t in names}

    if half == "texts":
        collect_parts.collect_texts(given, "en", part, own(TEXT_PIECES))
    elif half == "images":
        known = {**given, **pieces(*EXCHANGED)}
        collect_parts.collect_images(known, part, own(IMAGE_PIECES))
    else:
        collect_parts.collect_gather(
            pieces(*GATHERED), {t: root / f"out/{t}.parquet" for t in build.SCHEMAS}
        )
    return {}


def point(name: str, shards: int, timings: list[Timing]) -> dict[str, Any]:
    """Return the processor time of all jobs of one sort, and the peak of the largest."""
    spent = sum(t["cpu_s"] for t in timings)
    peak = max(t["peak_gib"] for t in timings)
    told = [name, shards, len(timings), f"{spent:.3f}", f"{peak:.4f}"]
    return dict(zip(COLUMNS, told, strict=True))


def measured(given: Mapping[str, Path], root: Path) -> list[dict[str, Any]]:
    """Collect at every number of shards; the tables must not tell it."""
    points = [point("start", 1, [alone(nothing)]), point("whole", 1, [alone(whole, given, root)])]
    for n in SHARDS:
        at = root / f"by{n}"
        for half, parts in (("texts", n), ("images", n), ("gather", 1)):
            done = [alone(job, half, given, at, (part, n)) for part in range(parts)]
            points.append(point(half, n, done))
        for name in build.SCHEMAS:
            file = f"{name}.parquet"
            assert (at / "out" / file).read_bytes() == (root / file).read_bytes(), (n, name)
    return points


def main(rows: int = 30_000) -> None:
    """Measure and report."""
    with tempfile.TemporaryDirectory() as place:
        at = places(Path(place) / "one")
        alone(one, at, rows)
        given = copied(at, Path(place))
        size = {n: pl.scan_parquet(given[n]).select(pl.len()).collect().item() for n in READ[:2]}
        points = measured(given, Path(place) / "made")
    with (RESULTS / "collect_points.csv").open("w", newline="") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(points)
    text = [
        "# Collect in shards",
        "",
        f"{size['associations']:,} associations and {size['sections']:,} sections: {COPIES} copies"
        " of the embedded encyclopedia. Processor seconds are those of all jobs together, starting"
        " Python included (`start`); the peak is that of the largest job. All tables are those of"
        " one job, byte for byte.",
        "",
        "| job | shards | jobs | CPU, s | peak, GiB |",
        "|---|---:|---:|---:|---:|",
        *(f"| {' | '.join(str(p[c]) for c in COLUMNS)} |" for p in points),
        "",
        machine(["duckdb", "polars", "pyarrow"]),
    ]
    write("collect_shards", "\n".join(text))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
