"""Zero training: a picture is the mean meaning of the classes that a classifier sees in it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from pydantic import Field

from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds._shared import Tower
from isotope.models.offline import DEFAULT, Pictures, class_names, text_tower
from isotope.models.transformers import Device
from isotope.params.sections import ModelKind, TextFields, Whole

FloatArray = npt.NDArray[np.float32]
_PROMPT = "a photo of a {}"


class ConseEncoder:
    """Sentence embeddings, and their combination by the `top` likeliest classes of a picture."""

    def __init__(self, top: int = 10, device: str = "auto", *, text: str = DEFAULT) -> None:
        """Load both towers; `text` is a name of `isotope.models.offline`.

        Raises:
            UnknownModel: no such text tower.
            MissingFile: the dependency group `offline` is not installed.
        """
        where = Device(device)
        self._top, self._sentences = top, text_tower(text, where)
        self._pictures, self.dim = Pictures(where), self._sentences.width
        self._classes = self._sentences.read([_PROMPT.format(name) for name in class_names()])

    def encode_texts(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        return self._sentences.read(texts).numpy()

    def shapes(self, texts: list[str]) -> list[int]:
        """Return the tokens that each text is padded to."""
        return self._sentences.shapes(texts)

    def encode_images(self, images: list[Image.Image]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        return combined(self._pictures.see(images).classes, self._classes, self._top).numpy()


def combined(chances: torch.Tensor, meanings: torch.Tensor, top: int) -> torch.Tensor:
    """Return unit rows: `meanings` [k, dim] weighted by the `top` largest of `chances` [n, k]."""
    weights, chosen = chances.topk(top, dim=1)
    weights = weights / weights.sum(dim=1, keepdim=True)
    mixed = (weights.unsqueeze(-1) * meanings[chosen]).sum(dim=1)
    return torch.nn.functional.normalize(mixed, dim=-1)


if TYPE_CHECKING:
    from isotope.models.encoders import Encoder

_TOP = 10


class Conse(ModelKind):
    """Convex combination of semantic embeddings (Norouzi et al., ICLR 2014)."""

    kind: Literal["conse"]
    top: Annotated[Whole, Field(ge=1, le=1000)] = Field(
        default=_TOP, description="Classes of a picture whose meanings are mixed."
    )
    text: Tower = None
    fields: TextFields = Field(default=list(FIVE_FIELDS))


def load(spec: Mapping[str, Any], *, weights: Path | None, device: str) -> "Encoder":
    """Load the encoder of an entry; `weights` are of no use here."""
    pass  # noqa: PLC0415

    tower = {"text": spec["text"]} if "text" in spec else {}
    return ConseEncoder(spec.get("top", _TOP), device, **tower)
