"""Which fields a system reads is params only: entries share weights, not folders."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import yaml
from tests.models import loaded

ROOT = Path(__file__).parents[2]
MODELS: dict[str, Any] = {
    "all": {"kind": "hash", "dim": 16},
    "title": {"kind": "reuse", "weights_of": "all", "fields": ["page_title"]},
}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def encoded(tmp_path_factory: pytest.TempPathFactory, shell: Any) -> Path:
    """A tiny collection encoded by a model and by its ablation."""
    place = tmp_path_factory.mktemp("fields")
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    params["acquire"]["toy"]["generate"]["pages"] = 60
    params["crawl"]["toy"]["shards"] = 1
    params["models"] = MODELS
    params["systems"] = {m: {"kind": "dense", "model": m} for m in MODELS}
    params["search"] |= {"systems": [*MODELS], "settings": ["small"]}
    params["tabulate"] |= {"system": "all", "comparisons": []}
    (place / "params.yaml").write_text(yaml.safe_dump(params))
    where = ["--snakefile", ROOT / "Snakefile", "--directory", place, "--cores", "2"]
    shell("snakemake", *where, "--configfile", place / "params.yaml", "--", "search", cwd=place)
    return place


def test_an_ablation_encodes_its_own_fields_and_shares_the_images(encoded):
    folder = encoded / "data/encode/toy"
    assert not (folder / "title/images").exists()
    texts = pl.read_parquet(encoded / "data/collect/toy/texts.parquet").sort("text_id")
    encoder = loaded(MODELS["all"])
    expected = encoder.encode_texts(texts["page_title"].str.strip_chars().to_list())
    vectors = np.load(folder / "title/texts/shard-00000.npy")
    np.testing.assert_array_equal(vectors, expected)
    assert not np.array_equal(vectors, np.load(folder / "all/texts/shard-00000.npy"))


def test_an_ablation_is_searched_like_any_system(encoded):
    runs = encoded / "results/search/toy/small"
    every, title = (pl.read_parquet(runs / f"*/t2m/{m}.parquet") for m in MODELS)
    assert len(every) == len(title) > 0
    assert not every.equals(title)


def test_a_model_is_trained_from_a_config_that_only_open_clip_has(tmp_path, shell):
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    params["models"]["tiny-clip"]["config"] = "ViT-S-32-alt"
    (tmp_path / "params.yaml").write_text(json.dumps(params))
    where = ["--snakefile", ROOT / "Snakefile", "--directory", tmp_path, "--cores", "1"]
    told = shell("snakemake", *where, "-n", "--", "train", cwd=tmp_path)
    assert "train tiny-clip on toy" in told


def test_an_ablation_of_a_model_that_is_not_there_is_named(tmp_path, shell):
    params = yaml.safe_load((ROOT / "params.yaml").read_text())
    params["models"]["title"] = {**MODELS["title"], "weights_of": "tiny-clpi"}
    (tmp_path / "params.yaml").write_text(json.dumps(params))
    where = ["--snakefile", ROOT / "Snakefile", "--directory", tmp_path, "--cores", "1"]
    told = shell("snakemake", *where, "-n", "--", "search", cwd=tmp_path, check=False)
    assert "did you mean 'tiny-clip'" in told


def test_a_text_tower_takes_the_vectors_of_images_of_the_model_it_names(tmp_path, shell):
    shutil.copy(ROOT / "params.yaml", tmp_path)
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
    (tmp_path / "borrowed.yaml").write_text(yaml.safe_dump(overlay))
    line = ["snakemake", "--snakefile", ROOT / "Snakefile", "-n", "search", "--configfile"]
    told = shell(*line, "params.yaml", "borrowed.yaml", cwd=tmp_path)
    assert "encode toy with eyes, shard 00000" in told
    assert "encode texts of toy with tower, shard 00000" in told
    assert "encode toy with tower" not in told
