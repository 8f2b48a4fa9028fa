"""A deterministic stand-in for an encoder: no learning, no torch, the same vectors everywhere."""

import hashlib
import re
from functools import lru_cache
from pathlib import Path

import numpy as np
import numpy.typing as npt
from PIL import Image

from isotope.models.kinds.hash import Hash

FloatArray = npt.NDArray[np.float32]
_TOKEN = re.compile(r"\w+")


def load(model: Hash, *, weights: Path | None, device: str) -> "HashEncoder":
    """Make the encoder of an entry; `weights` and `device` are of no use here."""
    return HashEncoder(model.dim)


class HashEncoder:
    """Texts are sums of one vector per token, images are one vector per distinct picture."""

    def __init__(self, dim: int) -> None:
        """Make vectors of `dim` components."""
        self.dim = dim
        self._vector = lru_cache(maxsize=65_536)(self._hashed)

    def encode_texts(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised; texts that share tokens are close."""
        rows = [sum(map(self._vector, self._tokens(t)), np.zeros(self.dim)) for t in texts]
        return self._normalised(rows)

    def encode_images(self, images: list[Image.Image]) -> FloatArray:
        """Return float32 [n, dim], L2-normalised; equal pixels give equal vectors."""
        return self._normalised([self._hashed(f"{i.size}".encode() + i.tobytes()) for i in images])

    def shapes(self, texts: list[str]) -> list[int]:
        """Return one shape: a text is encoded alone."""
        return [0] * len(texts)

    @staticmethod
    def _tokens(text: str) -> list[bytes]:
        return [token.encode() for token in _TOKEN.findall(text.lower())] or [b""]

    def _hashed(self, key: bytes) -> npt.NDArray[np.float64]:
        digest = hashlib.shake_128(key).digest(self.dim)
        return np.frombuffer(digest, np.uint8).astype(np.float64) - 127.5

    def _normalised(self, rows: list[npt.NDArray[np.float64]]) -> FloatArray:
        block = np.array(rows, np.float64).reshape(-1, self.dim)
        lengths = np.linalg.norm(block, axis=1, keepdims=True)
        return (block / np.maximum(lengths, 1e-12)).astype(np.float32)
