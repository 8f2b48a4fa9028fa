"""Styles by zero-shot classification."""

import numpy as np
import polars as pl
import pytest
import yaml
from tests.models import loaded, model_of

from isotope.core.errors import BadParams
from isotope.core.vectors import write_ids
from isotope.models.hash import HashEncoder
from isotope.tabulate import styles

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
    heads = styles.class_weights(loaded(HASH), CLASSES, PROMPTS)
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
        *shards, model=model_of(HASH), weights=None, classes=CLASSES, prompts=PROMPTS, out=out
    )
    found = pl.read_parquet(out)
    assert found.select("image_id", "style").rows() == [
        ("i0", "photo"), ("i1", "map"), ("i2", "logo"), ("i3", "logo"),
    ]  # fmt: skip
    assert found["score"].is_between(0.9, 1).all()


def test_a_prompt_that_names_no_style_is_refused():
    with pytest.raises(BadParams, match="an image"):
        styles.class_weights(HashEncoder(8), CLASSES, ["an image"])


# AToMiC, section B.1: "a set of 15 image styles in the format of <image style>: <description>",
# named in the authors' repository, resource/clip_image_style_templates.md.
STYLES = [
    *("Photographs", "Artworks", "Charts", "Diagrams", "Relation Graphs", "Typography", "Icons"),
    *("Geometric designs", "Maps", "Infographics", "Panoramic images", "Micrographs"),
    *("Astrophotography", "Thermal images", "X-ray or MRI"),
]


def test_the_papers_styles_are_15_with_a_description_each(root):
    asked = yaml.safe_load((root / "params/styles.yaml").read_text())["tabulate"]["styles"]
    assert styles.style_names(asked["classes"]) == STYLES
    assert len(STYLES) == 15
    assert all(description for _, _, description in (c.partition(": ") for c in asked["classes"]))


def test_the_papers_prompts_and_model_are_those_of_the_overlay(root):
    """Sections B.1, "an image of and a rendering of", and 4.3, clip-vit-large-patch14."""
    overlay = yaml.safe_load((root / "params/styles.yaml").read_text())
    asked = overlay["tabulate"]["styles"]
    assert asked["prompts"] == ["an image of {style}", "a rendering of {style}"]
    model = overlay["models"][asked["model"]]
    assert (model["name"], model["pretrained"]) == ("ViT-L-14", "openai")


def test_prompts_have_the_description_and_the_table_the_name(shards, tmp_path):
    described = [f"{name}: drawn like one" for name in CLASSES]
    tables = []
    for classes in (described, CLASSES):
        out = tmp_path / f"{len(tables)}.parquet"
        styles.styles_table(
            *shards, model=model_of(HASH), weights=None, classes=classes, prompts=PROMPTS, out=out
        )
        tables.append(pl.read_parquet(out))
    assert set(tables[0]["style"]) <= set(CLASSES)
    assert not tables[0]["score"].equals(tables[1]["score"])


def test_two_classes_of_one_style_are_refused():
    with pytest.raises(BadParams, match="two classes are called 'map'"):
        styles.style_names(["map: of a land", "logo", "map: of a town"])


def test_the_papers_detector_is_that_of_the_overlay(root):
    """Section 4.3, footnote 13: huggingface.co/facebook/detr-resnet-101."""
    overlay = yaml.safe_load((root / "params/objects.yaml").read_text())
    assert overlay["tabulate"]["detector"]["name"] == "facebook/detr-resnet-101"
