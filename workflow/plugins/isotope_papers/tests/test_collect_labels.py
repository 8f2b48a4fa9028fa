"""A data set's labels become queries over a snapshot's articles, on rows counted by hand."""

import uuid
from pathlib import Path

import polars as pl
import pytest

from isotope.collect import build
from isotope.core import store
from isotope.intake.texts import LINES
from isotope.schemas.crawl import LEDGER, URLS
from isotope.schemas.parse import INFOBOXES, SECTIONS
from isotope.schemas.project import PROJECTION
from isotope_papers.resources import SQL

BASE, UPLOADS = "https://x.org/zoo/", "https://upload.wikimedia.org/a/ab/"
HEADER = "category\timage\tlabel\tsplit"
ROWS = [
    "bird\ta.jpg\tcrane\ttrain",
    "bird\tb.jpg\tcrane\tvalidation",
    "dish\tc.jpg\tceviche\tvalidation",
    "dish\td.jpg\tceviche\ttrain",
    "car\te.jpg\tbeetle\ttest",
    "bird\tgone.jpg\tcrane\ttrain",
    "bird\tbroken.jpg\tcrane\ttrain",
    "bird\tf.jpg\tdodo\ttrain",
    "bird\ta.jpg\tcrane\ttest",
    "bird\tf.jpg\tcrane\tdev",
    "bird",
]
LINKS = {"crane": 1, "ceviche": 2, "beetle": 3, "dodo": None}
RECOGNITION: dict[str, object] = {
    "knowledge": "wiki",
    "questions": [
        {"category": "bird", "question": "Which bird?"},
        {"category": "bird", "question": "What species?"},
        {"category": "*", "question": "What is this?"},
    ],
    "unseen_share": 0,
    "unseen_categories": ["dish"],
    "seed": 0,
}


def image_id(url: str) -> str:
    return str(uuid.uuid3(uuid.NAMESPACE_URL, url))


def text_id(page: int) -> str:
    return f"projected-{page:08d}-000"


