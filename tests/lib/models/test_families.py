"""Families of 2025 and 2026: tiny checkpoints of the real forms, against other implementations.

What is compared with is sentence-transformers' own modules, transformers' own processors and
forward passes as the model cards call them, or the paper's formulas written out here.
"""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers
from PIL import Image
from sentence_transformers import SentenceTransformer
from sentence_transformers.base.modules import Normalize, Transformer
from sentence_transformers.sentence_transformer.modules import Pooling
from tests import kernels
from tests import tiny_families as tiny
from tests.models import loaded, model_of
from torch.nn.functional import layer_norm, linear, normalize, silu, softmax

from isotope.core.errors import BadParams, CorruptFile, FetchFailed, UnknownModel
from isotope.models import encoders, families
from isotope.models.families import encoder as encoder_module
from isotope.models.families import published
from isotope.params import files as params_files
from isotope.params import resolve

TEXTS = ["A dog runs over the green field.", "Zwei Bilder; 一张图片", "two cats sleep " * 40, ""]
SIZES = ((40, 40), (64, 32), (32, 64), (50, 20), (33, 47))
SAVERS: dict[str, Any] = {
    "qwen3_vl": tiny.save_qwen3_vl,
    "gme": tiny.save_gme,
    "qwen3": tiny.save_qwen3,
    "siglip2": lambda place: tiny.save_siglip(place, naflex=False),
    "naflex": lambda place: tiny.save_siglip(place, naflex=True),
    "jina_clip": tiny.save_jina_clip,
}
GENERATES = {"add_generation_prompt": True}
CLOSE: dict[str, Any] = {"atol": 2e-5, "rtol": 0}


@pytest.fixture(autouse=True)
def _small_chunks(monkeypatch):
    """Chunks of some pictures, not of hundreds that are filled up."""
    monkeypatch.setattr(encoder_module, "BUDGET", 512)


@pytest.fixture(scope="module")
def saved(tmp_path_factory) -> dict[str, tuple[Path, Any]]:
    """A folder of each family, and its model or weights."""
    places = {name: tmp_path_factory.mktemp(name) for name in SAVERS}
    return {name: (places[name], save(places[name])) for name, save in SAVERS.items()}


@pytest.fixture(scope="module")
def pictures() -> list[Image.Image]:
    random = np.random.default_rng(4)
    return [
        Image.fromarray(random.integers(0, 256, (h, w, 3), dtype=np.uint8)).resize((w, h))
        for w, h in SIZES
    ]


@pytest.fixture
def own(tmp_path, request) -> Path:
    """A checkpoint of the family that the test names, which it may spoil."""
    SAVERS[request.param](tmp_path)
    return tmp_path


def load(place: Path, **settings: Any) -> Any:
    spec = {"kind": "transformers", "name": str(place), **settings}
    return loaded(spec, device="cpu")


def change(path: Path, **values: Any) -> None:
    """Change keys of a JSON file."""
    tiny.write_json(path, {**json.loads(path.read_text()), **values})


def last_by_the_script(states: torch.Tensor, mask: torch.Tensor) -> np.ndarray:
    """Qwen3-VL-Embedding's script: the last place where the mask is 1, found from behind."""
    column = mask.shape[1] - mask.flip(dims=[1]).argmax(dim=1) - 1
    return normalize(states[torch.arange(len(states)), column], dim=-1).numpy()


def chat(instruction: str, content: str) -> str:
    """A turn of the system and one of the user, as GME's class writes it."""
    system = f"<|im_start|>system\n{instruction}<|im_end|>\n"
    return f"{system}<|im_start|>user\n{content}<|im_end|>\n<|im_start|>assistant\n"


def qwen3_vl_processor(place: Path) -> Any:
    images = transformers.AutoImageProcessor.from_pretrained(place, backend="pil")
    images.size = {"shortest_edge": 4 * 64, "longest_edge": 1_800 * 64}
    videos = transformers.Qwen3VLVideoProcessor(patch_size=4)
    return transformers.Qwen3VLProcessor(
        images, tiny.chat_tokenizer(), videos, chat_template=tiny.TEMPLATE
    )


# Qwen3-VL-Embedding.


