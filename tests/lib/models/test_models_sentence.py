"""Multilingual text towers: small random checkpoints of the real classes, against the library."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import sentence_transformers
import torch
from PIL import Image
from safetensors.torch import load_file, save_file, save_model
from tests.models import loaded
from tokenizers import Tokenizer, pre_tokenizers, processors
from tokenizers import models as tokenizer_models
from transformers import (
    AutoModel,
    BertConfig,
    BertModel,
    PreTrainedTokenizerFast,
    T5Config,
    T5EncoderModel,
    XLMRobertaConfig,
    XLMRobertaModel,
)

from isotope.core.errors import BadParams, CorruptFile, FetchFailed, UnknownModel
from isotope.models.encoders import means

CONTEXT, WIDTH, DIM = 12, 16, 10
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>"]
TEXTS = ["ein roter Ball", "两只鸡 " * 30, "", "Ishqay wallpakuna", "ไก่สามตัว A Boat"]
LETTERS = sorted({*"".join(TEXTS).lower(), *"".join(TEXTS), "▁"} - {" "})
VOCABULARY = [*SPECIAL, *LETTERS]
SIZES: dict[str, Any] = {
    "vocab_size": len(VOCABULARY),
    "hidden_size": WIDTH,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "max_position_embeddings": CONTEXT + 2,
    "pad_token_id": 1,
    "bos_token_id": 0,
    "eos_token_id": 2,
}


def transformer(kind: str) -> Any:
    if kind == "t5":
        sizes: dict[str, Any] = {"d_model": WIDTH, "d_kv": 8, "d_ff": 24, "num_layers": 2}
        sizes |= {"num_heads": 2, "vocab_size": len(VOCABULARY), "pad_token_id": 1}
        return T5EncoderModel(T5Config(**sizes))
    if kind == "bert":
        return BertModel(BertConfig(**SIZES), add_pooling_layer=False)
    return XLMRobertaModel(XLMRobertaConfig(**SIZES))


def tokenizer(limit: int = CONTEXT) -> Any:
    pieces = [(piece, -float(n)) for n, piece in enumerate(VOCABULARY)]
    made = Tokenizer(tokenizer_models.Unigram(pieces, unk_id=3))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    marks = {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    marks |= {"cls_token": "<s>", "sep_token": "</s>"}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=limit, **marks)


def module(path: Path, of: str, name: str, config: dict[str, Any]) -> dict[str, Any]:
    """Write a module's config and say how modules.json lists it."""
    (path / name).mkdir(exist_ok=True)
    file = "sentence_bert_config.json" if of == "Transformer" else "config.json"
    (path / name / file).write_text(json.dumps(config))
    return {"path": name, "type": f"sentence_transformers.models.{of}"}


def numbered(path: Path, listed: list[dict[str, Any]]) -> Path:
    """Write modules.json."""
    rows = [{**m, "idx": i, "name": str(i)} for i, m in enumerate(listed)]
    (path / "modules.json").write_text(json.dumps(rows))
    return path


def checkpoint(path: Path, kind: str, pooling: dict[str, Any], **told: Any) -> Path:
    """Save a random sentence encoder of a kind, as the library's hub has them."""
    with torch.random.fork_rng():
        torch.manual_seed(3)
        transformer(kind).eval().save_pretrained(path)
    tokenizer().save_pretrained(path)
    listed = [module(path, "Transformer", "", told or {"max_seq_length": CONTEXT})]
    listed.append(
        module(path, "Pooling", "1_Pooling", {"word_embedding_dimension": WIDTH} | pooling)
    )
    (path / "modules.json").write_text(
        json.dumps([{**m, "idx": i, "name": str(i)} for i, m in enumerate(listed)])
    )
    return path


def with_dense(path: Path, activation: str, *, bias: bool) -> Path:
    """Add a dense layer and a normalisation, as clip-ViT-B-32-multilingual-v1 has them."""
    listed = json.loads((path / "modules.json").read_text())
    sizes = {"in_features": WIDTH, "out_features": DIM, "bias": bias}
    listed.append(module(path, "Dense", "2_Dense", {**sizes, "activation_function": activation}))
    listed.append({"path": "3_Normalize", "type": "sentence_transformers.models.Normalize"})
    layer = torch.nn.Linear(WIDTH, DIM, bias=bias)
    state = {f"linear.{k}": v.detach() for k, v in layer.state_dict().items()}
    save_file(state, path / "2_Dense" / "model.safetensors")
    (path / "3_Normalize").mkdir()
    (path / "modules.json").write_text(
        json.dumps([{**m, "idx": i, "name": str(i)} for i, m in enumerate(listed)])
    )
    return path


