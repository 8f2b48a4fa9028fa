"""Claim: WIT is parsed 5 times as fast as by the csv module or pandas, in 2 GiB at 10^6 rows.

And ahead of the readers of DuckDB and polars, whose rows are the same.

    python benchmarks/parse_wit.py [ROWS] [ROUNDS]     (default 1000000 3)

One gzip shard of real rows (../shared/snapshots, quoted newlines among them), numbered apart and
repeated, becomes the table of associations through isotope's `parse_wit`, through Python's csv
module, pandas, DuckDB and polars: all columns, each row with its split, file and number. The tables
are compared. No row here is broken; what each tool does with one that is, the result says.
Written to benchmarks/results/parse_wit.md.
"""

import csv
import gzip
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from common import Claim, Timing, alone, machine, rounds, timed, verdicts, write
from isal import igzip

from isotope.parse.wit import READ_BYTES, Shard, parse_block, parse_wit
from isotope.schemas.acquire import WIT_COLUMNS
from isotope.schemas.parse import ASSOCIATIONS

SNAPSHOT = Path(__file__).parents[2] / "shared/snapshots/raycharles/wit"
AT_LEAST = {"csv": 5.0, "pandas": 5.0, "duckdb": 1.0, "polars": 1.0}
MOST_GIB, ROWS_AT_A_TIME = 2.0, 65_536
NAMES, WIT = WIT_COLUMNS, ASSOCIATIONS
NUMBERS = [f.name for f in WIT if pa.types.is_int32(f.type)]
TRUTHS = [f.name for f in WIT if pa.types.is_boolean(f.type)]


def make(path: Path, rows: int) -> None:
    """Write the shard; every repetition of the real rows has pages of its own."""
    real: list[list[str]] = []
    header: list[str] = []
    for shard in sorted(SNAPSHOT.glob("*.tsv.gz")):
        with gzip.open(shard, "rt", encoding="utf-8", newline="") as file:
            header, *some = csv.reader(file, delimiter="\t")
            real += some
    page, title = header.index("page_url"), header.index("page_title")
    with gzip.open(path, "wt", encoding="utf-8", newline="", compresslevel=1) as file:
        out = csv.writer(file, delimiter="\t", lineterminator="\n")
        out.writerow(header)
        for n in range(rows):
            row = list(real[n % len(real)])
            row[page], row[title] = f"{row[page]}_{n}", f"{row[title]} {n}"
            out.writerow(row)


def by_isotope(shard: Path) -> Timing:
    """Parse into the table of associations."""
    out, rejected = shard.parent / "isotope.parquet", shard.parent / "rejected.parquet"
    seconds, _ = timed(lambda: parse_wit([shard], out=out, rejected=rejected))
    assert pq.ParquetFile(rejected).metadata.num_rows == 0
    return {"s": seconds}


def by_csv(shard: Path) -> Timing:
    """Parse with the csv module, and write typed rows, a row group at a time."""
    seconds, _ = timed(lambda: _by_csv(shard))
    return {"s": seconds}


def _by_csv(shard: Path) -> None:
    csv.field_size_limit(sys.maxsize)
    with (
        gzip.open(shard, "rt", encoding="utf-8", newline="") as file,
        pq.ParquetWriter(shard.parent / "csv.parquet", WIT, compression="zstd") as out,
    ):
        reader = csv.reader(file, delimiter="\t")
        columns = next(reader)
        held: list[list[str]] = []
        numbers: list[int] = []
        broken: list[tuple[int, list[str]]] = []
        for number, row in enumerate(reader, start=1):
            if len(row) != len(columns):
                broken.append((number, row))
                continue
            held.append(row)
            numbers.append(number)
            if len(held) == ROWS_AT_A_TIME:
                out.write_table(_typed(columns, held, numbers, shard))
                held, numbers = [], []
        if held:
            out.write_table(_typed(columns, held, numbers, shard))
        assert not broken