def test_qwen3_vl_embeds_texts_and_pictures_as_sentence_transformers_does(
    saved, pictures, tmp_path
):
    place, _ = saved["qwen3_vl"]
    for file in (p for p in place.iterdir() if p.is_file()):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    qwen3_vl_processor(place).save_pretrained(tmp_path)
    first = Transformer(str(tmp_path), processing_kwargs={"chat_template": GENERATES})
    # It reads pictures with torchvision, which resizes otherwise.
    first.processor.image_processor = qwen3_vl_processor(place).image_processor
    pooling = Pooling(tiny.WIDTH, pooling_mode="lasttoken")
    theirs = SentenceTransformer(modules=[first, pooling, Normalize()], device="cpu")
    prompt, encoder = "Represent the user's input.", load(place)
    short = [TEXTS[0], TEXTS[1]]
    expected = theirs.encode(short, prompt=prompt)
    np.testing.assert_allclose(encoder.encode_texts(short), expected, **CLOSE)
    expected = theirs.encode(pictures, prompt=prompt)
    np.testing.assert_allclose(encoder.encode_images(pictures), expected, **CLOSE)
    assert np.ptp(expected @ expected.T) > 1e-3


def test_qwen3_vl_embeds_as_its_published_script_with_an_instruction_for_each_side(saved, pictures):
    place, model = saved["qwen3_vl"]
    processor = qwen3_vl_processor(place)
    encoder = load(place, instruction={"texts": "Retrieve pictures", "images": "Represent this!"})
    turns = [chat("Retrieve pictures.", text) for text in TEXTS[:2]]
    inputs = processor(text=turns, padding=True, padding_side="right", return_tensors="pt")
    with torch.inference_mode():
        states = model(**inputs).last_hidden_state
    expected = last_by_the_script(states, inputs["attention_mask"])
    np.testing.assert_allclose(encoder.encode_texts(TEXTS[:2]), expected, **CLOSE)
    mark = "<|vision_start|><|image_pad|><|vision_end|>"
    turns = [chat("Represent this!", mark)] * len(pictures)
    inputs = processor(
        text=turns, images=pictures, padding=True, padding_side="right", return_tensors="pt"
    )
    with torch.inference_mode():
        states = model(**inputs).last_hidden_state
    expected = last_by_the_script(states, inputs["attention_mask"])
    np.testing.assert_allclose(encoder.encode_images(pictures), expected, **CLOSE)


def test_an_instruction_changes_the_vectors_of_its_side_alone(saved, pictures):
    place, _ = saved["qwen3_vl"]
    plain, told = load(place), load(place, instruction={"texts": "Two cats."})
    assert not np.allclose(plain.encode_texts(TEXTS), told.encode_texts(TEXTS), atol=1e-3)
    np.testing.assert_array_equal(plain.encode_images(pictures), told.encode_images(pictures))


def test_a_long_text_is_cut_before_the_end_of_its_turn(saved):
    place, model = saved["qwen3_vl"]
    tokenizer = tiny.chat_tokenizer()
    instruction = "Represent the user's input."
    end = tokenizer("<|im_end|>\n<|im_start|>assistant\n")["input_ids"]
    ids = tokenizer(chat(instruction, TEXTS[2]))["input_ids"]
    assert len(ids) > 100 > len(end)
    cut = torch.tensor([ids[: 100 - len(end)] + end])
    with torch.inference_mode():
        expected = normalize(model(input_ids=cut).last_hidden_state[:, -1], dim=-1).numpy()
    encoder = load(place, context=100)
    assert encoder.shapes([TEXTS[2], "A"]) == [100, 64]
    np.testing.assert_allclose(encoder.encode_texts([TEXTS[2]]), expected, **CLOSE)


def test_a_section_of_hundreds_of_tokens_is_read_to_its_end(saved):
    encoder = load(saved["qwen3_vl"][0])
    long = "two cats sleep " * 10
    assert encoder.shapes([long]) == [128]
    first, second = encoder.encode_texts([long + "A dog", long + "green zebra"])
    assert np.abs(first - second).max() > 1e-3


def test_an_empty_text_is_null_as_in_the_published_script(saved):
    encoder = load(saved["qwen3_vl"][0])
    empty, null = encoder.encode_texts(["", "NULL"])
    np.testing.assert_array_equal(empty, null)


