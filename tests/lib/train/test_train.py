"""Training: the same bytes from the same seed, a falling loss, batches that stay true."""

import csv
import io
import json
import math
import random
from typing import Any, cast

import numpy as np
import open_clip
import pyarrow.parquet as pq
import pytest
import torch
from PIL import Image
from safetensors import safe_open
from tests.models import loaded, model_of, train_of

from isotope.core import store
from isotope.core.errors import BadParams, EmptyTable, MissingFile
from isotope.core.pixels import squashed
from isotope.core.schemas import FIVE_FIELDS
from isotope.models import open_clip as models_clip
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.schemas.crawl import PIXELS
from isotope.train import clip
from isotope.train.clip import ClipBatches, Tokens, measure, mrr10
from isotope.train.data import Split, TrainingSource, Workplace, read_split
from isotope_toy import scenes
from isotope_toy import scenes as draw

TINY = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 16, "layers": 1, "width": 16, "head_width": 8, "patch_size": 8},
    "text_cfg": {"context_length": 32, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1},
}
SPEC: dict[str, Any] = {
    "kind": "trained",
    "config": "small-clip",
    "train": {"epochs": 3, "batch": 8},
}
SPLITS = ("train",) * 3 + ("validation",)


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """Thirty-two scenes, three quarters for training."""
    root, rng = tmp_path_factory.mktemp("collection"), random.Random(0)
    rows = {"texts": [], "images": [], "qrels": [], "pixels": []}
    for n in range(32):
        scene, split = scenes.scene(rng), SPLITS[n % 4]
        add_text(rows, n, scenes.sentence(scene, "It"), split)
        add_image(rows, n, scene, split)
    schemas = {"texts": TEXTS, "images": IMAGES, "qrels": QRELS}
    for name, schema in schemas.items():
        write(root / f"{name}.parquet", schema, rows[name])
    write(root / "shard-00000.parquet", PIXELS, rows["pixels"])
    return {name: root / f"{name}.parquet" for name in schemas} | {
        "pixels": [root / "shard-00000.parquet"]
    }


def write(path, schema, rows):
    blank = dict.fromkeys(schema.names)
    store.write_rows([blank | row for row in rows], path, schema)


def add_text(rows, n, sentence, split):
    page = {"page_title": f"Page {n}", "section_title": "Mural", "hierarchy": ""}
    row = {"text_id": f"t{n:02}", "context_section_description": sentence, "split": split}
    rows["texts"].append(page | row)
    rows["qrels"].append(
        {"text_id": f"t{n:02}", "image_id": f"i{n:02}", "relevance": 1, "split": split}
    )


def add_image(rows, n, scene, split):
    out = io.BytesIO()
    draw.paint(scene).save(out, "WEBP", quality=100)
    rows["pixels"].append({"image_id": f"i{n:02}", "webp": out.getvalue()})
    captions = {
        "language": ["de", "en"],
        "caption_reference_description": ["Bild", f"Picture {n}"],
        "caption_alt_text_description": ["", scenes.listing(scene)],
        "caption_attribution_description": ["", ""],
    }
    rows["images"].append({"image_id": f"i{n:02}", "split": split} | captions)


