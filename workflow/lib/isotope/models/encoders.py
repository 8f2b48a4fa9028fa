"""Encoders: whatever turns texts and images into vectors of one space (design, section 1)."""

from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
from PIL import Image

from isotope.core.errors import BadParams, MissingFile, UnknownModel
from isotope.models.hash import HashEncoder

FloatArray = npt.NDArray[np.float32]
KINDS = ("open_clip", "transformers", "sentence", "conse", "lit", "trained", "hash")


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
    kind = spec.get("kind")
    if kind == "hash":
        return HashEncoder(int(need(spec, "dim")))
    if kind in ("trained", "lit"):
        return _learned(spec, _demand(spec, weights), device)
    if kind in KINDS:
        return _pretrained(spec, device)
    raise UnknownModel("models", f"kind {kind!r}", f"use one of {', '.join(KINDS)}")


def need(spec: Mapping[str, object], key: str) -> str:
    """Return a required key of a model's entry as text."""
    if key not in spec:
        raise BadParams("models", f"no {key!r} in {dict(spec)}", f"add {key!r}")
    return str(spec[key])


def _pretrained(spec: Mapping[str, object], device: str) -> Encoder:
    if spec["kind"] == "conse":
        from isotope.models.conse import ConseEncoder  # noqa: PLC0415

        return ConseEncoder(int(str(spec.get("top", 10))), device, **_tower(spec))
    name = need(spec, "name")
    if spec["kind"] == "transformers":
        from isotope.models.transformers import TransformersEncoder  # noqa: PLC0415

        return TransformersEncoder(name, _text(spec, "revision"), device)
    if spec["kind"] == "sentence":
        from isotope.models.sentence import SentenceEncoder  # noqa: PLC0415

        return SentenceEncoder(name, _text(spec, "revision"), device)
    from isotope.models.open_clip import ClipEncoder, create  # noqa: PLC0415

    model = create(name, _text(spec, "pretrained"), _text(spec, "resize"))
    return ClipEncoder(name, model, device)


def _learned(spec: Mapping[str, object], weights: Path, device: str) -> Encoder:
    if spec["kind"] == "lit":
        from isotope.models.lit import LitEncoder  # noqa: PLC0415

        return LitEncoder(weights, device, **_tower(spec))
    from isotope.models.open_clip import ClipEncoder, create_custom, create_trained  # noqa: PLC0415

    custom = "name" not in spec
    name = need(spec, "config" if custom else "name")
    model = create_custom(name, weights) if custom else create_trained(name, weights)
    return ClipEncoder(name, model, device)


def _tower(spec: Mapping[str, object]) -> dict[str, str]:
    return {"text": str(spec["text"])} if "text" in spec else {}


def _text(spec: Mapping[str, object], key: str) -> str | None:
    value = spec.get(key)
    return None if value is None else str(value)


def _demand(spec: Mapping[str, object], weights: Path | None) -> Path:
    if weights is None:
        raise MissingFile(f"model {dict(spec)}", "no trained weights given", "run the train phase")
    return weights
