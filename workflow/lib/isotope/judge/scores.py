"""Systems on graded judgements: scores, agreement with sparse ones, pool reusability, kappa."""

from collections.abc import Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import ArrayLike
from scipy.stats import kendalltau
from sklearn.metrics import cohen_kappa_score

from isotope.core import store
from isotope.core.grid import Cell
from isotope.core.measures import score_run
from isotope.core.progress import Progress
from isotope.core.runs import KEY, batches, empty
from isotope.judge.sheets import graded_qrels, read_sheets
from isotope.judge.tables import AGREEMENT, GRADED, REUSABILITY, TAU
from isotope.score.tables import SCORES

_LEAST_SYSTEMS = 2
_SCORED = ["query_id", "measure", "value"]


class Judged(NamedTuple):
    """One task: the judged hits of each system, graded qrels (tables.GRADED), and the pool."""

    runs: Mapping[str, pl.DataFrame]
    graded: pl.DataFrame
    pool: pl.DataFrame


def judged_part(run: Path, graded: pl.DataFrame) -> pl.DataFrame:
    """Keep the hits of a run that are judged, with the ranks that they have in it."""
    pairs = graded.select(KEY)
    hits = [p.join(pairs, on=KEY, how="semi", maintain_order="left") for p in batches(run)]
    return pl.concat([empty(), *hits])


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
    """Return tables.REUSABILITY: value and place of each system, and both had it not been pooled.

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
        parts.append(both.with_columns(**labels).select(REUSABILITY.names))
    return pl.concat(parts).sort("measure", "place", "system")


def without(judged: Judged, system: str) -> tuple[pl.DataFrame, int]:
    """Return the graded qrels had `system` not been pooled, and how many judged pairs change.

    A pair of the sparse qrels falls back to what they say, any other becomes unjudged.
    """
    own = judged.pool.filter(pl.col("systems").list.len() == 1)
    mine = own.filter(pl.col("systems").list.first() == system).select(KEY)
    lost = judged.graded.filter(pl.col("grades") > 0).join(mine, on=KEY, how="semi")
    rest = judged.graded.join(lost, on=KEY, how="anti")
    back = lost.filter(pl.col("sparse").is_not_null()).with_columns(relevance="sparse")
    return pl.concat([rest, back]), lost.height


def placed(means: pl.DataFrame) -> pl.DataFrame:
    """Add the place of each system by its value, for each measure."""
    place = pl.col("value").rank("min", descending=True).over("measure").cast(pl.Int32)
    return means.with_columns(place=place)


def kendall_tau(one: ArrayLike, other: ArrayLike) -> float:
    """Return tau-b of two lists of values, NaN if either has no two different ones.

    Source: Kendall, Biometrika 33, 1945, which corrects for ties.
    """
    if np.size(one) < _LEAST_SYSTEMS:
        return float("nan")
    test: Any = kendalltau(one, other)
    return float(test.statistic)


def cohen_kappa(pairs: pl.DataFrame) -> float | None:
    """Return kappa of the columns `grade` and `grade_other`, null where chance explains it all.

    Source: Cohen, Educational and Psychological Measurement 20(1), 1960.
    """
    one, other = (pairs[c].to_numpy() for c in ("grade", "grade_other"))
    if len({*one, *other}) == 1:
        return None
    return float(cohen_kappa_score(one, other))


def agreement(grades: pl.DataFrame) -> pl.DataFrame:
    """Return tables.AGREEMENT: every two assessors on the pairs that both have graded."""
    rows: list[dict[str, object]] = []
    for name, other in combinations(grades["assessor"].unique().sort().to_list(), 2):
        one, two = (grades.filter(assessor=a).drop("assessor") for a in (name, other))
        pairs = one.join(two, on=["task", "query_id", "doc_id"], suffix="_other")
        if pairs.height:
            same = float((pairs["grade"] == pairs["grade_other"]).sum()) / pairs.height
            rows.append(
                {
                    "assessor": name,
                    "other": other,
                    "pairs": pairs.height,
                    "same_share": same,
                    "kappa": cohen_kappa(pairs),
                }
            )
    empty = pl.DataFrame(AGREEMENT.empty_table())
    return pl.DataFrame(rows, schema=empty.schema)


def score_judged(  # noqa: PLR0913
    *,
    pool: Path,
    qrels: Path,
    sheets: Sequence[Path],
    runs: Sequence[Path],
    outputs: Mapping[str, Path],
    collection: str,
    measures: Sequence[str],
) -> None:
    """Write graded qrels, scores (tables.SCORES), reusability, tau and agreement to `outputs`.

    `outputs` are graded, scores, reuse, tau and agreement.

    Raises:
        As `judge.read_sheets`.
    """
    pooled = pl.read_parquet(pool)
    grades = read_sheets(sheets, pooled)
    graded = graded_qrels(grades, pooled, pl.read_parquet(qrels))
    tasks = {t: _judged(t, runs, graded, pooled) for t in graded["task"].unique().sort()}
    cell = {
        "collection": collection,
        "setting": Cell.of(runs[0]).setting,
        "split": pooled["split"][0],
    }
    progress = Progress("tasks", total=len(tasks))
    parts: list[dict[str, pl.DataFrame]] = []
    for task, judged in tasks.items():
        parts.append(_results(task, judged, cell, measures))
        progress.add()
    progress.finish()
    whole = {name: pl.concat(part[name] for part in parts) for name in parts[0]}
    store.write(graded.to_arrow(), outputs["graded"], GRADED)
    store.write(whole["scores"].to_arrow(), outputs["scores"], SCORES)
    store.write(whole["reuse"].to_arrow(), outputs["reuse"], REUSABILITY)
    store.write(whole["tau"].to_arrow(), outputs["tau"], TAU)
    store.write(agreement(grades).to_arrow(), outputs["agreement"], AGREEMENT)


def _judged(task: str, runs: Sequence[Path], graded: pl.DataFrame, pool: pl.DataFrame) -> Judged:
    own, pooled = graded.filter(task=task), pool.filter(task=task)
    paths = sorted(p for p in runs if Cell.of(p).task == task)
    return Judged({p.stem: judged_part(p, own) for p in paths}, own, pooled)


def _results(
    task: str, judged: Judged, cell: Mapping[str, str], measures: Sequence[str]
) -> dict[str, pl.DataFrame]:
    scores = system_scores(judged.runs, judged.graded, measures)
    sparse = judged.graded.filter(pl.col("sparse").is_not_null()).with_columns(relevance="sparse")
    queries = judged.graded["query_id"].n_unique()
    means = mean_scores(scores, queries)
    below = mean_scores(system_scores(judged.runs, sparse, measures), queries)
    labels = {k: pl.lit(v) for k, v in {**cell, "task": task}.items()}
    return {
        "scores": scores.with_columns(**labels).select(SCORES.names),
        "tau": taus(task, means, below),
        "reuse": leave_one_out(task, judged, means, measures),
    }


def taus(task: str, graded: pl.DataFrame, sparse: pl.DataFrame) -> pl.DataFrame:
    """Return tables.TAU: how far two means (measure, system, value) rank systems alike."""
    pairs = graded.join(sparse, on=["measure", "system"], suffix="_sparse")
    rows = [
        {
            "task": task,
            "measure": measure,
            "systems": own.height,
            "tau": kendall_tau(own["value"], own["value_sparse"]),
        }
        for (measure,), own in pairs.partition_by(
            "measure", as_dict=True, maintain_order=True
        ).items()
    ]
    empty_table = pl.DataFrame(TAU.empty_table())
    return pl.DataFrame(rows, schema=empty_table.schema).with_columns(pl.col("tau").fill_nan(None))
