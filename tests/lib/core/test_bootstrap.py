"""Bootstrap intervals, held against scipy's."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import bootstrap

from isotope.core import measures as ours

VALUES = np.random.default_rng(7).beta(0.4, 0.6, (37, 3))


@pytest.mark.parametrize("level", [0.9, 0.95])
def test_the_interval_is_scipys_for_the_same_draws(level):
    means = ours.resampled_means(VALUES, 999, np.random.default_rng(3))
    low, high = ours.percentiles(means, level)
    for column in range(3):
        theirs = bootstrap(
            (VALUES[:, column],), np.mean, n_resamples=999, method="percentile",
            confidence_level=level, rng=np.random.default_rng(3),
        ).confidence_interval  # fmt: skip
        assert (low[column], high[column]) == pytest.approx((theirs.low, theirs.high), abs=1e-12)


def test_draws_in_pieces_are_the_draws_in_one(monkeypatch):
    whole = ours.resampled_means(VALUES, 100, np.random.default_rng(0))
    monkeypatch.setattr(ours, "_DRAWS", 37 * 7)
    pieces = ours.resampled_means(VALUES, 100, np.random.default_rng(0))
    assert np.allclose(whole, pieces, atol=1e-15)


def test_the_interval_covers_the_true_mean_about_as_often_as_it_says():
    generator = np.random.default_rng(1)
    worlds = generator.exponential(1.0, (80, 400))
    low, high = ours.percentiles(ours.resampled_means(worlds, 400, generator), 0.9)
    assert np.mean((low <= 1) & (high >= 1)) == pytest.approx(0.88, abs=0.05)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(0, 99))
def test_resampled_means_stay_between_the_least_and_the_greatest_value(values, seed):
    column = np.array(values)[:, None]
    means = ours.resampled_means(column, 20, np.random.default_rng(seed))
    assert means.min() >= min(values) - 1e-9
    assert means.max() <= max(values) + 1e-9


@pytest.mark.parametrize("values", [[0.1], [0.1] * 9, [0.0] * 40, [1.0] * 3])
def test_queries_that_are_all_alike_tell_no_interval_and_leave_others_theirs(values):
    beside = np.arange(float(len(values))) if len(values) > 1 else np.zeros(1)
    columns = np.stack([np.array(values), beside], axis=1)
    means = ours.resampled_means(columns, 50, np.random.default_rng(0))
    for end in ours.percentiles(means, 0.95):
        assert np.isnan(end).tolist() == [True, len(values) == 1]


@pytest.mark.parametrize("right", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("queries", [1, 3, 8, 30])
def test_no_interval_says_that_what_happened_to_a_few_queries_is_certain(queries, right):
    generator = np.random.default_rng(queries)
    worlds = (generator.random((queries, 300)) < right).astype(float)
    low, high = ours.percentiles(ours.resampled_means(worlds, 200, generator), 0.95)
    assert np.isnan(low[worlds.std(axis=0) == 0]).all()
    claimed = ~np.isnan(low)
    assert (low[claimed] < high[claimed]).all()


@pytest.mark.parametrize(("queries", "held"), [(5, 0.78), (8, 0.87), (20, 0.92), (80, 0.95)])
def test_intervals_of_reciprocal_ranks_are_as_short_as_the_docs_say(queries, held):
    generator = np.random.default_rng(2)
    ranks = generator.geometric(0.25, (queries, 4_000))
    values = np.where(ranks <= 10, 1 / ranks, 0.0)
    # Of the infinite series, the ranks that count.
    mean = sum(0.25 * 0.75 ** (rank - 1) / rank for rank in range(1, 11))
    low, high = ours.percentiles(ours.resampled_means(values, 1_000, generator), 0.95)
    told = ~np.isnan(low)
    assert np.mean((low <= mean) & (mean <= high), where=told) == pytest.approx(held, abs=0.025)
