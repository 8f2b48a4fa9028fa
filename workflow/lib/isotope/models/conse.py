"""Zero training: a picture is the mean embedding of the classes that a classifier finds in it.

Norouzi et al., Zero-Shot Learning by Convex Combination of Semantic Embeddings (ICLR 2014), eq. 3.
"""

from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image
from torch import Tensor
from torch.nn.functional import normalize

from isotope.models import offline
from isotope.models.kinds.conse import Conse
from isotope.models.transformers import Device

FloatArray = npt.NDArray[np.float32]
_PROMPT = "a photo of a {}"
# Classes of a picture whose embeddings are averaged, the T of the paper.
_TOP = 10


def load(model: Conse, *, weights: Path | None, device: str) -> "ConseEncoder":
    """Load the encoder of an entry; `weights` are of no use here.

    Raises:
        As `ConseEncoder`.
    """
    return ConseEncoder(device, text=model.text)


class ConseEncoder:
    """Sentence embeddings, and their combination by the likeliest classes of a picture."""

    def __init__(self, device: str = "auto", *, text: str = offline.DEFAULT) -> None:
        """Load both towers; `text` is a name of `isotope.models.offline`.

        Raises:
            UnknownModel: no such text tower.
            MissingExtra: the extra `offline` is not installed.
        """
        where = Device(device)
        self._sentences = offline.text_tower(text, where)
        self._pictures, self.dim = offline.FrozenEfficientNet(where), self._sentences.width
        names = [_PROMPT.format(name) for name in offline.class_names()]
        self._classes = self._sentences.read(names)

    def encode_texts(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        return self._sentences.read(texts).numpy()

    def shapes(self, texts: list[str]) -> list[int]:
        """Return the tokens that each text is padded to."""
        return self._sentences.shapes(texts)

    def encode_images(self, images: list[Image.Image]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        return combined(self._pictures.see(images).classes, self._classes, _TOP).numpy()


def combined(chances: Tensor, embeddings: Tensor, top: int) -> Tensor:
    """Return unit rows: `embeddings` [k, dim] weighted by the `top` largest of `chances` [n, k]."""
    weights, chosen = chances.topk(top, dim=1)
    weights = weights / weights.sum(dim=1, keepdim=True)
    mixed = (weights.unsqueeze(-1) * embeddings[chosen]).sum(dim=1)
    return normalize(mixed, dim=-1)
