"""Two editions put together: what they share, and what may not be mixed up."""

from pathlib import Path

import polars as pl
import pytest

from isotope.collect import build
from isotope.core import sql, store
from isotope.core.errors import IntegrityError
from isotope.core.schemas import CAPTION_FIELDS
from isotope.schemas.collect import FILTERS

KIND = sql.SQL / "collect/union"
FIRST, SECOND, THIRD = (f"projected-00000001-00{n}" for n in range(3))
ENGLISH = {
    "pairs": [(FIRST, "apart", "train"), (FIRST, "shared", "train"), (SECOND, "english", "test")],
    "images": {"apart": ["en"], "shared": ["en", "fr"], "english": ["en"]},
    "filters": [("projected", "train", 5, 3, 2), ("one_split", "train", 2, 0, 2)],
}
RUSSIAN = {
    "pairs": [(FIRST, "apart", "test"), (SECOND, "shared", "train"), (THIRD, "russian", "test")],
    "images": {"apart": ["ru"], "shared": ["fr", "ru"], "russian": ["ru"]},
    "filters": [("projected", "train", 4, 3, 1), ("projected", "test", 2, 0, 2)],
}


def write(folder: Path, language: str, told: dict) -> dict[str, Path]:
    """A collection of one language; a caption in French says the same in every edition."""
    split_of = {text: split for text, _, split in told["pairs"]}
    shown = {image: split for _, image, split in told["pairs"]}
    rows = {
        "texts": [
            {"text_id": t, "page_id": 1, "language": language, "category": [language]}
            | {"split": split_of.get(t, "other"), "page_title": f"{language} page"}
            for t in (FIRST, SECOND, THIRD)
        ],
        "images": [
            {"image_id": i, "image_url": f"https://x/{i}.png", "language": spoken}
            | {name: [f"{i} {s}" for s in spoken] for name in CAPTION_FIELDS}
            | {"width": 8, "height": 8, "sha256": language, "split": shown[i]}
            for i, spoken in told["images"].items()
        ],
        "qrels": [
            {"text_id": t, "image_id": i, "relevance": 1, "split": s} for t, i, s in told["pairs"]
        ],
        "filters": [dict(zip(FILTERS.names, r, strict=True)) for r in told["filters"]],
    }
    files = {name: folder / f"{language}-{name}.parquet" for name in rows}
    for name, path in files.items():
        store.write_rows(rows[name], path, build.SCHEMAS[name])
    return files


def united(folder: Path, *members: dict[str, Path]) -> dict[str, pl.DataFrame]:
    relations = {name: [member[name] for member in members] for name in members[0]}
    build.collect(KIND, relations, {"kind": "union", "language": "mul"}, folder / "out")
    return {n: pl.read_parquet(folder / f"out/{n}.parquet") for n in build.SCHEMAS}


@pytest.fixture
def editions(tmp_path) -> list[dict[str, Path]]:
    return [write(tmp_path, "en", ENGLISH), write(tmp_path, "ru", RUSSIAN)]


@pytest.fixture
def union(editions, tmp_path) -> dict[str, pl.DataFrame]:
    return united(tmp_path, *editions)


def test_sections_that_have_one_number_in_two_editions_stay_two_texts(union):
    assert union["texts"].select("text_id", "language").rows() == [
        *((f"en-{t}", "en") for t in (FIRST, SECOND, THIRD)),
        *((f"ru-{t}", "ru") for t in (FIRST, SECOND, THIRD)),
    ]


def test_a_picture_in_other_splits_of_two_editions_loses_its_pairs_in_both(union):
    assert union["qrels"].select("text_id", "image_id", "split").rows() == [
        (f"en-{FIRST}", "shared", "train"),
        (f"en-{SECOND}", "english", "test"),
        (f"ru-{SECOND}", "shared", "train"),
        (f"ru-{THIRD}", "russian", "test"),
    ]
    images = dict(union["images"].select("image_id", "split").rows())
    texts = dict(union["texts"].select("text_id", "split").rows())
    assert images["apart"] == texts[f"ru-{FIRST}"] == "other"
    assert texts[f"en-{FIRST}"] == "train"


def test_a_shared_picture_has_the_captions_of_all_members_in_their_order_each_once(union):
    shared = union["images"].row(by_predicate=pl.col("image_id") == "shared", named=True)
    assert shared["language"] == ["en", "fr", "ru"]
    for name in CAPTION_FIELDS:
        assert shared[name] == ["shared en", "shared fr", "shared ru"]
    assert shared["sha256"] == "en"
    assert union["images"]["image_id"].to_list() == ["apart", "english", "russian", "shared"]


def test_members_come_in_the_order_of_the_params(editions, tmp_path):
    union = united(tmp_path, *reversed(editions))
    shared = union["images"].row(by_predicate=pl.col("image_id") == "shared", named=True)
    assert shared["language"] == ["fr", "ru", "en"]
    assert shared["sha256"] == "ru"


def test_the_account_of_a_union_adds_up_its_members_and_then_its_own_filter(union):
    assert union["filters"].rows() == [
        ("projected", "train", 9, 6, 3),
        ("projected", "test", 2, 0, 2),
        ("one_split", "train", 2, 0, 2),
        ("union", "train", 3, 1, 2),
        ("union", "test", 3, 1, 2),
    ]


def test_two_members_whose_texts_say_one_language_are_refused(tmp_path):
    members = [write(tmp_path / name, "en", ENGLISH) for name in "ab"]
    with pytest.raises(IntegrityError, match="every item appears once"):
        united(tmp_path, *members)
