"""jina-clip-v2: an EVA-02 vision tower and an XLM-RoBERTa text tower with rotary positions.

Koukounas et al., jina-clip-v2, arXiv 2412.08802, 2024, section 3. Its published code is not run:
the vision tower is timm's EVA-02 (Fang et al., EVA-02, 2023; Sun et al., EVA-CLIP, 2023), the text
tower jina-embeddings-v3 of transformers (Sturua et al., arXiv 2409.10173, 2024), whose adapter of
the checkpoint's `default_lora_task` is added to the weights once: W + alpha / rank x B A. A text's
vector is the mean of its tokens', a picture's that of its class token.
"""

from collections.abc import Mapping
from typing import Any

import open_clip.transform
import torch
import transformers
from PIL import Image
from timm.models.eva import Eva, checkpoint_filter_fn

from isotope.core.errors import UnknownModel
from isotope.models.families.checkpoint import CheckpointFiles, CheckpointSettings
from isotope.models.families.encoder import FamilyEncoder, FloatArray, mean_tokens
from isotope.models.transformers import lengths, tokenized

_TEXT, _VISION = "text_model.transformer.", "vision_model."
_ORIGINAL, _ADAPTER = ".parametrizations.weight.original", ".parametrizations.weight.0.lora_"
# Weights of the published names that transformers names otherwise.
_RENAMED = (
    ("emb_ln.", "embeddings.LayerNorm."),
    ("encoder.layers.", "layers."),
    ("mixer.out_proj.", "self_attn.o_proj."),
    ("norm1.", "post_attention_layernorm."),
    ("norm2.", "post_mlp_layernorm."),
)
_JOINED, _PARTS = "mixer.Wqkv.", ("self_attn.q_proj.", "self_attn.k_proj.", "self_attn.v_proj.")
# Sizes of jina-embeddings-v3 that a checkpoint may change; others are those of transformers.
_SIZES = (
    *("vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads"),
    *("intermediate_size", "max_position_embeddings", "type_vocab_size", "layer_norm_eps"),
)
_ALPHA, _RANK = 1, 4
# Ids of the padding and of the beginning are no places for tokens.
_NO_PLACES = 2
_NORM_EPS = 1e-6


def load(
    checkpoint: CheckpointFiles, settings: CheckpointSettings, device: str
) -> "JinaClipEncoder":
    """Load the encoder of a checkpoint.

    Raises:
        As `JinaClipEncoder`.
    """
    return JinaClipEncoder(checkpoint, settings, device)