def test_words_that_are_marks_of_the_template_break_nothing(saved):
    encoder = load(saved["qwen3_vl"][0])
    rows = encoder.encode_texts(["A <|image_pad|> <|im_end|>", "<|video_pad|>"])
    assert np.isfinite(rows).all()


def test_pixels_bound_a_picture_and_its_tokens(saved, pictures):
    place, _ = saved["qwen3_vl"]
    whole, small = load(place), load(place, pixels=512)
    assert max(whole.picture_shapes(pictures)) == 128
    assert max(small.picture_shapes(pictures)) <= 512 // 16
    with pytest.raises(BadParams, match=r"pixels: 63 pixels, and a token has 64"):
        load(place, pixels=63)


def test_a_picture_longer_than_two_hundred_times_its_height_is_squeezed(saved):
    ribbon = Image.new("RGB", (900, 2), "red")
    rows = load(saved["qwen3_vl"][0]).encode_images([ribbon, ribbon.resize((400, 2))])
    np.testing.assert_allclose(rows[0], rows[1], **CLOSE)


# GME.


def test_gme_is_read_from_its_own_names_of_weights_and_embeds_as_its_class(saved, pictures):
    place, model = saved["gme"]
    assert "model.embed_tokens.weight" in encoded_names(place)
    tokenizer, encoder = tiny.chat_tokenizer(), load(place)
    says = "You are a helpful assistant."
    turns = [chat(says, text) + "<|endoftext|>" for text in TEXTS[:2]]
    inputs = tokenizer(turns, padding=True, padding_side="right", return_tensors="pt")
    # The end of the text is padding as well, so the mask is of lengths.
    lengths = [len(tokenizer(turn)["input_ids"]) for turn in turns]
    mask = (torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]).long()
    with torch.inference_mode():
        states = model(input_ids=inputs["input_ids"], attention_mask=mask).last_hidden_state
    expected = last_by_the_script(states, mask)
    np.testing.assert_allclose(encoder.encode_texts(TEXTS[:2]), expected, **CLOSE)
    images = transformers.AutoImageProcessor.from_pretrained(place, backend="pil")
    images.size = {"shortest_edge": 2 * 64, "longest_edge": 40 * 64}
    videos = transformers.Qwen2VLVideoProcessor(patch_size=4)
    both: Any = transformers.Qwen2VLProcessor(images, tokenizer, videos)
    turn = chat(says, "<|vision_start|><|image_pad|><|vision_end|>") + "<|endoftext|>"
    for picture, row in zip(pictures, encoder.encode_images(pictures), strict=True):
        inputs = both(text=[turn], images=[picture], return_tensors="pt")
        with torch.inference_mode():
            state = model(**inputs).last_hidden_state[:, -1]
        np.testing.assert_allclose(row, normalize(state, dim=-1).numpy()[0], **CLOSE)


def encoded_names(place: Path) -> set[str]:
    from safetensors import safe_open  # noqa: PLC0415

    with safe_open(place / "model.safetensors", "pt") as file:
        return {*file.keys()}


# Qwen3-Embedding.


def test_qwen3_embeds_texts_as_sentence_transformers_does(saved):
    place, _ = saved["qwen3"]
    pooling = Pooling(tiny.WIDTH, pooling_mode="lasttoken")
    theirs = SentenceTransformer(
        modules=[Transformer(str(place)), pooling, Normalize()], device="cpu"
    )
    np.testing.assert_allclose(load(place).encode_texts(TEXTS), theirs.encode(TEXTS), **CLOSE)
    prompt = "Instruct: Retrieve pictures\nQuery:"
    expected = theirs.encode(TEXTS, prompt=prompt)
    for said in ("query", prompt):
        rows = load(place, instruction={"texts": said}).encode_texts(TEXTS)
        np.testing.assert_allclose(rows, expected, **CLOSE)


def test_a_language_model_reads_no_pictures(saved, pictures):
    with pytest.raises(BadParams, match="images: captions"):
        load(saved["qwen3"][0]).encode_images(pictures)


# SigLIP 2.


