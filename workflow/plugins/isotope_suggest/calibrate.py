"""What a score is worth: isotonic probabilities, and thresholds that keep a precision.

Both are of validation sections whose own picture is hidden, at scores by weights that never saw
their page. Thresholds are found by Learn then Test (arXiv 2110.01052): the hypothesis "suggestions
that score this much are right too rarely" is tested for one threshold after another, in an order
that was fixed before, by an exact binomial tail, until one is not rejected. Precision does not
rise with every threshold, so conformal risk control (arXiv 2208.02814), which needs a monotone
loss, and bounds its mean only, does not apply.

What is promised: with probability `confidence` over draws of the validation sections, at least the
share `precision` of the suggestions for sections that are drawn like them is right. That holds for
scores that were fixed before. Ours are cross-fitted, and those of other sections are by weights of
all folds, so it holds but for what a fifth of the sections changes in the weights. It promises
nothing of open sections, many of which no picture fits: they score lower. So a threshold may rise
for them, until a suggestion is rather right than wrong (`likely_from`), and those of the feed are
right in the mean by their own probabilities (`mean_from`).
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
# A group of candidates has a curve of its own from so many right and so many wrong ones on.
ENOUGH = 50
# So many candidates of a block count as much as the curve of the group around it.
DRAWN = 25
LEVEL = 0.95
# Probability, over draws of the validation sections, with which the wanted precision is reached.
CONFIDENCE = 0.9
_WIDTH = 1.96
_ALL = "all"
# Standard deviations of the shift and of the logarithm of the slope before any candidate is seen.
_LINE_SPREAD = (1.0, 1.0)
_LINE_KNOTS = 65
_DIGITS = 9
# Logits, strictest first: fixed, so that no label chooses what is tested.
THRESHOLDS = np.round(np.arange(160, -61, -1) / 10, 1)
# The first test has at least this share of the sections: among few, one error ends the tests.
_FIRST_SHARE = 0.02
# How much of the error the tests of first suggestions may spend; others have equal parts of the
# rest. Judged sections have mostly one right picture, so that few others can be certified.
_FIRST_RANK = 0.8
_MOST_SECTIONS = 1 << 20


class Certified(NamedTuple):
    """A threshold for the suggestions of one rank, null where none is certified, and `why`.

    Of `sections` suggestions that score at least `threshold` (or, where there is none, the first
    threshold tested), `right` are right; `bound` is the lower bound of Clopper and Pearson at
    1 - `error`.
    """

    rank: int
    threshold: float | None
    sections: int
    right: int
    bound: float
    error: float
    why: str


class Chances(NamedTuple):
    """Probabilities, and the ends of their intervals of LEVEL; [n] each."""

    probability: Floats
    low: Floats
    high: Floats


def curves(
    scores: Floats, right: Bools, kinds: Sequence[str], page_classes: Sequence[str]
) -> dict[str, dict[str, Any]]:
    """Fit curves from scores [n] to the share of right candidates.

    There is one of `all`, one of each kind and one of each `kind/page class` that has ENOUGH. A
    curve is an isotonic regression each of whose blocks is drawn towards the curve of the group
    around it, as if that one were DRAWN more candidates of the block; around `all` is the line of
    `fitted_line`. It ends half a candidate of so many away from 0 and 1: a block of few claims
    little, however many candidates the others have.

    Knots are `x` (scores), `y` (probabilities), `low` and `high` (the ends of intervals of LEVEL),
    all rising; between them it is linear, beyond them constant.
    """
    kind, page_class = np.asarray(kinds, np.str_), np.asarray(page_classes, np.str_)
    groups = {_ALL: _curve(scores, right, fitted_line(scores, right))}
    for name in sorted(set(kinds)):
        of_kind = kind == name
        if not _is_enough(right[of_kind]):
            continue
        groups[name] = _curve(scores[of_kind], right[of_kind], groups[_ALL])
        for class_name in sorted(set(page_class[of_kind].tolist())):
            both = of_kind & (page_class == class_name)
            if class_name and _is_enough(right[both]):
                groups[f"{name}/{class_name}"] = _curve(scores[both], right[both], groups[name])
    return groups


def _is_enough(right: Bools) -> bool:
    return min(int(right.sum()), int((~right).sum())) >= ENOUGH


def fitted_line(scores: Floats, right: Bools) -> dict[str, Any]:
    """Return the knots of a logistic curve, logit = shift + slope * score, with its interval.

    It is the mode of the posterior, with the normal approximation there. Before any candidate is
    seen, scores count as what they are, logits: shift 0, slope 1. Source: J. Platt, Probabilistic
    Outputs for Support Vector Machines, 1999; here a prior stands for its smoothed targets.
    """
    from scipy.optimize import minimize  # noqa: PLC0415 (slow to import)
    from scipy.special import expit  # noqa: PLC0415 (slow to import)

    precision = 1 / np.array(_LINE_SPREAD) ** 2

    def cost(at: Floats) -> tuple[float, Floats]:
        slopes = np.exp(at[1]) * scores
        logits = at[0] + slopes
        gaps = expit(logits) - right
        value = (np.logaddexp(0, logits) - right * logits).sum() + (precision * at**2).sum() / 2
        return float(value), np.array([gaps.sum(), gaps @ slopes]) + precision * at

    solved: Any = minimize(cost, np.zeros(2), jac=True, method="BFGS")
    shift, slope = float(solved.x[0]), float(np.exp(solved.x[1]))
    chance = expit(shift + slope * scores)
    design = np.stack([np.ones(len(scores)), slope * scores])
    spread = np.linalg.inv((design * (chance * (1 - chance))) @ design.T + np.diag(precision))
    x = np.linspace(scores.min(), scores.max(), _LINE_KNOTS)
    at = np.stack([np.ones(len(x)), slope * x])
    logits, width = shift + slope * x, _WIDTH * np.sqrt(((spread @ at) * at).sum(axis=0))
    return {"x": x, "y": expit(logits), "low": expit(logits - width), "high": expit(logits + width)}


def _curve(scores: Floats, right: Bools, around: Mapping[str, Any]) -> dict[str, Any]:
    from scipy.special import betaincinv  # noqa: PLC0415 (slow to import)

    x, y = isotonic(scores, right)
    shares, sizes = np.unique(np.interp(scores, x, y), return_counts=True)
    knots = np.union1d(x, np.asarray(around["x"]))
    size = np.interp(knots, x, sizes[np.searchsorted(shares, y).clip(max=len(shares) - 1)])
    share = np.interp(knots, x, y)
    hits = share * size
    # Jeffreys' interval of the block (Brown, Cai and DasGupta, Statistical Science 16, 2001).
    ends = [betaincinv(hits + 0.5, size - hits + 0.5, (1 + side * LEVEL) / 2) for side in (-1, 1)]
    weight, least = size / (size + DRAWN), 0.5 / (size + DRAWN + 1)
    y, low, high = (
        weight * values + (1 - weight) * _at(around, knots, name)
        for name, values in zip(("y", "low", "high"), (share, *ends), strict=True)
    )
    y, low, high = (_rising(values) for values in (y.clip(least, 1 - least), low, high))
    counts = {"candidates": len(right), "right": int(right.sum())}
    columns = {"x": knots, "y": y, "low": np.minimum(low, y), "high": np.maximum(high, y)}
    return {
        **counts,
        **{name: np.round(values, _DIGITS).tolist() for name, values in columns.items()},
    }


def _rising(values: Floats) -> Floats:
    """Return the mean of the least rising curve above the values and the greatest one below."""
    below = np.minimum.accumulate(values[::-1])[::-1]
    return (np.maximum.accumulate(values) + below) / 2


def isotonic(scores: Floats, right: Bools) -> tuple[Floats, Floats]:
    """Return the knots of the rising step function with the least squared error."""
    from sklearn.isotonic import IsotonicRegression  # noqa: PLC0415 (slow to import)

    model: Any = IsotonicRegression(y_min=0.0, y_max=1.0, out_of_bounds="clip")
    model.fit(scores, right.astype(np.float64))
    return model.X_thresholds_, model.y_thresholds_


def _at(curve: Mapping[str, Any], scores: Floats, name: str = "y") -> Floats:
    return np.interp(scores, curve["x"], curve[name])


def probabilities(
    groups: Mapping[str, Mapping[str, Any]],
    scores: Floats,
    kinds: Sequence[str],
    page_classes: Sequence[str],
) -> Chances:
    """Return the probabilities of scores [n] by the curve of the smallest group that has one."""
    names = np.array(
        [
            _group(groups, kind, page_class)
            for kind, page_class in zip(kinds, page_classes, strict=True)
        ],
        np.str_,
    )
    out = Chances(*np.zeros((3, len(scores))))
    for name in set(names.tolist()):
        rows = names == name
        for column, end in zip(out, ("y", "low", "high"), strict=True):
            column[rows] = _at(groups[name], scores[rows], end)
    return out


def _group(groups: Mapping[str, Any], kind: str, page_class: str) -> str:
    group = f"{kind}/{page_class}"
    return group if group in groups else kind if kind in groups else _ALL


def tail(right: int, sections: int, precision: float) -> float:
    """Return the probability of `right` or more right ones of `sections` at this precision."""
    from scipy.special import bdtrc  # noqa: PLC0415 (slow to import)

    return float(bdtrc(right - 1, sections, precision)) if right else 1.0


def lower_bound(right: int, sections: int, error: float) -> float:
    """Return the one-sided lower bound of Clopper and Pearson (Biometrika 26, 1934) of a share.

    It is the precision at which `tail` is `error`; 0 where nothing is right.
    """
    from scipy.stats import beta  # noqa: PLC0415 (slow to import)

    return float(beta.ppf(error, right, sections - right + 1)) if right else 0.0


@cache
def least_sections(errors: int, precision: float, error: float) -> int:
    """Return how many sections a test needs that is passed with so many errors."""
    low, high = errors, _MOST_SECTIONS
    while high - low > 1:
        middle = (low + high) // 2
        is_passed = tail(middle - errors, middle, precision) <= error
        low, high = (low, middle) if is_passed else (middle, high)
    return high


class Level(NamedTuple):
    """The precision wanted, and the probability with which a test may err."""

    precision: float
    error: float


def certify(
    scores: Sequence[Floats],
    right: Sequence[Bools],
    *,
    sections: int,
    precision: float,
    confidence: float = CONFIDENCE,
) -> list[Certified]:
    """Return the threshold of each rank.

    `scores` and `right` have an item a rank, with the suggestions of that rank, one a section at
    most; `sections` is the number of all validation sections. A suggestion of a section is one
    draw, so suggestions of a section, which depend on each other, are never counted together: each
    rank has tests of its own, and the ranks share the error 1 - `confidence`. So all their
    thresholds hold at once, and with them the precision of all suggestions together. A later
    rank's threshold is never below that of the rank before it, so that no second suggestion is
    shown without the first, and there is none without that.
    """
    error, later_ranks = 1 - confidence, len(scores) - 1
    certified, least = list[Certified](), -np.inf
    for rank_scores, hits in zip(scores, right, strict=True):
        share = (1 - _FIRST_RANK) / later_ranks if certified else _FIRST_RANK if later_ranks else 1
        level, rank = Level(precision, error * share), len(certified) + 1
        tested, enough = _tested(rank_scores, sections, level), rank_scores >= least
        certified.append(
            _test(rank, rank_scores[enough], hits[enough], tested[tested >= least], level)
        )
        least = _least_equal(rank_scores, certified[-1].threshold)
    return _in_order(certified)


def _least_equal(scores: Floats, threshold: float | None) -> float:
    """Return the least of THRESHOLDS with the same suggestions, which has the same test."""
    if threshold is None:
        return np.inf
    same = _above(scores, THRESHOLDS) == (scores >= threshold).sum()
    return float(THRESHOLDS[same].min())


def _in_order(certified: Sequence[Certified]) -> list[Certified]:
    """Lower thresholds to those of later ranks; `_least_equal` has seen that no test changes."""
    ordered = list[Certified]()
    lowest = np.inf
    for certificate in reversed(certified):
        lowest = lowest if certificate.threshold is None else min(lowest, certificate.threshold)
        ordered.append(
            certificate
            if certificate.threshold is None
            else certificate._replace(threshold=float(lowest))
        )
    return ordered[::-1]


def _test(rank: int, scores: Floats, right: Bools, tested: Floats, level: Level) -> Certified:
    counts, hits = _above(scores, tested), _above(scores[right], tested)
    passed = [
        tail(*pair, level.precision) <= level.error for pair in zip(hits, counts, strict=True)
    ]
    last = (passed.index(False) if False in passed else len(passed)) - 1
    if not passed:
        why = (
            f"{len(scores)} sections of validation have a suggestion of rank {rank} that scores "
            f"enough, at least {least_sections(0, *level)} without an error are needed"
        )
        tally = len(scores), int(right.sum())
    else:
        tally = int(counts[max(last, 0)]), int(hits[max(last, 0)])
        why = f"of the {tally[0]} best suggestions of rank {rank} {tally[1]} are right"
    bound = lower_bound(tally[1], tally[0], level.error)
    if last >= 0:
        return Certified(rank, float(tested[last]), *tally, bound, level.error, "")
    return Certified(rank, None, *tally, bound, level.error, f"not certified: {why}")


def at(threshold: float, certified: Certified, scores: Floats, right: Bools) -> Certified:
    """Return what is known of a stricter threshold than that of `certified`.

    A threshold among those tested is certified too: all tests up to the last one hold at once.
    """
    above = scores >= threshold
    tally = int(above.sum()), int(right[above].sum())
    return Certified(
        certified.rank,
        threshold,
        *tally,
        lower_bound(tally[1], tally[0], certified.error),
        *certified[5:],
    )


def likely_from(curve: Mapping[str, Any]) -> float:
    """Return the least of THRESHOLDS from which on a suggestion is right as likely as wrong."""
    likely = THRESHOLDS[_at(curve, THRESHOLDS) >= 0.5]  # noqa: PLR2004 (one half)
    return float(likely.min()) if len(likely) else float("inf")


def mean_from(scores: Floats, probability: Floats, precision: float) -> float:
    """Return the least of THRESHOLDS above which the probabilities' mean is the precision wanted.

    It is minus infinity where all suggestions have that mean, or there are none, and infinity where
    no threshold leaves some that have it.
    """
    if not len(scores) or probability.mean() >= precision:
        return float("-inf")
    enough = [
        float(threshold)
        for threshold in THRESHOLDS
        if (above := scores >= threshold).any() and probability[above].mean() >= precision
    ]
    return min(enough, default=float("inf"))


def _above(scores: Floats, thresholds: Floats) -> NDArray[np.int64]:
    """Return how many scores are at least each threshold."""
    return len(scores) - np.searchsorted(np.sort(scores), thresholds, side="left")


def _tested(scores: Floats, sections: int, level: Level) -> Floats:
    """Return the thresholds to test, strictest first; none where there are too few suggestions.

    The first leaves enough suggestions for a test that forgives one error, or none where so many
    are not there. Only the number of scores above it decides, never what is right.
    """
    forgiving, strict = (least_sections(errors, *level) for errors in (1, 0))
    counts = _above(scores, THRESHOLDS)
    for least in (max(forgiving, int(_FIRST_SHARE * sections)), strict):
        tested, tested_counts = THRESHOLDS[counts >= least], counts[counts >= least]
        if len(tested):
            # A threshold that adds no suggestion has the test of the one before it.
            return tested[np.concatenate([[True], np.diff(tested_counts) > 0])]
    return THRESHOLDS[:0]
