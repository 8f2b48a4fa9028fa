"""Flickr8k and Flickr30k become collections: one caption asks, the others stand for a picture.

Lymperaiou et al., COLING 2022, appendix A.3. The files are of the forms that they are published in:
Flickr8k.token.txt with its three lists, results_20130124.token, results.csv, Karpathy's JSON.
"""

import json
import uuid
from pathlib import Path

import polars as pl
import pytest

from isotope.acquire.fetch import acquire
from isotope.collect.build import collect
from isotope.core import sql, store
from isotope.schemas.crawl import LEDGER, URLS

NAMES = ("1000_a.jpg", "1001_b.jpg", "1002_c.jpg")
SAID = {
    "1000_a.jpg": ["A child in a pink dress .", "A girl going in .", "A little girl climbing ."],
    "1001_b.jpg": ["A black dog and a spotted dog", "Two dogs ."],
    "1002_c.jpg": ["Alone ."],
}
TOKENS = "".join(f"{name}#{n}\t{c}\n" for name, own in SAID.items() for n, c in enumerate(own))
BARRED = "image_name| comment_number| comment\n" + "".join(
    f"{name}| {n}| {c}\n" for name, own in SAID.items() for n, c in enumerate(own)
).replace("| 1| Two dogs .", "| 1   Two dogs .")
LISTS = {
    "Flickr_8k.trainImages.txt": "1000_a.jpg\n",
    "Flickr_8k.devImages.txt": "1001_b.jpg\n",
    "Flickr_8k.testImages.txt": "1002_c.jpg\n",
}
KARPATHY = {
    "dataset": "flickr8k",
    "images": [
        {
            "sentids": [*range(len(own))],
            "imgid": n,
            "sentences": [
                {"tokens": c.split(), "raw": c, "imgid": n, "sentid": k} for k, c in enumerate(own)
            ],
            "split": split,
            "filename": name,
        }
        for n, ((name, own), split) in enumerate(
            zip(SAID.items(), ("train", "val", "test"), strict=True)
        )
    ],
}
EXPECTED = [
    ("flickr-1000_a", "A child in a pink dress ."),
    ("flickr-1001_b", "A black dog and a spotted dog"),
]


def collected(folder: Path, parts: dict[str, dict[str, str]], *taken: str) -> dict:
    """Acquire {part: {file: text}} and collect it, with the pictures `taken` in if any."""
    spec: dict[str, dict[str, list[str]]] = {"files": {}}
    for part, files in parts.items():
        for name, text in files.items():
            path = folder / "upstream" / part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
            spec["files"].setdefault(part, []).append(str(path))
    acquire(spec, folder / "acquired/manifest.json", folder / "scratch")
    urls = [{"image_id": "", "image_url": f"flickr8k/{name}"} for name in taken]
    ledger = [{"image_url": url["image_url"], "status": "success"} for url in urls]
    store.write_rows(urls, folder / "urls.parquet", URLS)
    store.write_rows(ledger, folder / "ledger.parquet", LEDGER)
    relations: dict[str, sql.Files] = {"manifest": str(folder / "acquired/manifest.json")}
    relations |= {name: folder / f"{name}.parquet" for name in ("urls", "ledger")}
    collect(sql.SQL / "collect/flickr", relations, {"language": "en"}, folder / "out")
    names = ("texts", "images", "qrels", "filters", "rejected")
    return {name: pl.read_parquet(folder / "out" / f"{name}.parquet") for name in names}


def asked(made: dict) -> list[tuple[str, str]]:
    return made["texts"].select("text_id", "context_section_description").rows()


@pytest.mark.parametrize(
    "parts",
    [
        {"tokens": {"Flickr8k.token.txt": TOKENS}},
        {"tokens": {"results_20130124.token": TOKENS}},
        {"tokens": {"results.csv": BARRED}},
        {"karpathy": {"dataset_flickr8k.json": json.dumps(KARPATHY)}},
    ],
)
def test_every_published_form_gives_the_same_queries_and_captions(tmp_path, parts):
    made = collected(tmp_path, parts)
    assert asked(made) == EXPECTED
    images = made["images"].sort("source_image_id")
    assert images["caption_reference_description"].to_list() == [SAID[n][1:] for n in NAMES[:2]]
    assert images["image_url"].to_list() == [*NAMES[:2]]
    assert images["image_id"][0] == str(uuid.uuid3(uuid.NAMESPACE_URL, NAMES[0]))
    assert made["qrels"].height == 2
    assert made["rejected"].select("reason", "detail").rows() == [("too_few_captions", NAMES[2])]


def test_without_lists_all_pictures_are_one_pool(tmp_path):
    """Tables 6 to 10 rank N queries over N pictures (section 3.3), whatever their split."""
    made = collected(tmp_path, {"tokens": {"Flickr8k.token.txt": TOKENS}})
    assert set(made["qrels"]["split"]) == {"test"}
    assert made["filters"].rows() == [("usable", "test", 3, 1, 2)]


def test_the_lists_of_flickr8k_and_karpathys_file_tell_the_splits(tmp_path):
    tokens = {"Flickr8k.token.txt": TOKENS}
    listed = collected(tmp_path / "lists", {"tokens": tokens, "splits": LISTS})
    assert listed["texts"].select("text_id", "split").rows() == [
        ("flickr-1000_a", "train"),
        ("flickr-1001_b", "validation"),
    ]
    karpathy = {"dataset_flickr8k.json": json.dumps(KARPATHY)}
    made = collected(tmp_path / "json", {"tokens": tokens, "karpathy": karpathy})
    assert made["texts"]["split"].to_list() == ["train", "validation"]


def test_lists_of_flickr30k_name_pictures_by_their_numbers(tmp_path):
    """train.txt, val.txt and test.txt of Flickr30k Entities."""
    lists = {"train.txt": "1000_a\n", "test.txt": "1001_b\n", "val.txt": "9999_z\n"}
    tokens = {"results_20130124.token": TOKENS}
    made = collected(tmp_path, {"tokens": tokens, "splits": lists})
    assert dict(made["texts"].select("text_id", "split").rows()) == {
        "flickr-1000_a": "train",
        "flickr-1001_b": "test",
    }
    assert made["rejected"].select("file", "row", "reason", "detail").rows() == [
        ("results_20130124.token", 6, "no_split", "1002_c.jpg"),
        ("val.txt", 1, "unknown_picture", "9999_z.jpg"),
    ]


def test_lines_that_are_no_captions_are_told_with_their_place(tmp_path):
    lines = "1.jpg#0\tA dog .\n1.jpg#1\tOne dog .\n1.jpg#1\tOne dog .\n1.jpg#2\t \nno caption\n"
    made = collected(tmp_path, {"tokens": {"Flickr8k.token.txt": lines}})
    assert made["rejected"].select("row", "reason", "raw").rows() == [
        (3, "repeated_caption", "1.jpg#1\tOne dog ."),
        (4, "empty_caption", "1.jpg#2\t "),
        (5, "broken_line", "no caption"),
    ]
    assert made["images"]["caption_reference_description"].to_list() == [["One dog ."]]


def test_pictures_that_came_along_are_found_by_their_names(tmp_path):
    made = collected(tmp_path, {"tokens": {"Flickr8k.token.txt": TOKENS}}, NAMES[1])
    assert made["images"]["image_url"].to_list() == [f"flickr8k/{NAMES[1]}"]
    assert set(made["rejected"]["reason"]) == {"missing_picture"}
