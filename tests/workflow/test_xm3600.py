"""Crossmodal-3600 takes the road by params alone: a few real images, from files to both tables."""

import gzip
import json
from pathlib import Path

import polars as pl
import pytest
import yaml

LANGUAGES = ("en", "fr", "quz")
IMAGES = 60
TABLES = [f"results/tables/xm3600/{t}.md" for t in ("group", "captions")]
SMALL = {
    "build": ["xm3600-fr", "xm3600-quz"],
    "search": {"systems": ["random", "words"]},
    "tabulate": {
        "system": "words",
        "groups": {"xm3600": {"all": ["xm3600-fr", "xm3600-quz"], "low-resource": ["xm3600-quz"]}},
    },
}


def cut(source: Path, target: Path) -> None:
    """Keep the captions of the first images, and add one that can't be used."""
    for language in LANGUAGES:
        name = f"captions_{language}.jsonl.gz"
        lines = gzip.decompress((source / name).read_bytes()).decode("utf-8").splitlines()
        keys = list(dict.fromkeys(json.loads(line)["image_id"] for line in lines))[:IMAGES]
        kept = [line for line in lines if json.loads(line)["image_id"] in keys]
        text = "\n".join([*kept, '{"image_id": "0", "language": "fr", "caption": ""}'])
        (target / name).write_bytes(gzip.compress(text.encode("utf-8"), mtime=0))


@pytest.fixture(scope="module")
def place(project, shell, shared, tmp_path_factory) -> Path:
    """The project after the overlay was run on the cut files."""
    root = tmp_path_factory.mktemp("collections")
    (root / "xm3600").mkdir()
    cut(shared / "collections/xm3600", root / "xm3600")
    place = project()
    (place / "small.yaml").write_text(yaml.safe_dump(SMALL))
    overlays = ["--configfile", "params/xm3600.yaml", "small.yaml", "--config", f"root={root}"]
    shell("snakemake", "--cores", "2", *TABLES, *overlays, cwd=place)
    return place


def test_each_language_and_each_part_of_the_group_has_its_recalls(place):
    table = pl.read_csv(place / "results/tables/xm3600/group.csv")
    told = table.select("collection", "collections", "system").rows()
    assert told == [
        (of, n, system)
        for of, n in (("xm3600-fr", 1), ("xm3600-quz", 1), ("all", 2), ("low-resource", 1))
        for system in ("random", "words")
    ]
    columns = [c for c in table.columns if not c.endswith(" beats")]
    measures = ["Success@1", "Success@5", "Success@10", "mean"]
    assert columns[3:] == [f"{task} {m}" for task in ("t2m", "m2t") for m in measures]
    words = table.filter(pl.col("system") == "words")
    by = {row[0]: row[1] for row in words.select("collection", "t2m Success@10").rows()}
    assert by["all"] == pytest.approx((by["xm3600-fr"] + by["xm3600-quz"]) / 2, abs=1e-6)
    assert by["low-resource"] == by["xm3600-quz"]


def test_words_that_languages_share_find_more_than_chance(place):
    table = pl.read_csv(place / "results/tables/xm3600/group.csv")
    french = table.filter(pl.col("collection") == "xm3600-fr").select("system", "t2m mean")
    means = dict(french.iter_rows())
    assert means["words"] > means["random"]


def test_the_table_of_captions_has_a_row_for_each_language(place):
    table = pl.read_csv(place / "results/tables/xm3600/captions.csv")
    assert table["language"].to_list() == ["fr", "quz"]
    assert table["images"].to_list() == [IMAGES, IMAGES]
    assert table["cider"].min() > 0  # pyright: ignore[reportOperatorIssue, reportOptionalOperand]


def test_a_caption_without_words_is_kept_aside(place):
    rejected = pl.read_parquet(place / "data/collect/xm3600-quz/rejected.parquet")
    assert rejected.select("file", "reason").rows() == [
        (f"captions_{language}.jsonl.gz", "empty_caption") for language in LANGUAGES
    ]


def test_a_text_tower_takes_the_vectors_of_images_of_the_model_it_names(project, shell):
    place = project()
    models = {
        "eyes": {"kind": "hash", "dim": 8},
        "tower": {"kind": "hash", "dim": 8, "images": "eyes"},
    }
    overlay = {
        "models": models,
        "systems": {"tower": {"kind": "dense", "model": "tower"}},
        "search": {"systems": ["tower"]},
        "tabulate": {"system": "tower"},
    }
    (place / "borrowed.yaml").write_text(yaml.safe_dump(overlay))
    told = shell("snakemake", "-n", "search", "--configfile", "borrowed.yaml", cwd=place)
    assert "encode toy with eyes, shard 00000" in told
    assert "encode texts of toy with tower, shard 00000" in told
    assert "encode toy with tower" not in told
