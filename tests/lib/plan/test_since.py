"""Which systems of an earlier collection answer for a later one, and what they read."""

from pathlib import Path

import pytest
import yaml
from snakemake.iocontainers import Wildcards

from isotope.params import resolve
from isotope.plan.plan import Plan

ROOT = Path(__file__).parents[3]
PAIR = {"collection": "toy-later", "earlier": "toy"}
STALE = "results/search/toy-later/since/toy"


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
    since = {"since": [["toy", "toy-later"]], "temporal": temporal, "system": "bm25"}
    params["tabulate"] = {**params["tabulate"], **since}
    return Plan(resolve.resolve(params), ROOT, {})


@pytest.fixture(scope="module")
def since() -> Plan:
    return plan(["toy", "toy-later"], ["both", "bm25"])


def of(**names: str) -> Wildcards:
    return Wildcards(fromdict={**PAIR, **names})


def test_earlier_systems_answer_where_both_collections_are_built(since):
    assert since.stale_pairs == [("toy", "toy-later")]
    assert since.newest == "toy-later"
    assert plan(["toy"], ["bm25"]).stale_pairs == []
    assert plan(["toy", "toy-later"], []).stale_pairs == []
    assert plan(["toy", "toy-later"], []).built_pairs == since.stale_pairs


def test_their_runs_lie_beside_those_of_the_later_collection(since):
    tasks, names = ("m2t", "t2m"), ("bm25", "both")
    every = [f"{STALE}/small/test/{task}/{name}.parquet" for task in tasks for name in names]
    assert since.stale_runs(PAIR) == since.stale_runs(of()) == since.all_stale_runs() == every
    assert since.stale_systems() == ["bm25", "both", "clip"]


def test_other_wildcards_of_a_pattern_stay(since):
    assert since.stale_grid("setting", "split") == [
        "results/search/{collection}/since/{earlier}/small/test/{task}/{system}.parquet"
    ]


def test_a_fusion_reads_runs_of_the_same_pair(since):
    tasks = ("t2m", "m2t")
    parts = [
        f"{STALE}/small/test/{task}/{name}.parquet" for task in tasks for name in ("bm25", "clip")
    ]
    assert sorted(since.stale_parts(of(system="both"))) == sorted(parts)


def test_queries_are_of_the_later_collection_and_documents_of_the_earlier(since):
    """By learned weights of the earlier one; a model that learns nothing has encoded both."""
    texts, images = (since.stale_sides(side, "npy") for side in ("texts", "images"))
    task = of(system="clip", task="t2m")
    assert texts(task)[0] == "data/encode/toy-later/since/toy/tiny-clip/texts/shard-00000.npy"
    assert images(task)[0] == "data/encode/toy/tiny-clip/images/shard-00000.npy"
    task = of(system="clip", task="m2t")
    assert texts(task)[0] == "data/encode/toy/tiny-clip/texts/shard-00000.npy"
    assert images(task)[0] == "data/encode/toy-later/since/toy/tiny-clip/images/shard-00000.npy"
    task = of(system="hashed", task="t2m")
    assert texts(task)[0] == "data/encode/toy-later/hash/texts/shard-00000.npy"


def test_later_queries_are_encoded_anew_by_learned_weights_only(since):
    found = since.all_earlier_vectors()
    assert {Path(path).parts[5] for path in found} == {"tiny-clip"}
    assert {Path(path).parts[6] for path in found} == {"texts", "images"}
    assert plan(["toy", "toy-later"], ["hashed"]).all_earlier_vectors() == []


def test_indexes_and_weights_are_those_of_the_earlier_collection(since):
    assert since.earlier_index(of(system="bm25")) == ["data/index/toy/small/bm25"]
    weights = since.weights(of(model="tiny-clip"))
    assert weights == ["data/train/toy/tiny-clip/model.safetensors"]
    vectors = since.earlier_vectors("texts")(of(model="hash"))
    assert vectors[0] == "data/encode/toy/hash/texts/shard-00000.npy"
    assert "data/encode/toy/hash/texts/shard-00000.contents.parquet" in vectors


def test_tables_of_a_pair_are_made_for_its_later_collection(since):
    pattern = "{collection}/{earlier}"
    assert since.temporal_files("toy-later", pattern) == ["toy-later/toy"]
    assert since.temporal_files("toy", pattern) == []
    assert since.survival() == ["results/tables/toy-later/since/toy/snapshot_survival.arrow"]
    assert plan(["toy"], []).survival() == []
