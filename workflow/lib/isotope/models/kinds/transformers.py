"""A CLIP, BLIP or FLAVA model of the transformers library, from a folder or a hub.

The contrastive towers only: CLIP's projections, BLIP's ITC projections (Li et al., BLIP, ICML 2022,
section 3.2), FLAVA's projected [CLS] states (Singh et al., FLAVA, CVPR 2022, section 3.2).
"""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
from PIL import Image
from pydantic import Field

from isotope.core.errors import UnknownModel
from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds import Images, Revision
from isotope.params.sections import ModelKind, TextFields

if TYPE_CHECKING:
    from torch import Tensor

FloatArray = npt.NDArray[np.float32]


class Transformers(ModelKind):
    """A dual encoder of the transformers library."""

    path_keys: ClassVar[Sequence[str]] = ("name",)

    kind: Literal["transformers"]
    name: str = Field(
        description="A folder, or a hub's id, with a CLIP, BLIP or FLAVA model in safetensors."
    )
    revision: Revision = None
    images: Images = "pixels"
    fields: TextFields = Field(default=list(FIVE_FIELDS))


def load(spec: Mapping[str, Any], *, weights: Path | None, device: str) -> "TransformersEncoder":
    """Load the encoder of an entry; `weights` are of no use here.

    Raises:
        BadParams: no name.
        As `TransformersEncoder`.
    """
    from isotope.models.encoders import need  # noqa: PLC0415

    return TransformersEncoder(need(spec, "name"), spec.get("revision"), device)


class _Family(NamedTuple):
    """An architecture: its class in transformers, and the vectors [n, dim] of its two sides."""

    model: str
    texts: "Callable[..., Tensor]"
    images: "Callable[..., Tensor]"
    dim: str


_FAMILIES = {
    "clip": _Family(
        "CLIPModel",
        lambda model, batch: model.get_text_features(**batch).pooler_output,
        lambda model, pixels: model.get_image_features(pixel_values=pixels).pooler_output,
        "projection_dim",
    ),
    "blip": _Family(
        "BlipForImageTextRetrieval",
        lambda model, batch: model.text_proj(model.text_encoder(**batch).last_hidden_state[:, 0]),
        lambda model, pixels: model.vision_proj(
            model.vision_model(pixel_values=pixels).last_hidden_state[:, 0]
        ),
        "image_text_hidden_size",
    ),
    "flava": _Family(
        "FlavaModel",
        lambda model, batch: model.get_text_features(**batch).pooler_output[:, 0],
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
        import transformers  # noqa: PLC0415 (torch)

        from isotope.models.transformers import Device, fetching, whole  # noqa: PLC0415

        options = {"revision": revision or "main", "trust_remote_code": False}
        with fetching(name):
            config: Any = transformers.AutoConfig.from_pretrained(name, **options)
            self._family = _family(name, str(config.model_type))
            model = whole(name, getattr(transformers, self._family.model), options)
            self._tokenizer: Any = transformers.AutoTokenizer.from_pretrained(name, **options)
            # Pillow's processor: torchvision's resizes otherwise, and the published scores are old.
            self._processor: Any = transformers.AutoImageProcessor.from_pretrained(
                name, backend="pil", **options
            )
        self._device = Device(device)
        self._model: Any = model.eval().to(self._device.torch)
        self._context = int(config.text_config.max_position_embeddings)
        self.dim = int(getattr(config, self._family.dim))

    def encode_texts(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        from isotope.models.transformers import tokenized  # noqa: PLC0415

        tokens = tokenized(self._tokenizer, texts, self._context)
        names = ("input_ids", "attention_mask")
        batch = {name: tokens[name].to(self._device.torch) for name in names}
        return self._device.unit_rows(lambda: self._family.texts(self._model, batch))

    def shapes(self, texts: list[str]) -> list[int]:
        """Return the tokens that each text is padded to."""
        from isotope.models.transformers import lengths  # noqa: PLC0415

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
