"""Real collections in their upstream files become collections of kind pairs by one entry."""

import gzip
import json
from datetime import date

import polars as pl
import pytest
from tests.pairs import built

pytestmark = pytest.mark.long
N = 30


def test_coco_is_one_entry_with_its_captions_licences_and_splits(shared, tmp_path):
    coco = shared / "collections/coco-mini"
    told = json.loads((coco / "captions_val2017.json").read_text())
    entry = {
        "data": str(coco / "captions_*.json"),
        "pictures": [str(coco / "images" / each["file_name"]) for each in told["images"][:N]],
        "keep": {"image": ["flickr_url", "date_captured"]},
    }
    made = built(tmp_path, entry)
    own = {each["id"] for each in told["images"][:N]}
    notes = [each for each in told["annotations"] if each["image_id"] in own]
    assert made.table("texts")["text_id"].sort().to_list() == sorted(str(n["id"]) for n in notes)
    images = made.table("images")
    assert {*images["split"]} == {"validation"}
    assert images["flickr_url"].str.contains(".staticflickr.com").all()
    # Of the other pictures nothing was crawled.
    train = json.loads((coco / "captions_train2017.json").read_text())
    absent = len(train["annotations"]) + len(told["annotations"]) - len(notes)
    assert made.reasons() == {"missing_picture": absent}


def test_crossmodal_3600_is_one_entry_a_language_without_pixels(shared, tmp_path):
    data = shared / "collections/xm3600/captions_de.jsonl.gz"
    columns = {"image_id": "image_id", "text": "caption", "language": "language"}
    entry = {"data": str(data), "pictures": "none", "keep": {"text": ["caption_en"]}}
    made = built(
        tmp_path, {**entry, "columns": {**columns, "objects": "synsets"}, "language": "de"}
    )
    with gzip.open(data, "rt", encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    distinct = {(row["image_id"], row["caption"].strip()) for row in rows}
    assert made.table("qrels").height == len(distinct)
    assert made.reasons().get("repeated_pair", 0) == len(rows) - len(distinct)
    assert made.table("images").height == len({row["image_id"] for row in rows})
    texts = made.table("texts").join(
        pl.DataFrame(rows), left_on="context_section_description", right_on="caption"
    )
    assert (texts["caption_en"] == texts["caption_en_right"]).any()
    assert {*texts["language"]} == {"de"}


def test_the_gallery_of_oven_is_one_entry_with_entities_as_texts(shared, tmp_path):
    oven = shared / "collections/oven-gallery"
    columns = {"image": "image", "text": "entity_text", "text_id": "entity_id"}
    entry = {"data": str(oven / "gallery.jsonl"), "pictures": str(oven / "images")}
    made = built(tmp_path, entry | {"columns": columns, "keep": {"image": ["question"]}})
    rows = [json.loads(line) for line in (oven / "gallery.jsonl").read_text().splitlines()]
    assert sorted((row["entity_text"], row["image"]) for row in rows) == [
        (text, name) for text, name, *_ in made.pairs()
    ]
    assert {*made.table("texts")["text_id"]} == {row["entity_id"] for row in rows}
    assert made.table("images")["width"].null_count() == 0
    assert {*made.table("images")["question"]} == {row["question"] for row in rows}


def test_the_captions_of_atomic_are_one_entry(shared, tmp_path):
    data = shared / "collections/atomic/topics.atomic.validation.image-caption.jsonl.gz"
    columns = {"image_id": "id", "text": "title"}
    entry = {"data": str(data), "pictures": "none", "columns": columns}
    made = built(tmp_path, entry | {"splits": {"validation": 0.5, "test": 0.5}})
    assert made.table("images").height == 16_131
    shares = made.table("qrels").group_by("split").len().sort("split")
    assert shares["split"].to_list() == ["test", "validation"]
    assert min(shares["len"].to_list()) / 16_131 == pytest.approx(0.5, abs=0.02)


def test_the_challenge_of_dated_pictures_is_one_entry_of_its_joined_lines(shared, tmp_path):
    """The challenge has pictures, answers and captions in three files; a table has one row each."""
    ticrc, lines, pictures = (
        shared / "collections/ticrc",
        ["picture\tday\tcaption\tset"],
        list[str](),
    )
    for name in ("train", "dev-0"):
        captions = (ticrc / name / "captions.tsv").read_text("utf-8").split("\n")
        answers = (ticrc / name / "expected.tsv").read_text("utf-8").split()
        asked = (ticrc / name / "in.tsv").read_text("utf-8").splitlines()
        for row, answer in zip(asked[:N], answers, strict=False):
            caption = captions[int(answer) - 1].partition("\t")[2]
            lines.append(f"{row}\t{caption}\t{name.partition('-')[0]}")
            pictures.append(str(ticrc / name / "pictures" / row.partition("\t")[0]))
    (tmp_path / "ticrc.tsv").write_text("\n".join(lines) + "\n", "utf-8")
    columns = {"image": "picture", "date": "day", "text": "caption", "split": "set"}
    entry = {"data": str(tmp_path / "ticrc.tsv"), "pictures": pictures, "columns": columns}
    made = built(tmp_path, entry)
    images = made.table("images")
    assert images.schema["date"] == pl.Date()
    assert min(images["date"].to_list()) > date(1850, 1, 1)
    assert images.group_by("split").len().sort("split").rows() == [("train", N), ("validation", N)]
    assert made.reasons() == {}
