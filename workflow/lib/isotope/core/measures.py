"""What runs score: the measures, the values that they give each query, and the spread of means.

A measure is data: a gain over the relevant hits of a query, divided by an ideal. Both are Polars
expressions that aggregate the rows of one query. The gain sees the hits that are relevant: `rank`
(from 1), `relevance`, `found` (relevant hits down to this one), `above` (hits above it that are
judged 0), and the query's numbers of judgements `right` (above 0) and `wrong` (0). The ideal sees
all relevant judgements: `relevance` and `rank` (their place in the best possible ranking). A ratio
over `judged` rows sees hits and judgements of any relevance.

A run is scored piece by piece: memory follows the number of judged queries, not its length.
"""

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.core import sums
from isotope.core.errors import BadParams, EmptyTable, IntegrityError
from isotope.core.grid import RunKey, id_columns, run_order
from isotope.core.progress import Progress
from isotope.core.runs import KEY, batches, empty

Floats = NDArray[np.float64]
_DRAWS = 1 << 22
_WHOLE_RUN = 2**31 - 1
# What rounding leaves between the means of draws that are alike.
_ROUNDING = 1e-12
_FORM = re.compile(r"([A-Za-z]+)(?:@([1-9][0-9]{0,8}))?")
_RANK, _RELEVANCE = pl.col("rank"), pl.col("relevance")


class Ratio(NamedTuple):
    """The two halves of a measure: a query's value is `gain` / `ideal`, or 0 if either lacks."""

    gain: pl.Expr
    ideal: pl.Expr
    over: Literal["relevant", "judged"] = "relevant"


class Measure(NamedTuple):
    """How to compute a measure down to rank k, one sentence on it, and where it is defined."""

    function: Callable[[int], Ratio]
    description: str
    source: str


_TREC = "trec_eval 9.0.8"


def parse(name: str, where: str = "measures") -> Ratio:
    """Turn `R@1000` or `MAP` into its two expressions.

    Raises:
        BadParams: a name that is no key of MEASURES with a positive integer for k; `where` says
            whose it is.
    """
    form = _FORM.fullmatch(name)
    family, k = form.groups() if form else (name, None)
    measure = MEASURES.get(f"{family}@k" if k else family)
    if form is None or measure is None:
        forms = f"use one of {', '.join(MEASURES)}, k = 1, 2, ..."
        near = _near(name)
        remedy = f"did you mean {near!r}? ({forms})" if near else forms
        raise BadParams(where, f"no measure {name!r}", remedy)
    return measure.function(int(k) if k else _WHOLE_RUN)


def _near(name: str) -> str | None:
    """Return the measure that a name is likely to mean, with the name's own digits for k, or 10."""
    digits = re.search(r"[1-9][0-9]{0,8}$", name)
    k = digits[0] if digits else "10"
    names = {m.replace("@k", f"@{k}").lower(): m.replace("@k", f"@{k}") for m in MEASURES}
    family = name.partition("@")[0].lower()
    same = [m for low, m in names.items() if "@" in low and low.partition("@")[0] == family]
    near = same or [names[m] for m in difflib.get_close_matches(name.lower(), names, n=1)]
    return near[0] if near else None


def parse_all(names: Sequence[str]) -> dict[str, Ratio]:
    """Parse several names, each once, sorted.

    Raises:
        BadParams: no names at all, or an unknown one.
    """
    if not names:
        raise BadParams("measures", "an empty list", f"name some of {', '.join(MEASURES)}")
    return {name: parse(name) for name in sorted(set(names))}


class Judgements(NamedTuple):
    """The judgements by which a run is scored.

    `queries`: query_id, every judged query once, sorted. `relevant`: query_id, doc_id, relevance
    (above 0 only) and `rank`, the document's place in the best possible ranking of its query.
    `judged`: query_id, doc_id, relevance, all of them.
    """

    queries: pl.DataFrame
    relevant: pl.DataFrame
    judged: pl.DataFrame


