"""Late fusion of runs: reciprocal rank fusion, and the weighted sum of normalised scores.

Both equal `ranx.fuse(norm="min-max", method=...)` in their scores, and differ in two ways: ties are
ranked by doc_id, descending, and a query that only some of the runs answer is kept.
"""

from collections.abc import Sequence

import polars as pl

from isotope.errors import BadParams
from isotope.runs import by_query, empty, ranked

_QUERIES_PER_PIECE = 64
_LEAST_RUNS = 2
_LEAST_RANGE = 1e-9


def _min_max() -> pl.Expr:
    score = pl.col("score")
    low, high = score.min().over("query_id"), score.max().over("query_id")
    return (score - low) / (high - low).clip(lower_bound=_LEAST_RANGE)


NORMS = {"min-max": _min_max, "none": lambda: pl.col("score")}


def rrf(runs: Sequence[pl.DataFrame], k: int = 60, depth: int | None = None) -> pl.DataFrame:
    """Fuse by the sum of 1 / (k + rank): robust when the scores of the runs are not comparable.

    Source: Cormack, Clarke and Buettcher, SIGIR 2009, where k = 60.

    Raises:
        BadParams: fewer than two runs, or a negative k.
    """
    if k < 0:
        raise BadParams("systems", f"rrf with k = {k}", "use k of 0 or more; 60 is usual")
    return _fuse(runs, [1 / (k + pl.col("rank"))] * len(runs), depth)


def wsum(
    runs: Sequence[pl.DataFrame],
    weights: Sequence[float],
    norm: str = "min-max",
    depth: int | None = None,
) -> pl.DataFrame:
    """Fuse by the weighted sum of scores, each query's first brought to 0..1 by min-max.

    A document that a run lacks adds nothing for it. A query whose hits all score the same becomes
    zeros, because its range is replaced by 1e-9, as in ranx. `norm="none"` adds scores as they are.

    Raises:
        BadParams: fewer than two runs, not one weight for each, or an unknown norm.
    """
    if len(weights) != len(runs):
        found = f"wsum of {len(runs)} runs with {len(weights)} weights"
        raise BadParams("systems", found, "give one weight for each run")
    if norm not in NORMS:
        raise BadParams("systems", f"no norm {norm!r}", f"use one of {', '.join(NORMS)}")
    return _fuse(runs, [NORMS[norm]() * weight for weight in weights], depth)


def _fuse(runs: Sequence[pl.DataFrame], parts: list[pl.Expr], depth: int | None) -> pl.DataFrame:
    if len(runs) < _LEAST_RUNS:
        raise BadParams("systems", f"fusion of {len(runs)} runs", "name two or more runs to fuse")
    pieces = (_sum(piece, parts) for piece in by_query(runs, _QUERIES_PER_PIECE))
    return pl.concat([empty(), *(ranked(piece, depth) for piece in pieces)])


def _sum(piece: list[pl.DataFrame], parts: list[pl.Expr]) -> pl.DataFrame:
    scored = [
        run.select("query_id", "doc_id", score=part) for run, part in zip(piece, parts, strict=True)
    ]
    return pl.concat(scored).group_by("query_id", "doc_id").agg(pl.col("score").sum())
