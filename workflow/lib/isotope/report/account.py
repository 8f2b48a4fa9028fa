"""An account of a run: what it built and set aside, and what its jobs have cost.

The first is printed at the end of a run. Time and memory are those that Snakemake has measured,
what rerankers have scored is what their jobs have counted; `isotope costs` prints both, and the
site has a page of them.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from glob import escape
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from isotope.core import plugins, sql
from isotope.core.errors import BadArgument, MissingFile
from isotope.params.messages import suggest
from isotope.report.content import Scope
from isotope.report.site import write_page
from isotope.tabulate import catalog
from isotope.tabulate.table import Table, lay_out, plain

CATALOG = "results/catalog.duckdb"
SITE = "results/report/index.html"
_SQL = sql.SQL / "summary"
_RUNS = "results/search/*/*/*/*/*.parquet"
_BUILT = ("texts", "images", "qrels")
_MOST, _MOST_REASONS = 12, 4
# Folders down to a collection's, and its own: data, collect, toy.
_DEEP = 3
# The queries for what was set aside, and the view that each reads.
LOSSES = {"pictures": "ledger", "projected": "projection", "filtered": "filters"}
BENCHMARKS = Path("logs/benchmarks")
RERANKED = Path("logs/rerank")
_NUMBERS = {"s": "seconds", "cpu_time": "cpu_seconds", "max_rss": "memory_mib"}
_ROAD = "acquire parse crawl project collect train encode index search score tabulate release"
_PHASES = _ROAD.split()


def summary(written: Iterable[str | Path], root: Path = Path()) -> str:
    """Return the lines for a run whose jobs wrote the files `written` (paths relative to `root`).

    Raises:
        IsotopeError, duckdb.Error: a table that can't be read.
    """
    files = [str(path) for path in written]
    with duckdb.connect() as con:
        con.execute("SET enable_progress_bar = false")
        parts = {
            "Built": _built(con, files, root),
            "Kept and set aside": _kept_and_lost(con, files, root),
            "Look at": _places(files, root),
        }
    return "".join(_headed(head, rows) for head, rows in parts.items())


def _headed(head: str, rows: Sequence[Sequence[object]]) -> str:
    if not rows:
        return ""
    numbers = {n + 1 for n, cell in enumerate(rows[-1]) if isinstance(cell, int)}
    words = [["", *(f"{v:,}" if isinstance(v, int) else v for v in row)] for row in rows]
    lines = plain(words, right=numbers).splitlines()
    return f"{head}:\n" + "".join(f"{line}\n" for line in lines)


def _named(files: Iterable[str], glob: str, root: Path) -> set[str]:
    """Return the collections, or sources, of which a run has written the file of a pattern.

    Of a run to the end, which writes the CATALOG, those of which it has written anything.
    """
    depth = Path(glob).parts.index("*")
    if CATALOG in files:
        present = {path.relative_to(root).parts[depth] for path in root.glob(glob)}
        return present & {
            Path(file).parts[2].partition(".")[0] for file in files if _is_of_one(file)
        }
    return {Path(file).parts[depth] for file in files if fnmatchcase(file, glob)}


def _is_of_one(file: str) -> bool:
    """Tell whether a file is of one collection or source: data/collect/toy/texts.parquet."""
    parts = Path(file).parts
    return len(parts) >= _DEEP and parts[0] in ("data", "results")


def _rows(
    con: duckdb.DuckDBPyConnection, name: str, values: Mapping[str, object]
) -> list[tuple[Any, ...]]:
    return con.execute((_SQL / f"{name}.sql").read_text(encoding="utf-8"), values).fetchall()


def _built(
    con: duckdb.DuckDBPyConnection, files: Sequence[str], root: Path
) -> list[Sequence[object]]:
    collected = _named(files, catalog.VIEWS["qrels"].glob, root)
    names = collected | _named(files, _RUNS, root)
    if not names:
        return []
    catalog.define(con, _BUILT, root)
    built_rows = _rows(con, "built", {"runs": f"{escape(str(root.resolve()))}/{_RUNS}"})
    lines = [_line(*row) for row in built_rows if row[0] in names]
    return _shortened(lines, "collections")


def _line(name: str, *counts: int) -> list[str]:
    texts, images, judgements, systems, pools = counts
    tables = f"{texts:,} texts, {images:,} images, {judgements:,} judgements"
    runs = f"{_many(systems, 'system')} on {_many(pools, 'pool')}" if systems else "no runs"
    return [name, f"{tables}; {runs}"]


def _many(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _kept_and_lost(
    con: duckdb.DuckDBPyConnection, files: Sequence[str], root: Path
) -> list[Sequence[object]]:
    """Return a table: what was read of each split, kept, and set aside for which reasons."""
    lines = list[Sequence[object]]()
    for name, view in LOSSES.items():
        if owners := _named(files, catalog.VIEWS[view].glob, root):
            counts: dict[tuple[str, str, str], Counter[str | None]] = {}
            catalog.define(con, [view], root)
            if name == "pictures":
                _define_named(con, root)
            for owner, things, split, reason, n in _rows(con, name, {}):
                if owner in owners:
                    counts.setdefault((owner, things, split), Counter())[reason] += n
            lost_of = Counter[tuple[str, str]]()
            for (owner, things, _), reasons in counts.items():
                lost_of[owner, things] += reasons.total() - reasons[None]
            lines += [
                _line_of(*key, reasons) for key, reasons in counts.items() if lost_of[key[:2]]
            ]
    if not lines:
        return []
    shown = _shortened(sorted(lines, key=lambda line: [str(cell) for cell in line[:1]]), "lines")
    return [["", "", "split", "read", "kept", "set aside"], *shown]


def _define_named(con: duckdb.DuckDBPyConnection, root: Path) -> None:
    """Make tables of the names of pictures that rows of pairs have, and of those in collections."""
    pairs = [path.resolve() for path in root.glob("data/parse/*/pairs.parquet")]
    images = [root.resolve() / f"data/collect/{path.parent.name}/images.parquet" for path in pairs]
    relations = {
        "named": ("stem", "pairs", pairs),
        "chosen": ("image_url", "images", [path for path in images if path.is_file()]),
    }
    for name, (column, key, files) in relations.items():
        con.execute(f"CREATE TABLE {name} (source VARCHAR, {column} VARCHAR)")
        if files:
            select = (_SQL / f"{name}.sql").read_text(encoding="utf-8")
            con.execute(f"INSERT INTO {name} {select}", {key: [*map(sql.pattern, files)]})


def _line_of(
    owner: str, things: str, split: str, counts: Counter[str | None]
) -> tuple[str | int, ...]:
    """Return a line of the table; what was kept has no reason."""
    reasons = {reason: n for reason, n in counts.items() if reason and n}
    ordered = sorted(reasons.items(), key=lambda reason_count: (-reason_count[1], reason_count[0]))
    words = [f"{reason}: {n:,}" for reason, n in ordered[:_MOST_REASONS]]
    if more := sum(n for _, n in ordered[_MOST_REASONS:]):
        words.append(f"other reasons: {more:,}")
    lost = counts.total() - counts[None]
    why = f"{lost:,} ({', '.join(words)})" if words else "0"
    return owner, things, split, counts.total(), counts[None], why


def _shortened(lines: Sequence[Sequence[object]], things: str) -> list[Sequence[object]]:
    more = len(lines) - _MOST
    if more < 1:
        return [*lines]
    blank = [""] * (len(lines[0]) - 2)
    return [*lines[:_MOST], ["…", f"and {more} more {things}", *blank]]


def _places(files: Sequence[str], root: Path) -> list[list[str]]:
    places = [[SITE, "the report, in a browser"]] if (root / SITE).is_file() else []
    if CATALOG in files:
        places.append(["isotope report", "the main scores"])
        places.append(['isotope sql "FROM filters"', "any of the tables that SHOW TABLES lists"])
    return places if CATALOG in files or SITE in files else []


def jobs(names: Sequence[str] = (), root: Path = Path()) -> pl.DataFrame:
    """Return a row a job: phase, rule, seconds, cpu_seconds, memory_mib (its peak).

    `names` are collections and sources; none stands for all. A number that Snakemake could not
    take is null. A job that ran elsewhere, or before `logs/` was removed, is not there.
    """
    folder = root / BENCHMARKS
    files = sorted(p for p in folder.glob("*/*.tsv") if not names or _owner(p, names))
    rows = [_job(path) for path in files]
    schema = {"phase": pl.String, "rule": pl.String, **dict.fromkeys(_NUMBERS.values(), pl.Float64)}
    return pl.DataFrame(rows, schema=schema, orient="row")


def by(measured: pl.DataFrame, *keys: str) -> pl.DataFrame:
    """Return sums of seconds and the peak of memory for each of `keys`, in the road's order."""
    order = pl.col("phase").replace_strict(_PHASES, range(len(_PHASES)), default=len(_PHASES))
    return (
        measured.group_by(*keys)
        .agg(
            pl.len().alias("jobs"),
            pl.col("seconds", "cpu_seconds").sum().round(1),
            pl.col("memory_mib").max().round(0),
        )
        .sort(order, *keys)
    )