@pytest.mark.parametrize("name", ["siglip2", "naflex"])
def test_siglip_2_scores_texts_and_pictures_as_its_own_forward_pass(saved, pictures, name):
    place, model = saved[name]
    images = transformers.AutoImageProcessor.from_pretrained(place, backend="pil")
    tokens = tiny.gemma_tokenizer()(
        [text.lower() for text in TEXTS],
        padding="max_length",
        truncation=True,
        max_length=64,
        return_tensors="pt",
    )
    assert set(tokens) == {"input_ids"}, "the model reads padding, too"
    with torch.inference_mode():
        out = model(**tokens, **images(pictures, return_tensors="pt"))
    encoder = load(place)
    texts, rows = encoder.encode_texts(TEXTS), encoder.encode_images(pictures)
    np.testing.assert_allclose(texts, out.text_embeds.numpy(), **CLOSE)
    np.testing.assert_allclose(rows, out.image_embeds.numpy(), **CLOSE)
    assert encoder.shapes(TEXTS) == [64] * 4
    assert np.ptp(texts @ rows.T) > 1e-3


def test_siglip_2_reads_capitals_as_small_letters(saved):
    encoder = load(saved["siglip2"][0])
    np.testing.assert_array_equal(
        encoder.encode_texts(["A DOG RUNS"]), encoder.encode_texts(["a dog runs"])
    )


@pytest.mark.parametrize("name", ["siglip2", "jina_clip", "naflex"])
def test_a_family_says_how_large_it_reads_pictures(saved, name, pictures):
    """What it makes of a picture is a square of that side, or has the picture's own shape."""
    encoder = load(saved[name][0])
    if name == "naflex":
        assert encoder.side_px == 0
    elif name == "siglip2":
        made = encoder._processor(pictures[:1], return_tensors="pt")["pixel_values"]
        assert made.shape == (1, 3, encoder.side_px, encoder.side_px)
    else:
        assert encoder._cut(pictures[0]).shape == (3, encoder.side_px, encoder.side_px)


def test_naflex_keeps_the_shape_of_a_picture(saved):
    """A picture twice as wide as high has other patches than the same one squeezed."""
    wide = Image.effect_noise((64, 32), 90).convert("RGB")
    squeezed = wide.resize((32, 32))
    kept = load(saved["naflex"][0]).encode_images([wide, squeezed])
    assert np.abs(kept[0] - kept[1]).max() > 1e-3
    place = saved["naflex"][0]
    for patches in (4, 9):
        assert load(place, pixels=patches * 16)._processor.max_num_patches == patches


# jina-clip-v2.


def merged(weights: dict[str, torch.Tensor], name: str) -> torch.Tensor:
    """A weight with the first adapter: alpha is 6, the rank 3 (tiny_families.jina_config)."""
    key = f"text_model.transformer.roberta.{name}.parametrizations.weight"
    a, b = weights[f"{key}.0.lora_A"][0], weights[f"{key}.0.lora_B"][0]
    return weights[f"{key}.original"] + 6 / 3 * (a @ b if "_embeddings" in name else b @ a)


def jina_text(weights: dict[str, torch.Tensor], ids: list[int]) -> torch.Tensor:
    """One text through XLM-RoBERTa with rotary positions and norms after each part."""

    def bias(name: str) -> torch.Tensor:
        return weights[f"text_model.transformer.roberta.{name}.bias"]

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        scale = weights[f"text_model.transformer.roberta.{name}.weight"]
        return layer_norm(x, x.shape[-1:], scale, bias(name), 1e-5)

    words = merged(weights, "embeddings.word_embeddings")[ids]
    x = norm(words + merged(weights, "embeddings.token_type_embeddings")[0], "emb_ln")
    angles = torch.outer(
        torch.arange(len(ids)).float(), 20_000.0 ** (-torch.arange(0, 16, 2).float() / 16)
    )
    cos, sin = (f(angles).repeat(1, 2) for f in (torch.cos, torch.sin))
    for n in range(2):
        own = f"encoder.layers.{n}"
        qkv = linear(x, merged(weights, f"{own}.mixer.Wqkv"), bias(f"{own}.mixer.Wqkv"))
        q, k, v = qkv.view(len(ids), 3, 2, 16).permute(1, 2, 0, 3)
        q, k = (t * cos + torch.cat([-t[..., 8:], t[..., :8]], -1) * sin for t in (q, k))
        mixed = (softmax(q @ k.mT / 4, -1) @ v).transpose(0, 1).reshape(len(ids), 32)
        out = linear(mixed, merged(weights, f"{own}.mixer.out_proj"), bias(f"{own}.mixer.out_proj"))
        x = norm(x + out, f"{own}.norm1")
        hidden = linear(x, merged(weights, f"{own}.mlp.fc1"), bias(f"{own}.mlp.fc1"))
        hidden = torch.nn.functional.gelu(hidden)
        out = linear(hidden, merged(weights, f"{own}.mlp.fc2"), bias(f"{own}.mlp.fc2"))
        x = norm(x + out, f"{own}.norm2")
    return x.mean(dim=0)


