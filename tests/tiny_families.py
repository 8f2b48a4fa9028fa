"""Checkpoints of a few thousand random weights in the forms of the families of 2025 and 2026.

Configs, tokenizers, image processors, chat templates and names of weights are those of the hub's
checkpoints; only the sizes are not.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
import transformers
from safetensors.torch import save_file
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

WORDS = (
    "A dog runs over the green field. Two cats sleep! Represent the user's input. You are a "
    "helpful assistant. system user zebra clock; ein Bild, 一张图片 NULL Retrieve pictures for "
    "this section."
)
# The arguments of its configs have types that plain data does not fit.
library: Any = transformers
CHAT = [
    "<|endoftext|>",
    *("<|im_start|>", "<|im_end|>", "<|vision_start|>", "<|vision_end|>"),
    *("<|image_pad|>", "<|video_pad|>"),
]
# As the hub's templates of Qwen2-VL and Qwen3-VL lay out one turn of each.
TEMPLATE = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n"
    "{% if message['content'] is string %}{{ message['content'] }}{% else %}"
    "{% for content in message['content'] %}{% if content['type'] == 'image' %}"
    "<|vision_start|><|image_pad|><|vision_end|>{% else %}{{ content['text'] }}{% endif %}"
    "{% endfor %}{% endif %}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
WIDTH = 32


def _weights(place: Path, make: Any) -> Any:
    with torch.random.fork_rng():
        torch.manual_seed(3)
        model = make().eval()
    model.save_pretrained(place, safe_serialization=True)
    return model


def write_json(path: Path, values: Mapping[str, Any]) -> None:
    """Write a JSON file, and the folder that it is in."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(values), encoding="utf-8")


def _byte_tokenizer(words: int = 320) -> Tokenizer:
    """A byte-level BPE, as Qwen's."""
    made = Tokenizer(models.BPE())
    made.normalizer = normalizers.NFC()
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=words, special_tokens=CHAT, initial_alphabet=alphabet, show_progress=False
    )
    made.train_from_iterator([WORDS], trainer)
    return made


def chat_tokenizer() -> Any:
    """The tokenizer of Qwen's chat models, with its template."""
    made = library.PreTrainedTokenizerFast(
        tokenizer_object=_byte_tokenizer(), pad_token=CHAT[0], eos_token=CHAT[2]
    )
    made.chat_template = TEMPLATE
    return made


def _text_sizes(words: int) -> dict[str, Any]:
    return {
        "vocab_size": words,
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "num_key_value_heads": 1,
        "head_dim": 16,
        "intermediate_size": 48,
        "max_position_embeddings": 256,
        "bos_token_id": 0,
        "eos_token_id": 2,
        "pad_token_id": 0,
    }


def _multimodal(sections: list[int]) -> dict[str, Any]:
    theta = 10_000.0
    kind = {"rope_type": "default", "rope_theta": theta, "mrope_section": sections}
    return {"rope_parameters": kind}


def _marks(tokenizer: Any) -> dict[str, int]:
    names = ("vision_start", "vision_end", "image_pad", "video_pad")
    keys = (*("vision_start_token_id", "vision_end_token_id"), "image_token_id", "video_token_id")
    ids = (tokenizer.convert_tokens_to_ids(f"<|{name}|>") for name in names)
    return dict(zip(keys, ids, strict=True))


def save_qwen3_vl(place: Path) -> Any:
    """Save Qwen3-VL-Embedding in little, with sentence-transformers' files; return the model."""
    tokenizer = chat_tokenizer()
    tokenizer.save_pretrained(place)
    vision = {
        "depth": 2,
        "hidden_size": 16,
        "num_heads": 2,
        "intermediate_size": 32,
        "out_hidden_size": WIDTH,
        "patch_size": 4,
        "num_position_embeddings": 16,
        "deepstack_visual_indexes": [0],
    }
    text = {**_text_sizes(len(tokenizer)), **_multimodal([4, 2, 2])}
    config = library.Qwen3VLConfig(
        text_config=text, vision_config=vision, tie_word_embeddings=True, **_marks(tokenizer)
    )
    model = _weights(place, lambda: library.Qwen3VLForConditionalGeneration(config))
    sizes = {"shortest_edge": 64, "longest_edge": 4_096}
    library.Qwen2VLImageProcessorPil(
        patch_size=4, merge_size=2, size=sizes, image_mean=[0.5] * 3, image_std=[0.5] * 3
    ).save_pretrained(place)
    save_sentence_files(place, "lasttoken")
    return model.model


