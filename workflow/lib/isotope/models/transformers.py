"""Encoders of the transformers library: CLIP, BLIP and FLAVA, from a folder or a hub.

The contrastive towers only: CLIP's projections, BLIP's ITC projections (Li et al., BLIP, ICML 2022,
section 3.2), FLAVA's projected [CLS] states (Singh et al., FLAVA, CVPR 2022, section 3.2).
"""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from safetensors import SafetensorError
from transformers import (
    AutoConfig,
    AutoImageProcessor,
    AutoModelForSeq2SeqLM,
    AutoTokenizer,
    BlipForImageTextRetrieval,
    CLIPModel,
    FlavaModel,
)
from transformers.utils import logging

from isotope.core.errors import CorruptFile, FetchFailed, UnknownModel

# Its bars would fill a log with lines that are no news.
logging.disable_progress_bar()
FloatArray = npt.NDArray[np.float32]
_SHORTEST = 16


class Device:
    """A device of torch's: `auto` is the GPU when there is one, in bf16."""

    def __init__(self, name: str = "auto") -> None:
        """Choose a device by torch's name, or `auto`."""
        automatic = "cuda" if torch.cuda.is_available() else "cpu"
        self.torch = torch.device(automatic if name == "auto" else name)
        self._half = self.torch.type == "cuda" and torch.cuda.is_bf16_supported()

    def rows(self, compute: Callable[[], torch.Tensor]) -> torch.Tensor:
        """Return what `compute` gives without gradients, as float32 in main memory."""
        with torch.inference_mode(), torch.autocast("cuda", torch.bfloat16, enabled=self._half):
            return compute().float().cpu()

    def unit_rows(self, compute: Callable[[], torch.Tensor]) -> FloatArray:
        """Return the same with every row L2-normalised, as an array."""
        return torch.nn.functional.normalize(self.rows(compute), dim=-1).numpy()


def padded(tokens: int, context: int) -> int:
    """Return the length that a text of so many tokens gets: a power of two or the context."""
    return min(max(_SHORTEST, 1 << (tokens - 1).bit_length()), context)


def lengths(tokenizer: Any, texts: Sequence[str], context: int) -> list[int]:  # noqa: ANN401
    """Return the padded length of each text under a tokenizer of transformers."""
    if not texts:
        return []
    ids = tokenizer(list(texts), truncation=True, max_length=context)["input_ids"]
    return [padded(len(row), context) for row in ids]


def tokenized(tokenizer: Any, texts: Sequence[str], context: int) -> Any:  # noqa: ANN401
    """Return what a tokenizer of transformers makes of texts, all as long as the longest needs."""
    found = tokenizer(list(texts), truncation=True, max_length=context)
    most = max(padded(len(row), context) for row in found["input_ids"])
    return tokenizer.pad(found, padding="max_length", max_length=most, return_tensors="pt")


class _Family(NamedTuple):
    """One architecture: its class, and what its two sides make of their inputs, [n, dim]."""

    model: Any
    texts: Callable[..., torch.Tensor]
    images: Callable[..., torch.Tensor]
    dim: str


_FAMILIES = {
    "clip": _Family(
        CLIPModel,
        lambda model, given: model.get_text_features(**given).pooler_output,
        lambda model, pixels: model.get_image_features(pixel_values=pixels).pooler_output,
        "projection_dim",
    ),
    "blip": _Family(
        BlipForImageTextRetrieval,
        lambda model, given: model.text_proj(model.text_encoder(**given).last_hidden_state[:, 0]),
        lambda model, pixels: model.vision_proj(
            model.vision_model(pixel_values=pixels).last_hidden_state[:, 0]
        ),
        "image_text_hidden_size",
    ),
    "flava": _Family(
        FlavaModel,
        lambda model, given: model.get_text_features(**given).pooler_output[:, 0],
        lambda model, pixels: model.get_image_features(pixel_values=pixels).pooler_output[:, 0],
        "projection_dim",
    ),
}


