"""Pairs of a query and a document, and what a model that scores them offers.

The models are in `isotope.models.rerankers`, which takes seconds to import.
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float32]


class ScoredPair(NamedTuple):
    """What is scored: each side a text, or a picture's WebP; and what counts as relevant.

    Without an instruction the model card's is used.
    """

    query: str | bytes
    document: str | bytes
    instruction: str = ""


class Ready(NamedTuple):
    """A pair as a model reads it: tokens by the model's names for them, and pictures in order."""

    shape: tuple[int, ...]
    tokens: Mapping[str, list[int]]
    pictures: tuple[bytes, ...] = ()


class PairScorer(Protocol):
    """A model in evaluation mode."""

    # Whether it has eyes for pictures, and whether it follows instructions.
    sees: bool
    follows: bool

    def prepare(self, pairs: Sequence[ScoredPair]) -> list[Ready]:
        """Return pairs as the model reads them; those of one shape may share a batch."""
        ...

    def scores(self, batch: Sequence[Ready]) -> FloatArray:
        """Return the scores of pairs of one shape, float32 [n]: any numbers, higher is better."""
        ...
