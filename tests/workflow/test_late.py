"""Late interaction and learned sparse models in the workflow: planned, and run with tiny models."""

import re
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml
from tests import forkserver
from tests.late_models import save_late
from tests.sparse_models import save_splade

from isotope.core.grid import RunKey
from isotope.core.multivectors import MultiVectors, codes_of
from isotope.core.runs import read_run

ROOT = Path(__file__).parents[2]


def snakemake(place: Path, *arguments: str | Path) -> str:
    where = ["--snakefile", str(ROOT / "Snakefile"), "--directory", str(place)]
    done = forkserver.run(["snakemake", *where, *map(str, arguments)], cwd=place)
    assert done.returncode == 0, (done.stdout + done.stderr)[-4_000:]
    return done.stdout + done.stderr


def jobs(printed: str) -> dict[str, int]:
    counted = re.findall(r"^(\w+) +(\d+)$", printed, re.MULTILINE)
    return {rule: int(count) for rule, count in counted}


@pytest.fixture
def place(tmp_path):
    shutil.copy(ROOT / "params.yaml", tmp_path)
    return tmp_path


def test_the_overlay_plans_jobs_of_both_kinds(place):
    overlay = ROOT / "params/2026.yaml"
    planned = jobs(
        snakemake(place, "-n", "--quiet", "rules", "--configfile", "params.yaml", overlay)
    )
    assert planned["encode_late_shard"] == planned["search_late"] == 3
    assert planned["encode_sparse_shard"] == planned["search_sparse"] == 2
    # The overlay's four dual encoders, and pooled vectors.
    assert (planned["index_sparse"], planned["search_dense"]) == (2, 5)
    # Their pools, and those of three systems of late interaction.
    assert planned["index_dense"] == 8


def test_queries_in_shards_are_planned_for_both_kinds(place):
    (place / "shards.yaml").write_text("shards: {search: 3}\nencode: {shards: 2}\n")
    overlays = ["params.yaml", ROOT / "params/2026.yaml", place / "shards.yaml"]
    planned = jobs(snakemake(place, "-n", "--quiet", "rules", "--configfile", *overlays))
    assert (planned["encode_late_shard"], planned["encode_sparse_shard"]) == (6, 4)
    assert (planned["search_late"], planned["search_sparse"]) == (9, 6)


def tiny(place: Path) -> dict[str, Any]:
    """Params with tiny models of both kinds, over forty pages."""
    for name in ("colqwen2", "splade"):
        (place / name).mkdir()
    save_late(place / "colqwen2", "colqwen2")
    save_splade(place / "splade")
    models: dict[str, Any] = {"colqwen2": {"kind": "late"}, "splade": {"kind": "sparse"}}
    models = {k: {**v, "name": str(place / k), "tokens": 32} for k, v in models.items()}
    late = {"kind": "late", "model": "colqwen2"}
    systems = {"exact": late, "few": {**late, "exact_up_to": 0, "candidates": 10}}
    systems["splade"] = {"kind": "sparse", "model": "splade"}
    grid = {"systems": ["exact", "few", "splade"], "depth": 10, "settings": ["small"]}
    return {
        "acquire": {"toy": {"generate": {"pages": 40}}},
        "models": models,
        "systems": systems,
        "search": grid,
        "shards": {"search": 2},
        "tabulate": {"system": "exact", "comparisons": [], "diff": []},
    }


@pytest.mark.long
def test_tiny_models_are_run_from_pictures_to_rankings(place):
    (place / "tiny.yaml").write_text(yaml.safe_dump(tiny(place)))
    snakemake(place, "--cores", "2", "search", "--configfile", "params.yaml", "tiny.yaml")
    runs = {name: runs_of(place, name) for name in ("exact", "few", "splade")}
    assert [len(paths) for paths in runs.values()] == [4, 4, 4]
    sides = {side: vectors_of(place, side) for side in ("texts", "images")}
    for path in runs["exact"]:
        cell, run = RunKey.from_path(path), read_run(path)
        queries, documents = sides[cell.query_side], sides[cell.document_side]
        assert run.height
        for query, document, _, score in run.head(30).iter_rows():
            products = queries[query] @ documents[document].T
            assert score == pytest.approx(products.max(axis=1).sum(), rel=1e-5)
    for exact, few in zip(runs["exact"], runs["few"], strict=True):
        both = read_run(exact).join(read_run(few), on=["query_id", "doc_id"])
        assert both.height
        assert (both["score"] == both["score_right"]).all()
    assert all(read_run(path).height for path in runs["splade"])


def runs_of(place: Path, system: str) -> list[Path]:
    return sorted((place / "results/search/toy").rglob(f"{system}.parquet"))


def vectors_of(place: Path, side: str) -> dict[str, np.ndarray]:
    """The stored vectors of every item of a side."""
    folder = place / "data/encode/toy/colqwen2" / side
    files, tables = (sorted(folder.glob(f"*.tokens.{end}")) for end in ("npy", "parquet"))
    read, found = MultiVectors(files, tables), {}
    for n, name in enumerate(pl.concat(map(pl.read_parquet, tables))["id"]):
        found[name] = codes_of(read.take(np.array([n]))).vectors().astype(np.float64)
    return found
