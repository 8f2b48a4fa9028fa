"""Which questions each system has answered: one may leave some out."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from isotope.core import store
from isotope.core.grid import Cell, run_order
from isotope.core.progress import Progress
from isotope.core.runs import batches
from isotope.tabulate.tables import ANSWERED_BY, TOPS


def tops_table(runs: Sequence[Path], *, depth: int, out: Path) -> None:
    """Write tables.TOPS: the first `depth` hits of every query of every run.

    Runs lie at `.../<setting>/<split>/<task>/<system>.parquet` and are read in pieces.

    Raises:
        As `runs.batches` and `Cell.of`.
    """
    progress = Progress("runs", len(runs))
    with store.writer(out, TOPS) as writer:
        for path in sorted(runs, key=run_order):
            named = {"task": pl.lit(Cell.of(path).task), "system": pl.lit(path.stem)}
            for piece in batches(path):
                first = piece.filter(pl.col("rank") <= depth).with_columns(**named)
                rows = first.select(TOPS.names).to_arrow().cast(TOPS)
                writer.write_table(rows, row_group_size=store.ROWS_PER_GROUP)
            progress.add()
    progress.finish()


def write_answered(runs: Sequence[Path], answered: Sequence[Path], out: Path) -> None:
    """Write tables.ANSWERED_BY: for each run, in their order, the queries that have an answer.

    A query is answered when it has a hit, or when a file of answers has a line on it, though the
    entity is not found: `answered` are tables.ANSWERED, <system>.answered.parquet.
    """
    files = {path.name.removesuffix(".answered.parquet"): path for path in answered}
    with store.writer(out, ANSWERED_BY) as writer:
        for path in runs:
            cell, system = Cell.of(path), path.stem
            parts = [pl.scan_parquet(p, glob=False) for p in (path, files.get(system)) if p]
            ids = pl.concat([part.select("query_id") for part in parts]).unique().sort("query_id")
            rows = ids.select(
                pl.lit(cell.setting).alias("setting"),
                pl.lit(cell.split).alias("split"),
                pl.lit(system).alias("system"),
                "query_id",
            ).collect()
            writer.write_table(rows.to_arrow().cast(ANSWERED_BY))
