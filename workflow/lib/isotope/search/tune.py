"""Fusion parameters chosen on a split that is not the one reported (the paper's section 5.3).

Every point of a grid is scored on the judged documents alone: a document's rank is one more than
the candidates of its query that come before it, so nothing is sorted and no run is written.
"""

import csv
import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl

from isotope.core.grid import RunKey, id_column
from isotope.core.measures import score_run
from isotope.core.progress import log
from isotope.core.runs import KEY, by_query, empty, read_run
from isotope.core.store import aside
from isotope.search import fuse
from isotope.search.kinds._fusion import Fusion
from isotope.search.systems import fill

Matrix = npt.NDArray[np.float64]
_QUERIES_PER_PIECE = 256
# Means that differ by rounding only are a tie, which the first in the grid wins.
_TIE = 1e-12


class Trial(NamedTuple):
    """One point of the grid: the fusion's parameters, and the mean of the measure under them."""

    parameters: dict[str, Any]
    value: float


def grid(spec: Fusion[Any]) -> list[dict[str, Any]]:
    """Return the points that a tuned system's `tune.grid` stands for, in order.

    `step` stands for all weights that are its multiples and add up to 1, those of the first run
    falling: 1, 0 comes before 0, 1.
    """
    axes = spec.tuning.grid
    step: float | None = getattr(axes, "step", None)
    if step is None:
        return [{spec.fixed: value} for value in axes.spec()[spec.fixed]]
    parts = round(1 / step)
    shares = itertools.product(range(parts, -1, -1), repeat=len(spec.of))
    return [{"weights": [s / parts for s in share]} for share in shares if sum(share) == parts]


def tune(
    spec: Fusion[Any], runs: Sequence[pl.DataFrame], qrels: pl.DataFrame, depth: int
) -> list[Trial]:
    """Score every point of `spec`'s grid for fusing `runs` on qrels (query_id, doc_id, relevance).

    The values are those of `fuse` and `score_run` one after the other.

    Raises:
        BadParams: an unknown measure or a grid that does not fit.
    """
    points, measure = grid(spec), spec.tuning.measure
    pieces: list[list[pl.DataFrame]] = [[] for _ in points]
    for runs_piece in by_query(runs, _QUERIES_PER_PIECE):
        candidates = _Candidates(runs_piece, qrels)
        for hits, point in zip(pieces, points, strict=True):
            hits.append(candidates.ranked(spec, point).filter(pl.col("rank") <= depth))
    return [
        Trial(point, _mean(pl.concat([_nothing(), *hits]), qrels, measure))
        for point, hits in zip(points, pieces, strict=True)
    ]


def best(trials: Sequence[Trial]) -> int:
    """Return the place of the best trial, the first of them where several are."""
    highest = max(trial.value for trial in trials)
    return next(i for i, trial in enumerate(trials) if trial.value >= highest - _TIE)


def rows(trials: Sequence[Trial], labels: Mapping[str, str]) -> Iterator[dict[str, str]]:
    """Yield a row of text for each trial: the labels, the parameters, value and choice."""
    chosen = best(trials)
    for i, trial in enumerate(trials):
        yield {
            **labels,
            "parameters": json.dumps(trial.parameters),
            "value": f"{trial.value:.6f}",
            "chosen": str(i == chosen).lower(),
        }


def _nothing() -> pl.DataFrame:
    return empty().select(*KEY, "rank")


def _mean(hits: pl.DataFrame, qrels: pl.DataFrame, measure: str) -> float:
    return float(score_run(hits, qrels, [measure])["value"].to_numpy().mean())


