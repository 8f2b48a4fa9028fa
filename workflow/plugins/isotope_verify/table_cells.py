"""Cells of the report's tables against the scores by query: always all of them.

Means are summed exactly (`math.fsum`), tests are `scipy.stats.ttest_rel`. Table 3 names by letters
the systems that a cell surely beats, with p below alpha after Bonferroni's correction for all pairs
of the pool; Table 5 does the same within each comparison that the params list.
"""

import json
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations, permutations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import scipy
from scipy.stats import ttest_rel

from isotope.tabulate.strata import gain_name
from isotope.tabulate.table import BEATS, read_table
from isotope_verify.outcome import Check
from isotope_verify.subject import Built, ReleaseSubject, Subject

# The tables round means to six digits.
ROUNDED = 5.000001e-7
# What double precision leaves of t and p, which two formulas compute in another order.
_LAST_DIGITS = 1e-9
_CELL = ["setting", "split", "task", "measure"]
_KEY = ["setting", "split", "task", "system", "measure"]
_TEST = (*_CELL, "system", "other")
_LEAST_PAIRS = 2


class Tested(NamedTuple):
    """A system against another on the same queries: means' difference, t and p (two-sided)."""

    difference: float
    t: float | None
    p: float


class Numbers:
    """What the scores by query say: means, numbers of queries, and tests between systems."""

    def __init__(self, scores: Path) -> None:
        """Read schemas.score.SCORES."""
        self._scores = pl.read_parquet(scores, glob=False).drop("collection")

    @cached_property
    def means(self) -> dict[tuple[str, ...], float]:
        """The mean by setting, split, task, system and measure."""
        values = self._scores.group_by(_KEY).agg("value", pl.len())
        return {(*row[:5],): math.fsum(row[5]) / row[6] for row in values.iter_rows()}

    @cached_property
    def queries(self) -> dict[tuple[str, ...], int]:
        """The number of queries, by the same."""
        return {(*row[:5],): row[5] for row in self._scores.group_by(_KEY).len().iter_rows()}

    @cached_property
    def tests(self) -> dict[tuple[str, ...], Tested]:
        """Every ordered pair of systems, by setting, split, task, measure, system and other."""
        cells = self._scores.sort("system", "query_id").partition_by(_CELL, as_dict=True)
        return {
            (*map(str, cell), *pair): tested
            for cell, rows in cells.items()
            for pair, tested in _tested(rows)
        }

    @cached_property
    def systems(self) -> dict[tuple[str, ...], list[str]]:
        """The systems of each setting, split, task and measure, sorted."""
        groups = self._scores.group_by(_CELL).agg(pl.col("system").unique().sort())
        return {(*row[:4],): row[4] for row in groups.iter_rows()}

    @cached_property
    def gains(self) -> dict[str, tuple[str, str]]:
        """The pairs of systems, by what tables call the gain of the first over the second."""
        pairs = permutations(sorted(self._scores["system"].unique()), 2)
        return {gain_name(*pair): pair for pair in pairs}


def _tested(rows: pl.DataFrame) -> Iterator[tuple[tuple[str, str], Tested]]:
    wide = rows.pivot("system", index="query_id", values="value", aggregate_function="first")
    systems = wide.columns[1:]
    pairs = [*combinations(range(len(systems)), 2)]
    if not pairs:
        return
    values = wide.select(systems).to_numpy()
    first, second = (values[:, [pair[side] for pair in pairs]] for side in (0, 1))
    with warnings.catch_warnings():
        # Of pairs without variance, which are decided by rule.
        warnings.simplefilter("ignore", RuntimeWarning)
        t, p = ttest_rel(first, second, axis=0)
    for n, (i, j) in enumerate(pairs):
        tested = _by_rule(first[:, n] - second[:, n], float(t[n]), float(p[n]))
        yield (systems[i], systems[j]), tested
        turned = None if tested.t is None else -tested.t
        yield (systems[j], systems[i]), Tested(-tested.difference, turned, tested.p)


