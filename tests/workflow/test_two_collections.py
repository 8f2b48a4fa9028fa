"""Rules that need a second collection or a detector, in a workflow of their own (Figs. 4 and 7)."""

from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pytest
import torch
import yaml
from tests.doc_answers import ANSWERS, Tables, differences, examples
from transformers import DetrConfig, DetrForObjectDetection, DetrImageProcessor, ResNetConfig

from isotope.tabulate import catalog

pytestmark = pytest.mark.long
AGAINST = {"collection": "again", "here": "R@10", "there": "Success@10"}
OVERLAY = {
    "build": ["toy", "again"],
    "acquire": {"toy": {"generate": {"pages": 30}}},
    "crawl": {"toy": {"shards": 1}},
    "collect": {"again": {"kind": "wikipedia", "source": "toy", "language": "en"}},
    "systems": {"one": {"kind": "random", "seed": 1}, "other": {"kind": "random", "seed": 2}},
    "search": {"systems": ["one", "other"], "settings": ["small"], "splits": ["test"]},
    "score": {"measures": ["R@10", "Success@10"]},
    "tabulate": {
        "system": "one",
        "against": {"toy": AGAINST},
        "detector": {"name": "detr", "threshold": 0.0, "batch": 8},
    },
}
LABELS = {0: "cat", 1: "dog", 2: "boat"}
TARGETS = [
    "results/figures/toy/against.svg",
    "results/figures/again/objects.svg",
    "results/tables/again/intervals.parquet",
]


def save_detr(folder: Path) -> None:
    """A DETR of the real class with small random weights."""
    torch.manual_seed(0)
    small: Any = {"embedding_size": 8, "hidden_sizes": [8] * 4, "depths": [1] * 4}
    layers: Any = {"encoder_layers": 1, "decoder_layers": 1, "encoder_attention_heads": 2}
    widths: Any = {"decoder_attention_heads": 2, "encoder_ffn_dim": 16, "decoder_ffn_dim": 16}
    head: Any = {"d_model": 16, "num_queries": 5, "id2label": LABELS}
    backbone = ResNetConfig(**small | {"out_features": ["stage4"]})
    config = DetrConfig(backbone_config=backbone, **layers, **widths, **head)
    DetrForObjectDetection(config).save_pretrained(folder)
    DetrImageProcessor(size={"shortest_edge": 32, "longest_edge": 32}).save_pretrained(folder)


@pytest.fixture(scope="module")
def built(project, shell) -> Path:
    """Two collections of one small encyclopedia; the second has no facts but what we find out."""
    place = project()
    save_detr(place / "detr")
    (place / "overlay.yaml").write_text(yaml.safe_dump(OVERLAY))
    command = ["snakemake", "--cores", "2", "--configfile", "overlay.yaml", "--"]
    shell(*command, *TARGETS, cwd=place)
    return place


def test_a_collection_is_held_against_another_built_one(built):
    found = pl.read_csv(built / "results/tables/toy/against.csv")
    scores = {c: pl.read_parquet(built / f"results/score/{c}.parquet") for c in ("toy", "again")}
    assert set(found["system"]) == {"one", "other"}
    for row in found.iter_rows(named=True):
        cell = {"system": row["system"], "task": row["task"]}
        for collection, measure in (("toy", "R@10"), ("again", "Success@10")):
            own = scores[collection].filter(pl.col("measure") == measure, **cell)
            assert own["value"].mean() in [pytest.approx(v, abs=1e-5) for v in row.values()]
    assert "<svg" in (built / "results/figures/toy/against.svg").read_text()


@pytest.fixture(scope="module")
def two(built) -> Path:
    """The project with a catalog of both collections."""
    catalog.build(built / "results/two.duckdb", built)
    return built


@pytest.mark.parametrize("question", ANSWERS)
def test_a_documented_query_answers_what_a_count_by_hand_gives(two, monkeypatch, question):
    monkeypatch.chdir(two)
    with duckdb.connect("results/two.duckdb", read_only=True) as con:
        shown = con.sql(examples()[question]).fetchall()
    assert differences(shown, ANSWERS[question](Tables(two))) == []


def test_a_detector_looks_at_every_picture_where_no_facts_tell_the_objects(built):
    objects = pl.read_parquet(built / "results/tables/again/objects.parquet")
    ledger = pl.read_parquet(built / "data/crawl/toy/ledger.parquet")
    crawled = ledger.filter(pl.col("status") == "success")["image_url"]
    assert set(objects["image_url"]) == set(crawled)
    assert set(objects["synset"]) <= set(LABELS.values())
    shown = pl.read_csv(built / "results/tables/again/objects.csv")
    assert set(shown.to_series()) <= {*LABELS.values(), "others"}
    assert not (built / "results/tables/toy/objects.parquet").exists()


def test_popularity_is_told_by_the_dumps_links_where_no_facts_tell_views(built):
    kinds = set(pl.read_parquet(built / "results/tables/again/intervals.parquet")["kind"])
    assert "popularity by in-links" in kinds
    assert "popularity by views" not in kinds
    assert pl.read_parquet(built / "data/parse/toy/inlinks.parquet")["inlinks"].sum() > 0
