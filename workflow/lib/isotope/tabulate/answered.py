"""Which questions each system has answered: one may leave some out."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from isotope import tables
from isotope.core import store
from isotope.core.grid import Cell


def write_answered(runs: Sequence[Path], answered: Mapping[str, Path], out: Path) -> None:
    """Write tables.ANSWERED_BY: for each run, in their order, the queries that have an answer.

    A query is answered when it has a hit, or when a file of answers has a line on it, though the
    entity is not found: `answered` has tables.ANSWERED of such systems, by name.
    """
    with store.writer(out, tables.ANSWERED_BY) as writer:
        for path in runs:
            cell, system = Cell.of(path), path.stem
            parts = [pl.scan_parquet(p, glob=False) for p in (path, answered.get(system)) if p]
            ids = pl.concat([part.select("query_id") for part in parts]).unique().sort("query_id")
            rows = ids.select(
                pl.lit(cell.setting).alias("setting"),
                pl.lit(cell.split).alias("split"),
                pl.lit(system).alias("system"),
                "query_id",
            ).collect()
            writer.write_table(rows.to_arrow().cast(tables.ANSWERED_BY))
