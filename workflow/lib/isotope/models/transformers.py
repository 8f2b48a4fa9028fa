"""Encoders of the transformers library: CLIP, BLIP and FLAVA, from a folder or a hub.

The contrastive towers only: CLIP's projections, BLIP's ITC projections (Li et al., BLIP, ICML 2022,
section 3.2), FLAVA's projected [CLS] states (Singh et al., FLAVA, CVPR 2022, section 3.2).
"""

from collections.abc import Callable, Generator, Mapping
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
    AutoTokenizer,
    BlipForImageTextRetrieval,
    CLIPModel,
    FlavaModel,
)

from isotope.core.errors import CorruptFile, FetchFailed, UnknownModel
from isotope.models.device import Device, lengths, tokenized

FloatArray = npt.NDArray[np.float32]


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
