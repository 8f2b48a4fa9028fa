"""Training that was killed ends in the same bytes; it can start from any weights there are."""

import json
import os
import signal
import sys
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image
from safetensors import safe_open
from safetensors.torch import load_file
from tests import forkserver
from tests.models import loaded, model_of, train_of
from torchvision.transforms import functional

from isotope.core import store
from isotope.core.errors import BadParams, CorruptFile, EmptyTable, MissingFile, UnknownModel
from isotope.models import open_clip as models_clip
from isotope.models.open_clip import cut_of
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.schemas.crawl import PIXELS
from isotope.train import clip
from isotope.train import step as train_step
from isotope.train.clip import begin, begin_listed, tower_of

TINY: dict[str, Any] = {
    "embed_dim": 16,
    "vision_cfg": {"image_size": 16, "layers": 1, "width": 16, "head_width": 8, "patch_size": 8},
    "text_cfg": {"context_length": 32, "vocab_size": 49408, "width": 16, "heads": 2, "layers": 1},
}
RECIPE = {"epochs": 3, "batch": 6, "learning_rate": 0.01, "every": 1}
OURS = {"kind": "trained", "config": "origin-clip"}
SCRATCH: dict[str, Any] = {**OURS, "train": {**RECIPE, "checkpoint_every": 2}}


@pytest.fixture(scope="module")
def collection(tmp_path_factory):
    """Twenty-four coloured squares, three quarters for training."""
    root = tmp_path_factory.mktemp("collection")
    rows: dict[str, list] = {"texts": [], "images": [], "qrels": [], "pixels": []}
    for n in range(24):
        split = "validation" if n % 4 == 3 else "train"
        keys = {"text_id": f"t{n:02}", "image_id": f"i{n:02}", "split": split}
        words = {"page_title": f"Page {n}", "context_section_description": f"number {n} " * 3}
        rows["texts"].append({"text_id": keys["text_id"], "split": split, **words})
        rows["images"].append({"image_id": keys["image_id"], "split": split})
        rows["qrels"].append({**keys, "relevance": 1})
        rows["pixels"].append({"image_id": keys["image_id"], "webp": webp(n, root)})
    schemas = {"texts": TEXTS, "images": IMAGES, "qrels": QRELS}
    for name, schema in {**schemas, "pixels": PIXELS}.items():
        blank = dict.fromkeys(schema.names)
        store.write_rows([blank | row for row in rows[name]], root / f"{name}.parquet", schema)
    given = {name: root / f"{name}.parquet" for name in schemas}
    return given | {"pixels": [root / "pixels.parquet"]}


def webp(n: int, root: Path) -> bytes:
    path = root / "picture.webp"
    Image.new("RGB", (20 + n, 30), (n * 10, 255 - n * 10, 80)).save(path, "WEBP")
    return path.read_bytes()


@pytest.fixture(autouse=True)
def origin_clip(tmp_path_factory, monkeypatch):
    folder = tmp_path_factory.mktemp("configs")
    (folder / "origin-clip.json").write_text(json.dumps(TINY))
    monkeypatch.setattr(models_clip, "CONFIGS", folder)
    if "origin-clip-listed" not in open_clip.list_models():
        (folder / "origin-clip-listed.json").write_text(json.dumps(TINY))
        open_clip.add_model_config(folder / "origin-clip-listed.json")
    return folder


def trained(collection, place, spec, **more):
    place.mkdir(parents=True, exist_ok=True)
    out = {"weights": place / "model.safetensors", "curve": place / "curve.csv"}
    told = {"model": model_of(spec), "language": "en", "scratch": place / "scratch"}
    clip.train(**collection, **told, **out, **more)
    return [path.read_bytes() for path in out.values()]


class Stop(Exception):
    """What a killed machine would not even raise."""


@contextmanager
def stopping(number):
    """Stop in the step of this number, counted from where the training begins."""
    step, done = train_step.Stepper.step, []

    def counted(self, batch):
        done.append(1)
        if len(done) == number:
            raise Stop
        return step(self, batch)

    with pytest.MonkeyPatch.context() as patch, pytest.raises(Stop):  # noqa: PT012
        patch.setattr(train_step.Stepper, "step", counted)
        yield


@pytest.fixture(scope="module")
def straight(collection, tmp_path_factory):
    """What a training writes that nothing stops."""

    @cache
    def written():
        return trained(collection, tmp_path_factory.mktemp("straight"), SCRATCH)

    return written


ANYWHERE = [2, 4, *(pytest.param(at, marks=pytest.mark.long) for at in (3, 5, 8))]


@pytest.mark.parametrize("at", ANYWHERE)
def test_a_training_stopped_anywhere_resumes_to_the_same_bytes(
    collection, tmp_path, at, caplog, straight
):
    with stopping(at):
        trained(collection, tmp_path / "stopped", SCRATCH)
    assert not (tmp_path / "stopped/model.safetensors").exists()
    caplog.set_level("INFO")
    assert trained(collection, tmp_path / "stopped", SCRATCH) == straight()
    assert ("resumed after step" in caplog.text) == (at > 2)
    assert not list((tmp_path / "stopped/scratch").iterdir()), "nothing is left behind"


