"""What earlier systems reach on a later snapshot, what later ones do, and what was at home."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from isotope.errors import EmptyTable
from isotope.progress import Progress
from isotope.runs import KEY, batches, empty
from isotope.score import TASKS, cell_of, score_run

CELL = ["setting", "split", "task"]
COLUMN = ["measure", "system"]


def aged_scores(
    runs: Sequence[Path], qrels: Path, identities: Path, measures: Sequence[str]
) -> pl.DataFrame:
    """Score runs of later queries on earlier documents: tables.SCORES without the collection.

    A text is judged under its later id (tables.IDENTITIES); a document that is gone keeps its rank
    and is not relevant.

    Raises:
        As `score.score_run` and `runs.batches`.
    """
    judged = pl.read_parquet(qrels)
    names = pl.read_parquet(identities).select(doc_id="before_id", later="after_id")
    progress, scored = Progress("runs", total=len(runs)), list[pl.DataFrame]()
    for cell, path in sorted((cell_of(path), path) for path in runs):
        query, doc = TASKS[cell.task]
        own = judged.filter(pl.col("split") == cell.split)
        own = own.select("relevance", query_id=query, doc_id=doc)
        known = names if cell.task == "m2t" else None
        pieces = [_judged(piece, own, known) for piece in batches(path)]
        values = score_run(pl.concat([empty(), *pieces]), own, measures)
        scored.append(values.with_columns(pl.lit(v).alias(k) for k, v in cell._asdict().items()))
        progress.add()
    progress.finish()
    return pl.concat(scored)


def _judged(piece: pl.DataFrame, own: pl.DataFrame, names: pl.DataFrame | None) -> pl.DataFrame:
    """Keep the judged hits of a piece of a run, under their later ids, at their ranks."""
    if names is not None:
        known = piece.join(names, on="doc_id").drop("doc_id").rename({"later": "doc_id"})
        piece = known.select(empty().columns)
    return piece.join(own.select(KEY), on=KEY, how="semi")


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