def _typed(columns: list[str], rows: list[list[str]], numbers: list[int], shard: Path) -> pa.Table:
    cells: dict[str, list[Any]] = dict(
        zip(columns, map(list, zip(*rows, strict=True)), strict=True)
    )
    for name in NUMBERS:
        cells[name] = [int(value) if value else None for value in cells[name]]
    for name in TRUTHS:
        cells[name] = [value == "true" if value else None for value in cells[name]]
    cells |= {"split": ["train"] * len(rows), "file": [shard.name] * len(rows), "row": numbers}
    return pa.table({name: cells[name] for name in WIT.names}, schema=WIT)


def by_pandas(shard: Path) -> Timing:
    """Parse with pandas' C reader in pieces, and write them."""
    import pandas as pd  # noqa: PLC0415

    kinds: dict[str, Any] = {name: "Int32" if name in NUMBERS else str for name in NAMES}
    kinds |= dict.fromkeys(TRUTHS, "boolean")

    def work() -> None:
        given: dict[str, Any] = {"sep": "\t", "dtype": kinds, "keep_default_na": False}
        given |= {"na_values": {name: [""] for name in (*NUMBERS, *TRUTHS)}}
        with (
            pd.read_csv(shard, chunksize=ROWS_AT_A_TIME, **given) as pieces,
            pq.ParquetWriter(shard.parent / "pandas.parquet", WIT, compression="zstd") as out,
        ):
            for piece in pieces:
                told = {"split": "train", "file": shard.name, "row": piece.index + 1}
                whole = piece.assign(**told)[WIT.names]
                out.write_table(pa.Table.from_pandas(whole, schema=WIT, preserve_index=False))

    seconds, _ = timed(work)
    return {"s": seconds}


def by_duckdb(shard: Path) -> Timing:
    """Parse and write with DuckDB, in its order of rows, with all threads."""
    import duckdb  # noqa: PLC0415

    kinds = {name: "INTEGER" if name in NUMBERS else "VARCHAR" for name in NAMES}
    kinds |= dict.fromkeys(TRUTHS, "BOOLEAN")
    columns = ", ".join(f"'{name}': '{kinds[name]}'" for name in _header(shard))
    labels = f"'train' AS split, '{shard.name}' AS file"
    cells = ", ".join(name for name in WIT.names if name in NAMES)
    read = f"read_csv('{shard}', columns={{{columns}}}, header=true, auto_detect=false,"
    read += " compression='gzip', delim='\\t', quote='\"', escape='\"')"
    out = f"'{shard.parent / 'duckdb.parquet'}' (FORMAT parquet, COMPRESSION zstd)"
    query = f"COPY (SELECT {cells}, {labels}, row_number() OVER () AS row FROM {read}) TO {out}"
    return {"s": timed(lambda: duckdb.sql(query))[0]}


def by_polars(shard: Path) -> Timing:
    """Parse and write with polars' lazy reader, with all threads."""
    kinds: dict[str, Any] = {name: pl.Int32 if name in NUMBERS else pl.String for name in NAMES}
    kinds |= dict.fromkeys(TRUTHS, pl.Boolean)
    schema = {name: kinds[name] for name in _header(shard)}

    def work() -> None:
        rows = pl.scan_csv(shard, separator="\t", schema=schema, row_index_name="row")
        rows = rows.with_columns(
            pl.col("row").cast(pl.Int64) + 1, split=pl.lit("train"), file=pl.lit(shard.name)
        )
        rows.select(WIT.names).sink_parquet(shard.parent / "polars.parquet", compression="zstd")

    return {"s": timed(work)[0]}


def _header(shard: Path) -> list[str]:
    with gzip.open(shard, "rt", encoding="utf-8", newline="") as file:
        return next(csv.reader(file, delimiter="\t"))


def profile(shard: Path) -> Timing:
    """Return the processor seconds of isotope's stages, and of all of it."""
    began = time.thread_time()
    with igzip.open(shard) as file:
        while file.read(READ_BYTES):
            pass
    unzip, parse, given = time.thread_time() - began, 0.0, Shard(shard)
    for block in given.blocks():
        began = time.thread_time()
        parse_block(block, given)
        parse += time.thread_time() - began
    start, at = time.process_time(), shard.parent
    parse_wit([shard], out=at / "isotope.parquet", rejected=at / "rejected.parquet")
    whole = time.process_time() - start
    return {"unzip": unzip, "parse": parse, "rest": whole - unzip - parse, "whole": whole}