_COUNTED: Mapping[str, Any] = {
    **{"collection": pl.String, "system": pl.String, "queries": pl.Int64},
    **{"pairs": pl.Int64, "scored": pl.Int64, "seconds": pl.Float64},
}


def reranked(names: Sequence[str] = (), root: Path = Path()) -> pl.DataFrame:
    """Return a row for each reranked system, of its last search: what its model has scored.

    collection, system, queries (of all cells), pairs, from_cache (those that had a score, or that
    several cells share), scored, seconds (the model's), seconds_a_query (as if none had a score;
    null where all had).
    """
    files = sorted((root / RERANKED).glob("*.json"))
    rows = [json.loads(path.read_text(encoding="utf-8")) for path in files]
    counted = pl.DataFrame(
        [row for row in rows if not names or row["collection"] in names], _COUNTED
    )
    sums = counted.group_by("collection", "system").agg(pl.exclude("collection", "system").sum())
    pair_s = pl.when(pl.col("scored") > 0).then(pl.col("seconds") / pl.col("scored"))
    return sums.sort("collection", "system").select(
        *("collection", "system", "queries", "pairs"),
        (pl.col("pairs") - pl.col("scored")).alias("from_cache"),
        "scored",
        pl.col("seconds").round(1),
        (pair_s * pl.col("pairs") / pl.col("queries")).round(4).alias("seconds_a_query"),
    )


