"""What graded judgements say of the systems, and how far it is what sparse ones say."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from isotope import tables
from isotope.core import store
from isotope.core.grid import Cell
from isotope.core.progress import Progress
from isotope.judge import sheets
from isotope.judge.agreement import agreement, kendall_tau
from isotope.judge.reuse import Judged, judged_part, leave_one_out, mean_scores, system_scores


def score_judged(
    files: Mapping[str, Path | Sequence[Path]],
    outputs: Mapping[str, Path],
    *,
    collection: str,
    measures: Sequence[str],
) -> None:
    """Write graded qrels, scores on them (tables.SCORES), reuse, tau and agreement to `outputs`.

    `files` are pool, qrels, and the lists sheets and runs; `outputs` graded, scores, reuse, tau,
    agreement.

    Raises:
        As `judge.read_sheets`.
    """
    pool, qrels = (pl.read_parquet(_one(files[name])) for name in ("pool", "qrels"))
    grades = sheets.read_sheets(_many(files["sheets"]), pool)
    graded = sheets.graded_qrels(grades, pool, qrels)
    runs = _many(files["runs"])
    tasks = {t: _judged(t, runs, graded, pool) for t in graded["task"].unique().sort()}
    cell = {
        "collection": collection,
        "setting": Cell.of(runs[0]).setting,
        "split": pool["split"][0],
    }
    progress = Progress("tasks", total=len(tasks))
    found: list[dict[str, pl.DataFrame]] = []
    for task, judged in tasks.items():
        found.append(_results(task, judged, cell, measures))
        progress.add()
    progress.finish()
    whole = {name: pl.concat(part[name] for part in found) for name in found[0]}
    store.write(graded.to_arrow(), outputs["graded"], tables.GRADED)
    store.write(whole["scores"].to_arrow(), outputs["scores"], tables.SCORES)
    store.write(whole["reuse"].to_arrow(), outputs["reuse"], tables.REUSE)
    store.write(whole["tau"].to_arrow(), outputs["tau"], tables.TAU)
    store.write(agreement(grades).to_arrow(), outputs["agreement"], tables.AGREEMENT)


def _one(value: Path | Sequence[Path]) -> Path:
    return value if isinstance(value, Path) else value[0]


def _many(value: Path | Sequence[Path]) -> list[Path]:
    return [value] if isinstance(value, Path) else list(value)


def _judged(task: str, runs: Sequence[Path], graded: pl.DataFrame, pool: pl.DataFrame) -> Judged:
    own, pooled = graded.filter(task=task), pool.filter(task=task)
    paths = sorted(p for p in runs if Cell.of(p).task == task)
    return Judged({p.stem: judged_part(p, own) for p in paths}, own, pooled)


def _results(
    task: str, judged: Judged, cell: Mapping[str, str], measures: Sequence[str]
) -> dict[str, pl.DataFrame]:
    scores = system_scores(judged.runs, judged.graded, measures)
    known = judged.graded.filter(pl.col("sparse").is_not_null())
    sparse = known.with_columns(relevance="sparse")
    queries = judged.graded["query_id"].n_unique()
    means = mean_scores(scores, queries)
    below = mean_scores(system_scores(judged.runs, sparse, measures), queries)
    labels = {k: pl.lit(v) for k, v in {**cell, "task": task}.items()}
    return {
        "scores": scores.with_columns(**labels).select(tables.SCORES.names),
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
    empty_table = pl.DataFrame(tables.TAU.empty_table())
    return pl.DataFrame(rows, schema=empty_table.schema).with_columns(pl.col("tau").fill_nan(None))
