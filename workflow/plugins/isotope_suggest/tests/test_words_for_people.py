"""What people read of a suggestion: reasons without stop words, plain captions, whole addresses."""

import polars as pl
import pytest

from isotope.core.stopwords import stop_words
from isotope_suggest.captions import without_language
from isotope_suggest.credit import credit_line, readable, states_free
from isotope_suggest.reasons import CaptionWords, shared_words


@pytest.mark.parametrize(
    ("language", "text", "caption"),
    [
        ("en", "He was with the band from Tampa", "With the band, from which he was"),
        ("de", "Er war mit der Kapelle aus Tampa", "Mit der Kapelle, aus der er war"),
        (
            "fr",
            "Il était avec la fanfare dans les rues",
            "Avec la fanfare, dans les rues, il était",
        ),
        ("cs", "Byl se svou kapelou, která hrála", "Která kapelou byl se svou"),
    ],
)
def test_reasons_name_no_stop_words(language: str, text: str, caption: str):
    words = CaptionWords.from_captions([[caption]], stop_words((language,)))
    named = shared_words(text, [caption], words)
    assert named
    assert not {word.casefold() for word in named} & stop_words((language,))
    assert "the" not in named


def test_a_language_without_a_list_has_no_stop_words():
    assert stop_words(("xx",)) == frozenset()


@pytest.mark.parametrize(
    ("caption", "shown"),
    [
        ("English: Nannylogo", "Nannylogo"),
        ("Français : Une tour", "Une tour"),
        ("中文: 塔", "塔"),
        ("English longbow: a replica", "English longbow: a replica"),
        ("Nixon: a life", "Nixon: a life"),
    ],
)
def test_a_caption_is_shown_without_the_label_of_its_language(caption: str, shown: str):
    got = pl.DataFrame({"c": [caption]}).select(without_language(pl.col("c")))["c"][0]
    assert got == shown


def test_a_credit_line_has_letters_where_the_address_has_codes():
    page = "https://commons.wikimedia.org/wiki/File:Caf%C3%A9_%28Paris%29%2C_%E5%A1%94.jpg"
    shown = "https://commons.wikimedia.org/wiki/File:Café_%28Paris%29%2C_塔.jpg"
    assert readable(page) == shown
    assert credit_line(None, None, page) == f"author unknown, licence unknown, {shown}"
    assert readable("https://x/%FF%20%0A") == "https://x/%FF%20%0A"


def test_only_a_stated_free_licence_lets_a_picture_be_copied():
    assert states_free("CC BY-SA 4.0")
    assert not any(
        states_free(licence) for licence in (None, "unknown", "fair use", "CC BY-NC 2.0")
    )
