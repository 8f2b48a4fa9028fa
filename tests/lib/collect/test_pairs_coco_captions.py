"""COCO for Fig. 7 of AToMiC: a picture's five captions are texts, the split is Karpathy's."""

import json
import re

import polars as pl
import pytest

from isotope.collect.build import collect
from isotope.collect.inputs import DOCUMENTS
from isotope.core import sql, store
from isotope.core.schemas import CAPTION_FIELDS
from isotope.intake.texts import LINES
from isotope.schemas.crawl import LEDGER, URLS
from isotope.tabulate import table, tokens

NAMES = ("texts", "images", "qrels", "filters", "rejected")


def made(folder, captions, *, karpathy=None, ids=None):
    """Collect caption files {name: JSON}, with Karpathy's images or files of ids {name: lines}."""
    split = [{"file": "dataset_coco.json", "document": json.dumps({"images": karpathy})}]
    lines = [
        {"file": name, "row": row, "line": line}
        for name, of in (ids or {}).items()
        for row, line in enumerate(of, 1)
    ]
    documents = [{"file": name, "document": json.dumps(of)} for name, of in captions.items()]
    for name, rows, schema in (
        ("captions", documents, DOCUMENTS),
        ("karpathy", split if karpathy else [], DOCUMENTS),
        ("ids", lines, LINES),
        ("urls", [], URLS),
        ("ledger", [], LEDGER),
    ):
        store.write_rows(rows, folder / f"{name}.parquet", schema)
    given: dict[str, sql.Files] = {
        name: folder / f"{name}.parquet"
        for name in ("captions", "karpathy", "ids", "urls", "ledger")
    }
    collect(sql.SQL / "collect/coco-captions", given, {"language": "en"}, folder / "out")
    return {name: pl.read_parquet(folder / f"out/{name}.parquet") for name in NAMES}


def listed(*pictures):
    return [
        {"id": n, "file_name": f"{n}.jpg", "coco_url": f"http://c/{n}.jpg", "width": 9, "height": 8}
        for n in pictures
    ]


CAPTIONS = {
    "captions_val2014.json": {
        "images": listed(1, 2, 3, 4, 5),
        "annotations": [
            *({"id": 10 + n, "image_id": 1, "caption": f"one, told {n}"} for n in range(7)),
            *({"id": 20 + n, "image_id": 2, "caption": f"two, told {n}"} for n in range(5)),
            *({"id": 30 + n, "image_id": 3, "caption": f"three, told {n}"} for n in range(5)),
            {"id": 40, "image_id": 4, "caption": " "},
            {"id": 50, "image_id": 5, "caption": "five"},
            {"id": 90, "image_id": 9, "caption": "of nothing"},
        ],
    }
}
KARPATHY = [
    {"cocoid": 1, "split": "test"},
    {"cocoid": 2, "split": "val"},
    {"cocoid": 3, "split": "restval"},
    {"cocoid": 4, "split": "test"},
    {"cocoid": 8, "split": "test"},
]
IDS = {
    "lists/coco_test.txt": ["COCO_val2014_000000000001.jpg 1", "4", "8"],
    "lists/coco_val.txt": ["val2014/COCO_val2014_000000000002.jpg"],
    "lists/coco_restval.txt": ["000000000003.jpg", ""],
}
SPLIT = {
    "dataset_coco.json": {"karpathy": KARPATHY},
    "files of ids": {"ids": IDS},
}


@pytest.mark.parametrize("told", SPLIT.values(), ids=SPLIT.keys())
def test_five_captions_of_a_picture_are_texts_in_the_split_of_the_files(tmp_path, told):
    found = made(tmp_path, CAPTIONS, **told)
    of = {p: [f"coco-{10 * p + n}" for n in range(5)] for p in (1, 2, 3)}
    split = {1: "test", 2: "validation", 3: "train"}
    qrels = found["qrels"].join(found["images"], on="image_id")
    assert {
        (url, text, name)
        for url, text, name in qrels.select("image_url", "text_id", "split").iter_rows()
    } == {(f"http://c/{p}.jpg", text, split[p]) for p, texts in of.items() for text in texts}
    assert found["texts"].height == 15
    assert found["texts"].filter(text_id="coco-12")["context_section_description"].item() == (
        "one, told 2"
    )


