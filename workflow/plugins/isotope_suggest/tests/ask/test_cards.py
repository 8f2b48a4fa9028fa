"""What the page shows of an answer: a chance in words, wikitext that says no more, safe links."""

from dataclasses import replace

import mwparserfromhell
import pytest
from hypothesis import given
from hypothesis import strategies as st
from workflow.plugins.isotope_suggest.tests.ask.fake_engine import answers, places

from isotope_judge.suggestions import ACCEPTED, Suggestion, rejected
from isotope_suggest.ask.cards import answer_card, chance, file_name, section_card, wikitext

NAME = "Fanal light.jpg"


@pytest.mark.parametrize(
    ("probability", "words"),
    [
        (None, "not calibrated"),
        (0.0, "under 1 %, unlikely"),
        (0.004, "under 1 %, unlikely"),
        (0.394, "39 %, unlikely"),
        (0.4, "40 %, uncertain"),
        (0.6, "60 %, rather likely"),
        (0.8, "80 %, likely"),
        (0.948, "95 %, very likely"),
        (0.996, "over 99 %, very likely"),
        (1.0, "over 99 %, very likely"),
    ],
)
def test_a_probability_is_a_percentage_with_a_word_for_it(probability, words):
    assert chance(probability).replace("\u00a0", " ") == words


def test_wikitext_is_a_thumbnail_with_its_caption():
    assert wikitext(NAME, "The  light\nat dusk") == f"[[File:{NAME}|thumb|The light at dusk]]"
    assert wikitext(NAME, " ") == f"[[File:{NAME}|thumb]]"
    assert wikitext(NAME, "Fish & chips, the king's") == (
        f"[[File:{NAME}|thumb|Fish & chips, the king's]]"
    )


@pytest.mark.parametrize(
    "caption",
    ["a|left", "[[A]]", "x]] {{evil}}", "<script>", "&lt;", "'''b'''", "~~~~", "{|", "<!-- x"],
)
def test_a_captions_markup_is_text_in_the_wikitext(caption):
    link, *remaining = mwparserfromhell.parse(wikitext(NAME, caption)).nodes
    assert remaining == []
    assert isinstance(link, mwparserfromhell.nodes.Wikilink)
    assert str(link.title) == f"File:{NAME}"
    option, shown = str(link.text).split("|")
    assert option == "thumb"
    assert mwparserfromhell.parse(shown).strip_code() == caption


@given(st.text(st.sampled_from("ab '~<>[]{}|&#;=!-_\n"), max_size=30))
def test_no_caption_ends_the_thumbnail_or_begins_a_template(caption):
    code = mwparserfromhell.parse(wikitext(NAME, caption))
    assert len(code.nodes) == 1
    assert code.filter_templates() == code.filter_tags() == code.filter_comments() == []
    assert len(code.filter_wikilinks()) == 1


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://upload.wikimedia.org/wikipedia/commons/6/62/A_b%2C_c.jpg", "A b, c.jpg"),
        ("https://upload.wikimedia.org/wikipedia/commons/thumb/6/62/A.svg/99px-A.svg.png", "A.svg"),
        ("https://x/A%5D%5D.jpg", ""),
        ("http://[", ""),
        ("", ""),
    ],
)
def test_a_file_is_named_as_its_wiki_names_it_or_not_at_all(url, name):
    assert file_name(url) == name


def test_a_link_that_could_run_code_is_none():
    answer = replace(answers()[0], image_url="javascript:alert(1)", file_page="data:text/html,x")
    card = answer_card(answer, "t", {})
    assert (card["image_url"], card["file_page"], card["wikitext"]) == ("", "", "")
    assert card["file"] == "i0"
    section = replace(places()[0], page_url="JavaScript:alert(1)")
    assert section_card(section, "", {})["page_url"] == ""


def test_a_card_has_the_verdict_on_its_own_pair():
    verdicts = {Suggestion("t", "i0"): ACCEPTED, Suggestion("s0", "i1"): rejected("icon")}
    first, second = answers()[:2]
    assert answer_card(first, "t", verdicts)["grade"] == {"verdict": "good", "reason": None}
    assert answer_card(second, "t", verdicts)["grade"] is None
    card = section_card(places()[0], "i1", verdicts)
    assert card["grade"] == {"verdict": "bad", "reason": "icon"}
    assert card["item"] == {"text_id": "s0", "image_id": "i1"}


def test_an_id_is_one_part_of_a_thumbnails_address():
    card = answer_card(replace(answers()[0], image_id="../a b?#"), "t", {})
    assert card["thumbnail"] == "/thumbnail/..%2Fa%20b%3F%23"
