"""Claim: the embedded encyclopedia writes 10^6 WIT rows, and isotope parses them, in 2 GB.

python benchmarks/toy.py [ROWS]     (default 1000000)
"""

import sys
import tempfile
from pathlib import Path

import polars as pl
from common import Timing, alone, machine, timed, write

from isotope.parse.wit import parse_wit
from isotope_toy import snapshot

_ROWS_PER_PAGE = 2.15
_MOST_GIB = 2.0


def make(folder: Path, rows: int) -> Timing:
    """Write the encyclopedia without its pictures."""
    seconds, _ = timed(
        lambda: snapshot.generate(folder, pages=int(rows / _ROWS_PER_PAGE), draw=False)
    )
    return {"s": seconds}


def parse(folder: Path) -> Timing:
    """Parse its WIT shards."""
    files = sorted((folder / "wit").glob("*.tsv.gz"))
    out, rejected = folder / "associations.parquet", folder / "rejected.parquet"
    seconds, _ = timed(lambda: parse_wit(files, out=out, rejected=rejected))
    return {"s": seconds}


def main(rows: int = 1_000_000) -> None:
    """Generate, parse and report."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        found = {"generate": alone(make, folder, rows), "parse": alone(parse, folder)}
        count = pl.scan_parquet(folder / "associations.parquet").select(pl.len()).collect().item()
        zipped = sum(p.stat().st_size for p in (folder / "wit").iterdir())
    assert max(step["peak_gib"] for step in found.values()) < _MOST_GIB
    lines = [
        f"| {step} | {t['s']:.1f} | {t['cpu_s']:.1f} | {count / t['s']:,.0f} |"
        f" {t['peak_gib']:.2f} |"
        for step, t in found.items()
    ]
    write(
        "toy",
        "# The embedded encyclopedia at scale\n\n"
        f"{count:,} WIT rows ({zipped / 1e6:,.0f} MB of gzip) and their dump, no pictures.\n\n"
        "| step | wall, s | CPU, s | rows/s | peak, GiB |\n|---|---:|---:|---:|---:|\n"
        + "\n".join(lines)
        + "\n\n"
        + machine(["pyarrow"]),
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
