"""Tiny random weights in place of published ones, each in the form of what it stands in for.

An overlay names models of the hubs. `changed` keeps its entries and exchanges only what small data
and random weights can't have: names, revisions, places for tokens, batches and steps.
"""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import open_clip
import torch
from safetensors.torch import save_file
from tests import tiny_families, tiny_rerankers
from tests.late_models import save_colbert, save_late
from tests.lib.models.test_models_hf import save_family
from tests.lib.models.test_models_sentence import MEAN, checkpoint
from tests.lib.tabulate.test_detect import save_detector
from tests.once import once
from tests.sparse_models import save_inference_free, save_splade
from tests.tiny_models import save_summariser

# The smallest that open_clip has.
OPEN_CLIP = "ViT-S-32-alt"
_LITTLE = {"batch": 4, "micro_batch": 2, "threads": 1, "checkpoint_every": None}
_ROOM = {"context": 128, "pixels": 4096, "dim": 16}
# How a published name begins, the folder that stands in for it, and what the entry changes besides.
_FORMS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("google/siglip2", "siglip2", {}),
    ("jinaai/jina-clip", "jina-clip", {}),
    ("Qwen/Qwen3-VL-Embedding", "qwen3-vl", _ROOM),
    ("vidore/colqwen2", "colqwen2", {}),
    ("ModernVBERT/", "colmodernvbert", {}),
    ("lightonai/", "colbert", {}),
    ("naver/splade", "splade", {}),
    ("opensearch-project/", "inference-free", {}),
    ("BAAI/bge-reranker", "xlm-roberta", {"context": 64}),
    ("Qwen/Qwen3-Reranker", "qwen3", {}),
    ("Qwen/Qwen3-VL-Reranker", "reranker-qwen3-vl", {"pixels": 4096}),
    ("jinaai/jina-reranker", "jina-m0", {}),
    ("Salesforce/blip", "blip", {"context": 12}),
    ("facebook/flava", "flava", {"context": 12}),
    ("facebook/detr", "detr", {}),
    ("sentence-transformers/", "sentence", {}),
    ("google-t5/", "t5", {}),
    ("google/pegasus", "pegasus", {}),
)


def changed(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Return what of the entry of a published model is otherwise for the one that stands in.

    An entry of our own, such as of kind `hash`, stays as it is.
    """
    own: dict[str, Any] = {}
    if "train" in entry:
        steps = {"steps": 1} if "steps" in entry["train"] else {"epochs": 1}
        own["train"] = {**_LITTLE, **steps}
    name = entry.get("name")
    if "pretrained" in entry:
        return own | {"name": OPEN_CLIP, "pretrained": str(weights("open_clip") / "it.safetensors")}
    for beginning, form, more in _FORMS:
        if name and name.startswith(beginning):
            kept = {k: v for k, v in more.items() if k in entry or k == "precision"}
            revision = {"revision": None} if entry.get("revision") else {}
            return own | kept | revision | {"name": str(weights(form))}
    assert name is None, f"nothing stands in for {name}"
    return own


def weights(form: str) -> Path:
    """Return the folder of the weights of a form, which a session of tests saves once."""

    def save(place: Path) -> None:
        _SAVERS[form](place)

    return once(f"weights-{form}", save)


def _save_open_clip(place: Path) -> None:
    with torch.random.fork_rng():
        torch.manual_seed(1)
        save_file(open_clip.create_model(OPEN_CLIP).state_dict(), place / "it.safetensors")


_SAVERS: Mapping[str, Callable[[Path], object]] = {
    "open_clip": _save_open_clip,
    "siglip2": lambda place: tiny_families.save_siglip(place, naflex=False),
    "jina-clip": tiny_families.save_jina_clip,
    "qwen3-vl": tiny_families.save_qwen3_vl,
    "colqwen2": lambda place: save_late(place, "colqwen2"),
    "colmodernvbert": lambda place: save_late(place, "colmodernvbert"),
    "colbert": save_colbert,
    "splade": save_splade,
    "inference-free": save_inference_free,
    "xlm-roberta": lambda place: tiny_rerankers.save(place, "xlm-roberta"),
    "qwen3": lambda place: tiny_rerankers.save(place, "qwen3"),
    "reranker-qwen3-vl": lambda place: tiny_rerankers.save(place, "qwen3-vl"),
    "jina-m0": lambda place: tiny_rerankers.save(place, "jina-m0"),
    "blip": lambda place: save_family(place, "blip"),
    "flava": lambda place: save_family(place, "flava"),
    "detr": save_detector,
    "sentence": lambda place: checkpoint(place, "bert", MEAN),
    "t5": lambda place: save_summariser(place, "t5"),
    "pegasus": lambda place: save_summariser(place, "pegasus"),
}
