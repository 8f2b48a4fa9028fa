"""Exchanged words leave a whole sentence, and the same seed exchanges the same."""

import pytest

from isotope_explain.perturb import (
    KINDS,
    LARGE,
    SMALL,
    Settings,
    apart,
    article,
    colours,
    mentioned,
    perturb,
    spelled,
)
from isotope_explain.wordnet import WordNet, find
from isotope_toy import words as toy_words


@pytest.fixture(scope="module")
def wordnet(installed_wordnet) -> WordNet:
    return installed_wordnet


@pytest.fixture(scope="module")
def toy(tmp_path_factory) -> WordNet:
    folder = tmp_path_factory.mktemp("wordnet")
    toy_words.write_wordnet(folder)
    return WordNet(find(folder))


USUAL = Settings(mentioned=frozenset(["red", "white", "blue", "navy"]))


def sentence(kind, text, wordnet, settings=USUAL):
    changed = perturb(kind, "1", text, wordnet, settings)
    return None if changed is None else changed.sentence


EXAMPLES = [
    ("antonym", "A young zebra with a hot dog", "An old zebra with a hot dog"),
    ("antonym", "An old bus, full of people.", "A young bus, full of people."),
    ("antonym", "A snow covered slope", None),
    ("antonym", "A dog is old", "A dog is young"),
    ("antonym", "A bathroom that is very dirty", "A bathroom that is very clean"),
    ("antonym", "A cat is black and white", "A cat is white and black"),
    ("antonym", "A child is asleep", "A child is awake"),
    ("antonym", "A crowded street", "An uncrowded street"),
    ("antonym", "The light in the back is on the left", None),
    ("antonym", "All people and many others", None),
    ("antonym", "What is this? Light, and the closed. Door", None),
    ("antonym", "A BLACK CAR", "A WHITE CAR"),
    ("size", "Three men on a lake", None),
    ("size", "The largest dog", None),
    ("size", "A miniature and gigantic train with a little of everything", None),
    ("colour-all", "A glass of orange juice and an orange", None),
    ("colour-all", "A black-and-white photo", None),
]


@pytest.mark.parametrize(("kind", "text", "expected"), EXAMPLES)
def test_a_sentence_is_changed_as_expected(wordnet, kind, text, expected):
    assert sentence(kind, text, wordnet) == expected


@pytest.mark.parametrize("plain", [False, True])
def test_of_several_antonyms_a_random_one_comes_in(wordnet, plain):
    """Section 5.1: "one is randomly picked"; WordNet 3.0 has two of acidic and one of dirty."""
    text = "An acidic drink and a dirty boat"
    assert drawn("antonym", text, wordnet, plain=plain) == [{"alkaline", "amphoteric"}, {"clean"}]


def test_every_colour_is_exchanged_for_another(toy):
    changed = perturb("colour-all", "1", "A red box and an orange cup", toy, USUAL)
    assert changed is not None
    assert [before for before, _ in changed.changes] == ["red", "orange"]
    assert all(after in map(spelled, colours()) for _, after in changed.changes)


DRAWS = 200


def drawn(kind, text, wordnet, **settings) -> list[set[str]]:
    """What each word of a sentence becomes, in all seeds."""
    perturbed = [
        perturb(kind, "1", text, wordnet, Settings(seed=n, **settings)) for n in range(DRAWS)
    ]
    changes = [outcome.changes for outcome in perturbed if outcome is not None]
    return [{after for _, after in pairs} for pairs in zip(*changes, strict=True)]


@pytest.mark.parametrize("kind", ["colour-all", "colour-in"])
def test_a_colour_becomes_a_distant_one(toy, kind):
    """Section 5.1: "another distant color", both ways; green does not become lime."""
    pool = frozenset(colours()) if kind == "colour-in" else frozenset()
    text, far = "A green ball and a white cup", {"colour_distance": 150.0, "mentioned": pool}
    by_name = {spelled(name): name for name in colours()}
    for colour, after in zip(("green", "white"), drawn(kind, text, toy, **far), strict=True):
        distant = {name for name in colours() if apart(colour, name) >= 150}
        assert {by_name[name] for name in after} <= distant
        assert len(after) > 20
    assert apart("green", "lime") < 150


def test_colour_in_draws_from_the_colours_of_the_dataset_and_colour_all_from_matplotlibs(toy):
    """Section 5.1: "considering all RGB colors (color-all), or colors only mentioned"."""
    options = {"mentioned": frozenset(["red", "white", "blue", "navy"])}
    assert drawn("colour-in", "A red box", toy, **options) == [{"white", "blue", "navy"}]
    (exchanged,) = drawn("colour-all", "A red box", toy, **options)
    assert {"teal", "light sky blue"} & exchanged
    assert len(colours()) == 148