def spec(path: Path) -> dict[str, object]:
    return {"kind": "sentence", "name": str(path)}


def judged(path: Path) -> np.ndarray:
    """What sentence-transformers itself makes of the texts."""
    library = sentence_transformers.SentenceTransformer(str(path), device="cpu")
    vectors = library.encode(TEXTS, convert_to_tensor=True)
    return torch.nn.functional.normalize(vectors.float(), dim=-1).numpy()


MEAN = {"pooling_mode_cls_token": False, "pooling_mode_mean_tokens": True}


@pytest.mark.parametrize("kind", ["xlm-roberta", "bert", "t5"])
def test_a_sentence_encoder_equals_its_library_called_directly(kind, tmp_path):
    path = checkpoint(tmp_path, kind, MEAN)
    vectors = loaded(spec(path), device="cpu").encode_texts(TEXTS)
    assert vectors.shape == (len(TEXTS), WIDTH)
    np.testing.assert_allclose(vectors, judged(path), atol=1e-5)
    assert np.ptp(vectors @ vectors.T) > 1e-3


@pytest.mark.parametrize(
    "pooling",
    [
        {"pooling_mode_cls_token": True},
        {"pooling_mode_max_tokens": True},
        {"pooling_mode_mean_sqrt_len_tokens": True},
        {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": True},
    ],
)
def test_every_pooling_equals_the_librarys(pooling, tmp_path):
    path = checkpoint(tmp_path, "xlm-roberta", pooling)
    encoder = loaded(spec(path), device="cpu")
    assert encoder.dim == WIDTH * len(pooling)
    np.testing.assert_allclose(encoder.encode_texts(TEXTS), judged(path), atol=1e-5)


@pytest.mark.parametrize(
    ("activation", "bias"), [("linear.Identity", False), ("activation.Tanh", True)]
)
def test_a_dense_layer_projects_into_another_models_space(activation, bias, tmp_path):
    path = checkpoint(tmp_path, "xlm-roberta", MEAN)
    with_dense(path, f"torch.nn.modules.{activation}", bias=bias)
    encoder = loaded(spec(path), device="cpu")
    assert encoder.dim == DIM
    np.testing.assert_allclose(encoder.encode_texts(TEXTS), judged(path), atol=1e-5)


def test_sentences_keep_the_lengths_that_the_library_gives_their_vectors(tmp_path):
    """What section 3.2 of Lymperaiou et al. averages is the library's own output."""
    path = checkpoint(tmp_path, "xlm-roberta", MEAN)
    encoder: Any = loaded(spec(path), device="cpu")
    library = sentence_transformers.SentenceTransformer(str(path), device="cpu")
    expected = library.encode(TEXTS, convert_to_numpy=True)
    np.testing.assert_allclose(encoder.encode_sentences(TEXTS), expected, atol=1e-5)
    found = means([TEXTS], encoder, batch=2)[0]
    mean = expected.mean(axis=0)
    np.testing.assert_allclose(found, mean / np.linalg.norm(mean), atol=1e-5)


def test_the_length_the_case_and_the_prompt_are_the_checkpoints_own(tmp_path):
    path = checkpoint(tmp_path, "xlm-roberta", MEAN, max_seq_length=6, do_lower_case=True)
    told = {"prompts": {"query": "Boat: "}, "default_prompt_name": "query"}
    (path / "config_sentence_transformers.json").write_text(json.dumps(told))
    vectors = loaded(spec(path), device="cpu").encode_texts(TEXTS)
    np.testing.assert_allclose(vectors, judged(path), atol=1e-5)


def test_a_text_has_the_same_vector_alone_and_beside_a_longer_one(tmp_path):
    encoder = loaded(spec(checkpoint(tmp_path, "xlm-roberta", MEAN)), device="cpu")
    alone, beside = encoder.encode_texts(TEXTS[:1]), encoder.encode_texts(TEXTS)
    np.testing.assert_allclose(alone[0], beside[0], atol=1e-5)


def test_a_sentence_encoder_that_is_shown_pictures_says_what_to_do(tmp_path):
    encoder = loaded(spec(checkpoint(tmp_path, "bert", MEAN)), device="cpu")
    with pytest.raises(BadParams, match="`images: captions`"):
        encoder.encode_images([Image.new("RGB", (4, 4))])


def test_another_module_pooling_or_activation_is_refused_by_name(tmp_path):
    path = checkpoint(tmp_path, "bert", {"pooling_mode_lasttoken": True})
    with pytest.raises(UnknownModel, match=r"pooling lasttoken; use one of cls, max"):
        loaded(spec(path), device="cpu")
    with_dense(checkpoint(path, "bert", MEAN), "evil.Code", bias=True)
    with pytest.raises(UnknownModel, match="dense layer with Code"):
        loaded(spec(path), device="cpu")
    listed = json.loads((path / "modules.json").read_text())
    (path / "modules.json").write_text(json.dumps([{**listed[0], "type": "own.Brain"}]))
    with pytest.raises(UnknownModel, match="first module of kind 'Brain'"):
        loaded(spec(path), device="cpu")


def test_a_folder_without_modules_and_pickled_weights_are_not_read(tmp_path):
    path = checkpoint(tmp_path, "bert", MEAN)
    state = AutoModel.from_pretrained(path).state_dict()
    (path / "model.safetensors").unlink()
    torch.save(state, path / "pytorch_model.bin")
    with pytest.raises(FetchFailed, match="safetensors"):
        loaded(spec(path), device="cpu")
    (path / "modules.json").unlink()
    with pytest.raises(FetchFailed, match=r"modules\.json"):
        loaded(spec(path), device="cpu")


def test_dense_weights_that_do_not_load_are_refused(tmp_path):
    path = with_dense(checkpoint(tmp_path, "bert", MEAN), "torch.nn.Tanh", bias=True)
    (path / "2_Dense" / "model.safetensors").write_bytes(b"not weights")
    with pytest.raises(CorruptFile, match="2_Dense: weights that do not load"):
        loaded(spec(path), device="cpu")


def test_a_checkpoint_without_some_of_its_weights_is_refused(tmp_path):
    path = checkpoint(tmp_path, "bert", MEAN)
    weights = load_file(path / "model.safetensors")
    del weights["encoder.layer.1.output.dense.weight"]
    save_file(weights, path / "model.safetensors", metadata={"format": "pt"})
    missing = r"1 weights missing, encoder.layer.1.output.dense.weight first"
    with pytest.raises(CorruptFile, match=missing):
        loaded(spec(path), device="cpu")


def test_pickled_weights_of_a_dense_layer_are_not_read(tmp_path):
    path = with_dense(checkpoint(tmp_path, "bert", MEAN), "torch.nn.Tanh", bias=True)
    state = load_file(path / "2_Dense" / "model.safetensors")
    (path / "2_Dense" / "model.safetensors").unlink()
    torch.save(state, path / "2_Dense" / "pytorch_model.bin")
    with pytest.raises(FetchFailed, match="safetensors"):
        loaded(spec(path), device="cpu")


def test_the_multilingual_towers_of_open_clip_load_like_any_other(tmp_path):
    """A config of the same form as xlm-roberta-base-ViT-B-32, with a small tower from a folder."""
    real = open_clip.get_model_config("xlm-roberta-base-ViT-B-32") or {}
    tower = tmp_path / "tower"
    transformer("xlm-roberta").save_pretrained(tower)
    tokenizer(77).save_pretrained(tower)
    own = {"hf_model_name": str(tower), "hf_tokenizer_name": str(tower), "context_length": CONTEXT}
    vision = {"image_size": 32, "layers": 1, "width": 64, "patch_size": 16}
    config = {"embed_dim": DIM, "vision_cfg": vision, "text_cfg": {**real["text_cfg"], **own}}
    (tmp_path / "tiny-xlm.json").write_text(json.dumps(config))
    open_clip.add_model_config(tmp_path / "tiny-xlm.json")
    library: Any = open_clip.create_model("tiny-xlm", pretrained_text=False).eval()
    weights = tmp_path / "weights.safetensors"
    save_model(library, str(weights))
    given = {"kind": "open_clip", "name": "tiny-xlm", "pretrained": str(weights)}
    vectors = loaded(given, device="cpu").encode_texts(TEXTS)
    with torch.inference_mode():
        tokens = open_clip.get_tokenizer("tiny-xlm")(TEXTS)
        expected = library.encode_text(tokens, normalize=True).numpy()
    np.testing.assert_allclose(vectors, expected, atol=1e-5)
    assert np.ptp(vectors @ vectors.T) > 1e-3
