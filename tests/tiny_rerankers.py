"""Checkpoints of rerankers with a few thousand random weights, in the forms of the hub's."""

import io
import json
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import (
    BertConfig,
    BertForSequenceClassification,
    PreTrainedTokenizerFast,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
    Qwen3Config,
    Qwen3ForCausalLM,
    Qwen3VLConfig,
    Qwen3VLForConditionalGeneration,
    XLMRobertaConfig,
    XLMRobertaForSequenceClassification,
)
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil

MARKS = [
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>"),
    *("<|image_pad|>", "<|video_pad|>"),
]
# As Qwen's own renders turns of texts and pictures.
TEMPLATE = """{% for turn in messages %}<|im_start|>{{ turn.role }}
{% for part in turn.content %}{% if part.type == 'image' %}<|vision_start|><|image_pad|>\
<|vision_end|>{% else %}{{ part.text }}{% endif %}{% endfor %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
WORDS = ["a", "dog", "runs", "two", "red", "balls", "on", "the", "green", "field", "boat", "left"]
_SIZES: dict[str, Any] = {"hidden_size": 16, "intermediate_size": 24, "num_hidden_layers": 2}
_TEXT: dict[str, Any] = {**_SIZES, "num_attention_heads": 2, "num_key_value_heads": 1}
KINDS = ("bert", "xlm-roberta", "qwen3", "qwen3-vl", "jina-m0")


def save(place: Path, kind: str, seed: int = 0, **config: Any) -> Path:
    """Save a tiny reranker of one of `KINDS` in a folder: config, weights, tokenizer."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        {
            "bert": _bert,
            "xlm-roberta": _roberta,
            "qwen3": _qwen,
            "qwen3-vl": _qwen_vl,
            "jina-m0": _jina,
        }[kind](place, config)
    return place


def picture(width: int, height: int, seed: int = 0) -> bytes:
    """Return a picture as the crawl keeps it."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        noise = torch.randint(0, 256, (height, width, 3), dtype=torch.uint8).numpy()
    file = io.BytesIO()
    Image.fromarray(noise).save(file, "WEBP", lossless=True)
    return file.getvalue()


def _words() -> PreTrainedTokenizerFast:
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
    made = Tokenizer(
        models.WordLevel({w: n for n, w in enumerate([*special, *WORDS])}, unk_token="[UNK]")
    )
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    tokens = {"pad_token": "[PAD]", "unk_token": "[UNK]", "sep_token": "[SEP]"}
    return PreTrainedTokenizerFast(
        tokenizer_object=made,
        model_max_length=64,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **tokens,
    )


def _grow(model: Any) -> Any:
    """Draw weights that matter: those of an untrained model make scores that hardly differ."""
    for weights in model.parameters():
        torch.nn.init.normal_(weights, std=0.3)
    return model


def _bert(place: Path, config: dict[str, Any]) -> None:
    sizes: Any = {**_SIZES, "num_attention_heads": 2, "vocab_size": 4 + len(WORDS)}
    sizes |= {"max_position_embeddings": 64, "num_labels": 1, **config}
    of = BertConfig(**sizes)
    _grow(BertForSequenceClassification(of)).save_pretrained(place)
    _words().save_pretrained(place)


def _roberta(place: Path, config: dict[str, Any]) -> None:
    sizes: Any = {**_SIZES, "num_attention_heads": 2, "vocab_size": 4 + len(WORDS)}
    sizes |= {"pad_token_id": 0, "max_position_embeddings": 65, "type_vocab_size": 2}
    sizes |= {"num_labels": 1, **config}
    of = XLMRobertaConfig(**sizes)
    _grow(XLMRobertaForSequenceClassification(of)).save_pretrained(place)
    _words().save_pretrained(place)


def bytewise(words: str = "yes no a dog runs on the green field") -> PreTrainedTokenizerFast:
    """Return a tokenizer of bytes with some words, the marks of Qwen's prompts, and a template."""
    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=300, special_tokens=MARKS, initial_alphabet=alphabet)
    made.train_from_iterator([words] * 8, trainer)
    tokenizer = PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<|endoftext|>", eos_token="<|im_end|>"
    )
    tokenizer.chat_template = TEMPLATE
    return tokenizer


