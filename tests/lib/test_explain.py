"""What a wrong answer has in common with the right one: the paper's examples, and properties."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope import wordnet_files
from isotope.errors import MissingFile
from isotope.explain import explain
from isotope.wordnet import WordNet

BOX = 100.0
AREAS = st.lists(st.floats(1, 1e5), min_size=1, max_size=4)
PICTURES = st.dictionaries(st.sampled_from("abcdef"), AREAS, max_size=5)


def alike(one: str, other: str) -> float:
    return 1 / (1 + abs(ord(one[0]) - ord(other[0])))


def picture(**counts: int) -> dict[str, list[float]]:
    return {concept: [BOX] * n for concept, n in counts.items()}


def test_two_of_three_concepts_agree():
    found = explain(
        picture(dog=1, ball=1, park=1), picture(dog=1, frisbee=1, park=1), lambda *_: 0.5
    )
    assert found.ca == pytest.approx(2 / 3)
    assert [(p.truth, p.found) for p in found.pairs] == [("ball", "frisbee")]


def test_nine_dogs_too_many():
    assert explain(picture(dog=10, frisbee=1), picture(dog=1, frisbee=1), alike).ce == 9


def test_concepts_that_are_not_common_are_not_counted():
    assert explain(picture(dog=1, frisbee=1), picture(dog=1, ball=1), alike).ce == 0


def test_the_zebra_pair_of_the_paper():
    """CA 3/11; hill-grassland 0.111, tree-grass 0.167, NCS 0.139; CE 6; averaged SD 1/3."""
    try:
        wordnet = WordNet(wordnet_files.find())
    except MissingFile as error:
        pytest.skip(str(error))
    common = {"zebra.n.01": [900.0, 950.0], "ear.n.01": [20.0], "leg.n.01": [50.0]}
    parts = ["mane", "tail", "hoof", "stripe", "nose", "neck"]
    truth = {**common, "hill.n.01": [BOX], "tree.n.01": [BOX]}
    truth |= {f"{part}.n.01": [BOX] for part in parts}
    found = {"zebra.n.01": [400.0] + [900.0] * 5, "ear.n.01": [20.0] * 3, "leg.n.01": [101.0]}
    found |= {"grassland.n.01": [BOX], "grass.n.01": [BOX]}

    def similarity(one: str, other: str) -> float:
        offsets = [offset for name in (one, other) if (offset := wordnet.synset(name)) is not None]
        return wordnet.similarity(offsets[0], offsets[1])

    told = explain(truth, found, similarity)
    matched = {p.truth: (p.found, round(p.similarity, 3)) for p in told.pairs}
    expected = {"hill.n.01": ("grassland.n.01", 0.111), "tree.n.01": ("grass.n.01", 0.167)}
    assert matched == expected
    assert told.ca == pytest.approx(3 / 11)
    assert told.ncs == pytest.approx(0.139, abs=5e-4)
    assert told.ce == 6
    assert told.sd == pytest.approx(1 / 3)


def test_the_larger_box_may_be_twice_the_smaller():
    sizes = explain({"dog": [100.0, 300.0]}, {"dog": [200.0, 601.0]}, alike).sizes
    assert [s.differs for s in sizes] == [False, True]


def test_an_agreement_without_concepts_is_unknown():
    found = explain({}, picture(dog=1), alike)
    assert (found.ca, found.ncs, found.ce, found.sd) == (None, None, 0, None)


@given(PICTURES)
def test_a_picture_explains_itself(one):
    found = explain(one, one, alike)
    assert (found.ca, found.ncs, found.ce) == (1.0 if one else None, None, 0)
    assert not any(s.differs for s in found.sizes)


@given(PICTURES, PICTURES)
def test_no_other_pairing_is_more_alike_or_closer_in_size(one, other):
    found = explain(one, other, alike)
    left, right = sorted(one.keys() - other.keys()), sorted(other.keys() - one.keys())
    best = _extreme(max, left, right, alike)
    assert sum(p.similarity for p in found.pairs) == pytest.approx(best)
    for concept in one.keys() & other.keys():
        apart = sum(abs(s.truth_px - s.found_px) for s in found.sizes if s.concept == concept)
        least = _extreme(min, one[concept], other[concept], lambda a, b: abs(a - b))
        assert apart == pytest.approx(least)


@given(PICTURES, PICTURES)
def test_counts_sizes_and_similarities_are_the_same_both_ways(one, other):
    there, back = explain(one, other, alike), explain(other, one, alike)
    assert (there.ce, there.hit) == (back.ce, back.hit)
    assert there.ncs == (None if back.ncs is None else pytest.approx(back.ncs))


def _extreme(pick, left, right, cost):
    short, long = sorted((left, right), key=len)
    sums = [sum(map(cost, short, p)) for p in permutations(long, len(short))]
    return pick(sums)
