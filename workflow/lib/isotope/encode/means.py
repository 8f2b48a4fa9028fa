"""One vector for several sentences: the mean of theirs.

Source: Lymperaiou et al., COLING 2022 (arXiv 2209.03723), section 3.2: the vectors of a corpus's
sentences are averaged, and so are those of a query of more than one sentence.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from isotope.encode.fill import Batches, Encode
from isotope.models.encoders import Encoder

Floats = npt.NDArray[np.float32]
WHOLE, LINES = "whole", "lines"


@runtime_checkable
class SentenceVectors(Protocol):
    """An encoder that tells the vectors of sentences in their own lengths."""

    def encode_sentences(self, texts: list[str]) -> Floats:
        """Return float32 [n, dim], as the model leaves them."""
        ...


def means(said: Sequence[Sequence[str]], encoder: Encoder, batch: int) -> Floats:
    """Return the mean of each group's vectors, L2-normalised float32 [groups, dim].

    What is averaged is what the model makes of each sentence, of any length where the encoder tells
    it (`SentenceVectors`), else of length 1. `batch` sentences are encoded at a time; no group is
    empty.

    Raises:
        IsotopeError: what the encoder raises.
    """
    texts = [sentence for group in said for sentence in group]
    vectors = np.empty((len(texts), encoder.dim), np.float32)
    waiting = Batches(vectors, _encoding(encoder), batch)
    for place, shape in enumerate(encoder.shapes(texts)):
        waiting.add([place], texts[place], shape)
    waiting.finish()
    first = np.cumsum([0, *map(len, said[:-1])])
    sums = np.add.reduceat(vectors.astype(np.float64), first, axis=0)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    # ASSUME sentences that cancel out exactly mean nothing: their vector stays zero; no paper says.
    return (sums / np.where(lengths == 0, 1.0, lengths)).astype(np.float32)


def lines(text: str) -> list[str]:
    """Return the lines of a text that have words; an empty text is one empty line."""
    return [line.strip() for line in text.splitlines() if line.strip()] or [""]


def _encoding(encoder: Encoder) -> Encode:
    told = isinstance(encoder, SentenceVectors)
    return encoder.encode_sentences if told else encoder.encode_texts
