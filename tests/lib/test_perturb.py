"""Exchanged words leave a whole sentence, and the same seed exchanges the same."""

import pytest

from isotope import toy_wordnet, wordnet_files
from isotope.errors import MissingFile
from isotope.perturb import COLOURS, KINDS, LARGE, SMALL, Settings, apart, perturb
from isotope.perturb_words import article
from isotope.wordnet import WordNet


@pytest.fixture(scope="module")
def wordnet() -> WordNet:
    try:
        return WordNet(wordnet_files.find())
    except MissingFile as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> WordNet:
    folder = tmp_path_factory.mktemp("wordnet")
    toy_wordnet.write(folder)
    return WordNet(folder)


USUAL = Settings()


def sentence(kind, text, wordnet, settings=USUAL):
    found = perturb(kind, "1", text, wordnet, settings)
    return None if found is None else found.sentence


KNOWN = [
    ("antonym", "A young zebra with a hot dog", "An old zebra with a hot dog"),
    ("antonym", "An old bus, full of people.", "A young bus, full of people."),
    ("antonym", "A snow covered slope", None),
    ("antonym", "A dog is old", None),
    ("antonym", "A BLACK CAR", "A WHITE CAR"),
    ("size", "Three men on a lake", None),
    ("size", "The largest dog", None),
    ("colour-all", "A glass of orange juice and an orange", None),
    ("colour-all", "A black-and-white photo", None),
]


@pytest.mark.parametrize(("kind", "text", "expected"), KNOWN)
def test_a_sentence_is_changed_as_expected(wordnet, kind, text, expected):
    assert sentence(kind, text, wordnet) == expected


def test_every_colour_is_exchanged_for_another(toy):
    found = perturb("colour-all", "1", "A red box and an orange cup", toy, USUAL)
    assert found is not None
    assert [before for before, _ in found.changes] == ["red", "orange"]
    assert all(after in COLOURS and after != before for before, after in found.changes)


@pytest.mark.parametrize("seed", range(20))
def test_colour_in_stays_within_the_distance(toy, seed):
    settings = Settings(seed=seed, colour_distance=100)
    found = perturb("colour-in", "1", "A brown ball and a white cup", toy, settings)
    assert found is not None
    assert all(0 < apart(before, after) <= 100 for before, after in found.changes)


def test_a_colour_without_a_near_one_stays(toy):
    assert sentence("colour-in", "A red box", toy, Settings(colour_distance=1)) is None


def test_sizes_change_sides(toy):
    found = perturb("size", "1", "A big box and a tiny moon", toy, USUAL)
    assert found is not None
    (_, first), (_, second) = found.changes
    assert first in SMALL
    assert second in LARGE


def test_the_distance_of_colours_is_euclidean():
    assert apart("black", "white") == pytest.approx(255 * 3**0.5)


@pytest.mark.parametrize(
    ("word", "fitting"), [("old", "an"), ("young", "a"), ("unique", "a"), ("honest", "an")]
)
def test_the_article_fits(word, fitting):
    assert article(word) == fitting


def test_the_same_seed_exchanges_the_same_and_another_seed_other_words(toy):
    text = "A red box, a blue cup, a green tree and a white house"
    one, again, other = (sentence("colour-all", text, toy, Settings(seed=s)) for s in (1, 1, 2))
    assert one == again != other


def test_all_else_of_a_sentence_stays(toy):
    text = 'He said: "A large white  ball!"'
    for kind in KINDS:
        found = perturb(kind, "1", text, toy, Settings())
        assert found is not None
        assert found.sentence.startswith('He said: "A')
        assert found.sentence.endswith('  ball!"')
