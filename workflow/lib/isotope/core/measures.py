"""Measures as data: each is a gain over the relevant hits of a query, divided by an ideal.

Both are Polars expressions that aggregate the rows of one query. The gain sees the hits that are
relevant: `rank` (from 1), `relevance`, `found` (relevant hits down to this one), `above` (hits
above it that are judged 0), and the query's numbers of judgements `right` (above 0) and `wrong`
(0). The ideal sees all relevant judgements: `relevance` and `rank` (their place in the best
possible ranking). A ratio over `judged` rows sees hits and judgements of any relevance.
"""

import difflib
import re
from collections.abc import Callable, Sequence
from typing import Literal, NamedTuple

import polars as pl

from isotope.core.errors import BadParams

_WHOLE_RUN = 2**31 - 1
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
    return Ratio((pl.col("found") / _RANK).filter(k >= _RANK).sum(), pl.len())


def _discounted_gain(k: int) -> Ratio:
    total = (_RELEVANCE / (_RANK + 1).log(2)).filter(k >= _RANK).sum()
    return Ratio(total, total)


def _binary_preference(_: int) -> Ratio:
    above, right, wrong = pl.col("above"), pl.col("right"), pl.col("wrong")
    loss = pl.min_horizontal(above, right) / pl.min_horizontal(wrong, right)
    return Ratio((1 - pl.when(above > 0).then(loss).otherwise(0.0)).sum(), pl.len())


def _judged(k: int) -> Ratio:
    return Ratio(_hits(k), _constant(k), over="judged")


_TREC = "trec_eval 9.0.8"
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
        "Judged hits in the top k, whatever their grade, divided by k.",
        "ir_measures, Judged@k",
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
