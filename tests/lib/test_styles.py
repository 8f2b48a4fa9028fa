"""Styles by zero-shot classification."""

import numpy as np
import polars as pl
import pytest
import yaml

from isotope import models, styles
from isotope.encode_store import write_ids
from isotope.errors import BadParams
from isotope.models_hash import HashEncoder

HASH = {"kind": "hash", "dim": 32}
CLASSES, PROMPTS = ["map", "logo", "photo"], ["a {style}.", "in the style of a {style}"]


def test_a_class_is_the_unit_mean_of_its_prompts():
    encoder = HashEncoder(32)
    weights = styles.class_weights(encoder, CLASSES, PROMPTS)
    both = encoder.encode_texts(["a logo.", "in the style of a logo"]).sum(axis=0)
    assert weights[1] == pytest.approx(both / np.linalg.norm(both), abs=1e-6)


@pytest.fixture
def shards(tmp_path):
    """Images that lie near a class each, in two shards."""
    heads = styles.class_weights(models.load(HASH), CLASSES, PROMPTS)
    near = heads[[2, 0, 1, 1]] + np.random.default_rng(0).normal(0, 0.02, (4, 32))
    near = (near / np.linalg.norm(near, axis=1, keepdims=True)).astype(np.float32)
    for n, rows in enumerate((slice(0, 3), slice(3, 4))):
        np.save(tmp_path / f"{n}.npy", near[rows])
        write_ids(pl.Series([f"i{m}" for m in range(4)])[rows], tmp_path / f"{n}.ids.parquet")
    return [tmp_path / f"{n}.npy" for n in (0, 1)], [tmp_path / f"{n}.ids.parquet" for n in (0, 1)]


def test_every_image_of_every_shard_gets_its_nearest_class(shards, tmp_path, monkeypatch):
    monkeypatch.setattr(styles, "_ROWS", 2)
    out = tmp_path / "styles.parquet"
    styles.styles_table(
        *shards, model=HASH, weights=None, classes=CLASSES, prompts=PROMPTS, out=out
    )
    found = pl.read_parquet(out)
    assert found.select("image_id", "style").rows() == [
        ("i0", "photo"), ("i1", "map"), ("i2", "logo"), ("i3", "logo"),
    ]  # fmt: skip
    assert found["score"].is_between(0.9, 1).all()


def test_a_prompt_that_names_no_style_is_refused():
    with pytest.raises(BadParams, match="an image"):
        styles.class_weights(HashEncoder(8), CLASSES, ["an image"])


def test_the_list_of_the_paper_is_15_styles_by_2_prompts(root):
    asked = yaml.safe_load((root / "params/styles.yaml").read_text())["tabulate"]["styles"]
    assert (len(asked["classes"]), len(asked["prompts"])) == (15, 2)
    assert all(styles.STYLE in prompt for prompt in asked["prompts"])
