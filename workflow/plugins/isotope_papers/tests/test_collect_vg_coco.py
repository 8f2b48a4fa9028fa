"""Visual Genome and COCO are one collection: captions ask, region descriptions stand for pictures.

Lymperaiou et al., COLING 2022: sections 3.1, 3.2 and 6.1. The files are of Visual Genome's own form
(its data readme; objects.json 1.4, region_descriptions.json 1.2), packed as they are published.
"""

import io
import json
import uuid
import zipfile
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from isotope.acquire.fetch import acquire
from isotope.collect.build import collect
from isotope.core import sql, store
from isotope.core.errors import CorruptFile, MissingFile
from isotope.params.acquire import DigestedSource
from isotope.schemas.crawl import LEDGER, URLS
from isotope_papers.resources import SQL

BASE = "https://cs.stanford.edu/people/rak248/"


def picture(image: int, coco: int | None, folder: str = "VG_100K_2") -> dict[str, Any]:
    url = f"{BASE}{folder}/{image}.jpg"
    size = {"width": 800, "height": 600}
    return {**size, "url": url, "coco_id": coco, "flickr_id": None, "image_id": image}


def region(ident: int, image: int, phrase: str) -> dict[str, Any]:
    box = {"x": 421, "y": 57, "width": 82, "height": 139}
    return {"region_id": ident, "image_id": image, "phrase": phrase, **box}


def thing(ident: int, name: str, *synsets: str, box: tuple[int, ...] = (1, 2, 30, 40)) -> dict:
    sides = dict(zip("xywh", box, strict=True))
    return {"object_id": ident, "merged_object_ids": [], "names": [name], **sides} | {
        "synsets": [*synsets]
    }


IMAGE_DATA = [
    picture(1, 104),
    picture(2, 105, "VG_100K"),
    picture(3, None),
    picture(4, 999),
    picture(5, 104),
    picture(6, 106),
    picture(7, 107),
]
REGIONS = [
    {
        "id": 1,
        "regions": [
            region(12, 1, "the clock is green\nin colour "),
            region(11, 1, "A herd of zebras"),
            region(13, 1, "A herd of zebras"),
            region(14, 1, " "),
        ],
    },
    {"image_id": 2, "regions": [region(21, 2, "a cat sitting on a table.")]},
    {"id": 3, "regions": [region(31, 3, "nobody asks for it")]},
    {"id": 5, "regions": [region(51, 5, "the picture of 104 once more")]},
    {"id": 6, "regions": [region(61, 6, "nobody says a word of it")]},
    {"id": 7, "regions": []},
]
OBJECTS = [
    {
        "image_id": 1,
        "objects": [
            thing(3, "zebra", "zebra.n.01", "horse.n.01"),
            thing(1, "zebras", "zebra.n.01", box=(0, 0, 10, 10)),
            thing(2, "stuff"),
        ],
        "image_url": f"{BASE}VG_100K_2/1.jpg",
    },
    {"image_id": 2, "objects": [thing(4, "clock", "clock.n.01")]},
    {"image_id": 3, "objects": [thing(5, "thing")]},
]
CAPTION_ROWS = [
    *[(9, 104, "Zebras graze ."), (8, 104, "A  herd of zebras\n"), (7, 104, " ")],
    *[(20, 105, "A cat."), (30, 107, "Said."), (40, 106, ""), (50, 111, "unlisted")],
]
CAPTIONS = {
    "images": [{"id": n, "file_name": f"{n:012}.jpg"} for n in (104, 105, 106, 107, 108)],
    "annotations": [{"id": i, "image_id": p, "caption": c} for i, p, c in CAPTION_ROWS],
}


def packed(name: str, document: Any) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, json.dumps(document))
    return buffer.getvalue()


def collected(
    folder: Path, taken: list[str] | None = None, **other: bytes
) -> dict[str, pl.DataFrame]:
    """Acquire the files and collect them, with the pictures `taken` in if there are some."""
    parts = {
        "image_data": ("image_data.json.zip", packed("image_data.json", IMAGE_DATA)),
        "region_descriptions": (
            "region_descriptions.json.zip",
            packed("region_descriptions.json", REGIONS),
        ),
        "objects": ("objects.json.zip", packed("objects.json", OBJECTS)),
        "captions": ("captions_train2014.json", json.dumps(CAPTIONS).encode()),
    }
    upstream = folder / "upstream"
    for part, (name, data) in parts.items():
        (upstream / part).mkdir(parents=True, exist_ok=True)
        (upstream / part / name).write_bytes(other.get(part, data))
    spec = {"files": {p: [str(upstream / p / n)] for p, (n, _) in parts.items()}}
    acquire(DigestedSource.of_plain(spec), folder / "acquired/manifest.json", folder / "scratch")
    urls = [{"image_id": "", "image_url": BASE + name} for name in taken or []]
    ledger = [{"image_url": url["image_url"], "status": "success"} for url in urls]
    store.write_rows(urls, folder / "urls.parquet", URLS)
    store.write_rows(ledger, folder / "ledger.parquet", LEDGER)
    relations: dict[str, sql.Files] = {"manifest": str(folder / "acquired/manifest.json")}
    relations |= {name: folder / f"{name}.parquet" for name in ("urls", "ledger")}
    collect(SQL / "collect/vg-coco", relations, {"language": "en"}, folder / "out")
    names = ("texts", "images", "qrels", "filters", "rejected")
    return {name: pl.read_parquet(folder / "out" / f"{name}.parquet") for name in names}


