"""The frozen variants of CLIP2CLIP and CLIP Fusion learn, on a world whose answer is known."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.models import model_of

from isotope.core import store
from isotope.core.errors import BadParams, CorruptFile, EmptyTable, MissingFile, UnknownModel
from isotope.core.vectors import IDS, load_vectors
from isotope.encode import multimodal as encode_mix
from isotope.models import mix as models_mix
from isotope.models.mix import Frozen, sample
from isotope.schemas.collect import QRELS
from isotope.train import frozen as mix_learn
from isotope.train.step import Ranks

ENTITIES, PER_ENTITY, DIM = 24, 6, 16


def unit(block: np.ndarray) -> np.ndarray:
    return (block / np.linalg.norm(block, axis=-1, keepdims=True)).astype(np.float32)


@pytest.fixture(scope="module")
def world(tmp_path_factory) -> tuple[dict[str, list[Path]], Path]:
    """Pictures of an entity are alike, and like its infobox; names and questions say nothing."""
    folder, random = tmp_path_factory.mktemp("world"), np.random.default_rng(0)
    looks = unit(random.normal(size=(ENTITIES, DIM)))
    own = np.arange(ENTITIES * PER_ENTITY) % ENTITIES
    blocks = {
        "texts": unit(random.normal(size=(ENTITIES, DIM))),
        "pictures": unit(looks + 0.1 * random.normal(size=looks.shape)),
        "images": unit(looks[own] + 0.1 * random.normal(size=(len(own), DIM))),
        "questions": unit(random.normal(size=(len(own), DIM))),
    }
    files: dict[str, list[Path]] = {}
    for side, block in blocks.items():
        np.save(folder / f"{side}.npy", block)
        files[side] = [folder / f"{side}.npy"]
    ids = {"texts": [f"Q{i:03d}" for i in range(ENTITIES)]}
    ids["images"] = [f"i{i:03d}" for i in range(len(own))]
    for side, names in ids.items():
        store.write_rows([{"id": n} for n in names], folder / f"{side}.ids.parquet", IDS)
        files[f"{side}_ids"] = [folder / f"{side}.ids.parquet"]
    splits = ["validation" if i >= len(own) - ENTITIES else "train" for i in range(len(own))]
    pairs = [
        {"text_id": ids["texts"][own[i]], "image_id": ids["images"][i], "relevance": 1, "split": s}
        for i, s in enumerate(splits)
    ]
    store.write_rows(pairs, folder / "qrels.parquet", QRELS)
    return files, folder / "qrels.parquet"


def learned(world, folder: Path, spec: dict) -> tuple[models_mix.Mix, pl.DataFrame]:
    weights, curve = folder / "mix.safetensors", folder / "curve.csv"
    model = model_of({**spec, "frozen": True})
    mix_learn.learn_mix(model=model, inputs=world[0], qrels=world[1], weights=weights, curve=curve)
    return models_mix.load_mix(weights), pl.read_csv(curve)


def test_four_similarities_are_one_inner_product():
    random = np.random.default_rng(1)
    images, questions, words, pictures = (
        torch.from_numpy(unit(random.normal(size=(5, DIM)))) for _ in range(4)
    )
    mix = models_mix.FourWays([0.4, 0.3, 0.2, 0.1])
    scores = mix.queries(images, questions) @ mix.texts(words, pictures).T
    expected = 0.4 * images @ pictures.T + 0.3 * images @ words.T
    expected = expected + 0.2 * questions @ pictures.T + 0.1 * questions @ words.T
    torch.testing.assert_close(scores, expected)


def test_the_grid_starts_where_the_evidence_is(world):
    frozen = Frozen(world[0])
    train = frozen.pairs(world[1], "train")
    assert mix_learn.best_start(frozen, train)[0] >= 0.5


def test_clip2clip_learns_to_trust_pictures_and_finds_the_entities(world, tmp_path):
    spec = {"kind": "clip2clip", "learn": {"epochs": 5, "learning_rate": 0.05}}
    mix, curve = learned(world, tmp_path, spec)
    weights = mix.weights.detach().numpy()  # type: ignore[attr-defined]
    assert weights.argmax() == models_mix.FOUR.index("image picture")
    assert weights[0] > 1
    assert curve["loss"].to_list() == sorted(curve["loss"].to_list(), reverse=True)
    assert curve["accuracy"][-1] == 1


def test_clip_fusion_learns_from_pairs_alone(world, tmp_path):
    spec = {
        "kind": "clip_fusion",
        "learn": {"epochs": 40, "batch": 32, "learning_rate": 0.003},
    }
    mix, curve = learned(world, tmp_path, spec)
    assert len(mix.asking.layers.layers) == 2  # type: ignore[attr-defined]
    assert curve["loss"][-1] < curve["loss"][0] / 2
    assert curve["accuracy"][-1] > 12 / ENTITIES


def test_learning_twice_gives_the_same_bytes(world, tmp_path):
    spec = {"kind": "clip_fusion", "learn": {"epochs": 1}}
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        learned(world, tmp_path / name, spec)
    for file in ("mix.safetensors", "curve.csv"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


@pytest.mark.parametrize("kind", models_mix.KINDS)
def test_a_mix_encodes_both_sides_row_by_row(world, tmp_path, kind):
    spec = {"kind": kind, "learn": {"epochs": 1}}
    mix, _ = learned(world, tmp_path, spec)
    made = [f"{side}_{what}" for side in ("text", "image") for what in ("vectors", "ids")]
    out = {name: tmp_path / name for name in made}
    given_ = {side: files[0] for side, files in world[0].items()}
    encode_mix.encode_mix_shard(weights=tmp_path / "mix.safetensors", inputs=given_, outputs=out)
    frozen = Frozen(world[0])
    for side, rows in (("texts", mix.texts), ("images", mix.queries)):
        found = load_vectors([out[f"{side[:-1]}_vectors"]], [out[f"{side[:-1]}_ids"]])
        take = frozen.texts if side == "texts" else frozen.queries
        with torch.inference_mode():
            expected = rows(*take(np.arange(len(found)))).numpy()
        np.testing.assert_allclose(found.blocks[0], expected, atol=1e-5)


@pytest.mark.parametrize(
    ("dim", "heads"), [(768, 12), (512, 8), (200, 2), (130, 2), (67, 1), (16, 1)]
)
def test_heads_divide_a_vector_and_are_about_64_wide(dim, heads):
    assert models_mix.heads_of(dim) == heads


@settings(max_examples=50, deadline=None)
@given(st.integers(1, 40), st.integers(1, 40))
def test_a_sample_has_distinct_pairs_and_no_more_than_asked_for(n, most):
    pairs = mix_learn.JudgedRows(np.arange(n), np.arange(n) % 3)
    chosen = sample(pairs, most).queries
    assert len(chosen) == min(n, most) == len(set(chosen.tolist()))


def test_pairs_of_one_entity_are_no_negatives_of_each_other(world):
    frozen = Frozen(world[0])
    train = frozen.pairs(world[1], "train")
    twice = mix_learn.JudgedRows(train.queries[[0, ENTITIES]], train.texts[[0, ENTITIES]])
    assert twice.texts[0] == twice.texts[1]
    mix, recipe = models_mix.FourWays([1, 0, 0, 0]), mix_learn.MixRecipe()
    stepper = mix_learn.MixStepper(mix, recipe, mix_learn.Resources(), Ranks(), 1)
    batch = mix_learn.MixBatches(frozen, twice, 2).batch(np.arange(2))
    assert stepper.gradients(batch) == 0


def test_bad_recipes_and_weights_get_a_named_error(world, tmp_path):
    files, qrels = world
    with pytest.raises(BadParams, match="no such key"):
        mix_learn.MixRecipe.of_spec({"epoch": 1})
    with pytest.raises(MissingFile, match="phase encode"):
        models_mix.load_mix(tmp_path / "none.safetensors")
    (tmp_path / "bad.safetensors").write_bytes(b"no")
    with pytest.raises(CorruptFile):
        models_mix.load_mix(tmp_path / "bad.safetensors")
    with pytest.raises(UnknownModel, match="clip2clip"):
        models_mix.create("clip3clip", {})
    alone = tmp_path / "alone.parquet"
    pl.read_parquet(qrels).filter(split="validation").write_parquet(alone)
    out = {"weights": tmp_path / "w", "curve": tmp_path / "c"}
    with pytest.raises(EmptyTable, match="0 pairs in split train"):
        mix_learn.learn_mix(model=model_of({"kind": "clip2clip"}), inputs=files, qrels=alone, **out)
