"""Late interaction and learned sparse models in the params: what fits together."""

import copy
from pathlib import Path
from typing import Any

import pytest
import yaml

from isotope.core.errors import BadParams
from isotope.params import resolve


@pytest.fixture
def config(root: Path) -> dict[str, Any]:
    """The default params, with the models and systems of params/2026.yaml."""
    both = [yaml.safe_load((root / p).read_text()) for p in ("params.yaml", "params/2026.yaml")]
    merged = copy.deepcopy(both[0])
    for key in ("models", "systems", "search"):
        merged[key] |= both[1][key]
    return merged


def test_the_overlay_is_valid_and_gets_its_defaults(config):
    resolved = resolve.resolve(config)
    assert resolved.systems["colqwen2"].filled() == {
        "kind": "late",
        "model": "colqwen2",
        "exact_up_to": 10_000,
        "candidates": 1_000,
    }


@pytest.mark.parametrize(
    ("section", "name", "entry", "message"),
    [
        (
            "systems",
            "a",
            {"kind": "late", "model": "tiny-clip"},
            "no vectors of tokens; .*: colqwen2",
        ),
        (
            "systems",
            "a",
            {"kind": "sparse", "model": "colqwen2"},
            "tokens, and no terms; .*: splade",
        ),
        ("systems", "a", {"kind": "dense", "model": "splade"}, "makes terms, and no vectors; name"),
        (
            "systems",
            "a",
            {"kind": "approximate", "method": "ivf", "model": "splade"},
            "makes terms, and no vectors",
        ),
        (
            "systems",
            "a",
            {"kind": "late", "model": "colqwen2", "candidates": 99},
            r"candidates: 99 candidates, search\.depth 1,000; raise it",
        ),
        ("systems", "a", {"kind": "late", "model": "colqwen"}, "did you mean 'colqwen2'"),
        (
            "systems",
            "a",
            {"kind": "prompt", "model": "colqwen2", "templates": ["{text}"]},
            "is no encoder",
        ),
        ("models", "a", {"kind": "late", "name": "x", "images": "caption"}, "captions"),
        ("models", "a", {"kind": "sparse", "name": "x", "images": "pixels"}, "images"),
        ("models", "a", {"kind": "sparse", "name": "x", "tokens": 0}, "tokens.*always 256"),
        (
            "models",
            "a",
            {"kind": "reuse", "weights_of": "splade", "fields": ["page_title"]},
            "weights_of",
        ),
        ("models", "a", {"kind": "sentence", "name": "x", "images": "colqwen2"}, "images"),
    ],
)
def test_what_does_not_fit_is_refused_before_the_first_job(config, section, name, entry, message):
    config[section][name] = entry
    with pytest.raises(BadParams, match=message):
        resolve.resolve(config)


def test_pooled_vectors_of_a_late_model_can_be_searched_as_any(config):
    config["systems"]["a"] = {"kind": "approximate", "method": "hnsw", "model": "colqwen2"}
    assert resolve.resolve(config).systems["a"].values()["width"] == 200
