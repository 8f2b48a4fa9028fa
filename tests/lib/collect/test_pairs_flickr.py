"""Flickr8k and Flickr30k become collections: one caption asks, the others stand for a picture.

Lymperaiou et al., COLING 2022, appendix A.3. The files are of the forms that they are published in:
Flickr8k.token.txt with its three lists, results_20130124.token, results.csv, Karpathy's JSON.
"""

import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from tests.pairs import published

from isotope.core.errors import MissingFile

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
LISTS = {"train": "1000_a.jpg\n", "validation": "1001_b.jpg\n", "test": "1002_c.jpg\n"}
KARPATHY = {
    "dataset": "flickr8k",
    "images": [
        {
            "sentids": [10 * n + k for k, _ in enumerate(own)],
            "imgid": n,
            "sentences": [
                {"tokens": c.split(), "raw": c, "imgid": n, "sentid": 10 * n + k}
                for k, c in enumerate(own)
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


def collected(folder: Path, parts: dict[str, dict[str, str]], *taken: str, **more: Any) -> dict:
    """Collect {part: {file: text}}, with the pictures `taken` in if any."""
    columns = {"columns": {"text_id": "query_id"}} if "tokens" in parts else {}
    form = {"form": "flickr" if columns else "karpathy", **columns, "texts": "first-of-several"}
    entry = {"kind": "pairs", **form, **more}
    ledger = [{"image_url": f"flickr8k/{name}", "status": "success"} for name in taken]
    return published(folder, parts, entry, ledger or None)


def lists(folder: Path, names: dict[str, str]) -> dict[str, str]:
    """Write a list of names for each split; return its path."""
    paths = {split: folder / f"{split}.txt" for split in names}
    for split, path in paths.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(names[split])
    return {split: str(path) for split, path in paths.items()}


def karpathy(folder: Path) -> dict[str, str]:
    """Write Karpathy's file; return what says that it tells the splits."""
    (folder / "dataset_flickr8k.json").write_text(json.dumps(KARPATHY))
    return {"karpathy": str(folder / "dataset_flickr8k.json")}


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
    texts = made["texts"].sort("text_id")
    expected = EXPECTED if "tokens" in parts else [("0", EXPECTED[0][1]), ("10", EXPECTED[1][1])]
    assert texts.select("text_id", "context_section_description").rows() == expected
    images = made["images"].sort("source_image_id")
    assert images["caption_reference_description"].to_list() == [SAID[n][1:] for n in NAMES[:2]]
    assert images["image_url"].to_list() == [*NAMES[:2]]
    assert images["image_id"][0] == str(uuid.uuid3(uuid.NAMESPACE_URL, NAMES[0]))
    assert made["qrels"].height == 2
    assert made["rejected"].select("row", "reason", "raw").rows() == [
        (made["rejected"]["row"][0], "too_few_captions", "Alone .")
    ]


def test_without_lists_all_pictures_are_one_pool(tmp_path):
    """Tables 6 to 10 rank N queries over N pictures (section 3.3), whatever their split."""
    made = collected(tmp_path, {"tokens": {"Flickr8k.token.txt": TOKENS}})
    assert set(made["qrels"]["split"]) == {"test"}
    assert made["filters"].rows() == [
        ("read", "test", 6, 0, 6),
        ("too_few_captions", "test", 6, 1, 5),
        ("first_text", "test", 5, 3, 2),
    ]


def test_the_lists_of_flickr8k_and_karpathys_file_tell_the_splits(tmp_path):
    tokens = {"Flickr8k.token.txt": TOKENS}
    splits = lists(tmp_path, LISTS)
    listed = collected(tmp_path / "lists", {"tokens": tokens}, splits=splits)
    assert listed["texts"].select("text_id", "split").rows() == [
        ("flickr-1000_a", "train"),
        ("flickr-1001_b", "validation"),
    ]
    made = collected(tmp_path / "json", {"tokens": tokens}, splits=karpathy(tmp_path))
    assert made["texts"]["split"].to_list() == ["train", "validation"]


def test_lists_of_flickr30k_name_pictures_by_their_numbers(tmp_path):
    """train.txt, val.txt and test.txt of Flickr30k Entities."""
    splits = lists(tmp_path, {"train": "1000_a\n", "test": "1001_b\n", "validation": "9999_z\n"})
    tokens = {"results_20130124.token": TOKENS}
    made = collected(tmp_path / "made", {"tokens": tokens}, splits=splits)
    assert dict(made["texts"].select("text_id", "split").rows()) == {
        "flickr-1000_a": "train",
        "flickr-1001_b": "test",
    }
    assert made["rejected"].select("file", "row", "reason", "detail").rows() == [
        ("results_20130124.token", 6, "no_split", "1002_c.jpg"),
        ("validation.txt", 1, "unknown_name", "9999_z"),
    ]


def test_lines_that_are_no_captions_are_told_with_their_place(tmp_path):
    lines = "1.jpg#0\tA dog .\n1.jpg#1\tOne dog .\n1.jpg#1\tOne dog .\n1.jpg#2\t \nno caption\n"
    made = collected(tmp_path, {"tokens": {"Flickr8k.token.txt": lines}})
    assert made["rejected"].select("row", "reason", "raw").rows() == [
        (3, "repeated_pair", "One dog ."),
        (4, "unreadable", "1.jpg#2"),
        (5, "unreadable", "no caption"),
    ]
    assert made["images"]["caption_reference_description"].to_list() == [["One dog ."]]


def test_pictures_that_came_along_are_found_by_their_names(tmp_path):
    made = collected(tmp_path, {"tokens": {"Flickr8k.token.txt": TOKENS}}, NAMES[1])
    assert made["images"]["image_url"].to_list() == [f"flickr8k/{NAMES[1]}"]
    assert {*made["rejected"]["reason"]} == {"missing_picture"}


def test_the_kind_of_before_is_read_with_its_parts_and_named_anew(tmp_path, capsys):
    """Kind `flickr` had the lists in a part of the source, whose names tell their splits."""
    parts = {
        "tokens": {"Flickr8k.token.txt": TOKENS},
        "splits": {
            "Flickr_8k.trainImages.txt": NAMES[0],
            "Flickr_8k.devImages.txt": NAMES[1],
            "Flickr_8k.testImages.txt": NAMES[2],
        },
    }
    made = published(tmp_path, parts, {"kind": "flickr"})
    assert made["texts"]["split"].to_list() == ["train", "validation"]
    assert made["texts"]["source_text_id"].to_list() == ["1000_a.jpg#0", "1001_b.jpg#0"]
    assert "params collect.mine: `kind: flickr` is now `kind: pairs, form: flickr, " in (
        capsys.readouterr().err
    )


def test_a_source_that_has_lists_of_splits_alone_is_named(tmp_path):
    entry = {"kind": "pairs", "form": "flickr", "splits": lists(tmp_path, LISTS)}
    with pytest.raises(MissingFile, match=r"manifest\.json: no part but pictures and lists"):
        published(tmp_path, {}, entry)