def _by_rule(differences: Any, t: float, p: float) -> Tested:  # noqa: ANN401
    """Return what scipy says, or, of one query or no variance, what docs/score.md defines."""
    mean = math.fsum(differences) / len(differences)
    if len(differences) < _LEAST_PAIRS:
        return Tested(mean, None, 1.0)
    if not np.ptp(differences):
        constant = bool(differences[0])
        return Tested(mean, math.copysign(math.inf, mean) if constant else 0.0, float(not constant))
    return Tested(mean, t, p)


def check_means(subject: Subject, numbers: Numbers) -> list[Check]:
    """Compare every mean that is published with the scores by query.

    Of a release they are scores/means.csv; of a built collection Tables 3 and 5, the headline, the
    intervals' means, and metrics.json.
    """
    check = Check("means", "math.fsum", "cells", ROUNDED)
    if isinstance(subject, ReleaseSubject):
        _release_means(check, subject, numbers)
    if isinstance(subject, Built):
        for cells in _built_means(subject):
            rows = [(cell, value, _mean(numbers, key)) for cell, key, value in cells]
            check.numbers(pl.DataFrame(rows, _COLUMNS, orient="row"))
    check.total = check.compared
    return [check]


def _mean(numbers: Numbers, key: tuple[str, ...]) -> float | None:
    """Return the mean of a system, or that of the gain of one over another."""
    setting, split, task, system, measure = key
    if key in numbers.means or system not in numbers.gains:
        return numbers.means.get(key)
    first, second = ((setting, split, task, name, measure) for name in numbers.gains[system])
    both = first in numbers.means and second in numbers.means
    return numbers.means[first] - numbers.means[second] if both else None


_COLUMNS = {"cell": pl.String(), "published": pl.Float64(), "recomputed": pl.Float64()}
Cell = tuple[str, tuple[str, ...], float | None]


def _release_means(check: Check, release: ReleaseSubject, numbers: Numbers) -> None:
    left = {*numbers.means}
    for row in release.means().iter_rows(named=True):
        key = tuple(row[name] for name in _KEY)
        left.discard(key)
        cell = f"scores/means.csv {' '.join(key)}"
        check.number(cell, row["value"], numbers.means.get(key))
        check.number(f"{cell} queries", row["queries"], numbers.queries.get(key))
    for key in sorted(left):
        check.number(f"scores/means.csv {' '.join(key)}", None, numbers.means[key])


def _built_means(built: Built) -> Iterator[list[Cell]]:
    for name in ("table3", "table5"):
        yield [*_wide_cells(built, name)]
    yield [*_headline_cells(built)]
    yield [*_interval_cells(built)]
    yield [*_metrics_cells(built.tables / "metrics.json", built.name)]


def _wide_cells(built: Built, name: str) -> Iterator[Cell]:
    """Yield the cells of a table with a row a system and a column a task and measure."""
    for row in _table(built, name).iter_rows(named=True):
        for column in _measured(row):
            task, _, measure = column.partition(" ")
            key = (row["setting"], row["split"], task, row["system"], measure)
            if row[column] is not None:
                yield f"{name} {' '.join(key)}", key, row[column]


def _headline_cells(built: Built) -> Iterator[Cell]:
    shown = _measured(_table(built, "table3").columns)
    # Table 3 has an order of its own; of a run whose params are not there nothing else is known.
    first_measures = built.params.score.measures[:1] if built.is_known else []
    first = [*first_measures, *(column.partition(" ")[2] for column in shown)]
    for row in _table(built, "headline").iter_rows(named=True) if first else ():
        for task in (name for name in row if name != "system" and row[name] is not None):
            key = (*built.pool, task, row["system"], first[0])
            yield f"headline {row['system']} {task}", key, row[task]


def _interval_cells(built: Built) -> Iterator[Cell]:
    for row in _table(built, "intervals").iter_rows(named=True):
        key = tuple(row[name] for name in _KEY)
        yield f"intervals {' '.join(key)}", key, row["value"]