def save_gme(place: Path) -> Any:
    """Save GME-Qwen2-VL in little, by the names that its own class gives weights; return it."""
    tokenizer = chat_tokenizer()
    tokenizer.save_pretrained(place)
    vision = {"depth": 2, "embed_dim": 16, "num_heads": 2, "hidden_size": WIDTH, "patch_size": 4}
    text = {**_text_sizes(len(tokenizer)), **_multimodal([4, 2, 2])}
    config = library.Qwen2VLConfig(text_config=text, vision_config=vision, **_marks(tokenizer))
    model = _weights(place, lambda: library.Qwen2VLModel(config))
    state = {_old_name(k): v.contiguous() for k, v in model.state_dict().items()}
    save_file(state, place / "model.safetensors", {"format": "pt"})
    own: dict[str, Any] = json.loads((place / "config.json").read_text())
    own |= {"architectures": ["GmeQwen2VL"], "min_image_tokens": 2, "max_image_tokens": 40}
    own |= {"max_length": 96, "auto_map": {"AutoModel": "modeling_gme_qwen2vl.GmeQwen2VL"}}
    write_json(place / "config.json", own)
    library.Qwen2VLImageProcessorPil(patch_size=4).save_pretrained(place)
    return model


def _old_name(name: str) -> str:
    """A weight of Qwen2-VL as checkpoints of 2024 call it."""
    name = name.removeprefix("model.")
    if name.startswith("visual."):
        return name
    return f"model.{name.removeprefix('language_model.')}"


def save_qwen3(place: Path) -> Any:
    """Save Qwen3-Embedding in little: its tokenizer ends every text; return the model."""
    made = _byte_tokenizer()
    made.post_processor = processors.TemplateProcessing(
        single=f"$A {CHAT[0]}", special_tokens=[(CHAT[0], 0)]
    )
    tokenizer = library.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token=CHAT[0], padding_side="left", model_max_length=256
    )
    tokenizer.save_pretrained(place)
    sizes = {**_text_sizes(len(tokenizer)), "pad_token_id": None}  # padding has zeros for a vector
    config = library.Qwen3Config(**sizes)
    model = _weights(place, lambda: library.Qwen3Model(config))
    save_sentence_files(place, "lasttoken")
    prompts = {"query": "Instruct: Retrieve pictures\nQuery:", "document": ""}
    write_json(place / "config_sentence_transformers.json", {"prompts": prompts})
    return model