@pytest.mark.parametrize("told", SPLIT.values(), ids=SPLIT.keys())
def test_every_row_that_is_not_used_is_named(tmp_path, told):
    found = made(tmp_path, CAPTIONS, **told)
    assert sorted(found["rejected"].select("reason", "detail").rows()) == [
        ("beyond_five", "1"),
        ("beyond_five", "1"),
        ("empty_caption", "4"),
        ("no_caption", "4.jpg"),
        ("no_split", "5.jpg"),
        ("unknown_picture", "8"),
        ("unknown_picture", "9"),
    ]
    assert found["filters"].rows() == [
        ("usable", "train", 1, 0, 1),
        ("usable", "validation", 1, 0, 1),
        ("usable", "test", 2, 1, 1),
    ]


def test_a_picture_of_two_splits_or_listed_twice_counts_once_or_not_at_all(tmp_path):
    captions = {**CAPTIONS, "captions_val2014_again.json": {"images": listed(2), "annotations": []}}
    ids = {"test.txt": ["1", "2"], "val.txt": ["1"]}
    found = made(tmp_path, captions, ids=ids)
    assert found["images"]["image_url"].to_list() == ["http://c/2.jpg"]
    reasons = dict(found["rejected"].select("detail", "reason").rows())
    assert (reasons["1.jpg"], reasons["2.jpg"]) == ("two_splits", "listed_again")


def test_a_file_whose_name_tells_no_split_is_named(tmp_path):
    found = made(tmp_path, CAPTIONS, ids={"test.txt": ["1"], "others.txt": ["2"]})
    assert ("unknown_split", "2") in found["rejected"].select("reason", "detail").rows()
    assert found["images"]["split"].to_list() == ["test"]


def test_without_such_files_a_caption_file_says_its_split(tmp_path):
    found = made(tmp_path, CAPTIONS)
    assert set(found["texts"]["split"]) == {"validation"}


def test_no_words_stand_for_a_picture(tmp_path):
    """Appendix A: "the COCO dataset lacks oracle features"."""
    images = made(tmp_path, CAPTIONS)["images"]
    for field in CAPTION_FIELDS:
        assert images[field].list.len().sum() == 0


def test_the_real_captions_have_the_tokens_of_the_papers_table_2(shared, tmp_path):
    """AToMiC, Table 2, COCO-Captions: empty rate 0 %, 11.54 ± 2.70 CLIP tokens.

    Ours are five captions for each of 159 pictures, so the mean may differ by three standard
    errors of so many, and the deviation by a tenth.
    """
    files = sorted((shared / "collections/coco-mini").glob("captions_*.json"))
    captions = {path.name: json.loads(path.read_text()) for path in files}
    made(tmp_path, captions)
    sides = (tmp_path / "out/texts.parquet", tmp_path / "out/images.parquet")
    out = tmp_path / "tokens.parquet"
    tokens.count_tokens(*sides, tokenizers={"clip": tokens.CLIP}, language="en", out=out)
    same = {"field_names": [], "field_words": []}
    rows = table.rows(sql.SQL / "tabulate/tables/table2.sql", {"tokens": out}, same)
    row = rows.filter(field="context_section_description").row(0, named=True)
    assert (row["items"], row["empty_share"]) == (795, 0)
    assert row["tokens_mean"] == pytest.approx(11.54, abs=3 * 2.70 / 795**0.5)
    assert row["tokens_sd"] == pytest.approx(2.70, rel=0.1)


def test_the_overlay_is_the_papers_fig_7(root):
    """Appendix A: R@10 on validation, S@10 on COCO's test set, Small, transformer models only."""
    text = (root / "params/coco-test.yaml").read_text()
    assert "kind: coco-captions" in text
    held = re.search(r"here: (\S+), there: (\S+), setting: (\w+), splits: \[(.*)\]", text)
    assert held is not None
    assert held.groups() == ("R@10", "Success@10", "small", "validation, test")
    assert "bm25" not in text.split("systems:")[1].split("settings:")[0]
