"""Curves of time over size: a start, and a power of the size."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

# How far three points may pull the power off 1: by 0.3 where the line misses them by some 4 % each.
PRIOR = 0.05
# Below this growth the start hides the work.
GREW = 3.0
# Hidden or not, at the largest size so much of the time is held to be work: the rest would cost
# nothing at any size.
LEAST_WORK = 0.1
POWERS = (0.5, 2.0)
_STEP = 0.01


class Curve(NamedTuple):
    """Seconds = start_s + unit_s * units ** power; `upto` so many units were measured."""

    start_s: float
    unit_s: float
    power: float
    upto: float

    def seconds(self, units: float) -> float:
        """Return the seconds for so many units.

        ASSUME beyond what was measured a unit costs what it cost there, or more as it did: warm
        caches and code, which make a power below 1, are warm by then; no measurement says.
        """
        within = self.unit_s * min(units, self.upto) ** self.power
        return self.start_s + within * max(units / self.upto, 1.0) ** max(self.power, 1.0)


def fit(
    units: Sequence[float],
    seconds: Sequence[float],
    prior: float = PRIOR,
    powers: tuple[float, float] = POWERS,
) -> Curve:
    """Return the curve of least relative error, neither start nor growth below zero.

    Two sizes give a line, one a line from nothing; more give a power, drawn towards 1 by `prior`.
    """
    sizes = len(set(units))
    if sizes == 1:
        return Curve(0.0, float(np.mean(seconds)) / max(units[0], 1.0), 1.0, max(units[0], 1.0))
    taken, most = np.array(seconds), max(units)
    least, largest = powers
    tried = np.arange(least, largest + _STEP, _STEP) if sizes > 2 else [1.0]  # noqa: PLR2004
    found: dict[float, tuple[float, float, float]] = {}
    for power in tried:
        scale = (np.array(units) / most) ** power
        start, slope = _line(scale, taken)
        missed = float((((start + slope * scale) / taken - 1) ** 2).sum())
        found[power] = (missed + prior * (power - 1) ** 2, start, slope)
    best = min(found, key=lambda power: found[power][0])
    _, start, slope = found[best]
    return Curve(start, float(slope / most**best), float(best), most)


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


def growth(rows: Sequence[int], seconds: Sequence[float]) -> float:
    """Return the power of the rows that fits the seconds best, without a start: in logarithms."""
    return float(np.polyfit(np.log(rows), np.log(seconds), 1)[0])