def _metrics_cells(path: Path, name: str) -> Iterator[Cell]:
    if not path.is_file():
        return
    for key, value in _leaves(json.loads(path.read_text(encoding="utf-8")).get(name, {})):
        yield f"{path.name} {' '.join(key)}", key, value


def _leaves(nested: Mapping[str, Any], above: tuple[str, ...] = ()) -> Iterator[Any]:
    for name, value in nested.items():
        if isinstance(value, Mapping):
            yield from _leaves(value, (*above, name))
        else:
            yield (*above, name), value


def _table(built: Built, name: str) -> pl.DataFrame:
    """Read a table of the report; an empty one if it is not there."""
    path = built.tables / f"{name}.arrow"
    return read_table(path) if path.is_file() else pl.DataFrame()


def _measured(columns: Sequence[str] | Mapping[str, object]) -> list[str]:
    """Return the columns of a measure, those beside which letters stand."""
    return [name for name in columns if name + BEATS in columns]


def check_significance(subject: Subject, numbers: Numbers) -> list[Check]:
    """Compare every test between two systems with scipy's, and the letters that rest on them."""
    tool = f"scipy {scipy.__version__}"
    check = Check("significance", tool, "numbers", _LAST_DIGITS)
    left = {*numbers.tests}
    for row in subject.tests().iter_rows(named=True):
        key = tuple(row[name] for name in _TEST)
        left.discard(key)
        _compare(check, row, key, numbers)
    for key in sorted(left):
        check.words(" ".join(key), None, "a test")
    check.total = check.compared
    return [
        check,
        *([_check_letters(subject, numbers, tool)] if isinstance(subject, Built) else []),
    ]


def _compare(check: Check, row: Mapping[str, Any], key: tuple[str, ...], numbers: Numbers) -> None:
    tested, cell = numbers.tests.get(key), " ".join(key)
    if tested is None:
        check.words(cell, "a test", None)
        return
    pairs = math.comb(len(numbers.systems[key[:4]]), 2)
    for name, value in tested._asdict().items():
        check.number(f"{cell} {name}", row[name], value)
    check.number(f"{cell} p_bonferroni", row["p_bonferroni"], min(1.0, tested.p * pairs))


def _check_letters(built: Built, numbers: Numbers, tool: str) -> Check:
    """Compare the letters beside the means of Tables 3 and 5 with the recomputed tests."""
    check = Check("letters", tool, "cells")
    if not built.is_known:
        check.skip(built.unknown)
        return check
    tabulate = built.params.tabulate
    for name, lists in (("table3", None), ("table5", tabulate.comparisons)):
        table = _table(built, name)
        letters = dict(zip(table["letter"], table["system"], strict=True)) if table.width else {}
        for row in table.iter_rows(named=True):
            for column in _measured(row):
                task, _, measure = column.partition(" ")
                cell = (row["setting"], row["split"], task, measure)
                beaten = _beaten(numbers, cell, row["system"], lists, tabulate.alpha)
                expected = "".join(letter for letter, system in letters.items() if system in beaten)
                if row[column] is not None:
                    where = f"{name} {' '.join(cell)} {row['system']}{BEATS}"
                    check.words(where, row[column + BEATS] or "", expected)
    check.total = check.compared
    return check


def _beaten(
    numbers: Numbers,
    cell: tuple[str, ...],
    system: str,
    lists: Sequence[Sequence[str]] | None,
    alpha: float,
) -> set[str]:
    """Return the systems that a system surely beats in a cell, within one of the lists."""
    scored = numbers.systems.get(cell, [])
    beaten: set[str] = set()
    for names in [scored] if lists is None else lists:
        compared = [name for name in names if name in scored]
        pairs = math.comb(len(compared), 2)
        for other in compared if system in compared else ():
            tested = numbers.tests.get((*cell, system, other))
            if tested and tested.difference > 0 and tested.p * pairs < alpha:
                beaten.add(other)
    return beaten
