"""Claim: WIT is parsed 5 times as fast as by the csv module or pandas, in 2 GiB at 10^6 rows.

    python benchmarks/parse_wit.py [ROWS] [ROUNDS]     (default 1000000 3)

One gzip shard of real rows (../shared/snapshots, quoted newlines among them), numbered apart and
repeated, becomes the table of associations through isotope's `parse_wit`, through Python's csv
module and through pandas: all columns, each row with its split, file and number. The three tables
are compared. No row here is broken; what each tool does with one that is, the result says.
Written to benchmarks/results/parse_wit.md.
"""

import csv
import gzip
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
from common import Claim, Timing, machine, rounds, timed, verdicts, write

from isotope.parse.tables import ASSOCIATIONS, WIT_COLUMNS
from isotope.parse.wit import parse_wit

SNAPSHOT = Path(__file__).parents[2] / "shared/snapshots/raycharles/wit"
AT_LEAST, MOST_GIB, ROWS_AT_A_TIME = 5.0, 2.0, 65_536
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


def compare(folder: Path) -> None:
    """Hold that the three tables are one, piece by piece."""
    ours = pq.ParquetFile(folder / "isotope.parquet")
    for peer in ("csv", "pandas"):
        theirs = pq.ParquetFile(folder / f"{peer}.parquet")
        assert ours.metadata.num_rows == theirs.metadata.num_rows
        batches = (f.iter_batches(ROWS_AT_A_TIME, columns=WIT.names) for f in (ours, theirs))
        for mine, other in zip(*batches, strict=True):
            one, two = (pl.DataFrame(pa.Table.from_batches([b])) for b in (mine, other))
            text = [pl.col(pl.String).fill_null("")]
            assert one.with_columns(text).equals(two.select(one.columns).with_columns(text)), peer


def main(rows: int = 1_000_000, times: int = 3) -> None:
    """Parse with the three, compare, and report."""
    tools = {"isotope": by_isotope, "csv": by_csv, "pandas": by_pandas}
    with tempfile.TemporaryDirectory() as name:
        shard = Path(name) / "wit_v1.train.all-00000-of-00001.tsv.gz"
        make(shard, rows)
        size = shard.stat().st_size
        found = rounds(tools, shard, times=times)
        compare(shard.parent)
    own, what = found["isotope"], f"{rows:,} rows"
    claims = [
        Claim("parse", what, peer, own["s"], found[peer]["s"], AT_LEAST, own["peak_gib"], MOST_GIB)
        for peer in ("csv", "pandas")
    ]
    lines = [
        f"| {tool} | {t['s']:.2f} | {t['cpu_s']:.2f} | {rows / t['s']:,.0f} | {t['peak_gib']:.2f} |"
        for tool, t in found.items()
    ]
    write(
        "parse_wit",
        "# Parsing WIT, beside the csv module and pandas\n\n"
        f"{what} of {len(WIT)} columns, {size / 1e6:.0f} MB of gzip; medians of {times} rounds,"
        " from gzip to typed Parquet (zstd). The three tables are the same, cell by cell.\n\n"
        f"{verdicts(claims)}\n| tool | wall, s | CPU, s | rows/s | peak, GiB |\n"
        "|---|---:|---:|---:|---:|\n" + "\n".join(lines) + "\n\n"
        f"Memory within {MOST_GIB:g} GiB is part of the claim. All three number the rows and write"
        f" {ROWS_AT_A_TIME:,} at a time. csv puts rows of too few or many fields aside and stops at"
        " a bad number; pandas fills up short rows and stops at long ones and bad numbers; isotope"
        " puts each aside with its reason. No row here is broken.\n\n"
        + machine(["pyarrow", "pandas"]),
        claims,
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