class JinaClipEncoder(FamilyEncoder):
    """Both towers, from the checkpoint's own names of weights."""

    def __init__(
        self, checkpoint: CheckpointFiles, settings: CheckpointSettings, device: str
    ) -> None:
        """Load both towers; `instruction.texts` is a prefix, or the name of a task.

        Raises:
            BadParams: settings that the model does not have.
            UnknownModel: towers other than those of jina-clip-v2.
            CorruptFile: weights that do not load, or that are not all there.
            FetchFailed: a folder without the files it needs, or a hub that is out of reach.
        """
        checkpoint.only(settings, "dim", "context", "instruction.texts")
        config = checkpoint.config
        text, vision = config["text_config"], config["vision_config"]
        _demand_towers(checkpoint, config)
        cuts = config.get("matryoshka_dimensions") or ()
        super().__init__(device, checkpoint.cut(settings.dim, int(vision["embed_dim"]), cuts))
        text_config = _text_settings(text)
        prompts: Mapping[str, str] = text_config.get("task_instructions") or {}
        named = settings.instruction.get("texts", "")
        self._prompt = prompts.get(named, named)
        weights = checkpoint.weights()
        texts = _text_tower(
            checkpoint, text_config, _text_weights(weights, _adapter(checkpoint, text))
        )
        self._texts: Any = texts.to(self.device.torch)
        self._pictures: Any = _vision_tower(checkpoint, vision, weights).to(self.device.torch)
        self._tokenizer: Any = checkpoint.tokenizer(transformers.PreTrainedTokenizerFast)
        most = int(texts.config.max_position_embeddings) - _NO_PLACES
        self._context = checkpoint.context(settings.context, most, most)
        self._cut: Any = _transform(checkpoint.json("preprocessor_config.json"))
        self.side_px = int(self._cut(Image.new("RGB", (8, 8))).shape[-1])

    def encode_texts(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        tokens = tokenized(self._tokenizer, self._prompted(texts), self._context)
        ids, mask = self.on_device(tokens["input_ids"], tokens["attention_mask"])
        return self.unit(
            lambda: mean_tokens(
                self._texts(input_ids=ids, attention_mask=mask).last_hidden_state, mask
            )
        )

    def shapes(self, texts: list[str]) -> list[int]:
        """Return the tokens that each text is padded to."""
        return lengths(self._tokenizer, self._prompted(texts), self._context)

    def encode_images(self, images: list[Image.Image]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        [batch] = self.on_device(torch.stack([self._cut(image) for image in images]))
        return self.unit(lambda: self._pictures(batch))

    def _prompted(self, texts: list[str]) -> list[str]:
        return [self._prompt + text for text in texts]


def _text_settings(text: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return what config.json says of the text tower beyond jina-embeddings-v3's own config."""
    return text.get("hf_model_config_kwargs") or {}


def _demand_towers(checkpoint: CheckpointFiles, config: Mapping[str, Any]) -> None:
    """Check that towers and projections are those of jina-clip-v2.

    Raises:
        UnknownModel: they are not, such as those of jina-clip-v1.
    """
    text, vision = config["text_config"], config["vision_config"]
    tower = str(text.get("hf_model_name_or_path"))
    expected = {
        f"text tower {tower}": tower.endswith("jina-embeddings-v3"),
        f"pooling {text.get('pooler_type')}": text.get("pooler_type") == "mean_pooler",
        "projections": not config.get("add_projections")
        and text.get("proj_type") is None
        and vision.get("proj_type") is None
        and vision["embed_dim"] == vision["width"] == text["embed_dim"],
        "another vision tower than EVA-02 with rotary positions": all(
            vision.get(key) for key in ("rope_embeddings", "intp_freq", "naive_swiglu", "subln")
        )
        and not vision.get("post_norm"),
    }
    for problem, is_so in expected.items():
        if not is_so:
            raise UnknownModel(checkpoint.where, problem, "use a checkpoint built as jina-clip-v2")


def _adapter(checkpoint: CheckpointFiles, text: Mapping[str, Any]) -> tuple[int, float] | None:
    """Return the number and the scale of the adapter that every text goes through; None for none.

    Raises:
        UnknownModel: a default task that has no adapter.
    """
    text_config, task = _text_settings(text), text.get("default_lora_task")
    if task is None:
        return None
    tasks = text_config.get("lora_adaptations") or []
    if task not in tasks:
        remedy = f"correct config.json: it has {', '.join(tasks) or 'none'}"
        raise UnknownModel(checkpoint.where, f"no adapter {task!r}", remedy)
    return tasks.index(task), text_config.get("lora_alpha", _ALPHA) / text_config.get(
        "lora_rank", _RANK
    )


def _text_weights(
    weights: Mapping[str, torch.Tensor], adapter: tuple[int, float] | None
) -> dict[str, torch.Tensor]:
    """Return the weights of the text tower by the names that transformers has for them."""
    named: dict[str, torch.Tensor] = {}
    for name, tensor in weights.items():
        if not name.startswith(_TEXT) or _ADAPTER in name:
            continue
        inner_name = name.removeprefix(_TEXT).removeprefix("roberta.").replace(_ORIGINAL, ".weight")
        if inner_name.startswith("pooler."):
            continue
        merged = tensor
        if name.endswith(_ORIGINAL) and adapter is not None:
            merged = _merged(weights, name.removesuffix(_ORIGINAL), *adapter)
        named |= _as_transformers(inner_name, merged)
    return named


def _merged(
    weights: Mapping[str, torch.Tensor], name: str, adapter: int, scale: float
) -> torch.Tensor:
    """Return a weight with an adapter added.

    Of a linear layer A is [adapters, rank, in] and B [adapters, out, rank]; of an embedding A is
    [adapters, words, rank] and B [adapters, rank, width], and they change places.
    """
    weight = weights[name + _ORIGINAL]
    a, b = (weights[f"{name}{_ADAPTER}{letter}"][adapter] for letter in "AB")
    product = a @ b if name.endswith("_embeddings") else b @ a
    return weight + scale * product


def _as_transformers(name: str, tensor: torch.Tensor) -> dict[str, torch.Tensor]:
    for old, new in _RENAMED:
        name = name.replace(old, new)
    if _JOINED not in name:
        return {name: tensor}
    thirds = tensor.chunk(3, dim=0)
    return {name.replace(_JOINED, p): part for p, part in zip(_PARTS, thirds, strict=True)}


def _text_tower(
    checkpoint: CheckpointFiles, text_config: Mapping[str, Any], weights: Mapping[str, torch.Tensor]
) -> Any:  # noqa: ANN401
    sizes = {key: text_config[key] for key in _SIZES if key in text_config}
    if "rotary_emb_base" in text_config:
        sizes["rope_parameters"] = {
            "rope_type": "default",
            "rope_theta": text_config["rotary_emb_base"],
        }
    config = transformers.JinaEmbeddingsV3Config(**sizes)
    model = transformers.JinaEmbeddingsV3Model(config, add_pooling_layer=False)
    return _filled(checkpoint, model, weights)


def _vision_tower(
    checkpoint: CheckpointFiles, vision: Mapping[str, Any], weights: Mapping[str, torch.Tensor]
) -> Any:  # noqa: ANN401
    side = int(vision["pt_hw_seq_len"])
    model = Eva(
        img_size=int(vision["image_size"]),
        patch_size=int(vision["patch_size"]),
        num_classes=0,
        global_pool="token",
        embed_dim=int(vision["width"]),
        depth=int(vision["layers"]),
        num_heads=int(vision["width"]) // int(vision["head_width"]),
        qkv_bias=bool(vision["qkv_bias"]),
        qkv_fused=False,
        mlp_ratio=float(vision["mlp_ratio"]),
        swiglu_mlp=True,
        scale_mlp=True,
        scale_attn_inner=True,
        init_values=vision.get("ls_init_value"),
        use_rot_pos_emb=True,
        ref_feat_shape=(side, side),
    )
    vision_weights = {
        k.removeprefix(_VISION): v for k, v in weights.items() if k.startswith(_VISION)
    }
    # timm scales what has another number of patches.
    checkpoint.demand({"pos_embed", "patch_embed.proj.weight"} - {*vision_weights})
    shape = (1, model.patch_embed.num_patches + 1, model.embed_dim)
    checkpoint.demand_fit(
        [] if vision_weights["pos_embed"].shape == shape else [f"{_VISION}pos_embed"]
    )
    return _filled(checkpoint, model, checkpoint_filter_fn(vision_weights, model))


def _filled(checkpoint: CheckpointFiles, model: Any, weights: Mapping[str, torch.Tensor]) -> Any:  # noqa: ANN401
    """Return a model with these weights, in evaluation mode.

    Raises:
        CorruptFile: weights that are missing, too many, or of another shape.
    """
    state = model.state_dict()
    checkpoint.demand({*state} - {*weights})
    odd = [k for k, v in weights.items() if k not in state or v.shape != state[k].shape]
    checkpoint.demand_fit(odd)
    model.load_state_dict(dict(weights))
    return model.eval()


def _transform(config: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Return what makes float32 [3, side, side] of a picture, by preprocessor_config.json."""
    return open_clip.transform.image_transform(
        config["size"],
        is_train=False,
        mean=tuple(config["mean"]),
        std=tuple(config["std"]),
        resize_mode=config.get("resize_mode", "shortest"),
        interpolation=config.get("interpolation", "bicubic"),
        fill_color=config.get("fill_color", 0),
    )
