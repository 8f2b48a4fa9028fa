"""Reasons as people read them, and the words that a text and captions share."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope_suggest.reasons import (
    CaptionWords,
    language_name,
    reasons,
    shared_words,
    stem_of,
    words,
)

CAPTIONS = [
    ["Eddystone: a red lighthouse on rocks"],
    ["a red house"],
    ["Two boats at a pier"],
    *([f"Plate {n} of a book"] for n in range(997)),
]
WORDS = CaptionWords.from_captions(CAPTIONS)
TEXT = "The Lighthouses of the coast were painted red; a lighthouse stood at every pier."


def test_words_that_text_and_captions_share_come_rarest_first_and_as_the_text_writes_them():
    assert shared_words(TEXT, CAPTIONS[0], WORDS) == ["Lighthouses", "red"]


def test_a_word_of_more_than_a_twentieth_of_the_pictures_tells_nothing():
    assert WORDS.weight(stem_of("book")) == 0
    assert shared_words("A book of boats", [*CAPTIONS[3], *CAPTIONS[2]], WORDS) == ["boats"]


def test_a_weight_is_lucenes_inverse_document_frequency():
    # Of 1,000 pictures two are red: ln(1 + (1000 - 2 + 0.5) / (2 + 0.5)), BM25Similarity.idf.
    assert WORDS.weight("red") == pytest.approx(math.log(400.4))


def test_at_most_four_words_are_a_reason():
    caption = ["one two three four five six"]
    assert (
        len(shared_words(caption[0], caption, CaptionWords.from_captions([*CAPTIONS, caption])))
        == 4
    )


@pytest.mark.parametrize(
    ("word", "stem"),
    [
        *(("Lighthouses", "lighthouse"), ("queries", "query"), ("shoes", "shoe")),
        *(("corpus", "corpus"), ("glass", "glass"), ("Ada's", "ada"), ("ROT", "rot")),
        ("Stra\u00dfe", "strasse"),
    ],
)
def test_stems_are_without_case_possessive_and_plural(word: str, stem: str):
    assert stem_of(word) == stem


def test_scripts_without_spaces_are_cut_into_pairs():
    assert list(words("赤い灯台 lamp")) == ["赤い", "い灯", "灯台", "lamp"]
    counted_words = CaptionWords.from_captions([["白い灯台"], *CAPTIONS])
    assert shared_words("海の灯台", ["白い灯台"], counted_words) == ["灯台"]


def test_every_source_has_its_reason():
    candidate = {
        **{"bm25": 3.0, "dense": 0.4, "alignment": 0.8, "links": 0.5},
        "alignment_on": ["de: Leuchtturm # Bau", "de: Turm # Bau", "fr: Phare # Construction"],
        "links_on": ["Eddystone Rocks"],
    }
    assert reasons(candidate, TEXT, CAPTIONS[0], WORDS, like="Eddystone") == [
        "used by the German and the French articles",
        "matches: Lighthouses, red",
        "like the picture of *Eddystone*",
        "shown on the linked page *Eddystone Rocks*",
    ]


def test_a_page_that_is_linked_is_named_once():
    row = {"dense": 0.4, "links": 0.5, "links_on": ["Eddystone"]}
    assert reasons(row, "", [], WORDS, like="Eddystone") == ["shown on the linked page *Eddystone*"]


def test_one_language_is_one_article_and_many_are_counted():
    def used(*codes: str) -> list[str]:
        candidate = {"alignment": 0.5, "alignment_on": [f"{code}: A # B" for code in codes]}
        return reasons(candidate, "", [], WORDS)

    assert used("de") == ["used by the German article"]
    assert used("xx") == ["used by the xx article"]
    many = used("de", "fr", "es", "it", "zh")
    assert many == ["used by the German, the French, the Spanish and 2 more articles"]


def test_a_source_that_does_not_name_the_picture_is_no_reason():
    row = {"bm25": 3.0, "dense": None, "alignment": None, "alignment_on": None, "links_on": None}
    assert reasons(row, "nothing in common", ["red"], WORDS, like="Eddystone") == []


def test_languages_have_english_names():
    assert [language_name(code) for code in ("pt", "zh-yue", "qqx")] == [
        "Portuguese",
        "Cantonese",
        "qqx",
    ]


@given(st.text(max_size=80), st.lists(st.text(max_size=40), max_size=3))
def test_shared_words_stand_in_the_text_and_their_stems_in_a_caption(text: str, captions):
    stems = {stem_of(word) for caption in captions for word in words(caption)}
    for word in shared_words(text, captions, WORDS):
        assert word in text
        assert stem_of(word) in stems
