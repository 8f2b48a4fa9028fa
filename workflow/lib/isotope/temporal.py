"""Systems built on an earlier snapshot, judged on a later one, beside those that were built on it.

A system that grows old answers the later queries with the documents, and the weights, that it has.
What it loses is the relative drop (later - earlier) / later of a measure's mean over the same
queries: with the system built anew as the baseline, it is what not building anew costs. LongEval
(Galuščáková et al., SIGIR 2023) holds a system against its own earlier test set instead, which is
`home` here; from there the drop is also that of the queries' difficulty.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from isotope import sql, store, tables
from isotope.bootstrap import Floats, percentiles, resampled_means
from isotope.errors import EmptyTable
from isotope.figures_temporal import draw_drops
from isotope.progress import Progress
from isotope.runs import KEY, batches, empty
from isotope.score import TASKS, cell_of, score_run
from isotope.strata import Resampling
from isotope.tabulate import rows, tabulate

# ASSUME a page keeps its split, so that no system has learned from what it is asked later.
_SQL = sql.SQL / "tabulate"
_CELL = ["setting", "split", "task"]
_COLUMN = ["measure", "system"]


def tabulate_temporal(  # noqa: PLR0913
    runs: Sequence[Path],
    reads: Mapping[str, Path],
    params: Mapping[str, Any],
    *,
    how: Resampling,
    drops: Path,
    figure: Path,
) -> None:
    """Write tables.TEMPORAL to `drops`, a table of one pool beside it, and draw that as `figure`.

    `runs` are of later queries on earlier documents. `reads` are before_qrels, after_qrels, changes
    and identities of the two snapshots, and before_scores and after_scores, what the systems built
    on each reach there. `params` are measures, and the setting and split that are shown.

    Raises:
        EmptyTable: a system without scores on the later snapshot.
        As `score.score_run` and `runs.batches`.
    """
    old = aged_scores(runs, reads["after_qrels"], reads["identities"], params["measures"])
    both = beside(old, reads["after_scores"])
    changed = {k: reads[k] for k in ("before_qrels", "after_qrels", "changes", "identities")}
    strata = rows(_SQL / "temporal_queries.sql", changed, {})
    home = at_home(reads["before_scores"], reads["identities"], strata)
    found = relative_drops(both, strata, how).join(
        home, on=[*_CELL, *_COLUMN, "stratum"], how="left", maintain_order="left"
    )
    found = found.select(tables.TEMPORAL.names)
    store.write(found.to_arrow(), drops, tables.TEMPORAL)
    query, relations = _SQL / "temporal.sql", {"temporal": drops}
    tabulate(query, relations, params, drops.with_suffix(""))
    draw_drops(rows(query, relations, params), params["measures"][0], figure)


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
    key = [*_CELL, *_COLUMN, "query_id"]
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
    grouped = pl.concat(parts).group_by(*_CELL, *_COLUMN, "stratum", maintain_order=True)
    return grouped.agg(home=pl.col("value").mean())


def relative_drops(both: pl.DataFrame, strata: pl.DataFrame, how: Resampling) -> pl.DataFrame:
    """Return tables.TEMPORAL without `home`, of `beside`'s scores and strata: task .. stratum.

    A drop is null where the later system finds nothing, an interval also where it finds nothing in
    one of the draws.
    """
    labelled = both.join(strata, on=["task", "query_id"])
    groups = labelled.partition_by([*_CELL, "stratum"], as_dict=True)
    columns = [name for name in tables.TEMPORAL.names if name != "home"]
    parts = [pl.DataFrame(schema=pl.Schema(tables.TEMPORAL)).select(columns)]
    for key, group in sorted(groups.items()):
        names = zip([*_CELL, "stratum"], key, strict=True)
        found = _of_group(group, how).with_columns(pl.lit(v).alias(k) for k, v in names)
        parts.append(found.select(columns))
    return pl.concat(parts)


def _of_group(group: pl.DataFrame, how: Resampling) -> pl.DataFrame:
    columns = group.select(_COLUMN).unique().sort(_COLUMN)
    earlier, later = _wide(group, "earlier"), _wide(group, "later")
    # Both sides see the same draws of the queries.
    values, generator = np.hstack([earlier, later]), np.random.default_rng(how.seed)
    means = resampled_means(values, how.samples, generator)
    ends = percentiles(_drop(*np.hsplit(means, 2)), how.level)
    told = {"earlier": earlier.mean(axis=0), "later": later.mean(axis=0)}
    told |= {
        "relative_drop": _drop(told["earlier"], told["later"]),
        "low": ends[0],
        "high": ends[1],
    }
    series = [pl.Series(name, column).fill_nan(None) for name, column in told.items()]
    return columns.with_columns(pl.lit(len(values), pl.Int64).alias("queries"), *series)


def _wide(group: pl.DataFrame, side: str) -> Floats:
    wide = group.sort(*_COLUMN, "query_id").pivot(
        _COLUMN, index="query_id", values=side, maintain_order=True
    )
    return np.ascontiguousarray(wide.drop("query_id").to_numpy())


def _drop(earlier: Floats, later: Floats) -> Floats:
    found = later > 0
    return np.where(found, (later - earlier) / np.where(found, later, 1.0), np.nan)
