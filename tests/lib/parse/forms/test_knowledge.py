"""Knowledge bases of visual questions, as they are published, become rows of texts and pictures."""

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope.core.errors import BadParams, CorruptFile
from isotope.intake import texts as files
from isotope.parse.forms import form_of

# The fields of google-research/encyclopedic_vqa, README.md, "Controlled Knowledge Base".
UPLOAD = "https://upload.wikimedia.org/wikipedia/commons"
LIGHTHOUSE: dict[str, Any] = {
    "title": "Red Lighthouse",
    "section_titles": ["Red Lighthouse", "History", "Keepers"],
    "section_texts": ["A lighthouse.", "It was built.", "They kept it."],
    "image_urls": [f"{UPLOAD}/a/ab/Lead.jpg", f"{UPLOAD}/b/bc/Old.jpg", f"{UPLOAD}/c/cd/Plan.png"],
    "image_reference_descriptions": ["The tower", "", "A plan"],
    "image_section_indices": [0, 1, 1],
    "url": "https://en.wikipedia.org/wiki/Red_Lighthouse",
}
BARE: dict[str, Any] = {
    "title": "Bare",
    "section_titles": ["Bare"],
    "section_texts": ["No picture."],
    "image_urls": [],
    "image_reference_descriptions": [],
    "image_section_indices": [],
    "url": "https://en.wikipedia.org/wiki/Bare",
}


def published(folder: Path, *pages: dict[str, Any]) -> Path:
    """The knowledge base as it is published: a zip of one JSON file."""
    path = folder / "encyclopedic_kb_wiki.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("encyclopedic_kb_wiki.json", json.dumps({p["url"]: p for p in pages}))
    return path


def rows(path: Path, **options: Any) -> tuple[list[dict[str, Any]], list[dict[str, object]]]:
    rejected: list[dict[str, object]] = []
    batches = form_of([path]).read([path], options, rejected)
    return [row for batch in batches for row in batch.to_pylist()], rejected


def test_a_section_has_a_row_for_each_of_its_pictures_or_one_without(tmp_path):
    found, rejected = rows(published(tmp_path, LIGHTHOUSE, BARE))
    assert not rejected
    told = [(r["section"], r["image_url"], r["image_reference_description"]) for r in found]
    assert told == [
        (0, f"{UPLOAD}/a/ab/Lead.jpg", "The tower"),
        (1, f"{UPLOAD}/b/bc/Old.jpg", None),
        (1, f"{UPLOAD}/c/cd/Plan.png", "A plan"),
        (2, None, None),
        (0, None, None),
    ]
    assert [r["section_title"] for r in found] == [None, "History", "History", "Keepers", None]
    assert found[1]["section_id"] == "https://en.wikipedia.org/wiki/Red_Lighthouse#1"
    assert [r["_row"] for r in found] == [1, 1, 1, 1, 2]


def test_sections_without_a_picture_may_be_left_out(tmp_path):
    found, _ = rows(published(tmp_path, LIGHTHOUSE, BARE), pictures_only=True)
    assert [r["image_url"].rpartition("/")[2] for r in found] == ["Lead.jpg", "Old.jpg", "Plan.png"]


@pytest.mark.parametrize(
    ("change", "found"),
    [
        ({"section_texts": ["one"]}, "3 titles of sections, 1 texts"),
        ({"image_section_indices": [0, 1, 3]}, "a picture in section 3 of 3"),
        ({"image_section_indices": [0, 1]}, "3 image_urls, 2 image_section_indices"),
        ({"section_titles": ["a", 2, "c"]}, "section_titles is no list of texts"),
    ],
)
def test_a_page_out_of_shape_is_set_aside_with_its_number(tmp_path, change, found):
    good, rejected = rows(published(tmp_path, BARE, LIGHTHOUSE | change))
    assert [r["title"] for r in good] == ["Bare"]
    assert [(r["row"], r["detail"]) for r in rejected] == [(2, found)]


def test_a_knowledge_base_that_ends_early_is_an_error_with_the_page(tmp_path):
    path = tmp_path / "encyclopedic_kb_wiki.json"
    text = json.dumps({p["url"]: p for p in (LIGHTHOUSE, BARE)})
    path.write_text(text[:-40])
    with pytest.raises(CorruptFile, match="item 2 of the object"):
        rows(path)


def test_an_entity_of_infoseek_is_its_title_summary_and_picture(tmp_path):
    entities = [
        {"wikidata_id": "Q1", "wikipedia_title": "Red Lighthouse", "wikipedia_summary": "A tower."}
        | {
            "wikipedia_content": "A tower. It is red.",
            "wikipedia_image_url": f"{UPLOAD}/a/ab/L.jpg",
        },
        {"wikidata_id": "Q2", "wikipedia_title": "Bare", "wikipedia_summary": "Nothing."}
        | {"wikipedia_content": "Nothing at all.", "wikipedia_image_url": None},
        {"wikipedia_title": "No id"},
    ]
    path = tmp_path / "Wiki6M_ver_1_0.jsonl.gz"
    path.write_bytes(gzip.compress("\n".join(map(json.dumps, entities)).encode()))
    found, rejected = rows(path)
    assert [(r["wikidata_id"], r["text"]) for r in found] == [
        ("Q1", "A tower."),
        ("Q2", "Nothing."),
    ]
    assert found[0]["page_url"] == "https://en.wikipedia.org/wiki/Red_Lighthouse"
    assert [(r["row"], r["detail"]) for r in rejected] == [(3, "no wikidata_id")]
    whole, _ = rows(path, text="content", pictures_only=True)
    assert [r["text"] for r in whole] == ["A tower. It is red."]
    with pytest.raises(BadParams, match="summary or content"):
        rows(path, text="abstract")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=8,
)


@given(st.dictionaries(st.text(), VALUES), st.sampled_from([None, 2]), st.integers(1, 40))
def test_members_of_an_object_are_read_as_json_reads_them(tmp_path_factory, value, indent, size):
    path = tmp_path_factory.mktemp("members") / "a.json"
    path.write_text(json.dumps(value, indent=indent, ensure_ascii=False), encoding="utf-8")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "_CHARACTERS", size)
        assert {name: json.loads(text) for name, text in files.members(path)} == value
