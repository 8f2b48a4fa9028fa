"""What an encoder reads of a row, and how rows of a block are filled: in batches of one shape.

A vector must not depend on what was encoded beside it, or copying one from an earlier collection
would change its neighbours. The sums of a matrix product are ordered by the shape of the product,
so every batch has the same shape; the last one is filled up with its last item.
"""

from collections.abc import Callable, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import polars as pl

from isotope.core.schemas import STEP
from isotope.core.vectors import FloatArray
from isotope.models.encoders import Encoder

Encode = Callable[[list[Any]], FloatArray]
# What a text's vector is made of, as params say it: the text, or the mean of its lines.
WHOLE, LINES = "whole", "lines"


def text_of(fields: Sequence[str]) -> pl.Expr:
    """Return the fields of a row as one text, without what is empty.

    The steps of a hierarchy are joined by a space, as the fields are.
    """
    columns = [
        pl.col(f).str.replace_all(STEP, " ", literal=True) if f == "hierarchy" else pl.col(f)
        for f in fields
    ]
    filled = [column.str.strip_chars().replace("", None) for column in columns]
    return pl.concat_str(filled, separator=" ", ignore_nulls=True).fill_null("").alias("text")


class Batches:
    """Items that wait for a batch of their shape to be full."""

    def __init__(self, block: npt.NDArray[np.floating], encode: Encode, size: int) -> None:
        """Fill `block` [n, dim] with what `encode` makes of `size` items at a time."""
        self._block, self._encode, self._size = block, encode, size
        self._waiting: dict[int, list[tuple[Sequence[int], Any]]] = {}

    def add(self, places: Sequence[int], item: Any, shape: int = 0) -> None:  # noqa: ANN401
        """Encode an item for these rows; only items of one shape share a batch."""
        waiting = self._waiting.setdefault(shape, [])
        waiting.append((places, item))
        if len(waiting) == self._size:
            self._flush(shape)

    def finish(self) -> None:
        """Encode what is left."""
        for shape in sorted(self._waiting):
            self._flush(shape)

    def _flush(self, shape: int) -> None:
        some = self._waiting.pop(shape)
        items = [item for _, item in some]
        vectors = self._encode(items + items[-1:] * (self._size - len(items)))
        for (places, _), vector in zip(some, vectors[: len(some)], strict=True):
            self._block[places] = vector


@runtime_checkable
class SentenceVectors(Protocol):
    """An encoder that gives the vectors of sentences in their own lengths."""

    def encode_sentences(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim], as the model leaves them."""
        ...


def means(groups: Sequence[Sequence[str]], encoder: Encoder, batch: int) -> FloatArray:
    """Return the mean of each group's vectors, L2-normalised float32 [groups, dim].

    What is averaged is what the model makes of each sentence, of any length where the encoder gives
    it (`SentenceVectors`), else of length 1. `batch` sentences are encoded at a time; no group is
    empty.

    Raises:
        IsotopeError: what the encoder raises.
    """
    texts = [sentence for group in groups for sentence in group]
    vectors = np.empty((len(texts), encoder.dim), np.float32)
    own_lengths = isinstance(encoder, SentenceVectors)
    waiting = Batches(
        vectors, encoder.encode_sentences if own_lengths else encoder.encode_texts, batch
    )
    for place, shape in enumerate(encoder.shapes(texts)):
        waiting.add([place], texts[place], shape)
    waiting.finish()
    first = np.cumsum([0, *map(len, groups[:-1])])
    sums = np.add.reduceat(vectors.astype(np.float64), first, axis=0)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    # ASSUME sentences that cancel out exactly mean nothing: their vector stays zero; no paper says.
    return (sums / np.where(lengths == 0, 1.0, lengths)).astype(np.float32)


def lines(text: str) -> list[str]:
    """Return the lines of a text that have words; an empty text is one empty line."""
    return [line.strip() for line in text.splitlines() if line.strip()] or [""]