def score_run(run: pl.DataFrame, qrels: pl.DataFrame, measures: Sequence[str]) -> pl.DataFrame:
    """Score a run (schemas.RUN) on qrels (query_id, doc_id, relevance): query_id, measure, value.

    Every judged query has every measure, sorted by measure, then query_id. A judged query without
    hits, or without a relevant document, counts 0 (trec_eval -c; ranx); hits of unjudged queries do
    not count. The run's `rank` is believed: `runs.read_run` has checked it, `runs.ranked` makes it.

    Raises:
        BadParams: an unknown measure.
        IntegrityError: a pair judged twice.
    """
    judged = judgements(qrels)
    return _values(judged_hits(run, judged), judged, parse_all(measures))


def score_file(path: Path, qrels: pl.DataFrame, measures: Sequence[str]) -> pl.DataFrame:
    """Score a run where it lies, piece by piece, as `score_run` scores one in memory.

    Raises:
        As `score_run` and `runs.batches`.
    """
    return _of_pieces(batches(path), judgements(qrels), parse_all(measures))


def score_cells(
    runs: Sequence[Path],
    qrels: Path,
    measures: Mapping[str, Ratio],
    read: Callable[[RunKey, pl.DataFrame], pl.DataFrame] = lambda _, piece: piece,
) -> Iterator[tuple[Path, pl.DataFrame]]:
    """Yield each run, in `run_order`, and its values as `score_run` returns them.

    A run is read in pieces; `read` may name its documents as the judgements do. A document that is
    not judged keeps its rank.

    Raises:
        BadParams, EmptyTable: as `score_collection`.
        As `runs.batches`.
    """
    judged, progress = pl.read_parquet(qrels, glob=False), Progress("runs", total=len(runs))
    for path in sorted(runs, key=run_order):
        cell = RunKey.from_path(path)
        pieces = (read(cell, piece) for piece in batches(path))
        yield path, _of_pieces(pieces, _directed(judged, cell, qrels), measures)
        progress.add()
    progress.finish()


def judgements(qrels: pl.DataFrame) -> Judgements:
    """Split qrels (query_id, doc_id, relevance) into judged queries and relevant documents.

    Raises:
        IntegrityError: a pair judged twice.
    """
    twice = qrels.filter(pl.struct(KEY).is_duplicated())
    if twice.height:
        query, doc = twice.select(KEY).row(0)
        problem = f"query {query!r} judges document {doc!r} more than once"
        raise IntegrityError("qrels", problem, "keep one judgement for each pair")
    # A relevance of zero or less is "judged, not relevant", as for trec_eval, by which AToMiC is
    # measured (section 4.4).
    relevant = qrels.filter(pl.col("relevance") > 0).sort("relevance", descending=True)
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("query_id")
    queries = qrels.select(pl.col("query_id").unique().sort())
    all_judgements = qrels.select(*KEY, "relevance")
    return Judgements(queries, relevant.with_columns(rank=rank), all_judgements)


def judged_hits(run: pl.DataFrame, judged: Judgements) -> pl.DataFrame:
    """Keep the judged hits of a run, or of a piece of one: query_id, rank, relevance."""
    documents = judged.judged["doc_id"].unique().implode()
    candidates = run.filter(pl.col("doc_id").is_in(documents)).select(*KEY, "rank")
    hits = candidates.join(judged.judged, on=KEY, maintain_order="left")
    return hits.select("query_id", "rank", "relevance").sort("query_id", "rank")