def text(names: Sequence[str] = (), root: Path = Path()) -> str:
    """Return the tables that `isotope costs` prints: a line a phase, and their sum; and rerankers'.

    Raises:
        MissingFile: no job has been measured.
        BadArgument: a name that no job has.
    """
    files = sorted((root / BENCHMARKS).glob("*/*.tsv"))
    for name in names if files else ():
        if not any(_owner(path, [name]) for path in files):
            owners = {path.stem.partition(".")[0] for path in files}
            raise BadArgument("isotope costs", f"no job of {name!r}", suggest(name, owners))
    measured = jobs(names, root)
    if measured.is_empty():
        raise MissingFile(root / BENCHMARKS, "no job was measured here", "run `snakemake`")
    lines = [*by(measured, "phase").rows(), ("all", *_sums(measured))]
    scored = reranked(names, root)
    apart = "\n" + plain(scored.rows(), scored.columns) if scored.height else ""
    return plain(lines, ["phase", "jobs", "seconds", "cpu_seconds", "memory_mib"]) + apart


def _sums(measured: pl.DataFrame) -> Iterable[object]:
    sums = measured.select(pl.col("seconds", "cpu_seconds").sum().round(1)).row(0)
    return measured.height, *sums, measured.select(pl.col("memory_mib").max().round(0)).item()


def _owner(path: Path, names: Sequence[str]) -> bool:
    return any(path.stem == name or path.stem.startswith(f"{name}.") for name in names)


def _job(path: Path) -> tuple[object, ...]:
    rule = path.parent.name
    measured = pl.read_csv(path, separator="\t", infer_schema=False, glob=False).row(0, named=True)
    return plugins.phase_of(rule), rule, *(_number(measured.get(c)) for c in _NUMBERS)


def _number(text: str | None) -> float | None:
    try:
        return float(text or "")
    except ValueError:
        return None


def build(scope: Scope, ledgers: Sequence[Path], out: Path) -> None:
    """Write time and memory by phase and by rule, and when the pictures were fetched.

    Raises:
        DiskFull: no room for it.
    """
    names = [scope.collection, *scope.sources]
    measured = jobs(names, scope.root)
    write_page(
        "costs",
        out,
        scope=scope,
        up="",
        tables={"phase": _table(measured, "phase"), "rule": _table(measured, "phase", "rule")},
        reranked=_scored(reranked([scope.collection], scope.root)),
        fetched=_fetched(ledgers),
    )


def _table(measured: pl.DataFrame, *keys: str) -> Table:
    """Return what `by` does, laid out; below the seconds a line of their share of the longest."""
    sums = by(measured, *keys)
    named = sums.with_columns(pl.col(keys[-1]).str.strip_prefix(pl.col("phase") + "_"))
    laid, most = lay_out(named), max(sums["seconds"], default=0) or 1
    column = named.columns.index("seconds")
    for row, seconds in zip(laid.rows, sums["seconds"], strict=True):
        row[column] = replace(row[column], length=seconds / most)
    return laid


def _scored(rows: pl.DataFrame) -> Table:
    return lay_out(rows.drop("collection"))


def _fetched(ledgers: Sequence[Path]) -> list[str]:
    """Return the first and the last day of the crawl, one if they are the same."""
    if not ledgers:
        return []
    days = pl.scan_parquet(list(ledgers), glob=False).select(
        pl.col("fetched_at").dt.date().drop_nulls()
    )
    ends = days.select(first=pl.all().min(), last=pl.all().max()).collect().row(0)
    return sorted({f"{day:%Y-%m-%d}" for day in ends if day})
