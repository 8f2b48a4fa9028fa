"""COCO for Fig. 7 of AToMiC: a picture's five captions are texts, the split is Karpathy's."""

import json
import re

import pytest
from tests.pairs import published

from isotope.core import sql
from isotope.core.schemas import CAPTION_FIELDS
from isotope.tabulate import table, tokens

ENTRY = {
    "kind": "pairs",
    "form": "coco",
    "columns": {"image": "coco_url", "text_id": "query_id"},
    "texts": "five",
}


def made(folder, captions, *, karpathy=None, lists=None):
    """Collect caption files {name: JSON}, with Karpathy's images or lists {split: names}."""
    splits = {split: "".join(f"{line}\n" for line in own) for split, own in (lists or {}).items()}
    if karpathy:
        splits["karpathy"] = json.dumps({"images": karpathy})
    paths = {split: folder / f"{split}.txt" for split in splits}
    for split, path in paths.items():
        path.write_text(splits[split])
    entry = ENTRY | ({"splits": {s: str(path) for s, path in paths.items()}} if paths else {})
    parts = {"captions": {name: json.dumps(of) for name, of in captions.items()}}
    return published(folder, parts, entry)


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
LISTS = {"test": ["1", "4", "8"], "validation": ["2.jpg"], "train": ["somewhere/3.jpg", ""]}
SPLIT = {
    "dataset_coco.json": {"karpathy": KARPATHY},
    "lists of names": {"lists": LISTS},
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
        ("beyond_five", "coco-15"),
        ("beyond_five", "coco-16"),
        ("no_caption", "http://c/4.jpg"),
        ("no_split", "http://c/5.jpg"),
        ("unknown_name", "8"),
        ("unreadable", "an annotation without caption"),
        ("unreadable", "no image 9 in this file"),
    ]
    kept = {row[1]: row[-1] for row in found["filters"].rows()}
    assert kept == {"train": 5, "validation": 5, "test": 5, "unknown": 0}


def test_a_picture_of_two_splits_or_listed_twice_counts_once_or_not_at_all(tmp_path):
    captions = {**CAPTIONS, "captions_val2014_again.json": {"images": listed(2), "annotations": []}}
    karpathy = [{"cocoid": n, "split": s} for n, s in ((1, "test"), (2, "test"), (1, "val"))]
    found = made(tmp_path, captions, karpathy=karpathy)
    assert found["images"]["image_url"].to_list() == ["http://c/2.jpg"]
    assert found["texts"]["source_text_id"].to_list() == [f"{n}" for n in range(20, 25)]
    rejected = found["rejected"].filter(reason="mixed_splits")["detail"].to_list()
    assert rejected == ["test, validation"] * 7


def test_a_picture_whose_split_has_no_name_is_in_none(tmp_path):
    karpathy = [{"cocoid": 1, "split": "test"}, {"cocoid": 2, "split": "others"}]
    found = made(tmp_path, CAPTIONS, karpathy=karpathy)
    assert ("no_split", "http://c/2.jpg") in found["rejected"].select("reason", "detail").rows()
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
    sides = (tmp_path / "collect/texts.parquet", tmp_path / "collect/images.parquet")
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
    assert "texts: five" in text
    held = re.search(r"here: (\S+), there: (\S+), setting: (\w+), splits: \[(.*)\]", text)
    assert held is not None
    assert held.groups() == ("R@10", "Success@10", "small", "validation, test")
    assert "bm25" not in text.split("systems:")[1].split("settings:")[0]