class _Candidates:
    """All candidates of some queries, and which of them are judged."""

    def __init__(self, runs: Sequence[pl.DataFrame], qrels: pl.DataFrame) -> None:
        """Join the runs (of whole queries) in trec_eval's order of ties: greater doc_id first."""
        parts = [
            run.select(
                *KEY,
                pl.col("rank").alias(f"rank{i}"),
                pl.Series(f"score{i}", fuse.normalised(run)),
            )
            for i, run in enumerate(runs)
        ]
        pairs = pl.concat([part.select(KEY) for part in parts]).unique()
        pairs = pairs.join(qrels.select("query_id").unique(), on="query_id", how="semi")
        for part in parts:
            pairs = pairs.join(part, on=KEY, how="left")
        table = pairs.join(qrels.select(*KEY, judged=pl.lit(value=True)), on=KEY, how="left").sort(
            KEY, descending=[False, True]
        )
        self._ranks = self._columns(table, "rank", len(runs))
        self._scores = self._columns(table, "score", len(runs))
        self._pair_rows(table.with_row_index("row"))

    @staticmethod
    def _columns(table: pl.DataFrame, name: str, n: int) -> list[Matrix]:
        return [table[f"{name}{i}"].cast(pl.Float64).fill_null(0).to_numpy() for i in range(n)]

    def _pair_rows(self, table: pl.DataFrame) -> None:
        """Pair every judged row with all rows of its query, once for the whole grid."""
        spans = table.group_by("query_id", maintain_order=True).agg(
            start=pl.col("row").first(), size=pl.len()
        )
        self._judged = table.filter(pl.col("judged").fill_null(value=False)).join(
            spans, on="query_id", maintain_order="left"
        )
        size = self._judged["size"].cast(pl.Int64).to_numpy()
        start = self._judged["start"].cast(pl.Int64).to_numpy()
        self._ends = np.cumsum(size)
        self._which = np.repeat(np.arange(len(size)), size)
        within = np.arange(int(size.sum())) - np.repeat(self._ends - size, size)
        self._against = np.repeat(start, size) + within
        self._judged_rows = self._judged["row"].cast(pl.Int64).to_numpy()
        self._above = self._against < self._judged_rows[self._which]

    def ranked(self, spec: Fusion[Any], point: Mapping[str, Any]) -> pl.DataFrame:
        """Return query_id, doc_id and rank of the judged documents under a point of the grid."""
        fused = self._fused(spec, point)
        other, judged_scores = fused[self._against], fused[self._judged_rows][self._which]
        before = (other > judged_scores) | ((other == judged_scores) & self._above)
        rank = 1 + np.bincount(self._which, weights=before, minlength=len(self._judged_rows))
        judged = self._judged.select(*KEY).with_columns(rank=pl.Series(rank).cast(pl.Int32))
        return judged.sort("query_id", "rank")

    def _fused(self, spec: Fusion[Any], point: Mapping[str, Any]) -> Matrix:
        if spec.kind_name() == "rrf":
            # Rank 0 stands for a document that the run lacks.
            places = [np.where(rank > 0, point["k"] + rank, np.inf) for rank in self._ranks]
            return reduce(fuse.Double.plus, map(fuse.reciprocals, places)).nearest()
        parts = [s * w for s, w in zip(self._scores, point["weights"], strict=True)]
        total = np.zeros(len(parts[0]))
        for part in parts:
            total = total + part
        return total


COLUMNS = (
    *("collection", "system", "setting", "task", "split", "measure"),
    *("parameters", "value", "chosen"),
)


def search_tuned(  # noqa: PLR0913
    *,
    parts: Sequence[Path],
    qrels: Path,
    runs: Sequence[Path],
    trials: Path,
    spec: Fusion[Any],
    collection: str,
    system: str,
    depth: int,
) -> None:
    """Fuse the runs of `spec.of` under the parameters that `spec.tune` finds best.

    For each setting and task the runs on `tune.split` (validation) choose, once; every split's run
    is then fused with the choice. `trials` gets a CSV of the whole grid: collection, system,
    setting, task, split, measure, parameters as JSON, mean value, and the one chosen.

    Raises:
        BadParams: an unknown measure, or a grid that does not fit.
        As `runs.read_run`.
    """
    by_cell = {(path.stem, RunKey.from_path(path)): path for path in parts}
    chosen: dict[tuple[str, str], dict[str, Any]] = {}
    lines: list[dict[str, str]] = []
    for setting, task in dict.fromkeys((c.setting, c.task) for c in map(RunKey.from_path, runs)):
        cell = RunKey(setting, spec.tuning.split, task)
        scored = tune(spec, _parts(by_cell, spec, cell), _judged(qrels, cell), depth)
        chosen[setting, task] = _choice(cell, scored)
        labels = {"collection": collection, "system": system, "setting": setting, "task": task}
        lines += rows(scored, {**labels, "split": cell.split, "measure": spec.tuning.measure})

    def answer(cell: RunKey) -> pl.DataFrame:
        runs_of_cell = _parts(by_cell, spec, cell)
        if all(part.is_empty() for part in runs_of_cell):
            return empty()
        by = fuse.rrf if spec.kind_name() == "rrf" else fuse.wsum
        return by(runs_of_cell, **chosen[cell.setting, cell.task], depth=depth)

    fill(runs, answer)
    _write(lines, trials)


def _parts(
    by_cell: Mapping[tuple[str, RunKey], Path], spec: Fusion[Any], cell: RunKey
) -> list[pl.DataFrame]:
    return [read_run(by_cell[name, cell]) for name in spec.of]


def _judged(qrels: Path, cell: RunKey) -> pl.DataFrame:
    query, document = id_column(cell.query_side), id_column(cell.document_side)
    qrels_of_split = pl.scan_parquet(qrels, glob=False).filter(pl.col("split") == cell.split)
    return qrels_of_split.select(query_id=query, doc_id=document, relevance="relevance").collect()


def _choice(cell: RunKey, trials: Sequence[Trial]) -> dict[str, Any]:
    trial = trials[best(trials)]
    log.info("%s %s: %s, %.4f", cell.setting, cell.task, trial.parameters, trial.value)
    return trial.parameters


def _write(lines: Sequence[Mapping[str, str]], path: Path) -> None:
    with aside(path) as part, part.open("w", newline="") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(lines)
