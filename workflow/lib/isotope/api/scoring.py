"""Runs are scored, compared and fused."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import isfinite
from numbers import Real
from typing import Literal

import numpy as np
import polars as pl

from isotope.api.tables import Qrels, Runs, Table, as_words, frame_of, qrels_of, runs_of
from isotope.core.errors import BadArgument, EmptyTable, IntegrityError, MissingColumn
from isotope.core.measures import parse_all, percentiles, resampled_means, score_run
from isotope.score import score as scores_of
from isotope.search import fuse as fusion
from isotope.tabulate.table import plain

MEASURES = ("MRR@10", "R@10", "R@1000", "Success@10", "nDCG@10", "MAP")
_SCORES = ("system", "query_id", "measure", "value")
# One cell, whatever it is called.
_CELL = ("collection", "setting", "split", "task")
_DEPTH = 1000
_LEAST_RUNS = 2
_DECIMALS = 3


def score(runs: Runs, qrels: Qrels, measures: str | Sequence[str] = MEASURES) -> pl.DataFrame:
    """Score runs on judgements.

    Every judged query has every measure: one that a run does not answer, or that has no relevant
    document, counts 0, as with `trec_eval -c`. Hits of queries that nobody judged do not count.

    Args:
        runs: One run as `read_run` takes it, `{system: run}`, or a list of files, which name the
            systems.
        qrels: As `read_qrels` takes them.
        measures: Names such as `nDCG@10`; docs/score.md has all: AP@k, MAP, MRR, MRR@k, P@k, R@k,
            Success@k, bpref, Judged@k, nDCG, nDCG@k.

    Returns:
        A row a system, measure and query, in this order: system (String, `run` for one without a
        name), query_id (String), measure (String), value (Float64, 0 to 1).

    Raises:
        BadParams: an unknown measure, or none.
        IntegrityError: a run that answers none of the judged queries, such as one of another split.
        As `read_run` and `read_qrels`.

    Source: trec_eval 9.0.8, by whose definitions AToMiC is measured (Yang et al., SIGIR 2023,
    section 4.4); MRR@10 is that of MS MARCO.

    Examples:
        >>> import isotope
        >>> run = {"q1": {"d1": 2.0, "d2": 1.0}, "q2": {"d1": 1.0}}
        >>> isotope.score(run, {"q1": {"d2": 1}, "q2": {"d1": 1}}, "MRR@10")["value"].to_list()
        [0.5, 1.0]
    """
    names = [measures] if isinstance(measures, str) else [*measures]
    parse_all(names)
    judged, parts = qrels_of(qrels), list[pl.DataFrame]()
    asked = judged["query_id"].unique()
    for system, run in runs_of(runs).items():
        if run.height and not run["query_id"].is_in(asked.implode()).any():
            problem = f"none of its queries is judged: {run['query_id'][0]!r}, ..."
            raise IntegrityError(system, problem, f"judged are {judged['query_id'][0]!r}, ...")
        parts.append(score_run(run, judged, names).with_columns(system=pl.lit(system)))
    return pl.concat(parts).select(_SCORES)


def compare(scores: Table) -> pl.DataFrame:
    """Test every system against every other: paired, two-sided t-tests over queries.

    Args:
        scores: What `score` returns, or any table of its columns; all systems are scored on the
            same queries.

    Returns:
        A row a measure and ordered pair of systems: measure, system, other, difference (mean of
        system less that of other), t (Float64; null for a single query), p, and p_bonferroni (p
        times the pairs of systems of a measure, at most 1).

    Raises:
        MissingColumn: scores without one of the four columns.
        IntegrityError: a query that a system lacks or has twice, or a value that is no number.
        EmptyTable: fewer than two systems.

    Source: Yang et al., AToMiC, SIGIR 2023, table 3 (paired t-tests with Bonferroni's correction);
    `scipy.stats.ttest_rel`.

    Examples:
        >>> import isotope
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}, "q3": {"d1": 1}}
        >>> good = {query: {"d1": 2.0, "d2": 1.0} for query in qrels}
        >>> poor = {query: {"d1": 1.0, "d2": 2.0} for query in qrels}
        >>> tests = isotope.compare(isotope.score({"good": good, "poor": poor}, qrels, "MRR@10"))
        >>> tests.select("system", "other", "difference").rows()
        [('good', 'poor', 0.5), ('poor', 'good', -0.5)]
    """
    rows = _scores(scores)
    if rows["system"].n_unique() < _LEAST_RUNS:
        raise EmptyTable("scores", "fewer than two systems", "score several runs to compare them")
    cell = rows.with_columns(pl.lit("").alias(name) for name in _CELL)
    return scores_of.compare(cell).drop(_CELL)


@dataclass(frozen=True, eq=False)
class Summary:
    """Means of systems with their intervals, and which are better than which.

    It is a table in a notebook, and as text: of each measure the best mean is bold (or starred),
    and letters are the systems that a mean is significantly above.

    Attributes:
        means: A row a system and measure: system, measure, queries (Int64), mean, low, high
            (Float64; the ends of the interval, null where queries are all alike), better_than
            (List(String), systems).
        tests: What `compare` returns; empty for one system.
        level: Share of the resampled means that lie in an interval.
        alpha: A difference is significant where p_bonferroni is below it.

    Source: Yang et al., AToMiC, SIGIR 2023, table 3 (letters and Bonferroni's correction).

    Examples:
        >>> import isotope
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}}
        >>> run = {query: {"d2": 2.0, "d1": 1.0} for query in qrels}
        >>> summary = isotope.summarise(isotope.score(run, qrels, "MRR@10"))
        >>> summary.means.select("system", "queries", "mean").rows(), summary.tests.height
        ([('run', 2, 0.5)], 0)
    """

    means: pl.DataFrame
    tests: pl.DataFrame
    level: float
    alpha: float

    def _cells(self, best: Callable[[str], str], letters: Callable[[str], str]) -> list[list[str]]:
        """Return a row a system, beginning with its letter and name, a cell a measure."""
        systems = self.means["system"].unique(maintain_order=True).to_list()
        named = {system: _letter(n) for n, system in enumerate(systems)}
        tops = dict(self.means.group_by("measure").agg(pl.col("mean").max()).iter_rows())
        rows = {system: [named[system], system] for system in systems}
        for row in self.means.iter_rows(named=True):
            text = f"{row['mean']:.{_DECIMALS}f}"
            text = best(text) if row["mean"] == tops[row["measure"]] else text
            above = "".join(named[other] for other in row["better_than"])
            rows[row["system"]].append(text + (letters(above) if above else ""))
        return [*rows.values()]

    def _head(self) -> list[str]:
        return ["", "system", *self.means["measure"].unique(maintain_order=True)]

    def _repr_html_(self) -> str:
        """Return the table for notebooks."""
        rows = self._cells("<b>{}</b>".format, "<sup>{}</sup>".format)
        for row in rows:
            row[1] = escape(row[1])
        head = "".join(f"<th>{escape(name)}</th>" for name in self._head())
        body = "".join(f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows)
        note = escape(self._note("bold"))
        table = f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
        return f"<table><caption>{note}</caption>{table}</table>"

    def __str__(self) -> str:
        """Return the table as text."""
        rows = self._cells("{}*".format, " {}".format)
        return plain(rows, self._head()) + self._note("*")

    def _note(self, best: str) -> str:
        queries = self.means["queries"].max()
        letters = f"letters: significantly above the system of the letter, p < {self.alpha:g}"
        return f"means of {queries:,} queries; {best}: best; {letters} (paired t-tests, Bonferroni)"


def summarise(
    scores: Table,
    *,
    level: float = 0.95,
    alpha: float = 0.05,
    samples: int = 1000,
    seed: int = 0,
) -> Summary:
    """Put systems side by side: means over queries, intervals, and significant differences.

    Args:
        scores: What `score` returns, or any table of its columns.
        level: Share of the resampled means that an interval holds, between 0 and 1.
        alpha: A difference is significant where its corrected p is below it, between 0 and 1.
        samples: How often queries are drawn anew, with replacement.
        seed: Of the generator that draws them; the same seed gives the same intervals.

    Returns:
        A `Summary`.

    Raises:
        BadArgument: a level, alpha or seed out of its range, or no sample.
        As `compare`, but for a single system, which is compared with none.

    Source: Efron and Tibshirani, An Introduction to the Bootstrap, 1993, section 13.3, for the
    intervals; `compare` for the tests.

    Examples:
        >>> import isotope
        >>> qrels = {"q1": {"d1": 1}, "q2": {"d1": 1}, "q3": {"d1": 1}}
        >>> good = {query: {"d1": 2.0, "d2": 1.0} for query in qrels}
        >>> poor = {query: {"d1": 1.0, "d2": 2.0} for query in qrels}
        >>> scores = isotope.score({"good": good, "poor": poor}, qrels, ["MRR@10", "R@1"])
        >>> print(isotope.summarise(scores))
           system  MRR@10    R@1
        a  good    1.000* b  1.000* b
        b  poor    0.500     0.000
        means of 3 queries; *: best; letters: significantly above the system of the letter, p < 0.05 (paired t-tests, Bonferroni)
    """  # noqa: E501 (as it is printed)
    for name, value in (("level", level), ("alpha", alpha)):
        if not 0 < value < 1:
            raise BadArgument(name, f"{value}", "give a number between 0 and 1")
    if seed < 0:
        raise BadArgument("seed", f"{seed}", "give 0 or more")
    if samples < 1:
        raise BadArgument("samples", f"{samples}", "give 1 or more; 1,000 is usual")
    rows = _scores(scores)
    systems = rows["system"].unique(maintain_order=True).to_list()
    pairs = rows.select("system", "measure").unique()
    if pairs.height != len(systems) * rows["measure"].n_unique():
        problem = "a system that lacks a measure of another one"
        raise IntegrityError("scores", problem, "score all systems by the same measures")
    tests = compare(rows) if len(systems) >= _LEAST_RUNS else _no_tests()
    is_better = (pl.col("p_bonferroni") < alpha) & (pl.col("difference") > 0)
    better = tests.filter(is_better).group_by("system", "measure", maintain_order=True)
    means = _means(rows, systems, np.random.default_rng(seed), samples, level)
    above = better.agg(better_than=pl.col("other"))
    means = means.join(above, on=["system", "measure"], how="left", maintain_order="left")
    nothing = pl.lit([], pl.List(pl.String))
    means = means.with_columns(pl.col("better_than").fill_null(nothing))
    return Summary(means, tests, level, alpha)


def _means(
    rows: pl.DataFrame,
    systems: Sequence[str],
    generator: np.random.Generator,
    samples: int,
    level: float,
) -> pl.DataFrame:
    """Return system, measure, queries, mean, low and high, measure by measure."""
    parts = list[pl.DataFrame]()
    for (measure,), values_of in rows.group_by("measure", maintain_order=True):
        wide = values_of.pivot("system", index="query_id", values="value").select(systems)
        values = wide.to_numpy().astype(np.float64)
        low, high = percentiles(resampled_means(values, samples, generator), level)
        named = {"system": systems, "measure": [measure] * len(systems)}
        counts = {"queries": [len(values)] * len(systems)}
        columns = {"mean": values.mean(axis=0), "low": low, "high": high}
        parts.append(pl.DataFrame({**named, **counts, **columns}).fill_nan(None))
    return pl.concat(parts)


def fuse(  # noqa: PLR0913 (a parameter each for what fusions have)
    runs: Runs,
    method: Literal["rrf", "wsum"] = "rrf",
    *,
    k: float = 60,
    weights: Mapping[str, float] | Sequence[float] | None = None,
    norm: Literal["min-max", "none"] = "min-max",
    depth: int | None = _DEPTH,
) -> pl.DataFrame:
    """Make one run of several.

    Args:
        runs: Two runs or more, `{system: run}` or a list of files.
        method: `rrf`, the sum of 1 / (k + rank), or `wsum`, the weighted sum of scores.
        k: Of rrf: the greater, the less the first ranks count.
        weights: Of wsum: a number a run, by system or in their order; without them all count alike.
        norm: Of wsum: `min-max` brings the scores of each query and run to 0..1 first, `none`
            leaves them.
        depth: Most hits of a query; None keeps all.

    Returns:
        A run, as `read_run` returns one. A query that some of the runs answer stays.

    Raises:
        BadParams: fewer than two runs, a negative k, another norm, or not one weight a run.
        BadArgument: another method, a weight of no run, a weight or k that is no number, weights
            with rrf, which has none, or a depth below 1.
        As `read_run`.

    Source: Cormack, Clarke and Büttcher, SIGIR 2009, for rrf and its k of 60; both equal
    `ranx.fuse` in their scores.

    Examples:
        >>> import isotope
        >>> one, two = {"q": {"a": 3.0, "b": 2.0}}, {"q": {"b": 9.0, "c": 1.0}}
        >>> isotope.fuse({"one": one, "two": two}, depth=1).select("doc_id", "rank").rows()
        [('b', 1)]
    """
    if depth is not None and depth < 1:
        raise BadArgument("depth", f"{depth}", "give 1 or more, or None")
    if not isfinite(k):
        raise BadArgument("k", f"{k}", "give a number of 0 or more; 60 is usual")
    if weights is not None and method == "rrf":
        raise BadArgument("weights", "rrf weighs all runs alike", "leave them out, or name wsum")
    named = runs_of(runs)
    if method == "rrf":
        return fusion.rrf([*named.values()], k, depth)
    if method != "wsum":
        raise BadArgument("method", f"{method!r}", "name rrf or wsum")
    numbers = _weights(weights, [*named])
    bad = [number for number in numbers if not isinstance(number, Real) or not isfinite(number)]
    if bad:
        raise BadArgument("weights", f"{bad[0]!r} is no number", "give a number a run")
    return fusion.wsum([*named.values()], numbers, norm, depth)


def _weights(
    weights: Mapping[str, float] | Sequence[float] | None, names: Sequence[str]
) -> list[float]:
    if weights is None:
        return [1.0] * len(names)
    if not isinstance(weights, Mapping):
        return [*weights]
    weights = {str(name): weight for name, weight in weights.items()}
    apart = sorted({*weights} ^ {*names})
    if apart:
        raise BadArgument("weights", f"{apart[0]!r} is not in both", f"weigh {', '.join(names)}")
    return [weights[name] for name in names]


def _scores(scores: Table) -> pl.DataFrame:
    rows = frame_of(scores, "value", "scores")
    lacking = [name for name in _SCORES if name not in rows.columns]
    if lacking:
        problem = f"no column {lacking[0]!r} among {', '.join(rows.columns)}"
        raise MissingColumn("scores", problem, "give what isotope.score returns")
    value = pl.col("value").cast(pl.Float64, strict=False)
    rows = rows.with_columns(as_words(rows[name], "scores") for name in _SCORES[:3])
    rows = rows.select(_SCORES).with_columns(value)
    if rows.is_empty():
        raise EmptyTable("scores", "no row", "score a run first")
    bad = rows.filter(~pl.col("value").is_finite().fill_null(value=False))
    if bad.height:
        problem = f"{bad['measure'][0]} of query {bad['query_id'][0]!r} is {bad['value'][0]}"
        raise IntegrityError("scores", problem, "score the run again")
    twice = rows.filter(pl.struct("system", "measure", "query_id").is_duplicated())
    if twice.height:
        system, query, *_ = twice.row(0)
        problem = f"system {system!r} has query {query!r} twice"
        raise IntegrityError("scores", problem, "give each system its own name")
    return rows


def _no_tests() -> pl.DataFrame:
    texts = dict.fromkeys(("measure", "system", "other"), pl.String())
    numbers = dict.fromkeys(("difference", "t", "p", "p_bonferroni"), pl.Float64())
    return pl.DataFrame(schema={**texts, **numbers})


def _letter(number: int) -> str:
    """Return a, b, ..., z, a1, b1, ..."""
    turn, letter = divmod(number, 26)
    return chr(ord("a") + letter) + (str(turn) if turn else "")
