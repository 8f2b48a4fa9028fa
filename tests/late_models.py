"""Checkpoints of a few thousand random weights, in the forms of late-interaction models."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import AddedToken, Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import (
    AutoConfig,
    BertConfig,
    BertModel,
    ColModernVBertConfig,
    ColModernVBertForRetrieval,
    ColModernVBertProcessor,
    ColPaliConfig,
    ColPaliForRetrieval,
    ColPaliProcessor,
    ColQwen2Config,
    ColQwen2ForRetrieval,
    ColQwen2Processor,
    Idefics3ImageProcessorPil,
    PreTrainedTokenizerFast,
    Qwen2VLImageProcessorPil,
    SiglipImageProcessorPil,
)

WORDS = "two red balls a boat at the left of green hill : . , question query describe image user"
DIM, SIDE, HIDDEN = 12, 28, 16
_SPECIAL = ["<pad>", "<s>", "</s>", "<unk>", "<mask>", "<image>"]


def save_late(place: Path, kind: str) -> Any:
    """Save a tiny `colpali`, `colqwen2` or `colmodernvbert` in `place`; return the model."""
    with torch.random.fork_rng():
        torch.manual_seed(1)
        model, processor = _MAKERS[kind]()
    model.eval().save_pretrained(place)
    processor.save_pretrained(place)
    return model, processor


def _tokenizer(*special: str, side: str = "right") -> PreTrainedTokenizerFast:
    every = [*_SPECIAL, *special]
    words = [*every, *dict.fromkeys(WORDS.split())]
    made = Tokenizer(models.WordLevel({word: n for n, word in enumerate(words)}, unk_token="<unk>"))
    made.normalizer = normalizers.Lowercase()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.add_special_tokens([AddedToken(word, normalized=False, special=True) for word in every])
    names = ("pad", "bos", "eos", "unk", "mask")
    marks: dict[str, Any] = {f"{n}_token": w for n, w in zip(names, _SPECIAL, strict=False)}
    return PreTrainedTokenizerFast(
        tokenizer_object=made, padding_side=side, additional_special_tokens=every[5:], **marks
    )


def _siglip(patch: int, side: int = SIDE) -> dict[str, Any]:
    sizes = {"hidden_size": HIDDEN, "intermediate_size": 24, "num_hidden_layers": 1}
    return {**sizes, "num_attention_heads": 2, "patch_size": patch, "image_size": side}


def _colpali() -> Any:
    tokenizer = _tokenizer()
    pictures: Any = SiglipImageProcessorPil(size={"height": SIDE, "width": SIDE})
    pictures.image_seq_length = 4
    processor = ColPaliProcessor(pictures, tokenizer)
    text = {"model_type": "gemma", "vocab_size": len(processor.tokenizer), "head_dim": 8}
    text |= {"hidden_size": HIDDEN, "intermediate_size": 24, "num_hidden_layers": 2}
    text |= {"num_attention_heads": 2, "num_key_value_heads": 1, "pad_token_id": 0}
    vision = {"model_type": "siglip_vision_model", **_siglip(14), "vision_use_head": False}
    inner = AutoConfig.for_model(
        "paligemma",
        text_config=text,
        vision_config={**vision, "projection_dim": HIDDEN},
        projection_dim=HIDDEN,
        image_token_index=processor.image_token_id,
    )
    return ColPaliForRetrieval(ColPaliConfig(vlm_config=inner, embedding_dim=DIM)), processor


def _colqwen2() -> Any:
    special = ["<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>"]
    special += ["<|image_pad|>", "<|video_pad|>", "<|endoftext|>"]
    tokenizer = _tokenizer(*special, side="left")
    pictures = Qwen2VLImageProcessorPil(
        patch_size=14, merge_size=2, size={"shortest_edge": 28 * 28, "longest_edge": 84 * 84}
    )
    processor = ColQwen2Processor(pictures, tokenizer)
    ids = [tokenizer.vocab[word] for word in special[2:6]]
    names = ("vision_start_token_id", "vision_end_token_id", "image_token_id", "video_token_id")
    sizes = {"hidden_size": HIDDEN, "intermediate_size": 24, "num_hidden_layers": 2}
    sizes |= {"num_attention_heads": 2, "num_key_value_heads": 1, "vocab_size": len(tokenizer)}
    rope = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 10_000.0}
    vision = {"depth": 1, "embed_dim": HIDDEN, "hidden_size": HIDDEN, "num_heads": 2}
    inner = AutoConfig.for_model(
        "qwen2_vl",
        text_config={**sizes, "rope_parameters": rope},
        vision_config={**vision, "patch_size": 14, "mlp_ratio": 1},
        **dict(zip(names, ids, strict=True)),
    )
    return ColQwen2ForRetrieval(ColQwen2Config(vlm_config=inner, embedding_dim=DIM)), processor


def _colmodernvbert() -> Any:
    special = ["<fake_token_around_image>", "<end_of_utterance>", "<global-img>"]
    special += [f"<row_{i}_col_{j}>" for i in range(1, 7) for j in range(1, 7)]
    tokenizer = _tokenizer(*special, "<|begin_of_text|>")
    pictures = Idefics3ImageProcessorPil(
        size={"longest_edge": 2 * SIDE}, max_image_size={"longest_edge": SIDE}
    )
    processor = ColModernVBertProcessor(pictures, tokenizer, image_seq_len=1)
    sizes = {"hidden_size": HIDDEN, "intermediate_size": 24, "num_hidden_layers": 2}
    marks = {"pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2}
    marks |= {"cls_token_id": 1, "sep_token_id": 2}
    inner = AutoConfig.for_model(
        "modernvbert",
        text_config={
            "model_type": "modernbert",
            **sizes,
            **marks,
            "num_attention_heads": 2,
            "vocab_size": len(processor.tokenizer),
        },
        vision_config={"model_type": "siglip_vision_model", **_siglip(14)},
        pixel_shuffle_factor=2,
        image_token_id=processor.image_token_id,
    )
    config = ColModernVBertConfig(vlm_config=inner, embedding_dim=DIM)
    return ColModernVBertForRetrieval(config), processor


_MAKERS: dict[str, Callable[[], Any]] = {
    "colpali": _colpali,
    "colqwen2": _colqwen2,
    "colmodernvbert": _colmodernvbert,
}
FAMILIES = tuple(_MAKERS)


def save_colbert(place: Path) -> Path:
    """Save a tiny ColBERT as PyLate has them: a BERT and a dense layer without bias."""
    special = ["[Q]", "[D]"]
    tokenizer = _tokenizer(*special)
    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 1), ("</s>", 2)]
    )
    tokenizer.model_max_length = 40
    sizes: dict[str, Any] = {"hidden_size": HIDDEN, "num_hidden_layers": 2, "intermediate_size": 24}
    sizes |= {"num_attention_heads": 2, "max_position_embeddings": 48, "pad_token_id": 0}
    with torch.random.fork_rng():
        torch.manual_seed(2)
        model = BertModel(BertConfig(vocab_size=len(tokenizer), **sizes), add_pooling_layer=False)
        weight = torch.randn(DIM, HIDDEN)
    model.eval().save_pretrained(place)
    tokenizer.save_pretrained(place)
    dense: dict[str, Any] = {"in_features": HIDDEN, "out_features": DIM, "bias": False}
    dense["activation_function"] = "torch.nn.modules.linear.Identity"
    (place / "1_Dense").mkdir()
    (place / "1_Dense" / "config.json").write_text(json.dumps(dense))
    save_file({"linear.weight": weight}, place / "1_Dense" / "model.safetensors")
    _describe_colbert(place)
    return place


def _describe_colbert(place: Path) -> None:
    kinds = ("sentence_transformers.models.Transformer", "pylate.models.Dense.Dense")
    listed = [
        {"idx": n, "name": str(n), "path": path, "type": kind}
        for n, (path, kind) in enumerate(zip(("", "1_Dense"), kinds, strict=True))
    ]
    (place / "modules.json").write_text(json.dumps(listed))
    (place / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 39}))
    config = {"model_type": "ColBERT", "query_prefix": "[Q]", "document_prefix": "[D]"}
    config |= {"query_length": 8, "document_length": 20, "skiplist_words": [":", "."]}
    config |= {"attend_to_expansion_tokens": False, "similarity_fn_name": "MaxSim"}
    (place / "config_sentence_transformers.json").write_text(json.dumps(config))
