"""The page about costs, which tells of one run and so differs from run to run."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from isotope.report import costs
from isotope.report.examples import Cell
from isotope.report.site import write_page


def build(cell: Cell, ledgers: Sequence[Path], out: Path) -> None:
    """Write time and memory by phase and by rule, and when the pictures were fetched.

    Raises:
        DiskFull: no room for it.
    """
    names = [cell.collection, *cell.sources]
    found = costs.jobs(names, cell.root)
    write_page(
        "costs",
        out,
        cell=cell,
        up="",
        phases=costs.by(found, "phase").to_dicts(),
        rules=costs.by(found, "phase", "rule").to_dicts(),
        fetched=_fetched(ledgers),
    )


def _fetched(ledgers: Sequence[Path]) -> list[str]:
    """Return the first and the last day of the crawl, one if they are the same."""
    if not ledgers:
        return []
    days = pl.scan_parquet(list(ledgers)).select(pl.col("fetched_at").dt.date().drop_nulls())
    ends = days.select(first=pl.all().min(), last=pl.all().max()).collect().row(0)
    return sorted({f"{day:%Y-%m-%d}" for day in ends if day})
