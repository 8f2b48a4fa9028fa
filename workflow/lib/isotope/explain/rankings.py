"""The ranking table of any collection: where the right answers stand, without explaining failures.

Source: Lymperaiou et al., COLING 2022 (arXiv 2209.03723), Tables 6 to 10.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pyarrow as pa

from isotope import tables
from isotope.core import sql, store
from isotope.core.grid import Cell
from isotope.tabulate.table import rows, tabulate

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
                out.write_table(_ranks(path, qrels))
        tabulate(_SQL / "ranking.sql", {"ranks": ranks}, {}, stem)


def intact_ranks(answers: pl.DataFrame, labels: Mapping[str, str]) -> pa.Table:
    """Return the rows of RANKS of queries as they are: the rank is that before a perturbation."""
    columns = {name: pl.lit(value) for name, value in labels.items()}
    columns["perturbation"] = pl.lit(tables.INTACT)
    table = answers.select("query_id", "rank", rank_before="rank", **columns)
    return table.select(tables.RANKS.names).to_arrow().cast(tables.RANKS)


def _ranks(run: Path, qrels: Path) -> pa.Table:
    cell = Cell.of(run)
    side = {"task": cell.task, "split": cell.split}
    answers = rows(_SQL / "explain_answers.sql", {"run": run, "qrels": qrels}, side)
    return intact_ranks(answers, {**vars(cell), "system": run.stem})
