"""OVEN's published form, on a handful of lines whose tables can be worked out by hand."""

import json
import uuid
from pathlib import Path

import polars as pl
import pytest

from isotope.collect import build
from isotope.core import store
from isotope.intake.texts import LINES
from isotope.schemas.crawl import LEDGER, URLS
from isotope_papers.resources import SQL

BASE = "https://x.org/oven/"
ENTITIES = [
    {"wikidata_id": "Q1", "wikipedia_title": "Airbus A310", "wikipedia_summary": "A jet."}
    | {"wikipedia_image_url": "https://upload.wikimedia.org/a/ab/A310%20c.jpg"},
    {"wikidata_id": "Q2", "wikipedia_title": "Ceviche", "wikipedia_summary": "A dish."},
    {"entity_id": "W:Q 3", "title": "Sedona", "extract": "", "topic": "Places"},
    {"wikidata_id": "Q4", "wikipedia_title": " "},
    {"wikidata_id": "Q2", "wikipedia_title": "Ceviche again"},
    "{",
    {"wikidata_id": "Q5", "wikipedia_title": "Nobody asks"},
]


def asked(
    data_id: str, image: str, entity: str | None, split: str, question: str = "What?"
) -> dict:
    row = {"data_id": data_id, "image_id": image, "question": question, "data_split": split}
    return row | ({"entity_id": entity, "entity_text": "name"} if entity else {})


ASKED = [
    asked("oven_entity_train_0", "oven_0", "Q1", "entity_train"),
    asked("oven_entity_val_0", "oven_1", "Q1", "entity_val_seen"),
    asked("oven_entity_val_1", "oven_2", "Q2", "entity_val_unseen"),
    asked("oven_query_val_0", "oven_2", "Q2", "query_val_unseen", "Which dish?"),
    asked("oven_human_0", "oven_3", "W:Q 3", "human"),
    {"image": "oven_3.png", "question": "Where?", "entity_text": "Airbus", "entity_id": "Q1"},
    asked("gone", "oven_9", "Q1", "query_train"),
    asked("broken", "oven_4", "Q1", "query_train"),
    asked("unknown", "oven_0", "Q9", "query_train"),
    asked("nameless", "oven_0", "Q4", "query_train"),
    asked("hidden", "oven_0", None, "query_val"),
    asked("oven_query_test_0", "oven_0", None, "query_test"),
    asked("silent", "oven_0", "Q1", "query_train", " "),
    asked("oven_query_val_0", "oven_1", "Q1", "query_val_seen"),
    "[1",
]
FILES = ["oven_0.jpg", "oven_1.JPEG", "oven_2.jpg", "oven_3.png", "oven_4.jpg", "A310 c.jpg"]


def lines(rows: list, path: Path) -> Path:
    texts = [row if isinstance(row, str) else json.dumps(row) for row in rows]
    numbered = [{"file": path.stem, "row": n, "line": line} for n, line in enumerate(texts, 1)]
    store.write_rows(numbered, path, LINES)
    return path


def image_id(url: str) -> str:
    return str(uuid.uuid3(uuid.NAMESPACE_URL, url))


def built(folder: Path, asked: list, entities: list, files: list[str]) -> dict[str, pl.DataFrame]:
    """Collect lines of annotations and of a knowledge base, with these pictures crawled."""
    urls = [{"image_id": image_id(BASE + f), "image_url": BASE + f, "shard": 0} for f in files]
    ledger = [
        {"image_url": BASE + f, "status": "not_an_image" if "4" in f else "success", "width": 9}
        for f in files
    ]
    store.write_rows(urls, folder / "urls.parquet", URLS)
    store.write_rows(ledger, folder / "ledger.parquet", LEDGER)
    inputs = {n: folder / f"{n}.parquet" for n in ("urls", "ledger", "queries", "entities")}
    lines(asked, inputs["queries"])
    lines(entities, inputs["entities"])
    build.collect(SQL / "collect/oven", inputs, {"language": "en"}, folder / "out")
    names = ("texts", "images", "qrels", "filters", "rejected")
    return {n: pl.read_parquet(folder / f"out/{n}.parquet") for n in names}


