"""Means of a measure by people and by a model: against ppi-python, and by simulation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ppi_py import ppi_mean_ci, ppi_mean_pointestimate
from scipy import stats

from isotope_judge.ppi import LEAST_QUERIES, Values, corrected, mean_of, published, weight

LEVEL = 0.95
_TRIALS = 2500
Draw = Callable[[np.random.Generator, int], tuple[Values, Values]]
slope: Any = stats.linregress


def ndcg(rng: np.random.Generator, n: int) -> tuple[Values, Values]:
    """A third of the queries has no right hit; the model is generous by about 0.15."""
    people: Any = np.where(rng.random(n) < 0.3, 0.0, rng.beta(2, 2, n))
    noise = 0.3 * rng.random(n) + 0.05 * rng.standard_normal(n)
    return people, np.asarray(np.clip(0.7 * people + noise + 0.1, 0, 1), np.float64)


def success(rng: np.random.Generator, n: int) -> tuple[Values, Values]:
    """One or none; the model errs on every fifth query."""
    people: Any = (rng.random(n) < 0.3) * 1.0
    return people, np.where(rng.random(n) < 0.8, people, 1 - people)


def reciprocal_rank(rng: np.random.Generator, n: int) -> tuple[Values, Values]:
    """The right hit comes at a geometric rank; the model rates every fourth query by chance."""
    rank = rng.geometric(0.25, n)
    people = np.where(rank <= 10, 1 / rank, 0)
    return people, np.where(rng.random(n) < 0.75, people, rng.random(n))


def useless(rng: np.random.Generator, n: int) -> tuple[Values, Values]:
    """A model that says nothing of what people say."""
    return rng.beta(2, 3, n), rng.random(n)


RANKS = np.arange(1, 11)
TRUTH: dict[Draw, float] = {
    ndcg: 0.35,
    success: 0.3,
    reciprocal_rank: float((0.25 * 0.75 ** (RANKS - 1) / RANKS).sum()),
    useless: 0.4,
}


@pytest.mark.parametrize("draw", TRUTH)
@pytest.mark.parametrize(("n", "unjudged_count"), [(LEAST_QUERIES, 150), (40, 20), (100, 900)])
def test_ppi_python_has_the_same_weight_mean_and_interval(draw: Draw, n: int, unjudged_count: int):
    people, model = draw(np.random.default_rng(n), n + unjudged_count)
    samples = people[:n], model[:n], model[n:]
    ours = published(*samples, LEVEL)
    low, high = (float(np.squeeze(end)) for end in ppi_mean_ci(*samples, alpha=1 - LEVEL))
    assert ours.mean == pytest.approx(
        float(np.squeeze(ppi_mean_pointestimate(*samples))), abs=1e-12
    )
    assert (ours.low, ours.high) == pytest.approx((low, high), abs=1e-12)
    assert ours.weight == weight(*samples)


@pytest.mark.parametrize("draw", TRUTH)
@pytest.mark.parametrize(
    ("n", "unjudged_count"),
    [
        (LEAST_QUERIES, 200),
        pytest.param(LEAST_QUERIES, 30, marks=pytest.mark.long),
        pytest.param(50, 200, marks=pytest.mark.long),
    ],
)
def test_95_percent_intervals_hold_the_truth_93_to_97_times_in_100(
    draw: Draw, n: int, unjudged_count: int
):
    rng, held = np.random.default_rng(7), np.zeros(2)
    means = np.empty((2, _TRIALS))
    widths = np.zeros(2)
    for trial in range(_TRIALS):
        people, model = draw(rng, n + unjudged_count)
        both = corrected(people[:n], model[:n], model[n:], LEVEL), mean_of(people[:n], LEVEL)
        held += [e.low <= TRUTH[draw] <= e.high for e in both]
        means[:, trial] = [e.mean for e in both]
        # Of queries that are all alike there is none.
        lengths = np.array([e.width for e in both])
        widths += lengths if np.isfinite(lengths).all() else 0
    error = means.std(axis=1) / _TRIALS**0.5
    # 2,500 trials tell a share of 95 % to within 0.4 % (one standard error).
    assert np.all((held / _TRIALS > 0.93) & (held / _TRIALS < 0.97)), held / _TRIALS
    assert np.all(abs(means.mean(axis=1) - TRUTH[draw]) < 3.5 * error)
    assert widths[0] < 1.02 * widths[1] if draw is useless else widths[0] < 0.97 * widths[1]


def test_a_generous_model_alone_is_sure_of_what_is_wrong_and_people_correct_it():
    people, model = ndcg(np.random.default_rng(5), 400)
    alone, both = mean_of(model, LEVEL), corrected(people[:60], model[:60], model[60:], LEVEL)
    assert alone.low > TRUTH[ndcg] + 0.05
    assert both.low < TRUTH[ndcg] < both.high


def test_the_interval_of_people_is_students():
    values = np.array([0.0, 0.5, 1.0, 0.25, 0.25])
    ours = mean_of(values, LEVEL)
    low, high = stats.ttest_1samp(values, 0).confidence_interval(LEVEL)
    assert (ours.mean, ours.low, ours.high) == pytest.approx((0.4, low, high), abs=1e-12)


def test_one_query_has_a_mean_and_no_interval_and_none_has_neither():
    single, none = mean_of([0.5], LEVEL), mean_of([], LEVEL)
    assert single.mean == 0.5
    assert np.isnan([single.low, single.high, none.mean, none.low, none.high]).all()


def test_where_people_have_judged_all_queries_the_model_has_no_say():
    people, model = success(np.random.default_rng(1), 30)
    all_judged = corrected(people, model, np.empty(0), LEVEL)
    assert all_judged == mean_of(people, LEVEL)._replace(weight=0.0)


def test_a_model_that_gives_every_query_the_same_value_has_no_say():
    people = np.random.default_rng(1).random(30)
    flat = corrected(people, np.full(30, 0.3), np.full(90, 0.3), LEVEL)
    assert flat.weight == 0
    assert flat.mean == pytest.approx(people.mean(), abs=1e-12)


values = st.lists(st.integers(0, 20).map(lambda n: n / 20), min_size=4, max_size=12)


@given(values, values, values, st.sampled_from([0.8, 0.95]))
def test_a_query_is_weighed_by_the_slope_of_the_other_judged_ones(people, model, unjudged, level):
    n = min(len(people), len(model))
    y, f, r = np.array(people[:n]), np.array(model[:n]), np.array(unjudged)
    slopes = [slope(f[k], y[k]).slope if np.ptp(f[k]) else 0.0 for k in ~np.eye(n, dtype=bool)]
    shares = np.clip(np.array(slopes) / (1 + (n - 1) / r.size), 0, 1)
    ours = corrected(y, f, r, level)
    assert ours.mean == pytest.approx((y - shares * (f - r.mean())).mean(), abs=1e-9)
    assert ours.weight == pytest.approx(shares.mean(), abs=1e-9)
    assert ours.low <= ours.mean <= ours.high or np.isnan([ours.low, ours.high]).all()