@pytest.fixture(autouse=True)
def small_clip(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("configs")
    (folder / "small-clip.json").write_text(json.dumps(TINY))
    monkeypatch.setattr(models_clip, "CONFIGS", folder)


@pytest.fixture
def run(collection, tmp_path):
    def trained(name, seed=0, **recipe):
        weights, curve = tmp_path / f"{name}.safetensors", tmp_path / f"{name}.csv"
        model = model_of(SPEC | {"train": SPEC["train"] | recipe | {"seed": seed}})
        clip.train(**collection, model=model, language="en", weights=weights, curve=curve)
        return weights, curve

    return trained


def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(run):
    first, again, other = run("first"), run("again"), run("other", seed=1)
    assert [p.read_bytes() for p in first] == [p.read_bytes() for p in again]
    assert first[0].read_bytes() != other[0].read_bytes()


def test_training_leaves_torch_as_it_was(run):
    before = torch.get_num_threads(), torch.random.get_rng_state().tolist()
    run("model", threads=1)
    assert (torch.get_num_threads(), torch.random.get_rng_state().tolist()) == before
    assert not torch.are_deterministic_algorithms_enabled()


def test_the_loss_falls(run):
    _, curve = run("model", epochs=20, every=1)
    losses = [float(row["loss"]) for row in csv.DictReader(curve.read_text().splitlines())]
    assert len(losses) == 20
    assert losses[-1] < losses[0] - 0.3
    assert losses[-1] < math.log(8), "no better than chance among eight"


def test_the_curve_has_a_row_every_few_epochs_and_one_for_the_last(run):
    _, curve = run("model", epochs=5, every=2)
    rows = list(csv.DictReader(curve.read_text().splitlines()))
    assert [(row["epoch"], row["step"]) for row in rows] == [("2", "6"), ("4", "12"), ("5", "15")]
    assert list(rows[0]) == ["epoch", "step", "loss", "mrr10_t2m", "mrr10_m2t"]


def test_the_curves_mrr_is_that_of_the_encoder_made_from_the_weights(run, collection):
    weights, curve = run("model")
    encoder = loaded(SPEC, weights=weights, device="cpu")
    rows = pq.read_table(collection["texts"]).to_pylist()
    held = [row for row in rows if row["split"] == "validation"]
    texts = [" ".join(filter(None, (row[field] for field in FIVE_FIELDS))) for row in held]
    shard = pq.read_table(collection["pixels"][0]).to_pylist()
    webp = [row["webp"] for row in shard if row["image_id"][1:] in {r["text_id"][1:] for r in held}]
    pictures = [Image.open(io.BytesIO(w)).convert("RGB") for w in webp]
    scores = encoder.encode_texts(texts) @ encoder.encode_images(pictures).T
    last = list(csv.DictReader(curve.read_text().splitlines()))[-1]
    for task, block in (("t2m", scores), ("m2t", scores.T)):
        ranks = [1 + sum(row > row[i]) for i, row in enumerate(block)]
        expected = np.mean([1 / rank if rank <= 10 else 0 for rank in ranks])
        assert float(last[f"mrr10_{task}"]) == pytest.approx(expected, abs=2e-6)


def test_the_weights_carry_config_seed_and_recipe(run):
    with safe_open(run("model", seed=5)[0], framework="np") as file:
        notes = json.loads(file.metadata()["isotope"])
    assert (notes["config"], notes["seed"], notes["recipe"]["epochs"]) == ("small-clip", 5, 3)


def test_a_loss_that_is_no_number_stops_training_and_leaves_no_weights(run, tmp_path):
    with pytest.raises(BadParams, match="lower learning_rate"):
        run("model", learning_rate=1e30)
    assert not list(tmp_path.glob("*model*"))


@pytest.mark.parametrize("recipe", [{"epoch": 3}, {"batch": 1}, {"epochs": 0}, {"threads": 0}])
def test_a_recipe_that_cannot_train_is_refused(recipe):
    with pytest.raises(BadParams):
        train_of(**recipe)


def test_a_collection_without_training_pairs_is_an_empty_table(collection, tmp_path):
    write(tmp_path / "qrels.parquet", QRELS, [])
    outputs = {"weights": tmp_path / "w.safetensors", "curve": tmp_path / "c.csv"}
    with pytest.raises(EmptyTable, match="0 images"):
        clip.train(
            **collection | {"qrels": tmp_path / "qrels.parquet"},
            model=model_of(SPEC),
            language="en",
            **outputs,
        )


def test_a_training_image_without_pixels_is_named(collection, tmp_path):
    source = source_of(collection | {"pixels": []})
    with pytest.raises(MissingFile, match="image i00"):
        read_split(source, "train", squashed(16), Workplace(tmp_path))


def source_of(given, language="en"):
    return TrainingSource(
        given["texts"], given["images"], given["qrels"], given["pixels"], language
    )


def test_a_split_joins_texts_captions_and_pixels_of_its_own_pairs(collection, tmp_path):
    split = read_split(source_of(collection), "validation", squashed(16), Workplace(tmp_path))
    assert list(split.image_ids) == [f"i{n:02}" for n in range(3, 32, 4)]
    ids, fields = split.views[0]
    assert ids == ["t03"]
    assert fields[0][:3] == ("Page 3", "Mural", "")
    assert split.captions[0][0] == "Picture 3"
    assert len(split.captions[0]) == 2
    assert split.squares(np.arange(8)).shape == (8, 16, 16, 3)


def test_captions_are_those_of_the_language(collection, tmp_path):
    source = source_of(collection, language="de")
    split = read_split(source, "validation", squashed(16), Workplace(tmp_path))
    assert split.captions[0] == ["Bild"]


def scene_split(n, side=16):
    views = [([f"t{i}"], [(f"page {i}", "", "one red ball")]) for i in range(n)]
    block = np.arange(n, dtype=np.uint8)[:, None, None, None] * np.ones(
        (1, side, side, 3), np.uint8
    )
    return Split([f"i{i}" for i in range(n)], views, [[] for _ in range(n)], block)


def still(**changes):
    return train_of(augment=False, caption_rate=0.0, **changes)


def test_a_batch_keeps_text_and_picture_together_and_an_epoch_repeats_none():
    tokens, split = Tokens(open_clip.SimpleTokenizer()), scene_split(10)
    seen = []
    for pictures, texts in ClipBatches(split, tokens, still(batch=4)).epoch():
        rows = (pictures[:, 0, 8, 8] * 255).round().int().tolist()
        expected = np.stack([tokens.row(split.views[i][1][0]) for i in rows])
        np.testing.assert_array_equal(texts.numpy(), expected)
        seen += rows
    assert len(seen) == len(set(seen)) == 8


def test_a_batch_larger_than_the_split_is_the_split():
    batches = ClipBatches(scene_split(5), Tokens(open_clip.SimpleTokenizer()), still(batch=64))
    assert [len(texts) for _, texts in batches.epoch()] == [5]


def test_pictures_are_never_mirrored():
    split = scene_split(64)
    pixels = cast(np.ndarray, split.pixels)
    pixels[:] = 0
    pixels[:, :, :8] = 255
    recipe = train_of(batch=64)
    batches = ClipBatches(split, Tokens(open_clip.SimpleTokenizer()), recipe)
    for pictures, _ in (next(batches.epoch()) for _ in range(5)):
        left, right = pictures[..., :8].mean((1, 2, 3)), pictures[..., 8:].mean((1, 2, 3))
        assert bool((left > right + 0.5).all())


def test_tokens_of_fields_are_those_of_the_joined_text():
    tokenizer = open_clip.SimpleTokenizer()
    fields = ["Ashbeck Abbey", "", "The mural's 2 red balls, and so on. " * 20]
    expected = tokenizer([" ".join(filter(None, fields))])[0].numpy()
    np.testing.assert_array_equal(Tokens(tokenizer).row(fields), expected)


def test_mrr_by_hand():
    documents = np.eye(12, dtype=np.float32)
    queries = np.zeros((3, 12), np.float32)
    queries[0, 4] = 1
    queries[1, :3] = 3, 2, 1
    queries[2] = range(12, 0, -1)
    ids = [f"d{i:02}" for i in range(12)]
    found = mrr10(queries, documents, ids, [{"d04"}, {"d01", "d02"}, {"d11"}])
    assert found == pytest.approx((1 + 1 / 2 + 0) / 3)


def test_a_tie_goes_to_the_greater_document_id():
    documents = np.ones((2, 1), np.float32)
    queries = np.ones((1, 1), np.float32)
    assert mrr10(queries, documents, ["a", "b"], [{"b"}]) == 1
    assert mrr10(queries, documents, ["b", "a"], [{"a"}]) == 0.5


def test_the_learning_rate_rises_in_a_line_and_falls_to_zero():
    shares = [clip.rate(done, 4, 12) for done in range(13)]
    assert shares[:5] == [0.25, 0.5, 0.75, 1.0, 1.0]
    assert shares[4:] == sorted(shares[4:], reverse=True)
    assert shares[8] == pytest.approx(0.5)
    assert shares[12] == pytest.approx(0)


def test_neither_a_seed_nor_the_resources_are_part_of_the_method():
    means = {"seed": 3, "processes": 2, "micro_batch": 4, "checkpoint_every": 1}
    assert train_of(**means).method() == train_of().method()
    assert train_of(augment=False).method() != train_of().method()


def test_a_split_without_pairs_is_measured_as_nothing():
    model = models_clip.create_custom("small-clip")
    measured = measure(model, scene_split(0), Tokens(open_clip.SimpleTokenizer()))
    assert all(math.isnan(value) for value in measured)
