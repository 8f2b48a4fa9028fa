"""Checkpoints of a few thousand random weights, in the forms of learned sparse models."""

import json
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from transformers import BertConfig, BertForMaskedLM, PreTrainedTokenizerFast

WORDS = "two red balls a boat at the left of green hill : . , ball dog cat runs sea ship"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
VOCABULARY = [*SPECIAL, *WORDS.split()]
CONTEXT = 40
_ST = "sentence_transformers.sparse_encoder"


def _tokenizer() -> PreTrainedTokenizerFast:
    made = Tokenizer(models.WordPiece({w: n for n, w in enumerate(VOCABULARY)}, unk_token="[UNK]"))
    made.normalizer = normalizers.BertNormalizer()
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    names = ("pad", "unk", "cls", "sep", "mask")
    marks: dict[str, Any] = {f"{n}_token": w for n, w in zip(names, SPECIAL, strict=True)}
    return PreTrainedTokenizerFast(tokenizer_object=made, model_max_length=CONTEXT, **marks)


def save_masked(place: Path, **more: Any) -> Path:
    """Save a tiny BERT with its masked language model's head."""
    sizes: dict[str, Any] = {"hidden_size": 16, "num_hidden_layers": 2, "intermediate_size": 24}
    sizes |= {"num_attention_heads": 2, "max_position_embeddings": CONTEXT}
    with torch.random.fork_rng():
        torch.manual_seed(4)
        model = BertForMaskedLM(
            BertConfig(vocab_size=len(VOCABULARY) + 2, initializer_range=0.8, **sizes, **more)
        )
        torch.nn.init.normal_(model.cls.predictions.bias, -2.0, 1.5)
    model.eval().save_pretrained(place)
    _tokenizer().save_pretrained(place)
    return place


def save_splade(place: Path, strategy: str = "max", activation: str = "relu") -> Path:
    """Save it as a SparseEncoder of sentence-transformers."""
    save_masked(place)
    (place / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": CONTEXT}))
    _pooling(place / "1_SpladePooling", strategy, activation)
    listed = [
        ("", f"{_ST}.models.MLMTransformer"),
        ("1_SpladePooling", f"{_ST}.models.SpladePooling"),
    ]
    _list(place, listed)
    return place


def save_inference_free(place: Path) -> Path:
    """Save one whose queries are read by static weights, behind a router."""
    document = "document_0_MLMTransformer"
    save_masked(place / document)
    (place / document / "sentence_bert_config.json").write_text('{"max_seq_length": 40}')
    _pooling(place / "document_1_SpladePooling", "max", "log1p_relu")
    query = place / "query_0_SparseStaticEmbedding"
    _tokenizer().save_pretrained(query)
    with torch.random.fork_rng():
        torch.manual_seed(6)
        save_file({"weight": torch.rand(len(VOCABULARY)) * 5}, query / "model.safetensors")
    (query / "config.json").write_text('{"frozen": false}')
    kinds = {"query_0_SparseStaticEmbedding": "SparseStaticEmbedding"}
    kinds |= {document: "MLMTransformer", "document_1_SpladePooling": "SpladePooling"}
    router = {
        "types": {name: f"{_ST}.models.{kind}" for name, kind in kinds.items()},
        "structure": {"query": [query.name], "document": [document, "document_1_SpladePooling"]},
        "parameters": {"default_route": "document", "allow_empty_key": True},
    }
    (place / "router_config.json").write_text(json.dumps(router))
    _list(place, [("", "sentence_transformers.models.Router")])
    return place


def _pooling(place: Path, strategy: str, activation: str) -> None:
    place.mkdir()
    config = {"pooling_strategy": strategy, "activation_function": activation}
    config |= {"word_embedding_dimension": None}
    (place / "config.json").write_text(json.dumps(config))


def _list(place: Path, modules: list[tuple[str, str]]) -> None:
    rows = [{"idx": n, "name": str(n), "path": p, "type": t} for n, (p, t) in enumerate(modules)]
    (place / "modules.json").write_text(json.dumps(rows))
    config = {"model_type": "SparseEncoder", "similarity_fn_name": "dot"}
    (place / "config_sentence_transformers.json").write_text(json.dumps(config))
