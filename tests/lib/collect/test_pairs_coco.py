"""COCO becomes a collection: one caption asks, the others describe, boxes have synsets."""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from tests.pairs import published

SYNSETS = {"dog": {"synset": "dog.n.01"}, "stop sign": {"synset": "stop_sign.n.01"}}
BASE = "http://images.cocodataset.org/"
ENTRY = {
    "kind": "pairs",
    "form": "coco",
    "columns": {"image": "coco_url", "text_id": "query_id", "objects": "objects"},
    "texts": "first-of-several",
}


def taken(*names: str, **more: str) -> list[dict[str, str]]:
    """Return rows of a ledger for pictures that came along, with the digests `more` of some."""
    digests = {name: {"upstream_sha256": more[name]} for name in names if name in more}
    return [
        {"image_url": BASE + name, "status": "success", **digests.get(name, {})} for name in names
    ]


@pytest.fixture
def small(tmp_path):
    """Three listed pictures: a whole one, one without pixels, one with a single caption."""
    listed = [
        {"id": n, "file_name": f"{n}.jpg", "coco_url": f"http://c/{n}.jpg", "width": 9, "height": 8}
        for n in (1, 2, 3)
    ]
    said = [(11, 1, "A  dog.\n"), (10, 1, "One dog"), (12, 1, " "), (20, 2, "a"), (21, 2, "b")]
    said += [(30, 3, "alone"), (40, 4, "of nothing")]
    drawn = [
        {"id": 1, "image_id": 1, "category_id": 18, "bbox": [1.4, 2.6, 3, 4], "iscrowd": 0},
        {"id": 2, "image_id": 1, "category_id": 18, "bbox": [0, 0, 9, 9], "iscrowd": 1},
        {"id": 3, "image_id": 1, "category_id": 99, "bbox": [0, 0, 9, 9], "iscrowd": 0},
        {"id": 4, "image_id": 1, "category_id": 13, "bbox": [0, 0], "iscrowd": 0},
    ]
    named = [{"id": 18, "name": "dog"}, {"id": 13, "name": "stop sign"}, {"id": 99, "name": "hat"}]
    captions = [{"id": i, "image_id": p, "caption": c} for i, p, c in said]
    return published(
        tmp_path,
        {
            "captions": {"captions_val.json": _json(images=listed, annotations=captions)},
            "instances": {"instances_val.json": _json(categories=named, annotations=drawn)},
            "synsets": {"synsets.json": json.dumps(SYNSETS)},
        },
        ENTRY,
        taken("1.jpg", "3.jpg"),
    )


def _json(**parts: object) -> str:
    return json.dumps(parts)


def test_the_first_caption_asks_and_the_others_describe(small):
    assert small["texts"].select("text_id", "context_section_description", "split").rows() == [
        ("coco-10", "One dog", "validation")
    ]
    image = small["images"].row(0, named=True)
    assert image["image_url"] == f"{BASE}1.jpg"
    assert image["image_id"] == str(uuid.uuid3(uuid.NAMESPACE_URL, image["image_url"]))
    assert (image["caption_reference_description"], image["language"]) == (["A dog."], ["en"])
    assert image["objects"] == [
        {"synset": "dog.n.01", "x_min": 1, "y_min": 3, "x_max": 4, "y_max": 7}
    ]


def test_every_row_that_is_not_used_is_named_with_its_place(small):
    assert small["rejected"].select("file", "row", "reason", "detail").rows() == [
        ("captions_val.json", 3, "unreadable", "an annotation without caption"),
        ("captions_val.json", 4, "missing_picture", "http://c/2.jpg"),
        ("captions_val.json", 5, "missing_picture", "http://c/2.jpg"),
        ("captions_val.json", 6, "too_few_captions", "coco-30"),
        ("captions_val.json", 7, "unreadable", "no image 4 in this file"),
        ("instances_val.json", 2, "crowd", "dog"),
        ("instances_val.json", 3, "category_without_synset", "hat"),
        ("instances_val.json", 4, "no_box", "stop sign"),
    ]
    assert small["filters"].rows() == [
        ("read", "validation", 5, 0, 5),
        ("missing_picture", "validation", 5, 2, 3),
        ("too_few_captions", "validation", 3, 1, 2),
        ("first_text", "validation", 2, 1, 1),
        ("read", "unknown", 2, 0, 2),
        ("unreadable", "unknown", 2, 2, 0),
    ]


def mini(shared: Path, place: Path) -> Any:
    """Return the tables that the real pictures of COCO become, as `published` does."""
    folder = shared / "collections/coco-mini"
    patterns = {
        "captions": "captions_*.json",
        "instances": "instances_*.json",
        "synsets": "coco_to_synset.json",
    }
    documents = {
        part: {path.name: path.read_text() for path in sorted(folder.glob(pattern))}
        for part, pattern in patterns.items()
    }
    return published(place, documents, ENTRY)


@pytest.fixture
def real(shared, tmp_path):
    return mini(shared, tmp_path)


def test_the_real_coco_has_159_pictures_with_1350_objects(real):
    """Counted from the published files: 624 + 739 annotations, of which 13 are crowds."""
    assert dict(real["qrels"]["split"].value_counts().iter_rows()) == {
        "train": 80,
        "validation": 79,
    }
    assert real["images"]["objects"].list.len().sum() == 624 + 739 - 13
    assert real["images"]["caption_reference_description"].list.len().sum() == 395 + 400 - 159
    assert dict(real["rejected"]["reason"].value_counts().iter_rows()) == {"crowd": 13}
    without_crawl = real["images"]["image_url"].str.starts_with("http://images.cocodataset.org/")
    assert without_crawl.all()


def test_a_picture_whose_name_two_others_have_is_rejected_and_a_copy_is_not(tmp_path):
    names = {"one/1.jpg": "a", "two/1.jpg": "b", "one/2.jpg": "c", "two/2.jpg": "c"}
    listed = [{"id": n, "file_name": f"{n}.jpg", "coco_url": f"http://c/{n}.jpg"} for n in (1, 2)]
    said = [{"id": 10 * p + n, "image_id": p, "caption": "a"} for p in (1, 2) for n in (0, 1)]
    captions = {"val.json": _json(images=listed, annotations=said)}
    made = published(tmp_path, {"captions": captions}, ENTRY, taken(*names, **names))
    assert made["images"]["image_url"].to_list() == [f"{BASE}one/2.jpg"]
    rejected = made["rejected"].select("row", "reason", "detail").rows()
    assert rejected == [(n, "ambiguous_picture", "http://c/1.jpg") for n in (1, 2)]


@pytest.mark.parametrize("kind", ["coco", "coco-captions"])
def test_the_kinds_of_before_are_read_and_named_anew(tmp_path, capsys, kind):
    said = [{"id": n, "image_id": 1, "caption": f"dog {n}"} for n in range(2)]
    listed = [{"id": 1, "file_name": "1.jpg", "coco_url": "http://c/1.jpg"}]
    captions = {"val.json": _json(images=listed, annotations=said)}
    made = published(tmp_path, {"captions": captions}, {"kind": kind})
    assert made["qrels"].height == (1 if kind == "coco" else 2)
    assert f"params collect.mine: `kind: {kind}` is now `kind: pairs, form: coco" in (
        capsys.readouterr().err
    )
