"""Curves of time over size: a start, and a power of the size."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
from common import this_machine
from scipy.optimize import nnls

from isotope.cli.estimate_sizes import COLUMNS, Curve

POWERS = np.arange(0.5, 2.01, 0.01)
# How far three points may pull the power off 1: by 0.3 where the line misses them by some 4 % each.
PRIOR = 0.05
# Below this growth the start hides the work.
GREW = 3.0
# Hidden or not, at the largest size so much of the time is held to be work: the rest would cost
# nothing at any size.
LEAST_WORK = 0.1


def fit(
    units: Sequence[float], seconds: Sequence[float], cores: int = 0, prior: float = PRIOR
) -> Curve:
    """Return the curve of least relative error, neither start nor growth below zero.

    Two points give a line, one a line from nothing; more give a power, drawn towards 1 by `prior`.
    """
    if len(units) == 1:
        return Curve(0.0, seconds[0] / units[0], 1.0, cores, units[0])
    taken, most = np.array(seconds), max(units)
    found: dict[float, tuple[float, float, float]] = {}
    for power in POWERS if len(units) > 2 else [1.0]:  # noqa: PLR2004
        scale = (np.array(units) / most) ** power
        start, slope = _line(scale, taken)
        missed = float((((start + slope * scale) / taken - 1) ** 2).sum())
        found[power] = (missed + prior * (power - 1) ** 2, start, slope)
    best = min(found, key=lambda power: found[power][0])
    _, start, slope = found[best]
    return Curve(start, slope / most**best, float(best), cores, most)


def _line(scale: np.ndarray, taken: np.ndarray) -> tuple[float, float]:
    """Return start and slope over sizes of 0 to 1."""
    terms = np.column_stack([np.ones(len(taken)), scale]) / taken[:, None]
    start, slope = nnls(terms, np.ones(len(taken)))[0]
    least = LEAST_WORK * taken[np.argmax(scale)]
    if slope >= least:
        return float(start), float(slope)
    (start,), _ = nnls(terms[:, :1], 1 - terms[:, 1] * least)
    return float(start), float(least)


def exponent(rows: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the x of start + a * rows**x, each point as heavy; NaN where the start hides it."""
    if len(rows) <= 2 or seconds[-1] < GREW * seconds[0]:  # noqa: PLR2004
        return float("nan")
    return fit(rows, seconds, prior=0.0).power


def save(curves: Mapping[str, tuple[str, Curve, int]], path: Path) -> None:
    """Write, by phase, unit, curve and the largest size (in rows) that the curve was drawn from."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        for phase, (unit, c, largest) in curves.items():
            numbers = [f"{c.start_s:.4g}", f"{c.unit_s:.4g}", f"{c.power:.2f}", c.cores]
            numbers += [f"{c.upto:.4g}", largest]
            out.writerow([phase, unit, *numbers, this_machine()])
