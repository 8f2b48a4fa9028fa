"""How far rankings of systems agree (Kendall's tau), and assessors with each other (kappa)."""

from itertools import combinations

import numpy as np
import polars as pl
from numpy.typing import ArrayLike

from isotope import tables


def kendall_tau(one: ArrayLike, other: ArrayLike) -> float:
    """Return tau-b of two lists of values, NaN if either has no two different ones.

    Source: Kendall, Biometrika 33, 1945, which corrects for ties.
    """
    signs = [np.sign(np.subtract.outer(v, v)) for v in map(np.asarray, (one, other))]
    agree, first, second = (float((a * b).sum()) for a, b in _products(signs))
    norm = np.sqrt(first * second)
    return agree / norm if norm else float("nan")


def _products(signs: list[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    return [(signs[0], signs[1]), (signs[0], signs[0]), (signs[1], signs[1])]


def cohen_kappa(pairs: pl.DataFrame) -> float | None:
    """Return kappa of the columns `grade` and `grade_other`, null where chance explains it all.

    Source: Cohen, Educational and Psychological Measurement 20(1), 1960.
    """
    same = float((pairs["grade"] == pairs["grade_other"]).sum()) / pairs.height
    one, other = (pairs[c].value_counts(name="n") for c in ("grade", "grade_other"))
    both = one.join(other, left_on="grade", right_on="grade_other")
    chance = float((both["n"].cast(pl.Float64) * both["n_right"]).sum()) / pairs.height**2
    return (same - chance) / (1 - chance) if chance < 1 else None


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
    empty = pl.DataFrame(tables.AGREEMENT.empty_table())
    return pl.DataFrame(rows, schema=empty.schema)