class TransformersEncoder:
    """A model of transformers in evaluation mode, with its own tokenizer and picture size."""

    def __init__(self, name: str, revision: str | None = None, device: str = "auto") -> None:
        """Load `name`, a local folder or a hub's id, at `revision`; safetensors only.

        Raises:
            UnknownModel: an architecture other than CLIP, BLIP and FLAVA.
            CorruptFile: weights that do not load, or that leave a part of the model at random.
            FetchFailed: a folder without the files it needs, or a hub that is out of reach.
        """
        options = {"revision": revision or "main", "trust_remote_code": False}
        with fetching(name):
            config: Any = AutoConfig.from_pretrained(name, **options)
            self._family = _family(name, str(config.model_type))
            model = whole(name, self._family.model, options)
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name, **options)
            # Pillow's processor: torchvision's resizes otherwise, and the published scores are old.
            self._processor: Any = AutoImageProcessor.from_pretrained(
                name, backend="pil", **options
            )
        self._device = Device(device)
        self._model: Any = model.eval().to(self._device.torch)
        self._context = int(config.text_config.max_position_embeddings)
        self.dim = int(getattr(config, self._family.dim))

    def encode_texts(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        given = tokenized(self._tokenizer, texts, self._context)
        names = ("input_ids", "attention_mask")
        batch = {name: given[name].to(self._device.torch) for name in names}
        return self._device.unit_rows(lambda: self._family.texts(self._model, batch))

    def shapes(self, texts: list[str]) -> list[int]:
        """Return the tokens that each text is padded to."""
        return lengths(self._tokenizer, texts, self._context)

    def encode_images(self, images: list[Image.Image]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        batch = self._processor(images, return_tensors="pt")["pixel_values"]
        batch = batch.to(self._device.torch)
        return self._device.unit_rows(lambda: self._family.images(self._model, batch))


def _family(name: str, kind: str) -> _Family:
    if kind not in _FAMILIES:
        remedy = f"use a model of one of {', '.join(_FAMILIES)}"
        raise UnknownModel(f"models: {name}", f"architecture {kind!r}", remedy)
    return _FAMILIES[kind]


def whole(name: str, model: Any, options: dict[str, Any]) -> Any:  # noqa: ANN401
    """Load the weights of a class of transformers, all of them.

    Raises:
        CorruptFile: weights that do not load, or that leave a part of the model at random.
    """
    try:
        loaded, report = model.from_pretrained(
            name, use_safetensors=True, output_loading_info=True, dtype=torch.float32, **options
        )
    except (SafetensorError, RuntimeError) as error:
        found = f"weights that do not load ({str(error)[:200]})"
        raise CorruptFile(f"models: {name}", found, "fetch them again") from error
    return complete(name, loaded, report)


def complete(name: str, model: Any, report: Mapping[str, Any], unused: str = "never") -> Any:  # noqa: ANN401
    """Return a model if transformers' report of its loading misses no weight but below `unused`.

    Raises:
        CorruptFile: weights that leave a part of the model at random.
    """
    missing = sorted(k for k in report["missing_keys"] if not k.startswith(f"{unused}."))
    if missing:
        found = f"{len(missing)} weights missing, {missing[0]} first"
        remedy = f"use a checkpoint of the whole {type(model).__name__}"
        raise CorruptFile(f"models: {name}", found, remedy)
    return model


@contextmanager
def fetching(name: str) -> Generator[None]:
    """Say what to do when the hub is out of reach, or a folder lacks a file."""
    try:
        yield
    except (OSError, ValueError) as error:
        remedy = "check the network, or set `name` to a folder with config, tokenizer, preprocessor"
        found = f"not loaded ({str(error)[:300]})"
        raise FetchFailed(f"models: {name}", found, f"{remedy} and .safetensors") from error


_PREFIXES = {"t5": "summarize: ", "mt5": "summarize: "}
_TOKENS, _BEAMS, _CONTEXT = 64, 4, 512


class Summarizer:
    """A model in evaluation mode, searched by beams: the same texts give the same summaries."""

    def __init__(self, spec: Mapping[str, Any], device: str = "auto") -> None:
        """Load `spec["name"]`, a local folder or a hub's id, at `revision`; safetensors only.

        `prefix` is what the model was taught to be asked with (T5's if it is one), `tokens` the
        most of a summary, `beams` the width of the search.

        Raises:
            CorruptFile: weights that do not load, or that are not all there.
            FetchFailed: a folder without the files it needs, or a hub that is out of reach.
        """
        name = str(spec["name"])
        options = {"revision": spec.get("revision") or "main", "trust_remote_code": False}
        with fetching(name):
            config: Any = AutoConfig.from_pretrained(name, **options)
            model = whole(name, AutoModelForSeq2SeqLM, options)
            self._tokenizer: Any = AutoTokenizer.from_pretrained(name, **options)
        self._device = Device(device)
        self._model: Any = model.eval().to(self._device.torch)
        self._prefix = spec.get("prefix", _PREFIXES.get(str(config.model_type), ""))
        self._search = {
            "max_new_tokens": spec.get("tokens", _TOKENS),
            "num_beams": spec.get("beams", _BEAMS),
            "do_sample": False,
        }

    def summarise(self, texts: list[str]) -> list[str]:
        """Return a summary of each text; what exceeds 512 tokens is cut."""
        given: Any = self._tokenizer(
            [self._prefix + text for text in texts],
            padding=True,
            truncation=True,
            max_length=_CONTEXT,
            return_tensors="pt",
        )
        batch = {k: given[k].to(self._device.torch) for k in ("input_ids", "attention_mask")}
        with torch.inference_mode():
            found = self._model.generate(**batch, **self._search)
        said = self._tokenizer.batch_decode(found.cpu(), skip_special_tokens=True)
        return [" ".join(text.split()) for text in said]
