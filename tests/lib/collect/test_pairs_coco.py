"""COCO becomes a collection: one caption asks, the others describe, boxes have synsets."""

import json
import uuid
from pathlib import Path

import polars as pl
import pytest

from isotope.collect.build import collect
from isotope.collect.inputs import DOCUMENTS
from isotope.core import sql, store
from isotope.explain.objects import match_concepts, read_objects
from isotope.schemas.crawl import LEDGER, URLS

SYNSETS = {"dog": {"synset": "dog.n.01"}, "stop sign": {"synset": "stop_sign.n.01"}}
BASE = "http://images.cocodataset.org/"


def made(folder: Path, documents: dict[str, dict[str, str]], taken: list[str] | None = None):
    """Collect documents, {part: {file: text}}, with the pictures `taken` in if there are some."""
    relations: dict[str, sql.Files] = {}
    for part, files in documents.items():
        rows = [{"file": name, "document": text} for name, text in files.items()]
        store.write_rows(rows, folder / f"{part}.parquet", DOCUMENTS)
        relations[part] = folder / f"{part}.parquet"
    urls = [{"image_id": "", "image_url": BASE + name} for name in taken or []]
    store.write_rows(urls, folder / "urls.parquet", URLS)
    ledger = [{"image_url": url["image_url"], "status": "success"} for url in urls]
    store.write_rows(ledger, folder / "ledger.parquet", LEDGER)
    relations |= {name: folder / f"{name}.parquet" for name in ("urls", "ledger")}
    collect(sql.SQL / "collect" / "coco", relations, {"language": "en"}, folder / "out")
    names = ("texts", "images", "qrels", "filters", "rejected")
    return {name: pl.read_parquet(folder / "out" / f"{name}.parquet") for name in names}


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
    return made(
        tmp_path,
        {
            "captions": {"captions_val.json": _json(images=listed, annotations=captions)},
            "instances": {"instances_val.json": _json(categories=named, annotations=drawn)},
            "synsets": {"synsets.json": json.dumps(SYNSETS)},
        },
        taken=["1.jpg", "3.jpg"],
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
        ("captions_val.json", 2, "missing_picture", "2.jpg"),
        ("captions_val.json", 3, "empty_caption", "1"),
        ("captions_val.json", 3, "too_few_captions", "3.jpg"),
        ("captions_val.json", 7, "unknown_picture", "4"),
        ("instances_val.json", 2, "crowd", "dog"),
        ("instances_val.json", 3, "category_without_synset", "hat"),
        ("instances_val.json", 4, "no_box", "stop sign"),
    ]
    assert small["filters"].rows() == [("usable", "validation", 3, 2, 1)]


@pytest.fixture
def real(shared, tmp_path):
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
    return made(tmp_path, documents)


def test_the_real_coco_has_159_pictures_with_1350_objects(real, tmp_path, request):
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
    wordnet = request.getfixturevalue("installed_wordnet")
    images = tmp_path / "out/images.parquet"
    known, rejected = match_concepts(read_objects(images, None), wordnet, images)
    assert (known.height, rejected.height) == (1347, 3)
    assert set(rejected["detail"]) == {"stop_sign.n.01"}


def test_a_picture_whose_name_two_others_have_is_rejected_and_a_copy_is_not(tmp_path):
    names = ["one/1.jpg", "two/1.jpg", "one/2.jpg", "two/2.jpg"]
    urls = [{"image_id": "", "image_url": BASE + name} for name in names]
    ledger = [
        {"image_url": u["image_url"], "status": "success", "upstream_sha256": digest}
        for u, digest in zip(urls, ["a", "b", "c", "c"], strict=True)
    ]
    listed = [{"id": n, "file_name": f"{n}.jpg", "coco_url": "", "width": 9} for n in (1, 2)]
    said = [{"id": 10 * p + n, "image_id": p, "caption": "a"} for p in (1, 2) for n in (0, 1)]
    documents = {
        "captions": _json(images=listed, annotations=said),
        "instances": _json(categories=[], annotations=[]),
        "synsets": json.dumps(SYNSETS),
    }
    relations: dict[str, sql.Files] = {}
    for part, text in documents.items():
        relations[part] = tmp_path / f"{part}.parquet"
        rows = [{"file": "val.json", "document": text}]
        store.write_rows(rows, tmp_path / f"{part}.parquet", DOCUMENTS)
    store.write_rows(urls, tmp_path / "urls.parquet", URLS)
    store.write_rows(ledger, tmp_path / "ledger.parquet", LEDGER)
    relations |= {name: tmp_path / f"{name}.parquet" for name in ("urls", "ledger")}
    collect(sql.SQL / "collect" / "coco", relations, {"language": "en"}, tmp_path / "out")
    images, rejected = (
        pl.read_parquet(tmp_path / f"out/{t}.parquet") for t in ("images", "rejected")
    )
    assert images["image_url"].to_list() == [f"{BASE}one/2.jpg"]
    assert rejected.select("reason", "detail").rows() == [("ambiguous_picture", "1.jpg")]
