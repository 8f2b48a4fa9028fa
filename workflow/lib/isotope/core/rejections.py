"""What was set aside, in a sentence: how many rows for which reason, and where the first stands."""

from pathlib import Path

import polars as pl

_REASONS = 3


def summary(rejected: Path) -> str:
    """Return counts by reason, the largest first, and the place of the first row.

    `rejected` has the columns of `schemas.parse.REJECTED`.
    """
    rows = pl.read_parquet(rejected, columns=["file", "row", "reason", "detail"], glob=False)
    if rows.is_empty():
        return "nothing was set aside"
    counts = rows["reason"].value_counts().sort(["count", "reason"], descending=[True, False])
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in counts.head(_REASONS).rows())
    file, row, _, detail = rows.row(0)
    return f"{reasons}; the first is {file}, row {row} ({detail})"
