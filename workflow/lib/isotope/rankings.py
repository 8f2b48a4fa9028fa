"""The ranking table of any collection: where the right answers stand, without explaining failures.

Source: Lymperaiou et al., COLING 2022 (arXiv 2209.03723), Tables 6 to 10.
"""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl

from isotope import sql, store, tables
from isotope.cells import Cell
from isotope.tabulate import rows, tabulate

_SQL = sql.SQL / "tabulate"


def tabulate_ranking(runs: Sequence[Path], qrels: Path, stem: Path) -> None:
    """Write `stem`.{csv,md,tex}: Success@1/5/10, MRR@5/10/all, median rank and fails by system.

    Raises:
        IsotopeError: a run or qrels that can't be read.
    """
    with TemporaryDirectory(dir=stem.parent, prefix=f".{stem.name}-") as folder:
        ranks = Path(folder) / "ranks.parquet"
        with store.writer(ranks, tables.RANKS) as out:
            for path in runs:
                out.write_table(_ranks(path, qrels).to_arrow().cast(tables.RANKS))
        tabulate(_SQL / "ranking.sql", {"ranks": ranks}, {}, stem)


def _ranks(run: Path, qrels: Path) -> pl.DataFrame:
    cell, rank = Cell.of(run), pl.col("rank")
    asked = {"task": cell.task, "split": cell.split}
    answers = rows(_SQL / "explain_answers.sql", {"run": run, "qrels": qrels}, asked)
    labels = {name: pl.lit(value) for name, value in {**vars(cell), "system": run.stem}.items()}
    table = answers.select(
        "query_id", rank, rank_before=rank, perturbation=pl.lit("none"), **labels
    )
    return table.select(tables.RANKS.names)