def compare(folder: Path) -> None:
    """Hold that the tables are one, piece by piece."""
    for peer in ("csv", "pandas", "duckdb", "polars"):
        tables = (_pieces(folder / f"{who}.parquet") for who in ("isotope", peer))
        for one, two in zip(*tables, strict=True):
            text = [pl.col(pl.String).fill_null("")]
            assert one.with_columns(text).equals(two.select(one.columns).with_columns(text)), peer


def _pieces(path: Path) -> Iterator[pl.DataFrame]:
    """Yield rows, so many at a time, whatever the row groups."""
    held = pl.DataFrame()
    for batch in pq.ParquetFile(path).iter_batches(ROWS_AT_A_TIME, columns=WIT.names):
        more = pl.DataFrame(pa.Table.from_batches([batch]))
        held = pl.concat([held, more]) if len(held) else more
        while len(held) >= ROWS_AT_A_TIME:
            yield held[:ROWS_AT_A_TIME]
            held = held[ROWS_AT_A_TIME:]
    yield held


BROKEN = """No row here is broken, so all can read them. Of one that is, by trial: csv puts rows of
too few or many fields aside and stops at a bad number; pandas fills up short rows, reads on past an
unclosed quote and takes a number too large for 32 bits, and stops at other bad values and long
rows; polars fills up short rows and stops at the others; DuckDB stops at each kind. isotope puts
each aside with its reason and text."""


def _stages(found: Timing) -> str:
    """Say where isotope's processor seconds go."""
    told = {"unzip": "unzip", "parse": "check and parse", "rest": "cut, gather and write Parquet"}
    cells = ", ".join(f"{name} {found[key]:.2f}" for key, name in told.items())
    return (
        f"Of isotope's {found['whole']:.2f} CPU seconds: {cells}. Beside what a reader of CSV does,"
        " it copies each block to end it by a row of its own, counts tabs, so that no row swallows"
        " another, and gathers columns, so that the bytes of the table do not depend on the blocks"
        " or shards that its rows came in.\n\n"
    )


def main(rows: int = 1_000_000, times: int = 3) -> None:
    """Parse with all, compare, and report."""
    tools = {"isotope": by_isotope, "csv": by_csv, "pandas": by_pandas}
    tools |= {"duckdb": by_duckdb, "polars": by_polars}
    with tempfile.TemporaryDirectory() as name:
        shard = Path(name) / "wit_v1.train.all-00000-of-00001.tsv.gz"
        make(shard, rows)
        size = shard.stat().st_size
        found = rounds(tools, shard, times=times)
        compare(shard.parent)
        stages = alone(profile, shard)
    own, what = found["isotope"], f"{rows:,} rows"
    claims = [
        Claim("parse", what, peer, own["s"], found[peer]["s"], least, own["peak_gib"], MOST_GIB)
        for peer, least in AT_LEAST.items()
    ]
    lines = [
        f"| {tool} | {t['s']:.2f} | {t['cpu_s']:.2f} | {rows / t['s']:,.0f} | {t['peak_gib']:.2f} |"
        for tool, t in found.items()
    ]
    write(
        "parse_wit",
        "# Parsing WIT, beside the csv module, pandas, DuckDB and polars\n\n"
        f"{what} of {len(WIT)} columns, {size / 1e6:.0f} MB of gzip; medians of {times} rounds,"
        " from gzip to typed Parquet (zstd). The tables are the same, cell by cell.\n\n"
        f"{verdicts(claims)}\n| tool | wall, s | CPU, s | rows/s | peak, GiB |\n"
        "|---|---:|---:|---:|---:|\n" + "\n".join(lines) + "\n\n"
        f"Memory within {MOST_GIB:g} GiB is part of the claim. All number the rows. isotope, csv"
        f" and pandas write {ROWS_AT_A_TIME:,} at a time; DuckDB and polars use all threads and row"
        f" groups of their own. {BROKEN}\n\n{_stages(stages)}"
        + machine(["pyarrow", "pandas", "duckdb", "polars"]),
        claims,
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
