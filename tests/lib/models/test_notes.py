"""Weights on disk are read as they were trained, or it is said what is assumed of them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from open_clip.transformer import QuickGELU
from PIL import Image
from safetensors.torch import load_file, save_file
from tests.models import loaded
from torch.nn import GELU
from torchvision.transforms import functional

from isotope.core.errors import CorruptFile, MissingFile
from isotope.models import notes
from isotope.models import open_clip as models_clip
from isotope.train.clip import begin_listed

TINY: dict[str, Any] = {
    "embed_dim": 8,
    "vision_cfg": {"image_size": 16, "layers": 1, "width": 16, "head_width": 8, "patch_size": 8},
    "text_cfg": {"context_length": 8, "vocab_size": 49408, "width": 8, "heads": 2, "layers": 1},
}
NAME = "noted-clip"
TEXTS = ["two red balls", "a boat at the left on a very long line of words that is cut"]
HALF = [0.5, 0.5, 0.5]
# As laion/CLIP-ViT-L-14-laion2B-s32B-b82K has it on its hub: without CLIP's mean and deviation.
PUBLISHED = {"model_cfg": TINY, "preprocess_cfg": {"mean": HALF, "std": HALF}}


@pytest.fixture(scope="module", autouse=True)
def listed(tmp_path_factory):
    """A tiny model among those of open_clip."""
    config = tmp_path_factory.mktemp("configs") / f"{NAME}.json"
    config.write_text(json.dumps(TINY))
    open_clip.add_model_config(config)


@pytest.fixture
def pictures() -> list[Image.Image]:
    return [Image.effect_noise((w, h), 90).convert("RGB") for w, h in ((16, 16), (40, 20))]


@pytest.fixture
def weights(tmp_path) -> Path:
    with torch.random.fork_rng():
        torch.manual_seed(7)
        save_file(open_clip.CLIP(**TINY).state_dict(), tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


def noted(weights: Path, told: object) -> Path:
    """Write notes into the metadata, as the train phase does."""
    save_file(load_file(weights), weights, {"isotope": json.dumps(told)})
    return weights


def beside(weights: Path, told: object) -> Path:
    (weights.parent / notes.BESIDE).write_text(json.dumps(told))
    return weights


def vectors(weights: Path, pictures: list[Image.Image], **more: Any) -> tuple[Any, Any]:
    spec = {"kind": "open_clip", "name": NAME, "pretrained": str(weights), **more}
    encoder = loaded(spec, device="cpu")
    return encoder.encode_texts(TEXTS), encoder.encode_images(pictures)


def expected(
    weights: Path, squares: list[Image.Image], colour: list[float], *, quick: bool = False
) -> tuple[Any, Any]:
    """The vectors by the bare class, of pictures that have the model's size already."""
    model = open_clip.CLIP(**TINY, quick_gelu=quick).eval()
    model.load_state_dict(load_file(weights))
    batch = [functional.normalize(functional.to_tensor(p), colour, colour) for p in squares]
    with torch.inference_mode():
        texts = model.encode_text(open_clip.SimpleTokenizer(context_length=8)(TEXTS), True)
        images = model.encode_image(torch.stack(batch), normalize=True)
    return texts.numpy(), images.numpy()


def squashed(pictures: list[Image.Image]) -> list[Image.Image]:
    return [p.resize((16, 16), Image.Resampling.BICUBIC) for p in pictures]


TRAINED = {
    "name": NAME,
    "quick_gelu": True,
    "preprocess": {"mean": HALF, "std": HALF, "resize_mode": "squash", "interpolation": "bicubic"},
}
QUICK = {**PUBLISHED, "model_cfg": {**TINY, "quick_gelu": True}}


@pytest.mark.parametrize(
    ("write", "told", "more"),
    [
        (noted, TRAINED, {}),
        (beside, QUICK, {"resize": "squash"}),
        (beside, PUBLISHED, {"resize": "squash", "activation": "quickgelu"}),
    ],
    ids=["of a training", "of a hub", "of a hub, and params over them"],
)
def test_a_file_is_read_with_the_mean_the_deviation_and_the_activation_of_its_notes(
    weights, pictures, write, told, more
):
    texts, images = vectors(write(weights, told), pictures, **more)
    right = expected(weights, squashed(pictures), HALF, quick=True)
    np.testing.assert_allclose(texts, right[0], atol=1e-5)
    np.testing.assert_allclose(images, right[1], atol=1e-5)
    for other in (
        expected(weights, squashed(pictures), [0.4, 0.4, 0.4], quick=True),
        expected(weights, squashed(pictures), HALF, quick=False),
    ):
        assert not np.allclose(images, other[1], atol=1e-5), "each of them makes a difference"