def jina_picture(weights: dict[str, torch.Tensor], pixels: torch.Tensor) -> torch.Tensor:
    """One picture [3, 40, 40] through EVA-02: 5 x 5 patches whose places are scaled to 4 x 4."""

    def w(name: str) -> torch.Tensor:
        return weights[f"vision_model.{name}"]

    def norm(x: torch.Tensor, name: str) -> torch.Tensor:
        return layer_norm(x, x.shape[-1:], w(f"{name}.weight"), w(f"{name}.bias"), 1e-6)

    conv = torch.nn.functional.conv2d
    patches = conv(pixels[None], w("patch_embed.proj.weight"), w("patch_embed.proj.bias"), stride=8)
    x = torch.cat([w("cls_token")[0], patches[0].flatten(1).T]) + w("pos_embed")[0]
    places = torch.arange(5) / 5 * 4
    freqs = 1 / 10_000 ** (torch.arange(0, 8, 2).float() / 8)
    angle = torch.outer(places, freqs).repeat_interleave(2, -1)
    rows, columns = angle[:, None].expand(5, 5, 8), angle[None].expand(5, 5, 8)
    angles = torch.cat([rows, columns], -1).reshape(25, 16)

    def rotate(t: torch.Tensor) -> torch.Tensor:
        body = t[:, 1:]
        pairs = torch.stack([-body[..., 1::2], body[..., ::2]], -1).flatten(-2)
        return torch.cat([t[:, :1], body * angles.cos() + pairs * angles.sin()], 1)

    for n in range(2):
        own, y = f"blocks.{n}.attn", norm(x, f"blocks.{n}.norm1")
        biases = (w(f"{own}.q_bias"), None, w(f"{own}.v_bias"))
        q, k, v = (
            linear(y, w(f"{own}.{p}_proj.weight"), b).view(26, 2, 16).transpose(0, 1)
            for p, b in zip("qkv", biases, strict=True)
        )
        mixed = softmax(rotate(q) @ rotate(k).mT / math.sqrt(16), -1) @ v
        mixed = norm(mixed.transpose(0, 1).reshape(26, 32), f"{own}.inner_attn_ln")
        x = x + linear(mixed, w(f"{own}.proj.weight"), w(f"{own}.proj.bias"))
        own, y = f"blocks.{n}.mlp", norm(x, f"blocks.{n}.norm2")
        gate, up = (linear(y, w(f"{own}.{p}.weight"), w(f"{own}.{p}.bias")) for p in ("w1", "w2"))
        hidden = norm(silu(gate) * up, f"{own}.ffn_ln")
        x = x + linear(hidden, w(f"{own}.w3.weight"), w(f"{own}.w3.bias"))
    return norm(x, "norm")[0]


def test_jina_clip_reads_texts_as_its_paper_and_published_weights_have_it(saved):
    place, weights = saved["jina_clip"]
    tokenizer = transformers.PreTrainedTokenizerFast.from_pretrained(place)
    encoder, texts = load(place), TEXTS[:2]
    rows = [jina_text(weights, tokenizer(text)["input_ids"]) for text in texts]
    expected = normalize(torch.stack(rows), dim=-1).numpy()
    np.testing.assert_allclose(encoder.encode_texts(texts), expected, **CLOSE)
    prompt = "Represent the user's input: "
    rows = [jina_text(weights, tokenizer(prompt + text)["input_ids"]) for text in texts]
    expected = normalize(torch.stack(rows), dim=-1).numpy()
    for said in (prompt, "retrieval.query"):
        own = load(place, instruction={"texts": said})
        np.testing.assert_allclose(own.encode_texts(texts), expected, **CLOSE)