def test_all_captions_of_a_picture_are_its_query_a_line_each(tmp_path):
    """Section 3.2 averages a query "when q_i comprises from more than one sentences"."""
    texts = collected(tmp_path)["texts"]
    assert texts.select("text_id", "context_section_description", "split").rows() == [
        ("vg-coco-104", "A herd of zebras\nZebras graze .", "train"),
        ("vg-coco-105", "A cat.", "train"),
    ]


def test_a_query_has_one_answer_though_a_picture_is_there_twice(tmp_path):
    """Section 3.3: "each q_i has only one ground truth"; Visual Genome has COCO's 104 twice."""
    tables = collected(tmp_path)
    answers = dict(tables["qrels"].select("text_id", "image_id").rows())
    assert tables["qrels"].height == len(answers) == tables["images"].height == 2
    assert tables["images"].filter(image_id=answers["vg-coco-104"])["source_image_id"].item() == "1"


def test_region_descriptions_are_the_corpus_every_one_of_them(tmp_path):
    """Section 3.1: "concatenated in a corpus c_i per image", repeated sentences too."""
    images = collected(tmp_path)["images"].sort("image_url")
    assert images["caption_reference_description"].to_list() == [
        ["a cat sitting on a table."],
        ["A herd of zebras", "the clock is green in colour", "A herd of zebras"],
    ]
    assert images["image_url"].to_list() == [f"{BASE}VG_100K/2.jpg", f"{BASE}VG_100K_2/1.jpg"]
    first = images.row(1, named=True)
    assert first["image_id"] == str(uuid.uuid3(uuid.NAMESPACE_URL, first["image_url"]))
    assert (first["width"], first["height"], first["source_image_id"]) == (800, 600, "1")


def test_objects_bring_the_concepts_with_synsets_and_boxes(tmp_path):
    images = collected(tmp_path)["images"].sort("image_url")
    boxes = [
        [tuple(concept.values()) for concept in concepts_of_image]
        for concepts_of_image in images["objects"].to_list()
    ]
    assert boxes == [
        [("clock.n.01", 1, 2, 31, 42)],
        [("zebra.n.01", 0, 0, 10, 10), ("zebra.n.01", 1, 2, 31, 42)],
    ]


def test_the_collections_objects_are_wordnets(tmp_path):
    concepts = pytest.importorskip("isotope_explain.objects")
    wordnet = pytest.importorskip("isotope_explain.wordnet")
    try:
        installed = wordnet.WordNet(wordnet.find())
    except MissingFile as error:
        pytest.skip(str(error))
    collected(tmp_path)
    images = tmp_path / "out/images.parquet"
    objects = concepts.read_objects(images, None)
    matched, aside = concepts.match_concepts(objects, installed, images)
    assert (matched.height, aside.height) == (3, 0)
    assert set(matched["concept"]) == {"zebra.n.01", "clock.n.01"}


def test_what_only_one_of_the_two_has_is_told_with_its_place(tmp_path):
    tables = collected(tmp_path)
    assert tables["rejected"].select("file", "row", "reason", "detail").rows() == [
        ("captions_train2014.json", 3, "empty_caption", "104"),
        ("captions_train2014.json", 5, "not_in_visual_genome", "108"),
        ("captions_train2014.json", 7, "unknown_picture", "111"),
        ("image_data.json.zip", 3, "not_in_coco", "3"),
        ("image_data.json.zip", 4, "not_in_coco", "4"),
        ("image_data.json.zip", 5, "repeated_picture", "5"),
        ("image_data.json.zip", 6, "no_caption", "6"),
        ("image_data.json.zip", 7, "no_region", "7"),
        ("objects.json.zip", 1, "no_synset", "stuff"),
        ("region_descriptions.json.zip", 1, "empty_region", "14"),
    ]
    assert tables["filters"].rows() == [
        ("visual_genome", "train", 5, 1, 4),
        ("usable", "train", 4, 2, 2),
    ]
    assert tables["qrels"].height == 2


def test_pictures_that_came_along_are_found_by_their_names(tmp_path):
    tables = collected(tmp_path, taken=["VG_100K_2/1.jpg"])
    assert tables["images"]["image_url"].to_list() == [f"{BASE}VG_100K_2/1.jpg"]
    missing = tables["rejected"].filter(reason="missing_picture")
    assert missing["detail"].to_list() == ["2", "6", "7"]


def test_a_list_that_breaks_off_is_named_with_its_item_and_nothing_is_placed(tmp_path):
    text = json.dumps(IMAGE_DATA)
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("image_data.json", text[: text.index('"image_id": 2')])
    with pytest.raises(CorruptFile, match=r"image_data.json.zip, item 2 of the list"):
        collected(tmp_path, image_data=buffer.getvalue())
    assert not (tmp_path / "out/texts.parquet").exists()