def test_params_stand_over_notes(weights, pictures):
    noted(weights, TRAINED)
    own, cropped = (vectors(weights, pictures, **more)[1] for more in ({}, {"resize": "crop"}))
    np.testing.assert_allclose(own[0], cropped[0], atol=1e-6)
    assert not np.allclose(own[1], cropped[1], atol=1e-5), "the second picture is twice as wide"
    gelu = vectors(weights, pictures, activation="gelu")[1]
    np.testing.assert_allclose(
        gelu, expected(weights, squashed(pictures), HALF, quick=False)[1], atol=1e-5
    )


def test_what_learned_from_a_configuration_is_squashed(weights):
    found = notes.notes_of(noted(weights, {"config": NAME, "seed": 0}))
    assert found is not None
    assert found.preprocess == {"resize_mode": "squash"}


def test_without_notes_the_log_says_what_is_assumed(weights, pictures, caplog):
    caplog.set_level("INFO")
    vectors(weights, pictures)
    said = [r.getMessage() for r in caplog.records if "no notes" in r.getMessage()]
    assert len(said) == 1
    assert "(0.48145466, 0.4578275, 0.40821073)" in said[0], "CLIP's mean"
    assert "configuration's GELU" in said[0]
    assert notes.BESIDE in said[0]
    caplog.clear()
    vectors(weights, pictures, activation="quickgelu")
    assert "with QuickGELU" in caplog.text
    caplog.clear()
    vectors(beside(weights, PUBLISHED), pictures)
    assert "no notes" not in caplog.text
    assert f"mean {HALF}" in caplog.text


@pytest.mark.parametrize("pretrained", ["weights.pt", "weights.safetensors"])
def test_a_training_that_starts_from_a_file_goes_on_with_its_notes(weights, tmp_path, pretrained):

    path = tmp_path / pretrained
    state = load_file(weights)
    torch.save(state, path) if path.suffix == ".pt" else save_file(state, path)
    begun = begin_listed(NAME, str(beside(path, QUICK)), "squash")
    assert begun.notes["quick_gelu"] is True
    told: Any = begun.notes["preprocess"]
    assert (told["mean"], told["std"], told["resize_mode"]) == (HALF, HALF, "squash")
    kinds = {type(module) for module in begun.model.modules()}
    assert QuickGELU in kinds
    assert GELU not in kinds


@pytest.mark.parametrize("activation", ["gelu", "quickgelu", "own", None])
@pytest.mark.parametrize("tag", ["laion400m_e32", "laion2b_e16"])
def test_a_tag_has_its_own_activation_unless_params_name_one(monkeypatch, tag, activation):
    """laion400m_e32 was trained with QuickGELU, laion2b_e16 was not (open_clip's pretrained.py)."""
    own = {"laion400m_e32": True, "laion2b_e16": False}[tag]
    wanted = own if activation in ("own", None) else activation == "quickgelu"
    assert models_clip.quick_gelu("ViT-B-32", tag, activation) == wanted
    asked: list[Any] = []

    def created(name: str, **options: Any) -> torch.nn.Module:
        asked.append(options["force_quick_gelu"])
        return torch.nn.Identity()

    monkeypatch.setattr(open_clip, "create_model", created)
    models_clip.create("ViT-B-32", tag, None, activation)
    assert asked == [wanted]


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ([1], "no mapping"),
        ({"preprocess_cfg": {}}, "model_cfg"),
        ({"model_cfg": {}, "preprocess_cfg": 3}, "no mapping"),
        ({"model_cfg": {}, "preprocess_cfg": {"mean": [0.5]}}, "three numbers"),
        ({"model_cfg": {}, "preprocess_cfg": {"mean": ["a", "b", "c"]}}, "three numbers"),
        ({"model_cfg": {}, "preprocess_cfg": {"std": [0.5, 0.5, 0]}}, "above 0"),
    ],
)
def test_notes_that_say_nothing_of_use_are_refused_by_their_file(weights, told, found):
    with pytest.raises(CorruptFile, match=rf"open_clip_config\.json.*{found}"):
        notes.notes_of(beside(weights, told))


def test_notes_that_are_cut_off_are_refused(weights):
    (weights.parent / notes.BESIDE).write_text('{"model_cfg": {')
    with pytest.raises(CorruptFile, match=r"open_clip_config\.json"):
        notes.notes_of(weights)


@pytest.mark.parametrize("told", ['{"name":', '["name"]'])
def test_notes_of_a_training_that_are_no_mapping_are_refused(weights, told):
    save_file(load_file(weights), weights, {"isotope": told})
    with pytest.raises(CorruptFile, match="notes"):
        notes.notes_of(weights)


def test_weights_without_notes_of_a_training_are_no_trained_weights(weights):
    with pytest.raises(CorruptFile, match="not weights of isotope"):
        notes.training_notes(weights)
    with pytest.raises(MissingFile, match="run the train phase"):
        notes.training_notes(weights.with_name("none.safetensors"))


def test_notes_lie_beside_weights_files_and_not_beside_tags():
    names = ["openai", "a/b.safetensors", "hub/model", "w.pt", ""]
    assert notes.beside(names) == [f"a/{notes.BESIDE}", notes.BESIDE]
