"""Would graded judgements serve a system that was not among those that were pooled?

Leave-one-run-out: a system is scored as if it had not been pooled, so that the documents that it
alone found count as unjudged. Source: Zobel, SIGIR 1998; Buckley et al., Information Retrieval 10,
2007.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import polars as pl

from isotope import tables
from isotope.core.runs import KEY, batches, empty
from isotope.score.score import score_run

_SCORED = ["query_id", "measure", "value"]


class Judged(NamedTuple):
    """One task: the judged hits of each system, graded qrels (tables.GRADED), and the pool."""

    runs: Mapping[str, pl.DataFrame]
    graded: pl.DataFrame
    pool: pl.DataFrame


def judged_part(run: Path, graded: pl.DataFrame) -> pl.DataFrame:
    """Keep the hits of a run that are judged, with the ranks that they have in it."""
    pairs = graded.select(KEY)
    kept = [p.join(pairs, on=KEY, how="semi", maintain_order="left") for p in batches(run)]
    return pl.concat([empty(), *kept])


def system_scores(
    runs: Mapping[str, pl.DataFrame], qrels: pl.DataFrame, measures: Sequence[str]
) -> pl.DataFrame:
    """Return system, query_id, measure and value on qrels (query_id, doc_id, relevance)."""
    parts = [
        score_run(run, qrels, measures).select(pl.lit(name).alias("system"), *_SCORED)
        for name, run in sorted(runs.items())
    ]
    return pl.concat(parts)


def mean_scores(scores: pl.DataFrame, queries: int) -> pl.DataFrame:
    """Return measure, system, value: the mean over `queries`, of which one without a row has 0."""
    grouped = scores.sort("query_id").group_by("measure", "system")
    return grouped.agg(pl.col("value").sum() / queries).sort("measure", "system")


def leave_one_out(
    task: str, judged: Judged, means: pl.DataFrame, measures: Sequence[str]
) -> pl.DataFrame:
    """Return tables.REUSE: value and place of each system, and both had it not been pooled.

    `alone` counts its judged documents that no other system pooled. The place, from 1, is among
    all systems on the same judgements; equal values share the better place.
    """
    queries = judged.graded["query_id"].n_unique()
    parts: list[pl.DataFrame] = []
    for name in sorted(judged.runs):
        reduced, alone = without(judged, name)
        scores = system_scores(judged.runs, reduced, measures)
        left = placed(mean_scores(scores, queries)).filter(system=name)
        both = placed(means).filter(system=name).join(left, on="measure", suffix="_without")
        labels = {"task": pl.lit(task), "alone": pl.lit(alone), "without": "value_without"}
        parts.append(both.with_columns(**labels).select(tables.REUSE.names))
    return pl.concat(parts).sort("measure", "place", "system")


def without(judged: Judged, system: str) -> tuple[pl.DataFrame, int]:
    """Return the graded qrels had `system` not been pooled, and how many judged pairs change.

    A pair of the sparse qrels falls back to what they say, any other becomes unjudged.
    """
    own = judged.pool.filter(pl.col("systems").list.len() == 1)
    mine = own.filter(pl.col("systems").list.first() == system).select(KEY)
    lost = judged.graded.filter(pl.col("grades") > 0).join(mine, on=KEY, how="semi")
    kept = judged.graded.join(lost, on=KEY, how="anti")
    back = lost.filter(pl.col("sparse").is_not_null()).with_columns(relevance="sparse")
    return pl.concat([kept, back]), lost.height


def placed(means: pl.DataFrame) -> pl.DataFrame:
    """Add the place of each system by its value, for each measure."""
    place = pl.col("value").rank("min", descending=True).over("measure").cast(pl.Int32)
    return means.with_columns(place=place)
