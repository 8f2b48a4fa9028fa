"""Chat models of pictures and texts with random weights, in the forms of the hub's."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import (
    Idefics3Config,
    Idefics3ForConditionalGeneration,
    Idefics3ImageProcessor,
    Idefics3Processor,
    PreTrainedTokenizerFast,
    Qwen2VLConfig,
    Qwen2VLForConditionalGeneration,
    Qwen2VLImageProcessor,
    Qwen2VLProcessor,
)
from transformers.models.qwen2_vl.video_processing_qwen2_vl import Qwen2VLVideoProcessor

# As the hub's Qwen2-VL-2B-Instruct has it, without videos and tools.
_QWEN = """\
{% for message in messages %}<|im_start|>{{ message['role'] }}
{% if message['content'] is string %}{{ message['content'] }}{% else %}\
{% for part in message['content'] %}\
{% if part['type'] == 'image' %}<|vision_start|><|image_pad|><|vision_end|>\
{% elif 'text' in part %}{{ part['text'] }}{% endif %}{% endfor %}{% endif %}<|im_end|>
{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant
{% endif %}"""
# As that of Idefics3-8B-Llama3 and SmolVLM.
_IDEFICS = """\
<|im_start|>{% for message in messages %}{{ message['role'] | capitalize }}:\
{% for part in message['content'] %}{% if part['type'] == 'text' %}{{ part['text'] }}\
{% elif part['type'] == 'image' %}{{ '<image>' }}{% endif %}{% endfor %}<end_of_utterance>
{% endfor %}{% if add_generation_prompt %}{{ 'Assistant:' }}{% endif %}"""
_QWEN_WORDS = [
    *("<|endoftext|>", "<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>"),
    *("<|vision_pad|>", "<|image_pad|>", "<|video_pad|>"),
]
_IDEFICS_WORDS = [
    *("<|im_start|>", "<end_of_utterance>", "<pad>", "<image>", "<fake_token_around_image>"),
    "<global-img>",
    *(f"<row_{r}_col_{c}>" for r in range(1, 7) for c in range(1, 7)),
]


def save_vlm(
    folder: Path, kind: str = "qwen2_vl", *, digits: str = "0123456789", seed: int = 0
) -> Path:
    """Save a tiny `qwen2_vl` or `idefics3`: processor, template, tokenizer and safetensors.

    Its tokenizer has a token a byte, but for digits that `digits` lacks: those are unknown.
    """
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        processor, model = _KINDS[kind](digits)
    processor.save_pretrained(folder)
    model.save_pretrained(folder, safe_serialization=True)
    return folder


def _tokenizer(special: list[str], digits: str, **named: str) -> PreTrainedTokenizerFast:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    characters = [letter for letter in letters if letter not in set("0123456789") - set(digits)]
    vocabulary = {word: n for n, word in enumerate(["<unk>", *characters])}
    bytewise = Tokenizer(models.BPE(vocab=vocabulary, merges=[], unk_token="<unk>"))
    bytewise.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    bytewise.decoder = decoders.ByteLevel()
    bytewise.add_special_tokens(special)
    return PreTrainedTokenizerFast(tokenizer_object=bytewise, unk_token="<unk>", **named)


def _qwen2_vl(digits: str) -> tuple[Any, Any]:
    tokenizer = _tokenizer(_QWEN_WORDS, digits, pad_token="<|endoftext|>", eos_token="<|im_end|>")
    ids: dict[str, Any] = {word: tokenizer.convert_tokens_to_ids(word) for word in _QWEN_WORDS}
    pictures = Qwen2VLImageProcessor(min_pixels=28 * 28, max_pixels=64 * 28 * 28)
    processor = Qwen2VLProcessor(
        image_processor=pictures,
        tokenizer=tokenizer,
        video_processor=Qwen2VLVideoProcessor(),
        chat_template=_QWEN,
    )
    text: Mapping[str, Any] = {
        "vocab_size": len(tokenizer),
        "hidden_size": 32,
        "intermediate_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "rope_parameters": {"rope_type": "default", "mrope_section": [2, 3, 3]},
        "tie_word_embeddings": False,
        "bos_token_id": ids["<|endoftext|>"],
        "eos_token_id": ids["<|im_end|>"],
    }
    vision = {"depth": 1, "embed_dim": 16, "hidden_size": 32, "num_heads": 2, "mlp_ratio": 2}
    config = Qwen2VLConfig(
        text_config=dict(text),
        vision_config=vision,
        image_token_id=ids["<|image_pad|>"],
        video_token_id=ids["<|video_pad|>"],
        vision_start_token_id=ids["<|vision_start|>"],
        vision_end_token_id=ids["<|vision_end|>"],
    )
    return processor, Qwen2VLForConditionalGeneration(config)


def _idefics3(digits: str) -> tuple[Any, Any]:
    tokenizer = _tokenizer(
        _IDEFICS_WORDS,
        digits,
        pad_token="<pad>",
        bos_token="<|im_start|>",
        eos_token="<end_of_utterance>",
    )
    pictures = Idefics3ImageProcessor(
        size={"longest_edge": 64}, max_image_size={"longest_edge": 32}
    )
    processor = Idefics3Processor(
        pictures, tokenizer=tokenizer, image_seq_len=4, chat_template=_IDEFICS
    )
    form: Any = Idefics3Config
    config = form(
        image_token_id=tokenizer.convert_tokens_to_ids("<image>"),
        pad_token_id=tokenizer.pad_token_id,
        scale_factor=2,
        vision_config={
            "hidden_size": 16,
            "intermediate_size": 16,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
            "image_size": 32,
            "patch_size": 8,
        },
        text_config={
            "model_type": "llama",
            "vocab_size": len(tokenizer),
            "hidden_size": 32,
            "intermediate_size": 32,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "num_key_value_heads": 1,
            "pad_token_id": tokenizer.pad_token_id,
        },
    )
    return processor, Idefics3ForConditionalGeneration(config)


_KINDS: Mapping[str, Callable[[str], tuple[Any, Any]]] = {
    "qwen2_vl": _qwen2_vl,
    "idefics3": _idefics3,
}
