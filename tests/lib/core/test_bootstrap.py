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


def test_a_constant_has_no_width():
    means = ours.resampled_means(np.full((9, 1), 0.25), 50, np.random.default_rng(0))
    assert [float(x[0]) for x in ours.percentiles(means, 0.95)] == [0.25, 0.25]