@pytest.fixture(scope="module")
def inputs(tmp_path_factory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("zoo")
    names = ("labels", "urls", "ledger", "knowledge_urls", "knowledge_ledger", "sections")
    paths = {n: folder / f"{n}.parquet" for n in (*names, "infoboxes", "projection")}
    lines = [{"file": "l", "row": n, "line": x} for n, x in enumerate([HEADER, *ROWS], 1)]
    store.write_rows(lines, paths["labels"], LINES)
    image_urls = [f"{BASE}{n}.jpg" for n in ("a", "b", "c", "d", "e", "f", "broken")]
    infobox = [f"{UPLOADS}Common_crane.jpg", f"{UPLOADS}Dead.jpg"]
    for prefix, urls in (("", image_urls), ("knowledge_", infobox)):
        rows = [{"image_id": image_id(u), "image_url": u, "shard": 0} for u in urls]
        store.write_rows(rows, paths[f"{prefix}urls"], URLS)
        bad = {"broken": "not_an_image", "Dead": "not_found"}
        status = [next((s for b, s in bad.items() if b in u), "success") for u in urls]
        ledger = [{"image_url": u, "status": s} for u, s in zip(urls, status, strict=True)]
        store.write_rows(ledger, paths[f"{prefix}ledger"], LEDGER)
    blank = dict.fromkeys(SECTIONS.names)
    sections = [
        blank
        | {"text_id": f"projected-{p:08d}-{s:03d}", "page_id": p, "page_title": f"Page {p}"}
        | {"section": s, "language": "en"}
        | {"context_page_description": f"lead {p}" if s else ""}
        | {"context_section_description": "words" if s else f"lead {p}"}
        for p in (1, 2, 3, 4)
        for s in (0, 1)
    ]
    store.write_rows(sections, paths["sections"], SECTIONS)
    boxes = [{"page_id": 1, "file": "Common crane.jpg"}, {"page_id": 2, "file": "Dead.jpg"}]
    rows = [{"page_title": "", "image_url": "", **box} for box in boxes]
    store.write_rows(rows, paths["infoboxes"], INFOBOXES)
    links = [
        {"source_text_id": label, "text_id": text_id(page) if page else None, "method": "title"}
        for label, page in LINKS.items()
    ]
    blank = dict.fromkeys(PROJECTION.names)
    store.write_rows([blank | row for row in links], paths["projection"], PROJECTION)
    return paths


def collect_labels(inputs: dict[str, Path], out: Path, **recognition) -> dict[str, pl.DataFrame]:
    params = {"language": "en", **RECOGNITION, **recognition}
    build.collect(SQL / "collect/oven-labels", inputs, params, out)
    names = ("texts", "images", "qrels", "filters", "rejected")
    return {n: pl.read_parquet(out / f"{n}.parquet") for n in names}


def test_every_article_is_an_entity_with_lead_and_infobox_picture(inputs, tmp_path):
    texts = collect_labels(inputs, tmp_path)["texts"]
    columns = ["text_id", "page_title", "context_page_description", "picture_id", "split"]
    assert texts.select(columns).rows() == [
        (text_id(1), "Page 1", "lead 1", image_id(f"{UPLOADS}Common_crane.jpg"), "other"),
        (text_id(2), "Page 2", "lead 2", None, "validation"),
        (text_id(3), "Page 3", "lead 3", None, "test"),
        (text_id(4), "Page 4", "lead 4", None, "other"),
    ]


def test_a_picture_asks_a_question_of_its_category(inputs, tmp_path):
    images = collect_labels(inputs, tmp_path)["images"].sort("source_image_id")
    asked = dict(images.select("source_image_id", "question").rows())
    assert set(asked) == {"a.jpg", "b.jpg", "c.jpg", "e.jpg"}
    assert {asked["a.jpg"], asked["b.jpg"]} <= {"Which bird?", "What species?"}
    assert asked["c.jpg"] == asked["e.jpg"] == "What is this?"
    assert images["picture_id"].to_list() == images["image_id"].to_list()


def test_entities_of_an_unseen_category_keep_out_of_training(inputs, tmp_path):
    tables_ = collect_labels(inputs, tmp_path)
    visibility = dict(tables_["images"].select("source_image_id", "seen").rows())
    assert visibility == {"a.jpg": "seen", "b.jpg": "seen", "c.jpg": "unseen", "e.jpg": "seen"}
    assert tables_["qrels"].filter(split="train")["text_id"].to_list() == [text_id(1)]


def test_a_share_of_entities_is_unseen_whatever_their_category(inputs, tmp_path):
    tables = collect_labels(inputs, tmp_path / "1", unseen_share=1, unseen_categories=[])
    assert set(tables["images"]["seen"]) == {"unseen"}
    assert tables["qrels"].filter(split="train").is_empty()
    none = collect_labels(inputs, tmp_path / "0", unseen_share=0, unseen_categories=[])
    assert set(none["images"]["seen"]) == {"seen"}


def test_bad_rows_are_kept_aside_each_with_its_reason(inputs, tmp_path):
    rejected = collect_labels(inputs, tmp_path)["rejected"]
    assert rejected.select("row", "reason", "detail").rows() == [
        (5, "unseen_in_training", "ceviche"),
        (7, "missing_picture", "gone.jpg"),
        (8, "not_an_image", "crane"),
        (9, "unknown_entity", "dodo"),
        (10, "repeated_picture", "crane"),
        (11, "unknown_split", "crane"),
        (12, "short_row", ""),
    ]


def test_a_category_without_a_template_has_no_question(inputs, tmp_path):
    questions = [{"category": "bird", "question": "Which bird?"}]
    rejected = collect_labels(inputs, tmp_path, questions=questions)["rejected"]
    assert {"no_question"} < set(rejected["reason"])
