"""Encoders: what they return, that they are the library's, and how they refuse."""

import json
import pickle
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from safetensors.torch import load_file, save_file
from tests.models import loaded
from torchvision.transforms import functional

from isotope.core.errors import BadParams, CorruptFile, FetchFailed, MissingFile, UnknownModel
from isotope.models import open_clip as models_clip

TINY: dict[str, Any] = {
    "embed_dim": 8,
    "vision_cfg": {"image_size": 16, "layers": 1, "width": 16, "head_width": 8, "patch_size": 8},
    "text_cfg": {"context_length": 8, "vocab_size": 49408, "width": 8, "heads": 2, "layers": 1},
}
TEXTS = ["two red balls", "a boat at the left on a very long line of words that is cut", ""]


@pytest.fixture
def pictures():
    return [Image.effect_noise((w, h), 90).convert("RGB") for w, h in ((16, 16), (40, 20), (9, 33))]


@pytest.fixture
def custom_clip(tmp_path, monkeypatch):
    (tmp_path / "test-clip.json").write_text(json.dumps(TINY))
    monkeypatch.setattr(models_clip, "CONFIGS", tmp_path)
    return models_clip


@pytest.fixture
def weights(custom_clip, tmp_path):
    with torch.random.fork_rng():
        torch.manual_seed(7)
        model = custom_clip.create_custom("test-clip")
    save_file(model.state_dict(), tmp_path / "model.safetensors")
    return tmp_path / "model.safetensors"


def assert_unit_rows(vectors, shape):
    assert vectors.shape == shape
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_a_trained_encoder_equals_open_clip_called_directly(weights, pictures):
    encoder = loaded({"kind": "trained", "config": "test-clip"}, weights=weights, device="cpu")
    direct = open_clip.CLIP(**TINY).eval()
    direct.load_state_dict(load_file(weights))
    squashed = [p.resize((16, 16), Image.Resampling.BICUBIC) for p in pictures]
    mean, deviation = list(open_clip.OPENAI_DATASET_MEAN), list(open_clip.OPENAI_DATASET_STD)
    inputs = [functional.normalize(functional.to_tensor(p), mean, deviation) for p in squashed]
    with torch.inference_mode():
        images = direct.encode_image(torch.stack(inputs), normalize=True).numpy()
        tokens = open_clip.SimpleTokenizer(context_length=8)(TEXTS)
        texts = direct.encode_text(tokens, normalize=True).numpy()
    np.testing.assert_allclose(encoder.encode_images(pictures), images, atol=1e-5)
    np.testing.assert_allclose(encoder.encode_texts(TEXTS), texts, atol=1e-5)


def test_an_open_clip_name_with_local_weights_equals_the_library(weights, pictures):
    made: Any = open_clip.create_model_and_transforms("test-clip", str(weights))
    library, _, preprocess = made
    spec = {"kind": "open_clip", "name": "test-clip", "pretrained": str(weights)}
    encoder = loaded(spec, device="cpu")
    with torch.inference_mode():
        batch = torch.stack([preprocess(p) for p in pictures])
        images = library.eval().encode_image(batch, normalize=True).numpy()
        tokens = open_clip.get_tokenizer("test-clip")(TEXTS)
        texts = library.encode_text(tokens, normalize=True).numpy()
    np.testing.assert_allclose(encoder.encode_images(pictures), images, atol=1e-5)
    np.testing.assert_allclose(encoder.encode_texts(TEXTS), texts, atol=1e-5)


def test_clip_reads_the_start_75_tokens_of_a_text_and_the_end_and_nothing_more():
    """AToMiC, section 4.2: "CLIP accepts 77 tokens and truncates anything larger"."""
    encoder = models_clip.ClipEncoder("tiny-clip", models_clip.create_custom("tiny-clip"), "cpu")
    words = ["cat"] * 75
    texts = [words, [*words, "dog"], [*words[:-1], "dog"], words[:-1]]
    whole, longer, *others = encoder.encode_texts([" ".join(text) for text in texts])
    np.testing.assert_array_equal(longer, whole)
    for other in others:
        assert not np.allclose(other, whole, atol=1e-4)


def test_vectors_of_a_trained_encoder_are_normalised(weights, pictures):
    encoder = loaded({"kind": "trained", "config": "test-clip"}, weights=weights)
    assert encoder.dim == 8
    assert_unit_rows(encoder.encode_texts(TEXTS), (3, 8))
    assert_unit_rows(encoder.encode_images(pictures), (3, 8))


@settings(deadline=None)
@given(st.lists(st.text(), max_size=4), st.integers(2, 40))
def test_vectors_of_the_hash_encoder_are_normalised_whatever_the_text(texts, dim):
    encoder = loaded({"kind": "hash", "dim": dim})
    assert_unit_rows(encoder.encode_texts(texts), (len(texts), dim))