def test_jina_clip_sees_pictures_as_eva_02_does(saved, pictures):
    place, weights = saved["jina_clip"]
    means = torch.tensor([0.48145466, 0.4578275, 0.40821073])[:, None, None]
    spread = torch.tensor([0.26862954, 0.26130258, 0.27577711])[:, None, None]
    rows = []
    for picture in pictures:
        scale = 40 / min(picture.size)
        wide = picture.resize(
            (int(picture.width * scale + 1e-9), int(picture.height * scale + 1e-9)),
            Image.Resampling.BICUBIC,
        )
        left, top = round((wide.width - 40) / 2), round((wide.height - 40) / 2)
        square = np.asarray(wide.crop((left, top, left + 40, top + 40)))
        pixels = torch.from_numpy(square.copy()).permute(2, 0, 1).float() / 255
        rows.append(jina_picture(weights, (pixels - means) / spread))
    expected = normalize(torch.stack(rows), dim=-1).numpy()
    np.testing.assert_allclose(load(place).encode_images(pictures), expected, **CLOSE)


def test_without_a_default_task_jina_clips_texts_go_through_no_adapter(saved, tmp_path):
    tiny.save_jina_clip(tmp_path)
    config = json.loads((tmp_path / "config.json").read_text())
    config["text_config"]["default_lora_task"] = None
    tiny.write_json(tmp_path / "config.json", config)
    plain, adapted = load(tmp_path), load(saved["jina_clip"][0])
    assert not np.allclose(plain.encode_texts(TEXTS), adapted.encode_texts(TEXTS), atol=1e-3)
    config["text_config"]["default_lora_task"] = "classification"
    tiny.write_json(tmp_path / "config.json", config)
    with pytest.raises(UnknownModel, match=r"no adapter 'classification'.*retrieval.query"):
        load(tmp_path)


# All families: what a vector depends on.


@pytest.mark.parametrize("name", SAVERS)
def test_a_vector_is_the_same_but_for_rounding_whatever_is_encoded_beside_it(saved, pictures, name):
    encoder = load(saved[name][0])
    texts = [*TEXTS, "green field", "two cats sleep " * 20]
    expected = in_batches(encoder, "texts", texts)
    for order in ([5, 3, 1, 0, 4, 2], [2, 4], [0]):
        found = in_batches(encoder, "texts", [texts[n] for n in order])
        kernels.assert_same_but_for_rounding(found, expected[order])
    if name == "qwen3":
        return
    expected = in_batches(encoder, "images", pictures)
    for order in ([4, 2, 0, 3, 1], [1, 3], [2]):
        found = in_batches(encoder, "images", [pictures[n] for n in order])
        kernels.assert_same_but_for_rounding(found, expected[order])
        again = load(saved[name][0])
        assert (
            in_batches(again, "images", [pictures[n] for n in order]).tobytes() == found.tobytes()
        )


def in_batches(encoder: Any, side: str, items: list[Any]) -> np.ndarray:
    """Encode as a shard does: batches of one shape, filled up."""
    block = np.empty((len(items), encoder.dim), np.float32)
    waiting = encoders.ShapeBatches(block, getattr(encoder, f"encode_{side}"), 4)
    shapes_of = encoder.shapes if side == "texts" else getattr(encoder, "picture_shapes", None)
    shapes = shapes_of(items) if shapes_of else [0] * len(items)
    for place, (item, shape) in enumerate(zip(items, shapes, strict=True)):
        waiting.add([place], item, shape)
    waiting.finish()
    return block


@pytest.mark.parametrize("name", SAVERS)
def test_padding_and_batches_of_other_sizes_change_a_vector_by_rounding_alone(saved, name):
    encoder = load(saved[name][0])
    together = encoder.encode_texts(TEXTS)
    alone = np.concatenate([encoder.encode_texts([text]) for text in TEXTS])
    np.testing.assert_allclose(together, alone, **CLOSE)


# All families: what an entry may say.


@pytest.mark.parametrize("name", SAVERS)
def test_a_cut_is_the_beginning_of_the_whole_vector_of_length_one(saved, pictures, name):
    place, _ = saved[name]
    whole, cut = load(place), load(place, dim=16)
    assert (whole.dim, cut.dim) == (tiny.WIDTH, 16)
    sides = ["texts"] if name == "qwen3" else ["texts", "images"]
    for side in sides:
        items = TEXTS if side == "texts" else pictures
        rows = getattr(whole, f"encode_{side}")(items)[:, :16]
        expected = rows / np.linalg.norm(rows, axis=1, keepdims=True)
        np.testing.assert_allclose(getattr(cut, f"encode_{side}")(items), expected, atol=1e-6)
    with pytest.raises(BadParams, match=r"dim: 33 components of 32; use 32 or fewer"):
        load(place, dim=33)