@pytest.fixture(scope="module")
def tables(tmp_path_factory) -> dict[str, pl.DataFrame]:
    return built(tmp_path_factory.mktemp("oven"), ASKED, ENTITIES, FILES)


def test_an_entity_has_name_description_and_infobox_picture(tables):
    columns = ["text_id", "page_title", "context_page_description", "picture_id", "category"]
    assert tables["texts"].select(columns).rows() == [
        ("Q1", "Airbus A310", "A jet.", image_id(BASE + "A310 c.jpg"), []),
        ("Q2", "Ceviche", "A dish.", None, []),
        ("Q5", "Nobody asks", "", None, []),
        ("W:Q_3", "Sedona", "", None, ["Places"]),
    ]


def test_an_entity_that_several_splits_ask_for_belongs_to_none(tables):
    splits = dict(tables["texts"].select("text_id", "split").rows())
    assert splits == {"Q1": "other", "Q2": "validation", "Q5": "other", "W:Q_3": "test"}


def test_every_query_has_its_question_split_and_subset(tables):
    columns = ["source_image_id", "question", "split", "subset", "seen"]
    assert tables["images"].select(columns).sort("source_image_id").rows() == [
        ("oven_3.png", "Where?", "test", None, "seen"),
        ("oven_entity_train_0", "What?", "train", "entity", "seen"),
        ("oven_entity_val_0", "What?", "validation", "entity", "seen"),
        ("oven_entity_val_1", "What?", "validation", "entity", "unseen"),
        ("oven_human_0", "What?", "test", "human", "unseen"),
        ("oven_query_test_0", "What?", "test", "query", None),
        ("oven_query_val_0", "Which dish?", "validation", "query", "unseen"),
    ]


def test_seen_are_entities_of_training_and_not_those_that_validation_asks_for(tmp_path):
    """Section 2: unseen are "entities not present in the fine-tuning data"; the last line tells."""
    splits = {"a": ("Q1", "train"), "b": ("Q1", "val"), "c": ("Q2", "val"), "d": ("Q2", "test")}
    splits |= {"e": ("Q1", "val_unseen")}
    rows = [
        asked(data_id, f"oven_{n % 4}", entity, f"entity_{split}")
        for n, (data_id, (entity, split)) in enumerate(splits.items())
    ]
    images = built(tmp_path, rows, ENTITIES[:2], FILES[:4])["images"]
    assert dict(images.select("source_image_id", "seen").rows()) == {
        **{"a": "seen", "b": "seen"},
        **{"c": "unseen", "d": "unseen", "e": "unseen"},
    }


def test_a_second_question_on_a_picture_is_an_image_with_the_same_pixels(tables):
    second = tables["images"].filter(pl.col("source_image_id").is_in(["oven_query_val_0"]))
    url = f"{BASE}oven_2.jpg#oven_query_val_0"
    assert second.select("image_url", "image_id", "picture_id").rows() == [
        (url, image_id(url), image_id(f"{BASE}oven_2.jpg"))
    ]
    first = tables["images"].filter(source_image_id="oven_entity_val_1")
    assert first["image_id"].to_list() == first["picture_id"].to_list()


def test_each_query_has_the_one_entity_that_answers_it(tables):
    both = tables["qrels"].join(tables["images"], on="image_id")
    assert dict(both.select("source_image_id", "text_id").rows()) == {
        "oven_3.png": "Q1",
        "oven_entity_train_0": "Q1",
        "oven_entity_val_0": "Q1",
        "oven_entity_val_1": "Q2",
        "oven_human_0": "W:Q_3",
        "oven_query_val_0": "Q2",
    }


