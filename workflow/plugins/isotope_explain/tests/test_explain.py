"""What a wrong answer has in common with the right one: the paper's examples, and properties."""

from itertools import permutations
from math import nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope_explain.failures import Explanation, explain

BOX = 100.0
AREAS = st.lists(st.floats(1, 1e5), min_size=1, max_size=4)
PICTURES = st.dictionaries(st.sampled_from("abcdef"), AREAS, max_size=5)


def alike(first: str, second: str) -> float:
    return 1 / (1 + abs(ord(first[0]) - ord(second[0])))


def picture(**counts: int) -> dict[str, list[float]]:
    return {concept: [BOX] * n for concept, n in counts.items()}


def test_two_of_three_concepts_agree():
    """Section 4.1: {Dog, Ball, Park} and {Dog, Frisbee, Park}."""
    explanation = explain(
        picture(dog=1, ball=1, park=1), picture(dog=1, frisbee=1, park=1), lambda *_: 0.5
    )
    assert explanation.ca == pytest.approx(2 / 3)
    assert [(p.truth, p.found) for p in explanation.pairs] == [("ball", "frisbee")]


def test_nine_dogs_too_many():
    """Section 4.1: ten dogs and a frisbee, one dog and a frisbee."""
    assert explain(picture(dog=10, frisbee=1), picture(dog=1, frisbee=1), alike).ce == 9


def test_cat_and_fish_agree_in_nothing():
    """Section 4.1: {Dog, Ball, Park} and {Cat, Fish}."""
    assert explain(picture(dog=1, ball=1, park=1), picture(cat=1, fish=1), alike).ca == 0


def test_concepts_that_are_not_common_are_not_counted():
    """Section 4.1: ten dogs and a frisbee, ten dogs and a ball."""
    assert explain(picture(dog=10, frisbee=1), picture(dog=10, ball=1), alike).ce == 0


@pytest.fixture(scope="module")
def zebras(installed_wordnet) -> Explanation:
    """The pair of section 6.3 (Figure 4): its synsets, their multisets, its differences of sizes.

    The paper prints no areas: those here differ by its D_A (mane 2.30, field 1.369, zebras below
    1), with 100 px² for the smaller. It counts five zebras in the right picture and matches four
    (28 edges to seven), so one of them has no box here.
    """
    wordnet = installed_wordnet
    alone = ["trunk", "hill", "tree", "sky", "branch", "head", "leg", "leaf"]
    truth = {f"{noun}.n.01": [BOX] for noun in alone}
    truth |= {"zebra.n.01": [BOX] * 4 + [nan], "mane.n.01": [BOX], "field.n.01": [BOX]}
    returned = {"grassland.n.01": [BOX], "grass.n.01": [BOX], "zebra.n.01": [BOX] * 7}
    returned |= {
        "mane.n.01": [BOX * (1 + 2.30)] + [10 * BOX] * 4,
        "field.n.01": [BOX * (1 + 1.369)],
    }

    def similarity(first: str, second: str) -> float:
        synsets = [synset for name in (first, second) if (synset := wordnet.synset(name))]
        return wordnet.similarity(synsets[0], synsets[1])

    return explain(truth, returned, similarity, threshold=1.0)


def test_the_zebras_of_the_paper_agree_in_3_of_11_concepts(zebras):
    """Section 6.3: sets of 11 and 5 synsets, 3 common; the paper rounds CA up to 27.28 %."""
    assert (zebras.hit, zebras.hit + zebras.miss, zebras.hit + zebras.extra) == (3, 11, 5)
    assert zebras.ca == pytest.approx(0.2728, abs=1e-4)


def test_the_hill_and_the_tree_of_the_paper_stand_for_grassland_and_grass(zebras):
    """Section 6.3: of 16 edges, those of 0.111 and 0.167; NCS 0.139."""
    matched = {p.truth: (p.found, round(p.similarity, 3)) for p in zebras.pairs}
    expected = {"hill.n.01": ("grassland.n.01", 0.111), "tree.n.01": ("grass.n.01", 0.167)}
    assert matched == expected
    assert zebras.ncs == pytest.approx(0.139, abs=5e-4)