def _ids(tokenizer: Any) -> dict[str, Any]:
    names = ("image", "video", "vision_start", "vision_end")
    marks = ("<|image_pad|>", "<|video_pad|>", "<|vision_start|>", "<|vision_end|>")
    of = tokenizer.convert_tokens_to_ids
    return {f"{name}_token_id": of(mark) for name, mark in zip(names, marks, strict=True)}


def _qwen(place: Path, config: dict[str, Any]) -> None:
    tokenizer = bytewise()
    sizes: Any = {**_TEXT, "head_dim": 8, "vocab_size": len(tokenizer), **config}
    sizes |= {"max_position_embeddings": 2048, "tie_word_embeddings": True}
    _grow(Qwen3ForCausalLM(Qwen3Config(**sizes))).save_pretrained(place)
    tokenizer.save_pretrained(place)


def _qwen_vl(place: Path, config: dict[str, Any]) -> None:
    tokenizer = bytewise()
    rope = {"rope_type": "default", "mrope_section": [2, 1, 1], "mrope_interleaved": True}
    text = {**_TEXT, "head_dim": 8, "vocab_size": len(tokenizer), "max_position_embeddings": 2048}
    text |= {"rope_parameters": {**rope, "rope_theta": 10_000.0}}
    vision: Any = {"depth": 2, "hidden_size": 16, "intermediate_size": 24, "num_heads": 2}
    vision |= {
        "out_hidden_size": 16,
        "num_position_embeddings": 64,
        "deepstack_visual_indexes": [0],
    }
    both: Any = {**_ids(tokenizer), "tie_word_embeddings": True, **config}
    of = Qwen3VLConfig(text_config=text, vision_config=vision, **both)
    _grow(Qwen3VLForConditionalGeneration(of)).save_pretrained(place)
    tokenizer.save_pretrained(place)
    Qwen2VLImageProcessorPil(patch_size=16).save_pretrained(place)


def qwen2_vl(tokenizer: Any) -> Any:
    """Return a tiny Qwen2-VL with random weights."""
    rope = {"type": "mrope", "mrope_section": [2, 1, 1], "rope_theta": 10_000.0}
    text = {**_TEXT, "vocab_size": len(tokenizer), "max_position_embeddings": 12_000}
    vision = {"depth": 2, "embed_dim": 16, "hidden_size": 16, "num_heads": 2, "mlp_ratio": 2}
    config = Qwen2VLConfig(
        text_config={**text, "rope_scaling": rope}, vision_config=vision, **_ids(tokenizer)
    )
    return _grow(Qwen2VLForConditionalGeneration(config))


# The names that the published checkpoint's weights have.
_PUBLISHED = (("model.language_model.", "model."), ("model.visual.", "visual."))


def _jina(place: Path, config: dict[str, Any]) -> None:
    tokenizer = bytewise()
    qwen2_vl(tokenizer).save_pretrained(place)
    weights = load_file(place / "model.safetensors")
    weights = {k: v for k, v in weights.items() if not k.startswith("lm_head.")}
    for new, old in _PUBLISHED:
        weights = {
            k.replace(new, old, 1) if k.startswith(new) else k: v for k, v in weights.items()
        }
    for layer, rows in (("0", 16), ("2", 1)):
        weights[f"score.{layer}.weight"] = torch.randn(rows, 16)
        weights[f"score.{layer}.bias"] = torch.randn(rows)
    save_file(weights, place / "model.safetensors", {"format": "pt"})
    told = json.loads((place / "config.json").read_text())
    told |= {"architectures": ["JinaVLForRanking"], **config}
    told["auto_map"] = {"AutoModel": "modeling.JinaVLForRanking"}
    (place / "config.json").write_text(json.dumps(told))
    tokenizer.save_pretrained(place)
    Qwen2VLImageProcessorPil(patch_size=14).save_pretrained(place)
