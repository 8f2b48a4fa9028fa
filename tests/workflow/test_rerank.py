"""Reranked systems take the road by params alone, over the demo's runs."""

import json
import shutil
from pathlib import Path
from typing import Any

import polars as pl
import pytest
import yaml
from tests import tiny_rerankers as tiny

pytestmark = pytest.mark.long
DEPTH = 3
OVERLAY: dict[str, Any] = {
    "models": {
        "cross": {"kind": "reranker", "name": "./checkpoints/bert", "images": "captions"},
        "eyes": {"kind": "reranker", "name": "./checkpoints/qwen3-vl", "images": "pixels"},
    },
    "systems": {
        "bm25-cross": {"kind": "rerank", "of": "bm25", "model": "cross", "depth": DEPTH},
        "bm25-eyes": {"kind": "rerank", "of": "bm25-cross", "model": "eyes", "depth": 1},
        "both": {"kind": "rrf", "of": ["bm25-eyes", "bm25"]},
    },
    "search": {
        "systems": ["bm25", "bm25-cross", "both"],
        "settings": ["small"],
        "splits": ["validation"],
    },
    "tabulate": {"system": "bm25"},
}
SYSTEMS = ("bm25", "bm25-cross", "bm25-eyes", "both")


def run_of(place: Path, system: str, task: str = "t2m") -> Path:
    return place / f"results/search/toy/small/validation/{task}/{system}.parquet"


@pytest.fixture(scope="module")
def place(embedded, shell, tmp_path_factory) -> Path:
    """The demo, and three systems over its BM25: two reranked ones, and a fusion with one."""
    place = tmp_path_factory.mktemp("reranked") / "project"
    shutil.copytree(embedded, place, symlinks=True)
    for kind in ("bert", "qwen3-vl"):
        tiny.save(place / "checkpoints" / kind, kind)
    search(place, shell, {})
    return place


def search(place: Path, shell: Any, changes: dict[str, Any]) -> None:
    (place / "more.yaml").write_text(yaml.safe_dump({**OVERLAY, **changes}))
    targets = ["search", "results/score/toy.parquet"]
    shell("snakemake", "--cores", "2", "--configfile", "more.yaml", "--", *targets, cwd=place)


def counted(place: Path) -> dict[str, int]:
    files = sorted((place / "logs/rerank").glob("toy.*.json"))
    return {path.name: json.loads(path.read_text())["scored"] for path in files}


def test_the_runs_hold_what_bm25_found_in_another_order(place):
    for task in ("t2m", "m2t"):
        before, after = (pl.read_parquet(run_of(place, s, task)) for s in SYSTEMS[:2])
        ids = ["query_id", "doc_id"]
        assert before.select(ids).sort(ids).equals(after.select(ids).sort(ids))
        below = pl.col("rank") > DEPTH
        assert before.filter(below)["doc_id"].equals(after.filter(below)["doc_id"])
        assert not before.filter(~below)["doc_id"].equals(after.filter(~below)["doc_id"])


def test_a_fusion_over_a_system_over_a_reranked_one_is_scored(place):
    scores = pl.read_parquet(place / "results/score/toy.parquet")
    assert set(scores["system"]) == {"bm25", "bm25-cross", "both"}
    assert run_of(place, "bm25-eyes").is_file()


def test_the_costs_say_what_was_scored(place, shell):
    told = shell("isotope", "costs", "toy", cwd=place)
    assert " bm25-cross " in told
    assert min(counted(place).values()) > 0


def test_runs_that_were_removed_come_back_by_the_cache_with_the_same_bytes(place, shell):
    before = {s: run_of(place, s).read_bytes() for s in SYSTEMS}
    for system in SYSTEMS[1:]:
        run_of(place, system).unlink()
    search(place, shell, {})
    assert before == {s: run_of(place, s).read_bytes() for s in SYSTEMS}
    assert set(counted(place).values()) == {0}


def test_slices_of_the_queries_make_the_same_runs(place, shell):
    before = {s: pl.read_parquet(run_of(place, s)) for s in SYSTEMS}
    for system in SYSTEMS[1:3]:
        run_of(place, system).unlink()
    search(place, shell, {"shards": {"search": 2}})
    assert all(before[s].equals(pl.read_parquet(run_of(place, s))) for s in SYSTEMS)
    assert {f"toy.bm25-cross.0000{n}-of-00002.json": 0 for n in (0, 1)}.items() <= (
        counted(place).items()
    )
