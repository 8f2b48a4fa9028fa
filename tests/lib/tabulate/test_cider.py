"""CIDEr against the reference scorer, and against what can be worked out by hand."""

from math import exp, log, sqrt

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pycocoevalcap.cider.cider_scorer import CiderScorer

from isotope.core.errors import EmptyTable
from isotope.tabulate.captions import cider

WORDS = st.sampled_from(["a", "dog", "runs", "在", "ไ", "the", "park", "ñ"])
CAPTIONS = st.lists(WORDS, max_size=9)
ITEMS = st.tuples(CAPTIONS, st.lists(CAPTIONS, min_size=1, max_size=4))


def judged(items):
    """What the reference scorer says of candidates and references."""
    scorer = CiderScorer(n=4, sigma=6.0)
    for candidate, references in items:
        scorer += (" ".join(candidate), [" ".join(r) for r in references])
    scorer.compute_doc_freq()
    return scorer.compute_cider()


@settings(max_examples=300, deadline=None)
@given(st.lists(ITEMS, min_size=1, max_size=8))
def test_every_score_is_that_of_the_reference_scorer(items):
    ours = cider([c for c, _ in items], [r for _, r in items])
    assert np.abs(ours - judged(items)).max() < 1e-9


@settings(max_examples=50, deadline=None)
@given(st.lists(ITEMS, min_size=2, max_size=6), st.randoms())
def test_neither_the_order_of_items_nor_that_of_references_matters(items, random):
    shuffled = [(c, random.sample(r, len(r))) for c, r in items]
    order = random.sample(range(len(items)), len(items))
    ours = cider([c for c, _ in items], [r for _, r in items])
    other = cider([shuffled[i][0] for i in order], [shuffled[i][1] for i in order])
    assert np.allclose(other, ours[order], rtol=0, atol=1e-12)


def test_a_score_worked_out_by_hand():
    # Two items; `a` is in both, so its weight is 0, and each other n-gram's is log 2.
    candidates = [["a", "dog"], ["a", "cat"]]
    references = [[["a", "dog", "runs"]], [["a", "cat"]]]
    w = log(2)
    unigrams = w * w / (w * sqrt(2 * w * w))
    bigrams = w * w / (w * sqrt(2 * w * w))
    first = 10 * exp(-1 / 72) * (unigrams + bigrams) / 4
    assert cider(candidates, references) == pytest.approx([first, 10 * 2 / 4], abs=1e-12)


def test_a_caption_equal_to_its_reference_scores_ten():
    captions = [["one", "red", "boat", "here"], ["two", "dogs", "ran", "far", "away"]]
    assert cider(captions, [[c] for c in captions]) == pytest.approx([10, 10], abs=1e-12)


def test_a_caption_without_a_shared_word_or_any_word_scores_nothing():
    ours = cider([["x"], [], ["boat"]], [[["dog", "ran"]], [["cat"]], [[]]])
    assert ours.tolist() == [0, 0, 0]


def test_a_caption_without_references_is_named():
    with pytest.raises(EmptyTable, match="caption 1: no reference"):
        cider([["a"], ["b"]], [[["a"]], []])


def test_as_many_candidates_as_references_are_asked_for():
    with pytest.raises(ValueError, match="zip"):
        cider([["a"]], [[["a"]], [["b"]]])
