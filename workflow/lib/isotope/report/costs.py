"""What a run has cost: time and memory of its jobs, from the benchmarks that Snakemake keeps."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import polars as pl

from isotope.core.errors import BadArgument, MissingFile
from isotope.params.schema import suggest
from isotope.report.content import Scope
from isotope.report.site import write_page
from isotope.tabulate.table import Table, lay_out, plain

BENCHMARKS = Path("logs/benchmarks")
_NUMBERS = {"s": "seconds", "cpu_time": "cpu_seconds", "max_rss": "memory_mib"}
_ROAD = "acquire parse crawl project collect train encode index search score tabulate release"
_PHASES = _ROAD.split()


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
    place = pl.col("phase").replace_strict(_PHASES, range(len(_PHASES)), default=len(_PHASES))
    return (
        measured.group_by(*keys)
        .agg(
            pl.len().alias("jobs"),
            pl.col("seconds", "cpu_seconds").sum().round(1),
            pl.col("memory_mib").max().round(0),
        )
        .sort(place, *keys)
    )


def text(names: Sequence[str] = (), root: Path = Path()) -> str:
    """Return the table that `isotope costs` prints: a line a phase, and their sum.

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
    lines = [*by(measured, "phase").rows(), ("all", *_whole(measured))]
    return plain(lines, ["phase", "jobs", "seconds", "cpu_seconds", "memory_mib"])


def _whole(measured: pl.DataFrame) -> Iterable[object]:
    sums = measured.select(pl.col("seconds", "cpu_seconds").sum().round(1)).row(0)
    return measured.height, *sums, measured.select(pl.col("memory_mib").max().round(0)).item()


def _owner(path: Path, names: Sequence[str]) -> bool:
    return any(path.stem == name or path.stem.startswith(f"{name}.") for name in names)


def _job(path: Path) -> tuple[object, ...]:
    rule = path.parent.name
    measured = pl.read_csv(path, separator="\t", infer_schema=False).row(0, named=True)
    return rule.partition("_")[0], rule, *(_number(measured.get(c)) for c in _NUMBERS)


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
        fetched=_fetched(ledgers),
    )


def _table(measured: pl.DataFrame, *keys: str) -> Table:
    """Return what `by` does, laid out; below the seconds a line of their share of the longest."""
    sums = by(measured, *keys)
    named = sums.with_columns(pl.col(keys[-1]).str.strip_prefix(pl.col("phase") + "_"))
    laid, most = lay_out(named), max(sums["seconds"], default=0) or 1
    place = named.columns.index("seconds")
    for row, seconds in zip(laid.rows, sums["seconds"], strict=True):
        row[place] = replace(row[place], length=seconds / most)
    return laid


def _fetched(ledgers: Sequence[Path]) -> list[str]:
    """Return the first and the last day of the crawl, one if they are the same."""
    if not ledgers:
        return []
    days = pl.scan_parquet(list(ledgers)).select(pl.col("fetched_at").dt.date().drop_nulls())
    ends = days.select(first=pl.all().min(), last=pl.all().max()).collect().row(0)
    return sorted({f"{day:%Y-%m-%d}" for day in ends if day})