def test_a_cut_that_a_config_does_not_list_is_refused_with_those_that_it_lists(saved):
    with pytest.raises(BadParams, match=r"dim: 12 components; use one of 8, 16, 32"):
        load(saved["jina_clip"][0], dim=12)


def test_a_cut_of_a_model_that_lists_none_is_made_with_a_warning(saved, caplog):
    assert load(saved["siglip2"][0], dim=8).dim == 8
    assert "lists no cuts that it was trained for; cut to 8" in caplog.text


@pytest.mark.parametrize(
    ("name", "key", "value"),
    [
        ("siglip2", "context", 32),
        ("siglip2", "pixels", 9_000),
        ("naflex", "instruction", {"texts": "Find"}),
        ("jina_clip", "pixels", 9_000),
        ("jina_clip", "instruction", {"images": "Find"}),
        ("qwen3", "pixels", 9_000),
    ],
)
def test_a_setting_that_a_family_lacks_is_refused_by_its_name(saved, name, key, value):
    named = key if key != "instruction" else f"instruction.{next(iter(value))}"
    with pytest.raises(BadParams, match=rf"{named}: a \w+ model has no such setting"):
        load(saved[name][0], **{key: value})


@pytest.mark.parametrize("name", ["qwen3_vl", "gme", "qwen3", "jina_clip"])
def test_a_context_beyond_the_models_places_is_refused(saved, name):
    with pytest.raises(BadParams, match=r"context: 999 tokens of \d+; use \d+ or fewer"):
        load(saved[name][0], context=999)


def test_naflex_pixels_below_a_patch_are_refused(saved):
    with pytest.raises(BadParams, match="pixels: 15 pixels, and a patch has 16"):
        load(saved["naflex"][0], pixels=15)


# Bad checkpoints.


@pytest.mark.parametrize("own", SAVERS, indirect=True)
def test_weights_that_lack_a_part_are_refused(own):
    from safetensors.torch import load_file, save_file  # noqa: PLC0415

    state = load_file(own / "model.safetensors")
    lacking = [k for k in state if "layers.1." in k or "blocks.1." in k]
    assert lacking
    some = {k: v for k, v in state.items() if k not in lacking}
    save_file(some, own / "model.safetensors", {"format": "pt"})
    with pytest.raises(CorruptFile, match=r"weights missing, .* first"):
        load(own)


@pytest.mark.parametrize("own", SAVERS, indirect=True)
def test_weights_that_are_none_are_refused(own):
    (own / "model.safetensors").write_bytes(b"not weights at all")
    with pytest.raises(CorruptFile, match="do not load"):
        load(own)


@pytest.mark.parametrize("own", SAVERS, indirect=True)
def test_weights_that_are_not_safetensors_are_not_read(own):
    (own / "model.safetensors").rename(own / "pytorch_model.bin")
    with pytest.raises(FetchFailed, match="safetensors"):
        load(own)


@pytest.mark.parametrize("own", ["jina_clip"], indirect=True)
def test_jina_weights_of_another_shape_are_refused(own):
    change(own / "config.json", vision_config=jina_vision(own) | {"image_size": 48})
    change(own / "preprocessor_config.json", size=48)
    with pytest.raises(CorruptFile, match="pos_embed"):
        load(own)


def jina_vision(place: Path) -> dict[str, Any]:
    return json.loads((place / "config.json").read_text())["vision_config"]


@pytest.mark.parametrize("own", ["jina_clip"], indirect=True)
def test_jina_clip_v1_with_its_other_text_tower_is_refused(own):
    text = json.loads((own / "config.json").read_text())["text_config"]
    tower = "jinaai/jina-bert-flash-implementation"
    change(own / "config.json", text_config=text | {"hf_model_name_or_path": tower})
    with pytest.raises(UnknownModel, match="text tower jinaai/jina-bert"):
        load(own)