def test_the_zebras_of_the_paper_are_miscounted_by_six(zebras):
    """Section 6.3: zebra 5 and 7, field 1 and 1, mane 1 and 5."""
    counts = {c.concept: (c.truth, c.found) for c in zebras.counts}
    assert counts == {"zebra.n.01": (5, 7), "field.n.01": (1, 1), "mane.n.01": (1, 5)}
    assert zebras.ce == 6


def test_two_of_the_six_matches_of_the_paper_differ_in_size(zebras):
    """Section 6.3: mane 1 of 1 (2.30), zebra 0 of 4, field 1 of 1 (1.369): SD 2 of 6, 33.3 %."""
    differs = {
        c.concept: [s.differs for s in zebras.sizes if s.concept == c.concept]
        for c in zebras.counts
    }
    assert differs == {"mane.n.01": [True], "zebra.n.01": [False] * 4, "field.n.01": [True]}
    assert (sum(s.differs for s in zebras.sizes), len(zebras.sizes)) == (2, 6)
    assert zebras.sd == pytest.approx(0.333, abs=5e-4)


def test_continuous_sd_adds_up_the_mean_difference_of_each_concept():
    """Section 4.1, the formula of SD: the sum over concepts of the average of their matching."""
    two = {"dog": [100.0, 100.0], "cat": [50.0]}
    explanation = explain(two, {"dog": [200.0, 400.0], "cat": [75.0]}, alike)
    assert explanation.sd_continuous == pytest.approx((1.0 + 3.0) / 2 + 0.5)


def test_a_box_that_is_larger_by_the_threshold_differs():
    """Section 6.3: "increasing size disagreement (SD) by 1 iff D_A ≥ 1"."""
    sizes = explain({"dog": [100.0, 300.0]}, {"dog": [199.0, 600.0]}, alike).sizes
    assert [s.differs for s in sizes] == [False, True]


def test_boxes_are_paired_by_the_difference_that_is_held_against_the_threshold():
    """Section 4.1: the edge weight is D_A itself. In px² 55 is nearer to 100 than 150 is."""
    (size,) = explain({"dog": [100.0]}, {"dog": [55.0, 150.0]}, alike).sizes
    assert (size.found_px, size.difference, size.differs) == (150.0, 0.5, False)


def test_an_agreement_without_concepts_is_unknown():
    explanation = explain({}, picture(dog=1), alike)
    assert (explanation.ca, explanation.ncs, explanation.ce, explanation.sd) == (
        None,
        None,
        0,
        None,
    )
    assert explanation.sd_continuous is None


@given(PICTURES)
def test_a_picture_explains_itself(objects):
    explanation = explain(objects, objects, alike)
    assert (explanation.ca, explanation.ncs, explanation.ce) == (1.0 if objects else None, None, 0)
    assert not any(s.differs for s in explanation.sizes)
    assert explanation.sd_continuous == (0.0 if objects else None)


@given(PICTURES, PICTURES)
def test_no_other_pairing_is_more_alike_or_closer_in_size(first, second):
    explanation = explain(first, second, alike)
    left, right = sorted(first.keys() - second.keys()), sorted(second.keys() - first.keys())
    best = _extreme(max, left, right, alike)
    assert sum(p.similarity for p in explanation.pairs) == pytest.approx(best)
    for concept in first.keys() & second.keys():
        apart = sum(s.difference for s in explanation.sizes if s.concept == concept)
        least = _extreme(min, first[concept], second[concept], lambda a, b: abs(a - b) / min(a, b))
        assert apart == pytest.approx(least)


@given(PICTURES, PICTURES)
def test_counts_sizes_and_similarities_are_the_same_both_ways(first, second):
    forward, backward = explain(first, second, alike), explain(second, first, alike)
    assert (forward.ce, forward.hit) == (backward.ce, backward.hit)
    assert forward.ncs == (None if backward.ncs is None else pytest.approx(backward.ncs))


def _extreme(pick, left, right, cost):
    short, long = sorted((left, right), key=len)
    sums = [sum(map(cost, short, p)) for p in permutations(long, len(short))]
    return pick(sums)