@pytest.mark.gpu
@pytest.mark.parametrize("is_half", [True, False])
def test_a_training_on_a_gpu_resumes_to_the_same_bytes(collection, tmp_path, is_half, monkeypatch):
    monkeypatch.setattr(train_step, "is_half", lambda _: is_half)
    spec = {**SCRATCH, "train": {**SCRATCH["train"], "micro_batch": 4}}
    with stopping(4):
        trained(collection, tmp_path / "stopped", spec)
    written = trained(collection, tmp_path / "stopped", spec)
    assert written == trained(collection, tmp_path / "straight", spec)


def test_checkpoints_do_not_change_the_weights(collection, tmp_path, straight):
    plain = {**SCRATCH, "train": RECIPE}
    assert trained(collection, tmp_path, plain) == straight()


KILLED = """
import json, os, signal, sys
from pathlib import Path
from isotope.models import open_clip as models_clip
from isotope.models.kinds.trained import Trained
from isotope.train import clip
from isotope.train import step as train_step

given = json.loads(sys.argv[1])
models_clip.CONFIGS = Path(given.pop("configs"))
step, done = train_step.Stepper.step, []

def counted(self, batch):
    done.append(1)
    if len(done) == 6:
        os.kill(os.getpid(), signal.SIGKILL)
    return step(self, batch)

train_step.Stepper.step = counted
paths = {k: Path(v) for k, v in given.items() if k not in ("spec", "pixels")}
model = Trained.of_spec(given["spec"])
clip.train(**paths, model=model, language="en", pixels=[Path(p) for p in given["pixels"]])
"""