@pytest.mark.parametrize("own", ["jina_clip"], indirect=True)
def test_an_architecture_that_only_its_own_code_knows_is_refused_with_those_that_are_read(own):
    change(own / "config.json", model_type="ops_mm")
    with pytest.raises(UnknownModel, match=r"'ops_mm', which needs code .* never run.*siglip2, "):
        load(own)


@pytest.mark.parametrize("own", ["qwen3"], indirect=True)
def test_a_config_that_is_no_json_is_a_corrupt_file(own):
    (own / "config.json").write_text("{")
    with pytest.raises(CorruptFile, match=r"config\.json is not JSON"):
        load(own)


@pytest.mark.parametrize("own", ["qwen3_vl", "qwen3"], indirect=True)
def test_a_pooling_that_is_not_the_familys_is_refused(own):
    tiny.save_sentence_files(own, "cls_token")
    with pytest.raises(UnknownModel, match=r"pooling cls; use one of lasttoken"):
        load(own)


@pytest.mark.parametrize("own", ["qwen3_vl"], indirect=True)
def test_means_are_taken_where_the_checkpoint_says_so(own):
    last = load(own).encode_texts(TEXTS[:2])
    tiny.save_sentence_files(own, "mean_tokens")
    tokenizer = tiny.chat_tokenizer()
    ids = tokenizer(chat("Represent the user's input.", TEXTS[0]), return_tensors="pt")
    model = transformers.Qwen3VLModel.from_pretrained(own).eval()
    with torch.inference_mode():
        mean = model(input_ids=ids["input_ids"]).last_hidden_state.mean(dim=1)
    found = load(own).encode_texts(TEXTS[:2])
    np.testing.assert_allclose(found[:1], normalize(mean, dim=-1).numpy(), **CLOSE)
    assert not np.allclose(found, last, atol=1e-3)


@pytest.mark.parametrize("own", ["qwen3_vl"], indirect=True)
def test_a_module_that_is_no_pooling_is_refused(own):
    modules = json.loads((own / "modules.json").read_text())
    modules[2]["type"] = "custom_st.Projection"
    (own / "modules.json").write_text(json.dumps(modules))
    with pytest.raises(UnknownModel, match="a module of kind 'Projection'"):
        load(own)


@pytest.mark.parametrize("own", ["gme"], indirect=True)
def test_a_chat_model_without_a_template_is_refused_and_an_older_file_of_it_is_read(own):
    (own / "chat_template.jinja").unlink()
    with pytest.raises(UnknownModel, match="no chat template"):
        load(own)
    tiny.write_json(own / "chat_template.json", {"chat_template": tiny.TEMPLATE})
    assert load(own).dim == tiny.WIDTH


@pytest.mark.parametrize("own", ["jina_clip"], indirect=True)
def test_a_folder_with_an_unknown_architecture_is_refused_before_anything_runs(own, root):
    given = params_files.load(root=root).spec()
    given["models"]["mine"] = {"kind": "transformers", "name": str(own)}
    resolve.resolve(given)
    change(own / "config.json", model_type="own")
    with pytest.raises(
        BadParams, match=r"models\.mine\.name: architecture 'own', which needs code"
    ):
        resolve.resolve(given)


# Which code a vector depends on.


def test_an_entry_depends_on_the_code_of_its_own_family_alone(saved):
    from isotope.encode.cache import code_of  # noqa: PLC0415

    def files(name: str) -> set[str]:
        own = code_of(model_of({"kind": "transformers", "name": name}))
        return {f for f in own if f.startswith("models/families/")}

    shared = {f"models/families/{m}.py" for m in ("__init__", "checkpoint", "encoder")}
    for name, module in (("jina_clip", "jina_clip"), ("gme", "qwen_vl"), ("naflex", "siglip")):
        assert files(str(saved[name][0])) == {*shared, f"models/families/{module}.py"}
    assert files("Qwen/Qwen3-VL-Embedding-8B") == {*shared, "models/families/qwen_vl.py"}
    every = {f"models/families/{m}.py" for m in {*families.MODULES.values()}}
    assert files("somebody/new-model") == shared | every


def test_every_family_has_a_module_and_every_published_checkpoint_a_family():
    folder = Path(families.__file__).parent
    assert all((folder / f"{module}.py").is_file() for module in families.MODULES.values())
    for each in published.PUBLISHED.values():
        assert each.model_type in families.MODULES
        assert each.parameters > 1e8 > each.dim >= 256
