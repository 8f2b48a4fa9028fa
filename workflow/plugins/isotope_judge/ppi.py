"""Means of a measure over queries by people's grades, by a model's, and by both: intervals of each.

Prediction-powered inference (Angelopoulos et al., Science 382, 2023) corrects the mean of a model's
values by what people's values differ from them on the queries that both have; PPI++ (Angelopoulos,
Duchi and Zrnic, arXiv:2311.01453, 2023) weighs the model by how far it tells what people say, so
that a useless model costs nothing. The unit is the query: queries are a sample of those that could
be asked, and those that people have judged a random sample among them.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]
_LEAST = 2
# With fewer queries by people the intervals of 95 % may hold the truth less often than 93 times in
# 100 (workflow/plugins/isotope_judge/tests/test_ppi.py).
LEAST_QUERIES = 20
_ROUNDING = 1e-12


class Estimate(NamedTuple):
    """A mean over queries and the ends of its interval; `weight` is the model's share, lambda."""

    mean: float
    low: float
    high: float
    weight: float | None = None

    @property
    def width(self) -> float:
        """The length of the interval."""
        return self.high - self.low


def mean_of(values: Sequence[float] | Values, level: float) -> Estimate:
    """Return the mean of [n] values with Student's interval.

    The ends are NaN below 2 values, and where all are alike.
    """
    numbers = np.asarray(values, np.float64)
    if numbers.size < _LEAST:
        mean = float(numbers.mean()) if numbers.size else float("nan")
        return Estimate(mean, float("nan"), float("nan"))
    error = float(numbers.std(ddof=1)) / numbers.size**0.5
    return _claimed(_around(float(numbers.mean()), error, level, numbers.size - 1))


def weight(people: Values, model: Values, unjudged: Values) -> float:
    """Return PPI++'s weight of the model, which makes the variance least, cut to [0, 1].

    `people` and `model` are the values [n] of the same queries, `unjudged` the model's on the N
    others. Source: arXiv:2311.01453, section 6, for a mean; 0 where the model's values are all
    equal.
    """
    covariance = float(((people - people.mean()) * (model - model.mean())).mean())
    spread = float(np.concatenate([model, unjudged]).var(ddof=1))
    if spread == 0:
        return 0.0
    return float(np.clip(covariance / ((1 + model.size / unjudged.size) * spread), 0, 1))


def published(people: Values, model: Values, unjudged: Values, level: float) -> Estimate:
    """Return PPI++'s mean and its normal interval, as `ppi_py.ppi_mean_ci` computes them.

    They hold for many queries: the weight is chosen by the queries that it is used on, which draws
    the mean of few queries to one side and makes its interval too short.
    """
    share = weight(people, model, unjudged)
    residual = people - share * model
    variance = float(share**2 * unjudged.var() / unjudged.size + residual.var() / residual.size)
    mean = share * float(unjudged.mean()) + float(residual.mean())
    return _around(mean, variance**0.5, level)._replace(weight=share)


def corrected(people: Values, model: Values, unjudged: Values, level: float) -> Estimate:
    """Return the prediction-powered mean with its interval, for few queries, too.

    `people` [n] and `model` [n] are of the queries that people have judged, `unjudged` [N] is the
    model's on all others; without two others the mean is that of people alone.

    As `published`, but a query's weight is chosen by the other judged queries (cross-fitting, as of
    Zrnic and Candès, PNAS 121(15), 2024), so that the mean is unbiased for any n; variances are
    unbiased, and the quantile is Student's with the degrees of freedom of Welch and Satterthwaite
    (Biometrics Bulletin 2(6), 1946). `weight` is the mean weight.
    """
    if min(unjudged.size, people.size - 1) < _LEAST:
        return mean_of(people, level)._replace(weight=0.0)
    shares = _weights_without(people, model, unjudged.size)
    share = float(shares.mean())
    moved = people - shares * (model - unjudged.mean())
    parts = [
        (_mean_variance(moved), moved.size - 1),
        (share**2 * _mean_variance(unjudged), unjudged.size - 1),
    ]
    total = sum(variance for variance, _ in parts)
    below = sum(variance**2 / freedom for variance, freedom in parts)
    freedom = total**2 / below if below > 0 else moved.size - 1
    estimate = _claimed(_around(float(moved.mean()), total**0.5, level, freedom))
    return estimate._replace(weight=share)


def _weights_without(people: Values, model: Values, unjudged_count: int) -> Values:
    """Return the weight of each query, [n], by the spread of the judged queries but that one.

    The other queries lend their number alone: their values would tie the weight to their mean.
    """
    n = people.size - 1
    y, f = people - people.mean(), model - model.mean()
    # Deviations from the means of all but one add up to those from the means of all, and this.
    covariance = y @ f - y * f * (n + 1) / n
    spread = np.maximum(f @ f - f**2 * (n + 1) / n, 0)
    ratio = np.zeros_like(spread)
    # What rounding leaves of equal values is no spread.
    enough = spread > _ROUNDING * max(float(model @ model), 1.0)
    np.divide(covariance, (1 + n / unjudged_count) * spread, out=ratio, where=enough)
    return np.clip(ratio, 0, 1)


def _mean_variance(values: Values) -> float:
    """Return the unbiased variance of the mean of two values or more."""
    return float(values.var(ddof=1)) / values.size


def _claimed(estimate: Estimate) -> Estimate:
    """Take away an interval without width: values that are all alike tell of no others."""
    unknown = float("nan")
    return estimate if estimate.width > _ROUNDING else estimate._replace(low=unknown, high=unknown)


def _around(mean: float, error: float, level: float, freedom: float = float("inf")) -> Estimate:
    """Return the interval of a mean: Student's with degrees of freedom, or the normal one."""
    from scipy.special import stdtrit  # noqa: PLC0415 (slow to import)

    reach = float(stdtrit(freedom, (1 + level) / 2)) * error
    return Estimate(mean, mean - reach, mean + reach)