def test_a_killed_training_resumes_to_the_same_bytes(collection, tmp_path, origin_clip, straight):
    place = tmp_path / "killed"
    out = {"weights": place / "model.safetensors", "curve": place / "curve.csv"}
    given = {**collection, **out, "spec": SCRATCH, "scratch": place / "scratch"}
    job = json.dumps({**given, "configs": origin_clip}, default=str)
    done = forkserver.run(["python", "-c", KILLED, job], cwd=tmp_path, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert [p.name for p in (place / "scratch").glob("checkpoint*")] == ["checkpoint.pt"]
    assert trained(collection, place, SCRATCH) == straight()


def test_a_checkpoint_of_another_recipe_or_a_broken_one_is_not_resumed(
    collection, tmp_path, caplog, straight
):
    other = {**SCRATCH, "train": {**SCRATCH["train"], "learning_rate": 0.02}}
    with stopping(5):
        trained(collection, tmp_path / "run", other)
    assert trained(collection, tmp_path / "run", SCRATCH) == straight()
    assert "of another training" in caplog.text
    (tmp_path / "run/scratch/checkpoint.pt").write_bytes(b"not a checkpoint")
    assert trained(collection, tmp_path / "run", SCRATCH) == straight()
    assert "not a checkpoint" in caplog.text


def test_steps_end_training_in_the_middle_of_an_epoch(collection, tmp_path):
    spec = {**SCRATCH, "train": {"steps": 5, "batch": 6, "learning_rate": 0.01, "every": 1}}
    _, curve = trained(collection, tmp_path, spec)
    rows = [line.split(",")[:2] for line in curve.decode().splitlines()[1:]]
    assert rows == [["1", "3"], ["2", "5"]]


@pytest.mark.parametrize("tune", ["text", "vision"])
def test_going_on_from_a_trained_model_moves_only_the_tower_that_learns(collection, tmp_path, tune):
    first = tmp_path / "first"
    trained(collection, first, SCRATCH)
    spec = {**OURS, "from": "first", "train": {**RECIPE, "tune": tune}}
    trained(collection, tmp_path / "second", spec, start=first / "model.safetensors")
    before, after = (load_file(tmp_path / p / "model.safetensors") for p in ("first", "second"))
    changed = {name for name, value in after.items() if not torch.equal(value, before[name])}
    assert {tower_of(name) for name in changed - {"logit_scale"}} == {tune}


def test_a_listed_model_is_tuned_and_encodes_as_it_was_trained(collection, tmp_path):
    """With a mean, a deviation and an activation that are not CLIP's, by either kind.

    open_clip's own loader knows no notes, and would be no witness: it takes CLIP's for all files.
    """
    name, half = "origin-clip-listed", [0.5, 0.5, 0.5]
    origin = tmp_path / "origin.pt"
    torch.save(open_clip.create_model(name).state_dict(), origin)
    told = {"model_cfg": {"quick_gelu": True}, "preprocess_cfg": {"mean": half, "std": half}}
    (tmp_path / "open_clip_config.json").write_text(json.dumps(told))
    spec = {
        "kind": "trained",
        "name": name,
        "pretrained": str(origin),
        "resize": "squash",
        "train": {**RECIPE, "micro_batch": 4},
    }
    trained(collection, tmp_path / "tuned", spec)
    weights = tmp_path / "tuned/model.safetensors"
    with safe_open(weights, framework="np") as file:
        notes = json.loads(file.metadata()["isotope"])
    assert (notes["name"], notes["quick_gelu"]) == (name, True)
    model = open_clip.CLIP(**TINY, quick_gelu=True).eval()
    model.load_state_dict(load_file(weights))
    pictures = [Image.effect_noise((40, 20), 90).convert("RGB") for _ in range(2)]
    squares = [p.resize((16, 16), Image.Resampling.BICUBIC) for p in pictures]
    batch = [functional.normalize(functional.to_tensor(p), half, half) for p in squares]
    with torch.inference_mode():
        images = model.encode_image(torch.stack(batch), normalize=True)
        texts = model.encode_text(open_clip.get_tokenizer(name)(["a", "b c"]), normalize=True)
    as_file = {"kind": "open_clip", "name": name, "pretrained": str(weights)}
    for encoder in (
        loaded(spec, weights=weights, device="cpu"),
        loaded(as_file, device="cpu"),
    ):
        np.testing.assert_allclose(encoder.encode_images(pictures), images.numpy(), atol=1e-5)
        np.testing.assert_allclose(encoder.encode_texts(["a", "b c"]), texts.numpy(), atol=1e-5)


def test_pretrained_weights_from_a_file_are_where_training_starts(tmp_path):
    name, path = "origin-clip-listed", tmp_path / "own.pt"
    origin = open_clip.create_model(name)
    torch.save(origin.state_dict(), path)
    begun = begin_listed(name, str(path), None)
    for key, value in origin.state_dict().items():
        assert torch.equal(begun.model.state_dict()[key], value)
    assert begun.notes["pretrained"] == str(path)


def test_training_cuts_pictures_as_the_encoder_will(tmp_path):
    picture = Image.fromarray(
        np.random.default_rng(0).integers(0, 255, (30, 50, 3)).astype(np.uint8)
    )
    for key, name in (("config", "origin-clip"), ("name", "origin-clip-listed")):
        begun = begin(model_of({"kind": "trained", key: name}), None)
        cut = np.asarray(cut_of(begun.model).cut(picture))
        squash = np.asarray(picture.resize((16, 16), Image.Resampling.BICUBIC))
        assert cut.shape == (16, 16, 3)
        assert np.array_equal(cut, squash) == (name == "origin-clip")


@pytest.mark.parametrize(
    ("spec", "error", "found"),
    [
        ({"config": "origin-clip", "from": "x"}, MissingFile, "no weights of x"),
        ({"name": "ViT-B-3"}, UnknownModel, "ViT-B-3"),
        ({"name": "origin-clip-listed", "pretrained": "no.pt"}, MissingFile, "no weights"),
    ],
)
def test_a_start_that_cannot_be_is_named(spec, error, found):
    with pytest.raises(error, match=found):
        begin(model_of({"kind": "trained", **spec}), None)


def test_weights_that_are_not_isotopes_are_refused(tmp_path):
    (tmp_path / "w.safetensors").write_bytes(b"nothing")
    with pytest.raises(CorruptFile, match="no head of safetensors"):
        models_clip.create_trained("origin-clip-listed", tmp_path / "w.safetensors")


@pytest.mark.parametrize("means", [{"micro_batch": 0}, {"processes": 0}, {"checkpoint_every": 0}])
def test_means_that_cannot_be_are_refused(means):
    with pytest.raises(BadParams):
        train_of(**means)


@pytest.mark.long
def test_two_processes_train_the_weights_of_one_and_name_their_errors(
    collection, tmp_path, monkeypatch
):
    """With the project's own configuration, which the processes can see."""
    monkeypatch.undo()
    python = str(forkserver.stand_in("python"))
    monkeypatch.setitem(os.environ, "PYTHON_EXEC", python)
    monkeypatch.setattr(sys, "executable", python)
    recipe = {"steps": 2, "batch": 7, "learning_rate": 0.001, "every": 9}
    alone = {"kind": "trained", "config": "tiny-clip", "train": {**recipe, "micro_batch": 4}}
    both = {"kind": "trained", "config": "tiny-clip", "train": {**recipe, "processes": 2}}
    trained(collection, tmp_path / "alone", alone)
    trained(collection, tmp_path / "both", both)
    ours, theirs = (load_file(tmp_path / p / "model.safetensors") for p in ("both", "alone"))
    # Adam divides by the gradient's size, so a step is the rate, whatever tiny gradients differ in.
    far = {n for n, v in ours.items() if not torch.allclose(v, theirs[n], atol=1e-4)}
    share = sum(int((ours[n] - theirs[n]).abs().gt(1e-4).sum()) for n in far)
    assert share < 1e-3 * sum(v.numel() for v in ours.values())
    losses = [(tmp_path / p / "curve.csv").read_text().split(",")[6] for p in ("alone", "both")]
    assert float(losses[0]) == pytest.approx(float(losses[1]), abs=1e-4)
    store.write_rows([], tmp_path / "qrels.parquet", QRELS)
    with pytest.raises(EmptyTable, match="0 images"):
        trained(collection | {"qrels": tmp_path / "qrels.parquet"}, tmp_path / "none", both)
