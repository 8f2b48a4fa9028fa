"""Two small heads over frozen towers, trained contrastively: locked tuning of both sides.

Zhai et al., LiT: Zero-Shot Transfer with Locked-image text Tuning (CVPR 2022); here the text tower
is locked too, so that training sees cached features only.
"""

import json
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file
from torch import nn

from isotope.core.errors import CorruptFile, MissingFile
from isotope.models.encoders import Encoder, demand_weights
from isotope.models.kinds.lit import Lit
from isotope.models.offline import (
    DEFAULT,
    PICTURE_FEATURES,
    TEXT_FEATURES,
    FrozenEfficientNet,
    text_tower,
)
from isotope.models.transformers import Device

FloatArray = npt.NDArray[np.float32]


def load(model: Lit, *, weights: Path | None, device: str) -> Encoder:
    """Load the encoder of an entry of kind `lit` with the heads that the train phase has learned.

    Raises:
        MissingFile: no weights.
    """
    return LitEncoder(demand_weights(model, weights), device, text=model.text)


class Heads(nn.Module):
    """From picture features [n, 1280] and text features [n, width] to unit rows [n, dim]."""

    def __init__(self, dim: int, width: int = TEXT_FEATURES) -> None:
        """Start from random weights and CLIP's temperature, 0.07."""
        super().__init__()
        self.images = nn.Sequential(nn.LayerNorm(PICTURE_FEATURES), _mlp(PICTURE_FEATURES, dim))
        self.texts = nn.Sequential(nn.LayerNorm(width), _mlp(width, dim))
        self.logit_scale = nn.Parameter(torch.tensor(1 / 0.07).log())

    def of_images(self, features: torch.Tensor) -> torch.Tensor:
        """Return unit rows [n, dim]."""
        return nn.functional.normalize(self.images(features), dim=-1)

    def of_texts(self, features: torch.Tensor) -> torch.Tensor:
        """Return unit rows [n, dim]."""
        return nn.functional.normalize(self.texts(features), dim=-1)


class LitEncoder:
    """The towers of `isotope.models.offline` under trained heads."""

    def __init__(self, weights: Path, device: str = "auto", *, text: str = DEFAULT) -> None:
        """Load the towers from their packages and the heads from `isotope.train.frozen`' weights.

        Raises:
            UnknownModel: no text tower of that name.
            MissingFile: no weights.
            MissingExtra: the extra `offline` is not installed.
            CorruptFile: weights of something else, or trained on another text tower.
        """
        where = Device(device)
        self._heads = load_heads(weights)
        self._sentences, self._pictures = text_tower(text, where), FrozenEfficientNet(where)
        if width_of(self._heads) != self._sentences.width:
            problem = f"heads over {width_of(self._heads)} features, {text} has another number"
            raise CorruptFile(weights, problem, "train them again")
        self.dim = dim_of(self._heads)

    def encode_texts(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        with torch.inference_mode():
            return self._heads.of_texts(self._sentences.read(texts)).numpy()

    def shapes(self, texts: list[str]) -> list[int]:
        """Return the tokens that each text is padded to."""
        return self._sentences.shapes(texts)

    def encode_images(self, images: list[Image.Image]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised."""
        return self.encode_features(list(self._pictures.see(images).features.numpy()))

    def encode_features(self, features: list[FloatArray]) -> FloatArray:
        """Return the same of what the frozen tower has made of pictures, [1280] each."""
        with torch.inference_mode():
            return self._heads.of_images(torch.from_numpy(np.stack(features))).numpy()


def load_heads(weights: Path) -> Heads:
    """Read heads that `isotope.train.frozen` wrote.

    Raises:
        MissingFile: no such file.
        CorruptFile: weights of something else.
    """
    if not weights.is_file():
        raise MissingFile(weights, "no trained heads", "run the train phase")
    try:
        with safe_open(weights, framework="np") as file:
            dim = json.loads((file.metadata() or {})["isotope"])["recipe"]["dim"]
        state = load_file(weights)
        heads = Heads(int(dim), len(state["texts.0.weight"]))
        heads.load_state_dict(state)
    except (SafetensorError, KeyError, ValueError, RuntimeError) as error:
        raise CorruptFile(weights, f"not heads ({str(error)[:200]})", "train them again") from error
    return heads.eval()


def dim_of(heads: Heads) -> int:
    """Return the components of the vectors that heads make."""
    return next(reversed(list(heads.texts.parameters()))).shape[0]


def width_of(heads: Heads) -> int:
    """Return the features of a text that heads read."""
    return next(heads.texts.parameters()).shape[0]


def _mlp(width: int, dim: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(width, 2 * dim), nn.GELU(), nn.Dropout(0.1), nn.Linear(2 * dim, dim)
    )
