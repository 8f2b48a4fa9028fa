"""The first hits of several runs in one table, for comparing what systems find."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from isotope import tables
from isotope.core import store
from isotope.core.progress import Progress
from isotope.core.runs import batches
from isotope.score.score import cell_of


def tops_table(runs: Sequence[Path], *, depth: int, out: Path) -> None:
    """Write tables.TOPS: the first `depth` hits of every query of every run.

    Runs lie at `.../<setting>/<split>/<task>/<system>.parquet` and are read in pieces.

    Raises:
        As `runs.batches` and `score.cell_of`.
    """
    progress = Progress("runs", len(runs))
    with store.writer(out, tables.TOPS) as writer:
        for cell, path in sorted((cell_of(path), path) for path in runs):
            named = {"task": pl.lit(cell.task), "system": pl.lit(cell.system)}
            for piece in batches(path):
                first = piece.filter(pl.col("rank") <= depth).with_columns(**named)
                rows = first.select(tables.TOPS.names).to_arrow().cast(tables.TOPS)
                writer.write_table(rows, row_group_size=store.ROWS_PER_GROUP)
            progress.add()
    progress.finish()