def resampled_means(values: Floats, samples: int, generator: np.random.Generator) -> Floats:
    """Return the means [samples, columns] of `values` [queries, columns], queries drawn anew.

    All columns see the same draws, so that systems stay paired. The draws are those of
    scipy.stats.bootstrap for the same generator; about 4 million are in memory at a time.
    """
    queries = values.shape[0]
    means = np.empty((samples, values.shape[1]))
    step = max(1, _DRAWS // queries)
    for start in range(0, samples, step):
        rows = min(step, samples - start)
        drawn = generator.integers(0, queries, (rows, queries))
        drawn += np.arange(rows)[:, None] * queries
        counts = np.bincount(drawn.ravel(), minlength=rows * queries).reshape(rows, queries)
        means[start : start + rows] = counts @ values / queries
    return means


def percentiles(means: Floats, level: float) -> tuple[Floats, Floats]:
    """Return the ends of the central interval that holds `level` of each column of `means`.

    Both are NaN where they are one number: queries that are all alike, or a single one, do not
    tell how far others may lie. Efron and Tibshirani, An Introduction to the Bootstrap (1993),
    section 13.3.
    """
    tail = (1 - level) / 2
    low, high = np.quantile(means, [tail, 1 - tail], axis=0)
    tells = high - low > _ROUNDING
    return np.where(tells, low, np.nan), np.where(tells, high, np.nan)


def _constant(value: float) -> pl.Expr:
    return pl.lit(value).first()


def _hits(k: int) -> pl.Expr:
    return (k >= _RANK).sum()


def _reciprocal_rank(k: int) -> Ratio:
    return Ratio((1 / _RANK.filter(k >= _RANK)).max(), _constant(1.0))


def _recall(k: int) -> Ratio:
    return Ratio(_hits(k), pl.len())


def _success(k: int) -> Ratio:
    return Ratio((k >= _RANK).any().cast(pl.Float64), _constant(1.0))


def _precision(k: int) -> Ratio:
    return Ratio(_hits(k), _constant(k))


def _average_precision(k: int) -> Ratio:
    return Ratio(sums.total((pl.col("found") / _RANK).filter(k >= _RANK)), pl.len())


def _discounted_gain(k: int) -> Ratio:
    total = sums.total((_RELEVANCE / (_RANK + 1).log(2)).filter(k >= _RANK))
    return Ratio(total, total)


def _binary_preference(_: int) -> Ratio:
    above, right, wrong = pl.col("above"), pl.col("right"), pl.col("wrong")
    loss = pl.min_horizontal(above, right) / pl.min_horizontal(wrong, right)
    return Ratio(sums.total(1 - pl.when(above > 0).then(loss).otherwise(0.0)), pl.len())


def _judged(k: int) -> Ratio:
    return Ratio(_hits(k), _constant(k), over="judged")


MEASURES: dict[str, Measure] = {
    "AP@k": Measure(
        _average_precision,
        "Precision at each relevant hit of the top k, summed, over all relevant documents.",
        f"{_TREC}, map_cut",
    ),
    "MAP": Measure(
        _average_precision,
        "Average precision over the whole run; its mean over queries is MAP.",
        f"{_TREC}, map",
    ),
    "MRR": Measure(
        _reciprocal_rank,
        "One divided by the rank of the first relevant hit of the whole run.",
        f"{_TREC}, recip_rank",
    ),
    "MRR@k": Measure(
        _reciprocal_rank,
        "One divided by the rank of the first relevant hit in the top k, else 0.",
        "MS MARCO passage ranking, MRR@10; trec_eval's recip_rank on a run cut to k",
    ),
    "P@k": Measure(
        _precision,
        "Relevant hits in the top k, divided by k even when the run is shorter.",
        f"{_TREC}, P",
    ),
    "R@k": Measure(
        _recall,
        "Relevant hits in the top k, divided by all relevant documents.",
        f"recall as in Yang et al., AToMiC, SIGIR 2023, section 4.4; {_TREC}, recall",
    ),
    "Success@k": Measure(
        _success,
        "1 if any hit of the top k is relevant, else 0; vision papers call this R@k.",
        f"Karpathy and Fei-Fei, CVPR 2015, R@K; {_TREC}, success",
    ),
    "bpref": Measure(
        _binary_preference,
        "How seldom hits judged 0 stand above relevant ones; unjudged hits do not matter.",
        f"Buckley and Voorhees, SIGIR 2004; {_TREC}, bpref",
    ),
    "Judged@k": Measure(
        _judged,
        "Hits in the top k that were judged, whatever the grade, divided by k as P@k is.",
        f"{_TREC}, P, with every judgement counted; ir_measures divides a shorter run by its hits",
    ),
    "nDCG": Measure(
        _discounted_gain,
        "Relevance over log2(rank + 1), summed over the whole run, over the best possible sum.",
        f"Järvelin and Kekäläinen, TOIS 20(4), 2002; {_TREC}, ndcg",
    ),
    "nDCG@k": Measure(
        _discounted_gain,
        "Relevance over log2(rank + 1), summed over the top k, over the best possible sum.",
        f"Järvelin and Kekäläinen, TOIS 20(4), 2002; {_TREC}, ndcg_cut",
    ),
}


def _directed(qrels: pl.DataFrame, cell: RunKey, path: Path) -> Judgements:
    query, doc = id_columns(cell.task)
    of_split = qrels.filter(pl.col("split") == cell.split)
    if of_split.is_empty():
        have = ", ".join(sorted(set(qrels["split"]))) or "none"
        remedy = f"set search.splits to splits that have judgements: {have}; "
        remedy += "if its answers are withheld, name it in search.unjudged too"
        raise EmptyTable(path, f"no judgement in split {cell.split!r}", remedy)
    return judgements(of_split.select(query_id=query, doc_id=doc, relevance="relevance"))


def _of_pieces(
    pieces: Iterable[pl.DataFrame], judged: Judgements, measures: Mapping[str, Ratio]
) -> pl.DataFrame:
    hits = [judged_hits(piece, judged) for piece in chain([empty()], pieces)]
    return _values(pl.concat(hits), judged, measures)


def _values(hits: pl.DataFrame, judged: Judgements, measures: Mapping[str, Ratio]) -> pl.DataFrame:
    both = judged.queries
    for over, rows, best in _sides(hits, judged):
        chosen = {name: ratio for name, ratio in measures.items() if ratio.over == over}
        gains = _aggregate(rows, {f"{name} gain": ratio.gain for name, ratio in chosen.items()})
        ideals = _aggregate(best, {name: ratio.ideal for name, ratio in chosen.items()})
        both = both.join(ideals, on="query_id", how="left").join(gains, on="query_id", how="left")
    ratios = {name: pl.col(f"{name} gain") / pl.col(name) for name in measures}
    wide = both.select("query_id", **{name: r.fill_null(0.0) for name, r in ratios.items()})
    long = wide.unpivot(index="query_id", variable_name="measure", value_name="value")
    return long.sort("measure", "query_id")


def _sides(hits: pl.DataFrame, judged: Judgements) -> list[tuple[str, pl.DataFrame, pl.DataFrame]]:
    """Return what a ratio is over, the hits that its gain sees, and what its ideal sees."""
    is_right, is_wrong = pl.col("relevance") > 0, pl.col("relevance") == 0
    # trec_eval takes a relevance below zero for no judgement at all here.
    numbers = judged.judged.group_by("query_id").agg(right=is_right.sum(), wrong=is_wrong.sum())
    counted = hits.with_columns(above=is_wrong.cum_sum().over("query_id"))
    right = counted.filter(is_right).join(numbers, on="query_id", maintain_order="left")
    counted = right.with_columns(found=pl.int_range(1, pl.len() + 1).over("query_id"))
    return [("relevant", counted, judged.relevant), ("judged", hits, judged.judged)]


def _aggregate(rows: pl.DataFrame, by_name: dict[str, pl.Expr]) -> pl.DataFrame:
    columns = [expression.cast(pl.Float64).alias(name) for name, expression in by_name.items()]
    return rows.group_by("query_id").agg(columns)
