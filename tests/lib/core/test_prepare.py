"""BM25 reads words as the converter of AToMiC's authors left them, which is as textacy does."""

import csv
import subprocess
import sys

import polars as pl
import pytest
from tests import textacy_facts
from tests.textacy_facts import GOLDEN, OWN, REAL, VERSION, digest, lines, own_facts, pages, topics

from isotope.core.lucene import contents
from isotope.core.prepare import ATOMIC, MOST_WORDS, NONE, ORDER, in_order, joined, prepared
from isotope.core.schemas import FIVE_FIELDS


def facts(source):
    """By digest, what textacy made of the strings of a source of real data."""
    with (GOLDEN / REAL).open(encoding="utf-8", newline="") as file:
        rows = csv.DictReader(file)
        return {row["text"]: row["prepared"] for row in rows if row["source"] == source}


@pytest.mark.parametrize("fact", own_facts(), ids=lambda fact: digest(fact["text"]))
def test_a_string_of_our_own_becomes_what_textacy_made_of_it(fact):
    assert prepared([fact["text"]]) == fact["prepared"]


@pytest.mark.parametrize(
    ("source", "strings", "many"), [("line", lines, 2000), ("page", pages, 71)]
)
def test_wikitext_of_real_pages_becomes_what_textacy_made_of_it(shared, source, strings, many):
    known = facts(source)
    made = {digest(text): digest(prepared([text])) for text in strings(shared)}
    assert len(made) == many
    assert made == known
    assert sum(before != after for before, after in made.items()) > many / 2


def test_a_published_topic_stays_as_the_converter_left_it_where_textacy_leaves_it_too(shared):
    published, changed = topics(shared), facts("topic")
    assert len(published) == 16_131
    assert sum("_URL_" in topic for topic in published) == 132
    assert sum("_TAG_" in topic for topic in published) == 8
    made = {topic: prepared([topic]) for topic in published}
    moved = {digest(topic): digest(after) for topic, after in made.items() if after != topic}
    assert moved == changed
    # A bracket in a bracket, a tag that was a reference, the rest of an address: once more finds
    # more of them.
    again = [topic for topic, after in made.items() if after != topic]
    assert all(any(mark in topic for mark in (*"([{<&", "_URL_.")) for topic in again)


@pytest.mark.long
def test_the_facts_are_what_textacy_makes_today(shared, tmp_path):
    package, out = tmp_path / "package", tmp_path / "out"
    out.mkdir()
    asked = ["uv", "pip", "install", "--quiet", "--no-deps", "--target", str(package)]
    done = subprocess.run([*asked, f"textacy=={VERSION}"], capture_output=True, check=False)
    if done.returncode:
        pytest.skip(f"textacy {VERSION} cannot be installed here")
    program = [sys.executable, textacy_facts.__file__, package, shared, out]
    subprocess.run([*map(str, program)], check=True)
    for name in (OWN, REAL):
        assert (out / name).read_bytes() == (GOLDEN / name).read_bytes()


def test_of_all_parts_together_the_first_1024_words_are_read():
    parts = ["one two", "", " three ", " ".join(f"w{n}" for n in range(2_000)), "never read"]
    words = prepared(parts).split(" ")
    assert len(words) == MOST_WORDS == 1_024
    assert words[:4] == ["one", "two", "three", "w0"]
    assert words[-1] == "w1020"


def test_each_part_is_prepared_by_itself():
    assert prepared(["a (b", "c) d"]) == "a (b c) d"
    assert prepared(["AT&T", "is lost by itself alone"]) == "is lost by itself alone"


def test_nothing_is_prepared_where_nothing_is_asked():
    assert joined(["a (b)", "", "“c”"], NONE) == "a (b) “c”"
    assert joined(["a (b)", "", "“c”"], ATOMIC) == 'a "c"'


def test_fields_stand_in_the_converters_order_whatever_the_params_order():
    assert in_order(FIVE_FIELDS, ATOMIC) == [*ORDER]
    assert in_order(["hierarchy", "page_title"], ATOMIC) == ["page_title", "hierarchy"]
    assert in_order(["hierarchy", "page_title"], NONE) == ["hierarchy", "page_title"]


@pytest.fixture
def tables(tmp_path):
    """A text whose page's context alone is as long as the cut, and a picture's captions."""
    text = {
        "text_id": "t",
        "split": "test",
        "page_title": "Page (disambiguation)",
        "section_title": "Section",
        "hierarchy": "A (b / c) d / Section",
        "context_page_description": " ".join(["page"] * 1_100),
        "context_section_description": "section",
    }
    image = {
        "image_id": "i",
        "split": "test",
        "language": ["de", "en"],
        "caption_reference_description": ["Bild", "a picture, see http://example.org/x"],
        "caption_alt_text_description": ["", "“seen” (from afar)"],
        "caption_attribution_description": ["", ""],
    }
    for name, row in (("texts", text), ("images", image)):
        pl.DataFrame([row]).write_parquet(tmp_path / f"{name}.parquet")
    return tmp_path


def test_the_cut_is_made_after_the_fields_are_in_the_converters_order(tables):
    table = tables / "texts.parquet"
    words = contents("texts", table, language="en", prepare=ATOMIC)["contents"].item().split(" ")
    assert words[:3] == ["Page", "Section", "page"]
    assert len(words) == MOST_WORDS
    assert "section" not in words
    whole = contents("texts", table, language="en", prepare=NONE)["contents"].item()
    assert whole.startswith("Page (disambiguation) Section A (b c) d Section section page ")
    assert len(whole.split()) > MOST_WORDS


def test_the_headings_of_a_hierarchy_are_prepared_one_by_one(tables):
    table, fields = tables / "texts.parquet", ["hierarchy", "page_title"]
    words = contents("texts", table, language="en", fields=fields, prepare=ATOMIC)
    # No bracket is closed within a heading.
    assert words["contents"].item() == "Page A (b c) d Section"


def test_captions_of_one_language_are_prepared_one_by_one(tables):
    table = tables / "images.parquet"
    words = contents("images", table, language="en", prepare=ATOMIC)
    assert words["contents"].item() == 'a picture, see _URL_ "seen"'
    plain = contents("images", table, language="en", prepare=NONE)
    assert plain["contents"].item() == "a picture, see http://example.org/x “seen” (from afar)"


# What could make a pattern look again and again, or keep the parser of tags waiting.
HOSTILE = (
    "<a ",
    "<!--",
    "<![",
    "</",
    "<",
    "&",
    "((",
    "[a",
    "www.a:",
    "-http://",
    "a-",
    "•\n",
    "\n ",
)


@pytest.mark.parametrize("piece", HOSTILE)
def test_half_a_megabyte_of_what_patterns_trip_over_is_read(piece):
    """Time that grew with the square of the length would be hours."""
    text = f"{piece * (500_000 // len(piece))}• @.com/aa"
    assert len(prepared([text])) <= len(text)