@pytest.mark.parametrize(
    ("kind", "text", "changed"),
    [
        ("colour-all", "Orange juice, and an ORANGE on snow.", ["orange", "orange", "snow"]),
        ("colour-all", "A red dog", ["red"]),
        ("size", "A miniature train with a little of everything", ["little"]),
        ("size", "The big, old dog", ["big"]),
        # Nouns come first in WordNet: so white has no antonym, and different has one.
        ("antonym", "A white cat and a different dog", ["different"]),
        ("antonym", "A large box", []),
        ("antonym", "Some people", []),
    ],
)
def test_plain_words_are_exchanged_wherever_they_stand(wordnet, kind, text, changed):
    perturbed = perturb(kind, "1", text, wordnet, USUAL._replace(plain=True))
    assert ([] if perturbed is None else [before for before, _ in perturbed.changes]) == changed


def test_a_colour_without_a_distant_one_stays(toy):
    assert sentence("colour-in", "A red box", toy, USUAL._replace(colour_distance=442)) is None
    alone = Settings(mentioned=frozenset(["red", "crimson"]))
    assert sentence("colour-in", "A red box", toy, alone) is None


def test_a_mentioned_colour_is_none_where_it_is_a_thing(toy):
    sentences = ["A RED box, an orange cup.", "A lime and an orange", "Snow on a tree", "grey"]
    assert mentioned(sentences, toy, Settings()) == {"red", "orange", "grey"}
    plain = Settings(plain=True)
    assert mentioned(sentences, toy, plain) == {"red", "orange", "grey", "lime", "snow"}


def test_a_colours_name_is_written_in_words():
    """Section 5.1: "the resulting query should be linguistically correct"."""
    names = ("lightgoldenrodyellow", "darkslategray", "mediumaquamarine", "tan", "seashell")
    expected = ["light goldenrod yellow", "dark slate gray", "medium aquamarine", "tan", "seashell"]
    assert list(map(spelled, names)) == expected


def test_sizes_change_sides(toy):
    changed = perturb("size", "1", "A big box and a tiny moon", toy, USUAL)
    assert changed is not None
    (_, first), (_, second) = changed.changes
    assert first in SMALL
    assert second in LARGE


def test_the_sizes_are_those_of_the_paper(toy):
    """Section 5.1: each of one side for any of the other, wherever it stands."""
    large, small = {"large", "big", "enormous", "huge"}, {"small", "little", "minor", "tiny"}
    for word in sorted(large | small):
        (after,) = drawn("size", f"A {word} box", toy)
        assert after == (small if word in large else large)
    assert drawn("size", "That box is huge", toy) == [small]


def test_the_distance_of_colours_is_euclidean():
    assert apart("black", "white") == pytest.approx(255 * 3**0.5)


@pytest.mark.parametrize(
    ("word", "fitting"), [("old", "an"), ("young", "a"), ("unique", "a"), ("honest", "an")]
)
def test_the_article_fits(word, fitting):
    assert article(word) == fitting


def test_the_same_seed_exchanges_the_same_and_another_seed_other_words(toy):
    text = "A red box, a blue cup, a green tree and a white house"
    first, again, other = (sentence("colour-all", text, toy, Settings(seed=s)) for s in (1, 1, 2))
    assert first == again != other


WORDS = {
    **{"antonym": ["large", "white"], "size": ["large"]},
    **{"colour-all": ["white"], "colour-in": ["white"]},
}


@pytest.mark.parametrize("kind", KINDS)
def test_all_else_of_a_sentence_stays(toy, kind):
    """Section 5: a perturbation is to "be focused on an individual semantic each time"."""
    text = expected = 'He said: "A large white  ball!"'
    perturbed = perturb(kind, "1", text, toy, USUAL)
    assert perturbed is not None
    assert [before for before, _ in perturbed.changes] == WORDS[kind]
    for before, after in perturbed.changes:
        expected = expected.replace(before, after)
    first = expected.split()[3]
    assert perturbed.sentence == expected.replace("A ", f"{article(first).title()} ")


def test_words_of_two_lines_are_no_neighbours(wordnet):
    """A colour at the end of a line describes nothing on the next; "an" there is not its article.

    `orange` is a colour before a noun only.
    """
    settings = Settings()
    assert perturb("colour-all", "t", "He eats an orange\nboat", wordnet, settings) is None
    assert perturb("colour-all", "t", "He has an orange boat", wordnet, settings)