def test_bad_lines_are_kept_aside_each_with_its_reason(tables):
    assert tables["rejected"].select("file", "row", "reason", "detail").rows() == [
        ("entities", 4, "empty_name", "Q4"),
        ("entities", 5, "repeated_entity", "Q2"),
        ("entities", 6, "bad_json", ""),
        ("queries", 7, "missing_picture", "oven_9"),
        ("queries", 8, "not_an_image", "Q1"),
        ("queries", 9, "unknown_entity", "Q9"),
        ("queries", 10, "unknown_entity", "Q4"),
        ("queries", 11, "no_answer", ""),
        ("queries", 13, "empty_question", "Q1"),
        ("queries", 14, "repeated_query", "Q1"),
        ("queries", 15, "bad_json", ""),
    ]


def test_no_line_is_lost_in_the_account(tables):
    usable, dropped = tables["images"].height + tables["texts"].height, tables["rejected"].height
    assert tables["filters"]["before"].sum() == len(ASKED) + len(ENTITIES) == usable + dropped
    assert tables["filters"]["dropped"].sum() == dropped


def test_a_query_whose_picture_two_files_may_be_is_rejected(tmp_path):
    names = ["one/p.jpg", "two/p.jpg", "one/q.jpg", "two/q.jpg"]
    urls = [{"image_id": image_id(BASE + n), "image_url": BASE + n, "shard": 0} for n in names]
    ledger = [
        {"image_url": BASE + name, "status": "success", "upstream_sha256": digest}
        for name, digest in zip(names, ["a", "b", "c", "c"], strict=True)
    ]
    store.write_rows(urls, tmp_path / "urls.parquet", URLS)
    store.write_rows(ledger, tmp_path / "ledger.parquet", LEDGER)
    inputs = {n: tmp_path / f"{n}.parquet" for n in ("urls", "ledger", "queries", "entities")}
    split = "query_val_seen"
    lines([asked("1", "p", "Q1", split), asked("2", "q", "Q1", split)], inputs["queries"])
    lines(ENTITIES[:1], inputs["entities"])
    build.collect(SQL / "collect/oven", inputs, {"language": "en"}, tmp_path / "out")
    images, rejected = (
        pl.read_parquet(tmp_path / f"out/{t}.parquet") for t in ("images", "rejected")
    )
    assert images["source_image_id"].to_list() == ["2"]
    assert rejected.select("row", "reason").rows() == [(1, "ambiguous_picture")]


def test_the_example_of_the_data_set_s_own_page_is_read(tmp_path):
    """README of open-vision-language/oven: the form of a line of the annotations."""
    example = {
        "data_id": "oven_entity_train_00000000",
        "image_id": "oven_00000000",
        "question": "what is the model of this aircraft?",
        "entity_id": "Q1141409",
        "entity_text": "Dassault Falcon 900",
        "data_split": "entity_train",
    }
    url = f"{BASE}oven_00000000.jpg"
    row = {"image_id": image_id(url), "image_url": url}
    store.write_rows([{**row, "shard": 0}], tmp_path / "urls.parquet", URLS)
    ledger = [{"image_url": url, "status": "success"}]
    store.write_rows(ledger, tmp_path / "ledger.parquet", LEDGER)
    inputs = {n: tmp_path / f"{n}.parquet" for n in ("urls", "ledger", "queries", "entities")}
    lines([example], inputs["queries"])
    named = {"wikidata_id": example["entity_id"], "wikipedia_title": example["entity_text"]}
    lines([named], inputs["entities"])
    build.collect(SQL / "collect/oven", inputs, {"language": "en"}, tmp_path / "out")
    images = pl.read_parquet(tmp_path / "out/images.parquet")
    columns = ["source_image_id", "question", "split", "subset", "seen"]
    assert images.select(columns).row(0) == (
        *(example["data_id"], example["question"], "train", "entity", "seen"),
    )
    texts = pl.read_parquet(tmp_path / "out/texts.parquet")
    assert texts.select("text_id", "page_title", "page_url").row(0) == (
        *("Q1141409", "Dassault Falcon 900", "https://www.wikidata.org/wiki/Q1141409"),
    )
