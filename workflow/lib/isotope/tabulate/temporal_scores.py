"""What earlier systems reach on a later snapshot, what later ones do, and what was at home."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from isotope.core.errors import EmptyTable
from isotope.core.measures import parse_all
from isotope.score.score import Cell, score_cells

CELL = ["setting", "split", "task"]
COLUMN = ["measure", "system"]


def aged_scores(
    runs: Sequence[Path], qrels: Path, identities: Path, measures: Sequence[str]
) -> pl.DataFrame:
    """Score runs of later queries on earlier documents: tables.SCORES without the collection.

    A text is judged under its later id (tables.IDENTITIES); a document that is gone keeps its rank
    and is not relevant.

    Raises:
        As `score.score_cells`.
    """
    names = pl.read_parquet(identities).select(doc_id="before_id", later="after_id")

    def read(cell: Cell, piece: pl.DataFrame) -> pl.DataFrame:
        if cell.task != "m2t":
            return piece
        known = piece.join(names, on="doc_id", maintain_order="left")
        return known.drop("doc_id").rename({"later": "doc_id"})

    return pl.concat(
        values.with_columns(pl.lit(v).alias(k) for k, v in cell._asdict().items())
        for cell, values in score_cells(runs, qrels, parse_all(measures), read)
    )


def beside(old: pl.DataFrame, scores: Path) -> pl.DataFrame:
    """Put the scores of the same systems on the later snapshot beside those of `aged_scores`.

    Raises:
        EmptyTable: a system without scores there.
    """
    key = [*CELL, *COLUMN, "query_id"]
    later = pl.scan_parquet(scores).select(*key, later="value").collect()
    both = old.select(*key, earlier="value").join(later, on=key)
    lost = sorted(set(old["system"]) - set(both["system"]))
    if lost:
        raise EmptyTable(scores, f"no scores of {lost[0]}", "add it to search.systems")
    return both


def at_home(scores: Path, identities: Path, strata: pl.DataFrame) -> pl.DataFrame:
    """Return what the earlier systems reach on their own snapshot: its mean, `home`, by stratum.

    Over all queries there; within a stratum over those that the later snapshot asks as well.
    """
    names = pl.read_parquet(identities).select(query_id="before_id", later="after_id")
    own = pl.read_parquet(scores).join(names, on="query_id", how="left", maintain_order="left")
    is_text = pl.col("task") == "t2m"
    own = own.with_columns(query_id=pl.when(is_text).then("later").otherwise("query_id"))
    kept = strata.filter(~pl.col("stratum").is_in(["all", "new"]))
    within = own.join(kept, on=["task", "query_id"], maintain_order="left")
    parts = [own.with_columns(stratum=pl.lit("all")), within.select(*own.columns, "stratum")]
    grouped = pl.concat(parts).group_by(*CELL, *COLUMN, "stratum", maintain_order=True)
    return grouped.agg(home=pl.col("value").mean())
