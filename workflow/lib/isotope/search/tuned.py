"""Fusions whose parameters a split chooses, for each setting and task, and another one reports."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core.grid import Cell, id_column
from isotope.core.progress import log
from isotope.core.runs import empty, read_run
from isotope.core.store import aside
from isotope.search import fuse
from isotope.search.systems import fill
from isotope.search.tune import Trial, best, rows, tune

COLUMNS = (
    *("collection", "system", "setting", "task", "split", "measure"),
    *("parameters", "value", "chosen"),
)


def search_tuned(  # noqa: PLR0913
    runs: Sequence[Path],
    outputs: Sequence[Path],
    spec: Mapping[str, Any],
    *,
    qrels: Path,
    trials: Path,
    labels: Mapping[str, str],
    depth: int,
) -> None:
    """Fuse the runs of `spec["of"]` under the parameters that `spec["tune"]` finds best.

    For each setting and task the runs on `tune.split` (validation) choose, once; every split's run
    is then fused with the choice. `trials` gets a CSV of the whole grid: `labels` (collection and
    system), setting, task, split, measure, parameters as JSON, mean value, and the one chosen.

    Raises:
        BadParams: an unknown measure, or a grid that does not fit.
        As `runs.read_run`.
    """
    by_cell = {(p.stem, Cell.of(p)): p for p in runs}
    chosen: dict[tuple[str, str], dict[str, Any]] = {}
    told: list[dict[str, str]] = []
    for setting, task in dict.fromkeys((c.setting, c.task) for c in map(Cell.of, outputs)):
        cell = Cell(setting, spec["tune"].get("split", "validation"), task)
        tried = tune(spec, _parts(by_cell, spec, cell), _judged(qrels, cell), depth)
        chosen[setting, task] = _say(cell, tried)
        measure = spec["tune"].get("measure", "MRR@10")
        where = {"setting": setting, "task": task, "split": cell.split, "measure": measure}
        told += rows(tried, {**labels, **where})

    def answer(cell: Cell) -> pl.DataFrame:
        parts = _parts(by_cell, spec, cell)
        return fused(spec["kind"], parts, chosen[cell.setting, cell.task], depth)

    fill(outputs, answer)
    _write(told, trials)


def fused(
    kind: str, parts: Sequence[pl.DataFrame], parameters: Mapping[str, Any], depth: int
) -> pl.DataFrame:
    """Fuse runs by `rrf` (k) or `wsum` (weights); runs without a hit have none together."""
    if all(part.is_empty() for part in parts):
        return empty()
    by = fuse.rrf if kind == "rrf" else fuse.wsum
    return by(parts, **parameters, depth=depth)


def _parts(
    by_cell: Mapping[tuple[str, Cell], Path], spec: Mapping[str, Any], cell: Cell
) -> list[pl.DataFrame]:
    return [read_run(by_cell[name, cell]) for name in spec["of"]]


def _judged(qrels: Path, cell: Cell) -> pl.DataFrame:
    query, document = id_column(cell.query_side), id_column(cell.document_side)
    own = pl.scan_parquet(qrels).filter(pl.col("split") == cell.split)
    return own.select(query_id=query, doc_id=document, relevance="relevance").collect()


def _say(cell: Cell, tried: Sequence[Trial]) -> dict[str, Any]:
    trial = tried[best(tried)]
    log.info("%s %s: %s, %.4f", cell.setting, cell.task, trial.parameters, trial.value)
    return trial.parameters


def _write(told: Sequence[Mapping[str, str]], path: Path) -> None:
    with aside(path) as part, part.open("w", newline="") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(told)
