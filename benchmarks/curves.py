"""Curves of time and memory over size: a start, and a power of the size."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from common import this_machine
from scipy.optimize import nnls

from isotope.cli.estimate_curves import COLUMNS, SNAKEMAKE, Curve

# How far three points may pull the power off 1: by 0.3 where the line misses them by some 4 % each.
PRIOR = 0.05
# Below this growth the start hides the work.
GREW = 3.0
# Hidden or not, at the largest size so much of the time is held to be work: the rest would cost
# nothing at any size.
LEAST_WORK = 0.1
POWERS = (0.5, 2.0)
_STEP = 0.01


class Drawn(NamedTuple):
    """A rule's curve, the unit of its work, and how many points it was drawn from."""

    unit: str
    curve: Curve
    points: int


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


def fit_memory(units: Sequence[float], megabytes: Sequence[float], *, holds: bool) -> Curve:
    """Return the memory of jobs by the two largest sizes: a line, or a power between 0 and 1.

    A job of DuckDB `holds` what it reads, until its limit. Another works piece by piece from some
    size on, of which smaller sizes say nothing. Where there are but two sizes the curve is a line.
    """
    points = sorted(zip(units, megabytes, strict=True))
    if len(points) <= 2:  # noqa: PLR2004
        return fit(units, megabytes)
    (less, before), (most, last) = points[-2:]
    if holds and last > before:
        slope = min((last - before) / (most - less), last / most)
        return Curve(last - slope * most, slope, 1.0, most)
    power = float(np.clip(np.log(last / before) / np.log(most / less), 0.0, 1.0))
    return Curve(0.0, last / most**power, power, most)


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


def save(curves: Mapping[str, Drawn], path: Path) -> None:
    """Write the curve of each rule."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(COLUMNS)
        for rule, (unit, c, points) in curves.items():
            time = [f"{c.start_s:.4g}", f"{c.unit_s:.4g}", f"{c.power:.2f}", f"{c.upto:.4g}"]
            memory = [f"{c.start_mb:.4g}", f"{c.unit_mb:.4g}", f"{c.mb_power:.2f}"]
            out.writerow([rule, unit, *time, c.threads, *memory, points, this_machine()])


def add(curves: Mapping[str, Drawn], path: Path) -> None:
    """Write these curves into a table of others, in place of those of the same rules."""
    with path.open(encoding="utf-8", newline="") as file:
        _, *rows = csv.reader(file)
    others = [row for row in rows if row[0] not in curves]
    save(curves, path)
    with path.open(encoding="utf-8", newline="") as file:
        head, *own = csv.reader(file)
    first = [row for row in others if row[0] == SNAKEMAKE]
    rest = sorted(row for row in [*others, *own] if row[0] != SNAKEMAKE)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([head, *first, *rest])
