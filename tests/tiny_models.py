"""Checkpoints of a few thousand random weights, in the forms of the hub's T5 and Pegasus."""

from pathlib import Path
from typing import Any

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors, trainers
from transformers import (
    PegasusConfig,
    PegasusForConditionalGeneration,
    PreTrainedTokenizerFast,
    T5Config,
    T5ForConditionalGeneration,
)

WORDS = "summarize : a dog runs . one brown two cats asleep ! zebra field green clock in the on"
_SPECIAL = ["<pad>", "</s>", "<unk>"]


def save_summariser(place: Path, kind: str) -> Path:
    """Save a tiny `t5` or `pegasus`, tokenizer and safetensors, in `place`."""
    tokenizer = _tokenizer()
    tokenizer.save_pretrained(place)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model: Any = {"t5": _t5, "pegasus": _pegasus}[kind](len(tokenizer))
    model.save_pretrained(place, safe_serialization=True)
    return place


def _tokenizer() -> PreTrainedTokenizerFast:
    words = Tokenizer(models.WordLevel(unk_token="<unk>"))
    words.pre_tokenizer = pre_tokenizers.Whitespace()
    words.train_from_iterator([WORDS], trainers.WordLevelTrainer(special_tokens=_SPECIAL))
    words.post_processor = processors.TemplateProcessing(
        single="$A </s>", special_tokens=[("</s>", 1)]
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=words, pad_token="<pad>", eos_token="</s>", unk_token="<unk>"
    )


def _t5(words: int) -> Any:
    sizes: dict[str, Any] = {"d_model": 16, "d_kv": 4, "d_ff": 16, "num_layers": 1, "num_heads": 2}
    sizes |= {"decoder_start_token_id": 0}
    return T5ForConditionalGeneration(T5Config(vocab_size=words, **sizes))


def _pegasus(words: int) -> Any:
    sizes: dict[str, Any] = {"layers": 1, "attention_heads": 2, "ffn_dim": 16}
    both = {f"{side}_{what}": n for side in ("encoder", "decoder") for what, n in sizes.items()}
    ids: dict[str, Any] = {"pad_token_id": 0, "eos_token_id": 1, "decoder_start_token_id": 0}
    ids |= {"forced_eos_token_id": 1, "max_position_embeddings": 512}
    return PegasusForConditionalGeneration(
        PegasusConfig(vocab_size=words, d_model=16, **both, **ids)
    )
