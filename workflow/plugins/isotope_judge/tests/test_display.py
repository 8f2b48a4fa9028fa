"""What a judging page shows of a text or an image: each of its words once."""

from typing import Any

import pytest

from isotope_judge.display import image_fields, text_fields

NO_TEXT: dict[str, Any] = dict.fromkeys(
    (
        "page_title",
        "section_title",
        "hierarchy",
        "context_section_description",
        "context_page_description",
    )
)
NO_IMAGE = {
    "caption_reference_description": None,
    "caption_alt_text_description": None,
    "caption_attribution_description": None,
    "image_url": "http://x/B.png",
}


@pytest.mark.parametrize(
    ("hierarchy", "section", "shown"),
    [
        ("Introduction", "Introduction", "Introduction"),
        ("Anatomy", "Anatomy", "Anatomy"),
        ("Anatomy / Wings", "Wings", "Anatomy / Wings"),
        ("Bees", "Bees", "Bees"),
        ("Anatomy", "Wings", "Anatomy / Wings"),
        ("", "Wings", "Wings"),
        (None, None, None),
    ],
)
def test_a_section_is_named_by_the_headings_below_the_title_of_its_page(hierarchy, section, shown):
    row = {**NO_TEXT, "page_title": "Bees", "section_title": section, "hierarchy": hierarchy}
    assert text_fields(row) == {"Page": "Bees", **({"Section": shown} if shown else {})}


@pytest.mark.parametrize(
    ("section_text", "page_text", "shown"),
    [
        ("A bee flies.", "A bee flies.", ["A bee flies.", None]),
        ("A bee\nflies.  It hums.", "a bee flies.", ["A bee\nflies.  It hums.", None]),
        ("A bee flies.", "A bee flies. It hums.", ["A bee flies.", "… It hums."]),
        ("It hums.", "A bee flies.", ["It hums.", "A bee flies."]),
        ("Bee", "Beeswax burns.", ["Bee", "Beeswax burns."]),
        ("", "A bee flies.", [None, "A bee flies."]),
        (None, None, [None, None]),
    ],
)
def test_the_text_of_a_page_does_not_repeat_that_of_its_section(section_text, page_text, shown):
    row = {
        **NO_TEXT,
        "context_section_description": section_text,
        "context_page_description": page_text,
    }
    fields = text_fields(row)
    assert [fields.get(f"Text of the {part}") for part in ("section", "page")] == shown


@pytest.mark.parametrize(
    ("captions", "url", "shown"),
    [
        (
            (["A bee", "Abeja"], ["a  bee"], "English: A bee on a rose"),
            "http://x/B.png",
            {"Caption": "Abeja", "Attribution": "English: A bee on a rose", "File": "B.png"},
        ),
        (
            (["A bee", None, "A bee"], ["A bee", ""], None),
            "http://x/A_b%C3%A9e.png",
            {"Caption": "A bee", "File": "A bée.png"},
        ),
        (([], ["A bee (queen)"], "Rose"), "http://x/a_bee_(queen).JPG", {
            "Alternative text": "A bee (queen)",
            "Attribution": "Rose",
        }),
        ((["bee"], ["bees"], None), "", {"Caption": "bee", "Alternative text": "bees"}),
    ],
)  # fmt: skip
def test_a_caption_stands_once_in_its_longest_form_and_the_file_if_it_says_more(
    captions, url, shown
):
    columns = [name for name in NO_IMAGE if name != "image_url"]
    row = {**dict(zip(columns, captions, strict=True)), "image_url": url}
    assert image_fields(row) == shown


def test_an_item_without_words_has_no_fields():
    assert text_fields(NO_TEXT) == {}
    assert image_fields({**NO_IMAGE, "image_url": ""}) == {}
