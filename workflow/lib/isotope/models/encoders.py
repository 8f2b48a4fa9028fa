"""Encoders: whatever turns texts and images into vectors of one space (design, section 1).

An encoder is loaded by the module of its kind, found by name, so that no kind's code is part of
another one's.
"""

import importlib
import pkgutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image

from isotope.core.errors import BadParams, MissingFile, UnknownModel
from isotope.models import kinds

FloatArray = npt.NDArray[np.float32]


class Encoder(Protocol):
    """The dual encoder of a dense system; vectors are L2-normalised float32 [n, dim]."""

    dim: int

    def encode_texts(self, texts: list[str]) -> FloatArray:
        """Encode whole texts; what exceeds the model's context is cut."""
        ...

    def encode_images(self, images: list[Image.Image]) -> FloatArray:
        """Encode RGB pictures of any size."""
        ...

    def shapes(self, texts: list[str]) -> list[int]:
        """Return what tells which texts may share a batch: the length that each is padded to."""
        ...


def load(
    spec: Mapping[str, object], *, weights: Path | None = None, device: str = "auto"
) -> Encoder:
    """Load the encoder that an entry of `models` in params.yaml describes.

    `weights` is the train phase's model.safetensors, for kinds `trained` and `lit`; `device` is
    `auto` (the GPU when there is one, in bf16) or a name of torch's.

    Raises:
        UnknownModel: a kind, name, config or pretrained tag that does not exist.
        MissingFile: weights that are not there.
        CorruptFile: weights that do not load, or do not fit the model.
        FetchFailed: a pretrained tag whose weights could not be downloaded.
        BadParams: a key that the kind needs and that is absent.
    """
    kind = str(spec.get("kind"))
    if kind not in _names() or (load_kind := _loader(kind)) is None:
        known = ", ".join(filter(_loader, _names()))
        raise UnknownModel("models", f"kind {kind!r}", f"use one of {known}")
    return load_kind(spec, weights=weights, device=device)


def _names() -> list[str]:
    found = (module.name for module in pkgutil.iter_modules(kinds.__path__))
    return sorted(name for name in found if not name.startswith("_"))


def _loader(kind: str) -> Callable[..., Encoder] | None:
    """Return what loads an encoder of a kind; None for a kind without encoders of its own."""
    return getattr(importlib.import_module(f"{kinds.__name__}.{kind}"), "load", None)


def need(spec: Mapping[str, object], key: str) -> str:
    """Return a required key of a model's entry as text."""
    if key not in spec:
        raise BadParams("models", f"no {key!r} in {dict(spec)}", f"add {key!r}")
    return str(spec[key])


def demand_weights(spec: Mapping[str, object], weights: Path | None) -> Path:
    """Return the weights that the train phase has learned.

    Raises:
        MissingFile: there are none.
    """
    if weights is None:
        raise MissingFile(f"model {dict(spec)}", "no trained weights given", "run the train phase")
    return weights
