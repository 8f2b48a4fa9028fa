"""Which systems of an earlier collection answer for a later one, and what they read."""

from pathlib import Path

import pytest
import yaml
from snakemake.iocontainers import Wildcards

from isotope.params import resolve
from isotope.plan.plan import Plan

ROOT = Path(__file__).parents[3]
PAIR = {"collection": "toy-later", "earlier": "toy"}
EARLIER = "results/search/toy-later/since/toy"


def plan(build: list[str], temporal: list[str]) -> Plan:
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    params["models"]["hash"] = {"kind": "hash", "dim": 8}
    params["systems"] |= {
        "hashed": {"kind": "dense", "model": "hash"},
        "both": {"kind": "rrf", "of": ["bm25", "clip"]},
        "clip": {"kind": "dense", "model": "tiny-clip"},
    }
    params["build"] = build
    names = ["bm25", "clip", "hashed", "both"]
    cells = {"settings": ["small"], "splits": ["test"], "tasks": ["t2m", "m2t"]}
    params["search"] = {**params.get("search", {}), **cells, "systems": names}
    tabulate = {"diff": [["toy", "toy-later"]], "temporal": temporal, "system": "bm25"}
    params["tabulate"] = {**params["tabulate"], **tabulate}
    return Plan(resolve.resolve(params), {})


@pytest.fixture(scope="module")
def pair() -> Plan:
    return plan(["toy", "toy-later"], ["both", "bm25"])


def of(**names: str) -> Wildcards:
    return Wildcards(fromdict={**PAIR, **names})


def test_earlier_systems_answer_where_both_collections_are_built(pair):
    assert pair.diff.earlier("toy-later") == ["toy"]
    assert pair.collections.built[-1] == "toy-later"
    assert plan(["toy"], ["bm25"]).diff.tables("toy-later") == []
    assert plan(["toy", "toy-later"], []).diff.tables("toy-later") == []


def test_their_runs_lie_beside_those_of_the_later_collection(pair):
    tasks, names = ("m2t", "t2m"), ("bm25", "both")
    every = [f"{EARLIER}/small/test/{task}/{name}.parquet" for task in tasks for name in names]
    assert pair.diff.runs(of()) == every
    assert pair.diff.systems == ["both", "bm25"]


def test_other_wildcards_of_a_pattern_stay(pair):
    assert pair.systems.earlier_runs("setting", "split") == [
        "results/search/{collection}/since/{earlier}/small/test/{task}/{system}.parquet"
    ]


def test_a_fusion_reads_runs_of_the_same_pair(pair):
    tasks = ("t2m", "m2t")
    parts = [
        f"{EARLIER}/small/test/{task}/{name}.parquet" for task in tasks for name in ("bm25", "clip")
    ]
    assert sorted(pair.systems.parts(of(system="both"))) == sorted(parts)


def test_queries_are_of_the_later_collection_and_documents_of_the_earlier(pair):
    """By learned weights of the earlier one; a model that learns nothing has encoded both."""
    texts, images = (pair.systems.vectors(side) for side in ("texts", "images"))
    task = of(system="clip", task="t2m")
    assert texts(task)[0] == "data/encode/toy-later/since/toy/tiny-clip/texts/shard-00000.npy"
    assert images(task)[0] == "data/encode/toy/tiny-clip/images/shard-00000.npy"
    task = of(system="clip", task="m2t")
    assert texts(task)[0] == "data/encode/toy/tiny-clip/texts/shard-00000.npy"
    assert images(task)[0] == "data/encode/toy-later/since/toy/tiny-clip/images/shard-00000.npy"
    task = of(system="hashed", task="t2m")
    assert texts(task)[0] == "data/encode/toy-later/hash/texts/shard-00000.npy"


def test_indexes_and_weights_are_those_of_the_earlier_collection(pair):
    assert pair.systems.indexes(of(system="bm25")) == ["data/index/toy/small/bm25"]
    weights = pair.models["tiny-clip"].weights("toy")
    assert weights == ["data/train/toy/tiny-clip/model.safetensors"]
    vectors = pair.models.earlier_vectors(of(model="hash"), "texts")
    assert vectors[0] == "data/encode/toy/hash/texts/shard-00000.npy"
    assert "data/encode/toy/hash/texts/shard-00000.contents.parquet" in vectors


def test_tables_of_a_pair_are_made_for_its_later_collection(pair):
    assert pair.diff.tables("toy-later") == [
        "results/tables/toy-later/since/toy/temporal.arrow",
        "results/figures/toy-later/since/toy/temporal.svg",
    ]
    assert pair.diff.tables("toy") == []
    assert pair.diff.survival() == ["results/tables/toy-later/since/toy/snapshot_survival.arrow"]
    assert plan(["toy"], []).diff.survival() == []