def test_the_hash_encoder_is_the_same_on_every_machine(pictures):
    encoder = loaded({"kind": "hash", "dim": 4})
    digest = np.array([97, 202, 249, 79]) - 127.5  # printf ball | openssl shake128 -xoflen 4
    expected = digest / np.linalg.norm(digest)
    np.testing.assert_allclose(encoder.encode_texts(["Ball"])[0], expected, atol=1e-6)
    twice = encoder.encode_images([pictures[0], pictures[1], pictures[0].copy()])
    np.testing.assert_array_equal(twice[0], twice[2])
    assert not np.allclose(twice[0], twice[1])


def test_hashed_texts_that_share_words_are_closer_than_others():
    encoder = loaded({"kind": "hash", "dim": 256})
    query, near, far = encoder.encode_texts(["two red balls", "red balls, two", "one green boat"])
    assert query @ near == pytest.approx(1)
    assert abs(query @ far) < 0.3


def test_the_hash_encoder_needs_no_torch():
    code = "import sys; from isotope.models.encoders import load; "
    code += "from isotope.params.sections import ModelKind; "
    code += "load(ModelKind.of_spec({'kind': 'hash', 'dim': 2}));"
    said = subprocess.run(
        [sys.executable, "-c", f"{code} print('torch' in sys.modules)"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert said.stdout.strip() == "False"


def test_an_unknown_name_lists_near_matches():
    with pytest.raises(UnknownModel, match=r"ViT-B-32"):
        loaded({"kind": "open_clip", "name": "ViT-B32", "pretrained": None})


def test_an_unknown_tag_lists_near_matches():
    spec = {"kind": "open_clip", "name": "ViT-B-32", "pretrained": "laion2b_s34b"}
    with pytest.raises(UnknownModel, match=r"laion2b_s34b_b79k"):
        loaded(spec)


def test_a_model_from_a_hub_repository_is_refused():
    with pytest.raises(UnknownModel, match="hf-hub"):
        loaded({"kind": "open_clip", "name": "hf-hub:someone/model", "pretrained": None})


def test_an_unknown_config_lists_the_configs():
    with pytest.raises(UnknownModel, match="tiny-clip"):
        loaded({"kind": "trained", "config": "tinyclip"}, weights=Path(sys.executable))


def test_a_config_of_open_clip_is_made_as_ours_are():
    model: Any = models_clip.create_custom("ViT-S-32-alt")
    config: Any = open_clip.get_model_config("ViT-S-32-alt")
    assert config["embed_dim"] == 256
    assert model.visual.preprocess_cfg["resize_mode"] == "squash"


def test_a_missing_key_is_named():
    with pytest.raises(BadParams, match="'dim'"):
        loaded({"kind": "hash"})


def test_absent_weights_are_named(custom_clip, tmp_path):
    spec = {"kind": "trained", "config": "test-clip"}
    with pytest.raises(MissingFile, match="train"):
        loaded(spec)
    with pytest.raises(MissingFile, match=r"none\.safetensors"):
        loaded(spec, weights=tmp_path / "none.safetensors")


def test_weights_of_another_model_are_refused(weights):
    spec = {"kind": "open_clip", "name": "ViT-S-32-alt", "pretrained": str(weights)}
    with pytest.raises(CorruptFile, match=r"model\.safetensors"):
        loaded(spec)


class _Harmful:
    def __reduce__(self):
        return sys.exit, (3,)


@pytest.mark.usefixtures("weights")
def test_a_pickle_with_code_in_it_is_never_run(tmp_path):
    path = tmp_path / "weights.pt"
    path.write_bytes(pickle.dumps({"state_dict": _Harmful()}, protocol=2))
    with pytest.raises(CorruptFile, match=r"weights\.pt"):
        loaded({"kind": "open_clip", "name": "test-clip", "pretrained": str(path)})


def test_a_tag_that_cannot_be_downloaded_is_a_failed_fetch(monkeypatch):
    def offline(*_args, **_kwargs):
        raise OSError("network is unreachable")

    monkeypatch.setattr(open_clip.factory, "download_pretrained", offline)
    spec = {"kind": "open_clip", "name": "RN50", "pretrained": "yfcc15m"}
    with pytest.raises(FetchFailed, match=r"yfcc15m.*unreachable.*local"):
        loaded(spec)


def test_the_shipped_config_has_at_most_five_million_parameters():
    assert sum(p.numel() for p in models_clip.create_custom("tiny-clip").parameters()) <= 5_000_000


def test_a_model_without_pretrained_weights_is_random_and_works(custom_clip):
    custom_clip.create_custom("test-clip")
    spec = {"kind": "open_clip", "name": "test-clip", "pretrained": None}
    assert_unit_rows(loaded(spec).encode_texts(TEXTS), (3, 8))


@pytest.mark.parametrize("side_px", [224, 336])
def test_a_clip_model_says_how_large_it_reads_pictures(custom_clip, side_px):
    name = "ViT-L-14-336" if side_px == 336 else "ViT-B-32"
    size = (open_clip.get_model_config(name) or {})["vision_cfg"]["image_size"]
    model = custom_clip.create_custom("test-clip")
    model.visual.preprocess_cfg["size"] = size
    encoder = models_clip.ClipEncoder("test-clip", model)
    assert encoder.side_px == side_px
    assert encoder._preprocess(Image.new("RGB", (9, 8))).shape == (3, side_px, side_px)


def test_weights_in_another_format_are_refused(custom_clip, tmp_path):
    path = tmp_path / "weights.npz"
    path.write_bytes(b"")
    with pytest.raises(UnknownModel, match=r"\.npz"):
        loaded({"kind": "trained", "config": "test-clip"}, weights=path)


def test_a_tokenizer_that_cannot_be_downloaded_is_a_failed_fetch(weights, monkeypatch):
    def offline(_name):
        raise OSError("no route to host")

    monkeypatch.setattr(open_clip, "get_tokenizer", offline)
    with pytest.raises(FetchFailed, match="no route to host"):
        loaded({"kind": "trained", "config": "test-clip"}, weights=weights)


def test_short_texts_have_their_vectors_without_the_rest_of_the_context(custom_clip):
    torch.manual_seed(4)
    encoder = models_clip.ClipEncoder("test-clip", models_clip.create_custom("test-clip"), "cpu")
    for texts in (TEXTS, *([text] for text in TEXTS)):
        whole, short = encoder.encode_texts(texts), encoder.encode_short(texts)
        assert np.allclose(whole, short, atol=1e-6)


def test_a_tower_of_another_form_encodes_the_whole_context(custom_clip, monkeypatch):
    model: Any = models_clip.create_custom("test-clip")
    model.text_pool_type = "last"
    encoder = models_clip.ClipEncoder("test-clip", model, "cpu")
    assert np.array_equal(encoder.encode_texts(TEXTS), encoder.encode_short(TEXTS))


WIDE = (40, 20)


def resized(way: str, picture: Image.Image) -> Image.Image:
    """A picture of 40 by 20 as each way makes a square of it, by Pillow alone."""
    if way == "squash":
        return picture.resize((16, 16), Image.Resampling.BICUBIC)
    if way == "crop":
        return picture.resize((32, 16), Image.Resampling.BICUBIC).crop((8, 0, 24, 16))
    square = Image.new("RGB", (16, 16))
    square.paste(picture.resize((16, 8), Image.Resampling.BICUBIC), (0, 4))
    return square


@pytest.mark.parametrize("way", ["squash", "crop", "pad"])
def test_pictures_become_squares_in_the_way_that_params_name(weights, way):
    picture = Image.effect_noise(WIDE, 90).convert("RGB")
    spec = {"kind": "open_clip", "name": "test-clip", "pretrained": str(weights)}
    asked = loaded({**spec, "resize": way}, device="cpu").encode_images([picture])
    whole = loaded({**spec, "resize": "own"}, device="cpu")
    np.testing.assert_allclose(asked, whole.encode_images([resized(way, picture)]), atol=1e-5)
    others = {"squash", "crop", "pad"} - {way}
    for other in others:
        wrong = whole.encode_images([resized(other, picture)])
        assert not np.allclose(asked, wrong, atol=1e-3)
    if way == "crop":
        np.testing.assert_allclose(asked, whole.encode_images([picture]), atol=1e-6)


def test_a_text_is_cut_at_the_tokens_that_params_name(weights):
    """Six tokens are a start, four words and an end; the rest of the context is padding."""
    spec = {"kind": "open_clip", "name": "test-clip", "pretrained": str(weights)}
    cut = loaded({**spec, "context": 6}, device="cpu")
    whole = loaded(spec, device="cpu")
    words = "a boat at the left on a line"
    np.testing.assert_allclose(
        cut.encode_texts([words]), whole.encode_texts(["a boat at the"]), atol=1e-6
    )
    assert not np.allclose(cut.encode_texts([words]), whole.encode_texts([words]), atol=1e-3)
    with pytest.raises(BadParams, match="9 tokens of 8"):
        loaded({**spec, "context": 9}, device="cpu")


def test_an_excerpt_is_what_the_model_reads_of_a_text():
    """Nothing behind it is read, and a written line end is other words than a space."""
    torch.manual_seed(4)
    tiny: dict[str, Any] = {"kind": "open_clip", "name": "ViT-S-32-alt", "pretrained": None}
    text = "a dog\nin the  snow, barking at a cat that is asleep"

    def vector(words: str, **more: Any) -> np.ndarray:
        torch.manual_seed(4)
        return loaded(tiny | more, device="cpu").encode_texts([words])[0]

    cut = vector(text, excerpt={"characters": 16, "line_ends": "space"})
    assert np.allclose(cut, vector("a dog in the sno"), atol=1e-6)
    written = vector(text, excerpt={"characters": 16, "line_ends": "written"})
    assert np.allclose(written, vector(r"a dog\nin the sn"), atol=1e-6)
    assert not np.allclose(cut, written, atol=1e-3)
    assert not np.allclose(cut, vector(text), atol=1e-3)
