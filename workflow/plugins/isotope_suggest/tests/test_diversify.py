"""Maximal marginal relevance against the paper's formula."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope_suggest.likeness import NONE, mmr

# Two pictures of one thing and one of another: cosines 0.96, 0 and 0.28.
LIKE = np.array([[1.0, 0.0], [0.96, 0.28], [0.0, 1.0]])


def test_the_second_picture_is_the_one_that_the_formula_of_the_paper_prefers():
    # lambda = 0.7: 0.7 * 0.8 - 0.3 * 0.96 = 0.272 < 0.7 * 0.6 - 0.3 * 0 = 0.42.
    assert mmr([0.9, 0.8, 0.6], LIKE, 0.3, 3).tolist() == [0, 2, 1]
    # lambda = 0.9: 0.9 * 0.8 - 0.1 * 0.96 = 0.624 > 0.9 * 0.6 = 0.54.
    assert mmr([0.9, 0.8, 0.6], LIKE, 0.1, 3).tolist() == [0, 1, 2]


def test_what_counts_is_the_largest_cosine_with_any_before():
    vectors = np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0.8, 0.6], [0, 0, 1.0]])
    # After 0 and 1, picture 2 is like 1 (0.8): 0.5 * 0.7 - 0.5 * 0.8 < 0.5 * 0.4 - 0.
    assert mmr([0.9, 0.8, 0.7, 0.4], vectors, 0.5, 4).tolist() == [0, 1, 3, 2]


def plain(p, vectors, weight, most):
    """Choose as section 2 of the paper reads, one section and one picture at a time."""
    chosen = []
    while len(chosen) < min(most, len(p)):
        gains = {
            i: (1 - weight) * p[i]
            - weight * max((vectors[i] @ vectors[j] for j in chosen), default=0)
            for i in range(len(p))
            if i not in chosen
        }
        chosen.append(max(gains, key=lambda i: (gains[i], -i)))
    return chosen


sections = st.lists(
    st.lists(st.integers(0, 64).map(lambda n: n / 64), min_size=1, max_size=7),
    min_size=1,
    max_size=5,
)


@settings(max_examples=40)
@given(sections, st.sampled_from([0.0, 0.25, 0.5, 1.0]), st.integers(1, 8), st.integers(0, 99))
def test_many_sections_at_once_are_chosen_as_each_alone(some, weight, most, seed):
    wide = max(map(len, some))
    # Signs, so that cosines are sums of powers of two and no rounding decides.
    vectors = np.random.default_rng(seed).choice([-0.25, 0.25], (len(some), wide, 16))
    padded = np.array([p + [np.nan] * (wide - len(p)) for p in some])
    chosen = mmr(padded, vectors, weight, most)
    assert chosen.shape == (len(some), min(most, wide))
    for row, p, section_vectors in zip(chosen.tolist(), some, vectors, strict=True):
        places = [column for column in row if column != NONE]
        assert places == plain(p, section_vectors[: len(p)], weight, most)
        assert row[len(places) :] == [NONE] * (len(row) - len(places))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.integers(0, 9))
def test_without_weight_the_order_is_that_of_probabilities(p, seed):
    vectors = np.random.default_rng(seed).normal(size=(len(p), 4))
    assert mmr(p, vectors, 0, len(p)).tolist() == sorted(range(len(p)), key=lambda i: -p[i])


def test_no_candidates_are_no_places():
    assert mmr([], np.zeros((0, 2)), 0.3, 3).tolist() == []


@pytest.mark.parametrize("weight", [-0.1, 1.1])
def test_a_weight_is_a_share(weight):
    with pytest.raises(ValueError, match="0 to 1"):
        mmr([0.5], LIKE[:1], weight, 1)


def test_every_probability_has_its_vector():
    with pytest.raises(ValueError, match="vectors"):
        mmr([0.5], LIKE, 0.3, 1)