def save_sentence_files(place: Path, pooling: str) -> None:
    """Write what sentence-transformers writes beside a checkpoint."""
    kinds = ("Transformer", "Pooling", "Normalize")
    paths = ("", "1_Pooling", "2_Normalize")
    modules = [
        {"idx": n, "name": str(n), "path": path, "type": f"sentence_transformers.models.{kind}"}
        for n, (kind, path) in enumerate(zip(kinds, paths, strict=True))
    ]
    (place / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    flags = {f"pooling_mode_{m}": m == pooling for m in ("cls_token", "mean_tokens", "lasttoken")}
    write_json(place / "1_Pooling/config.json", {"word_embedding_dimension": WIDTH, **flags})


def gemma_tokenizer() -> Any:
    """The tokenizer of SigLIP 2 in the form of Gemma's, which keeps capitals apart."""
    made = Tokenizer(models.BPE(unk_token="<unk>", byte_fallback=True))
    made.normalizer = normalizers.Replace(" ", "▁")
    made.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    special = ["<pad>", "<eos>", "<bos>", "<unk>"]
    trainer = trainers.BpeTrainer(vocab_size=200, special_tokens=special, show_progress=False)
    made.train_from_iterator([WORDS, WORDS.lower()], trainer)
    made.post_processor = processors.TemplateProcessing(
        single="$A <eos>", special_tokens=[("<eos>", 1)]
    )
    return library.PreTrainedTokenizerFast(
        tokenizer_object=made,
        pad_token="<pad>",
        eos_token="<eos>",
        unk_token="<unk>",
        padding_side="right",
        model_input_names=["input_ids"],
    )


def save_siglip(place: Path, *, naflex: bool) -> Any:
    """Save SigLIP 2 in little, of one resolution or of each picture's; return the model."""
    tokenizer = gemma_tokenizer()
    tokenizer.save_pretrained(place)
    layers: dict[str, Any] = {
        "hidden_size": WIDTH,
        "num_hidden_layers": 2,
        "num_attention_heads": 2,
        "intermediate_size": 48,
    }
    text = {**layers, "vocab_size": len(tokenizer), "max_position_embeddings": 64}
    text |= {"projection_size": WIDTH}
    if naflex:
        config: Any = library.Siglip2Config(
            text_config=text, vision_config={**layers, "patch_size": 4, "num_patches": 16}
        )
        processor: Any = library.Siglip2ImageProcessorPil(patch_size=4, max_num_patches=16)
    else:
        vision = {**layers, "image_size": 24, "patch_size": 8}
        config = library.SiglipConfig(text_config=text, vision_config=vision)
        processor = library.SiglipImageProcessorPil(size={"height": 24, "width": 24})
    processor.save_pretrained(place)
    kind = library.Siglip2Model if naflex else library.SiglipModel
    return _weights(place, lambda: kind(config))


JINA_TASKS = ["retrieval.query", "text-matching"]


def save_jina_clip(place: Path) -> dict[str, torch.Tensor]:
    """Save jina-clip-v2 in little, by the names of its published weights; return these."""
    made = Tokenizer(models.WordLevel({"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3}, "<unk>"))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    made.train_from_iterator([WORDS], trainers.WordLevelTrainer(special_tokens=special))
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    tokenizer = library.PreTrainedTokenizerFast(
        tokenizer_object=made, pad_token="<pad>", unk_token="<unk>"
    )
    tokenizer.save_pretrained(place)
    write_json(place / "config.json", jina_config(len(tokenizer)))
    processor = {
        "image_processor_type": "JinaCLIPImageProcessor",
        "auto_map": {"AutoProcessor": "jinaai/jina-clip-implementation--processing_clip.Processor"},
        "size": 40,
        "mean": [0.48145466, 0.4578275, 0.40821073],
        "std": [0.26862954, 0.26130258, 0.27577711],
        "resize_mode": "shortest",
        "interpolation": "bicubic",
        "fill_color": 0,
    }
    write_json(place / "preprocessor_config.json", processor)
    with torch.random.fork_rng():
        torch.manual_seed(8)
        weights = {**_jina_text(len(tokenizer)), **_jina_vision()}
    save_file(weights, place / "model.safetensors", {"format": "pt"})
    return weights


def jina_config(words: int) -> dict[str, Any]:
    """The config.json of jina-clip-v2 with other sizes."""
    text = {
        "default_instruction_task": None,
        "default_lora_task": JINA_TASKS[0],
        "embed_dim": WIDTH,
        "hf_model_config_kwargs": {
            "load_trained_adapters": False,
            "lora_adaptations": JINA_TASKS,
            "lora_alpha": 6,
            "lora_rank": 3,
            "task_instructions": {JINA_TASKS[0]: "Represent the user's input: "},
            "use_flash_attn": True,
            "vocab_size": words,
            "hidden_size": WIDTH,
            "num_hidden_layers": 2,
            "num_attention_heads": 2,
            "intermediate_size": 48,
            "max_position_embeddings": 130,
        },
        "hf_model_name_or_path": "jinaai/jina-embeddings-v3",
        "model_type": "jina_clip_text",
        "pooler_type": "mean_pooler",
        "proj_bias": False,
        "proj_type": None,
    }
    vision = {
        "drop_path_rate": 0.0,
        "embed_dim": WIDTH,
        "fused_layer_norm": False,
        "head_width": 16,
        "image_size": 40,
        "intp_freq": True,
        "layers": 2,
        "ls_init_value": None,
        "mlp_ratio": 2.6667,
        "model_type": "jina_clip_vision",
        "naive_swiglu": True,
        "patch_dropout": 0.1,
        "patch_size": 8,
        "post_norm": False,
        "proj_type": None,
        "pt_hw_seq_len": 4,
        "qkv_bias": True,
        "rope_embeddings": True,
        "subln": True,
        "width": WIDTH,
        "x_attention": True,
    }
    code = "jinaai/jina-clip-implementation--"
    return {
        "add_projections": False,
        "architectures": ["JinaCLIPModel"],
        "auto_map": {
            "AutoConfig": f"{code}configuration_clip.JinaCLIPConfig",
            "AutoModel": f"{code}modeling_clip.JinaCLIPModel",
        },
        "matryoshka_dimensions": [8, 16, WIDTH],
        "model_type": "jina_clip",
        "projection_dim": WIDTH,
        "text_config": text,
        "vision_config": vision,
    }


def _random(*shape: int) -> torch.Tensor:
    return torch.randn(*shape) * 0.2


def _adapted(name: str, rows: int, columns: int) -> dict[str, torch.Tensor]:
    """A weight with two adapters of rank 3, as torch's parametrizations name them."""
    a, b = ((rows, 3), (3, columns)) if "_embeddings" in name else ((3, columns), (rows, 3))
    key = f"{name}.parametrizations.weight"
    return {
        f"{key}.original": _random(rows, columns),
        f"{key}.0.lora_A": _random(2, *a),
        f"{key}.0.lora_B": _random(2, *b),
    }


def _norm(name: str, width: int) -> dict[str, torch.Tensor]:
    return {f"{name}.weight": 1 + _random(width), f"{name}.bias": _random(width)}


def _jina_text(words: int) -> dict[str, torch.Tensor]:
    top = "text_model.transformer.roberta"
    made = _adapted(f"{top}.embeddings.word_embeddings", words, WIDTH)
    made |= _adapted(f"{top}.embeddings.token_type_embeddings", 1, WIDTH)
    made |= _norm(f"{top}.emb_ln", WIDTH)
    sizes = {"mixer.Wqkv": (96, 32), "mixer.out_proj": (32, 32), "mlp.fc1": (48, 32)}
    for n in range(2):
        layer = f"{top}.encoder.layers.{n}"
        for name, shape in {**sizes, "mlp.fc2": (32, 48)}.items():
            made |= _adapted(f"{layer}.{name}", *shape)
            made[f"{layer}.{name}.bias"] = _random(shape[0])
        made |= _norm(f"{layer}.norm1", WIDTH) | _norm(f"{layer}.norm2", WIDTH)
    made |= _adapted(f"{top}.pooler.dense", WIDTH, WIDTH)
    made[f"{top}.pooler.dense.bias"] = _random(WIDTH)
    return made | {"logit_scale": torch.tensor(2.6592)}


def _jina_vision() -> dict[str, torch.Tensor]:
    hidden, patches = int(WIDTH * 2.6667), (40 // 8) ** 2
    made = {
        "cls_token": _random(1, 1, WIDTH),
        "pos_embed": _random(1, patches + 1, WIDTH),
        "patch_embed.proj.weight": _random(WIDTH, 3, 8, 8),
        "patch_embed.proj.bias": _random(WIDTH),
        **_norm("norm", WIDTH),
    }
    for n in range(2):
        own = f"blocks.{n}"
        made |= {f"{own}.attn.{p}_proj.weight": _random(WIDTH, WIDTH) for p in "qkv"}
        made |= {f"{own}.attn.{p}_bias": _random(WIDTH) for p in "qv"}
        made |= {f"{own}.attn.proj.weight": _random(WIDTH, WIDTH)}
        made |= {f"{own}.attn.proj.bias": _random(WIDTH)}
        made |= _norm(f"{own}.attn.inner_attn_ln", WIDTH)
        made |= _norm(f"{own}.norm1", WIDTH) | _norm(f"{own}.norm2", WIDTH)
        for name, shape in {"w1": (hidden, WIDTH), "w2": (hidden, WIDTH)}.items():
            made |= {f"{own}.mlp.{name}.weight": _random(*shape)}
            made |= {f"{own}.mlp.{name}.bias": _random(hidden)}
        made |= _norm(f"{own}.mlp.ffn_ln", hidden)
        made |= {f"{own}.mlp.w3.weight": _random(WIDTH, hidden)}
        made |= {f"{own}.mlp.w3.bias": _random(WIDTH)}
    return {f"vision_model.{name}": tensor for name, tensor in made.items()}
