"""Encoders: what turns texts and images into vectors of one space, and fills a block with them.

An encoder is loaded by what its kind names (`ModelKind.loader`), so that no kind's code is part of
another one's.

A vector must not depend on what was encoded beside it, or copying one from an earlier collection
would change its neighbours. The sums of a matrix product are ordered by the shape of the product,
so every batch has the same shape; the last one is filled up with its last item (`ShapeBatches`).
"""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
from PIL import Image

from isotope.core.errors import MissingFile, UnknownModel
from isotope.core.resources import function
from isotope.core.vectors import FloatArray
from isotope.params.sections import ModelKind

Encode = Callable[[list[Any]], FloatArray]
# Values of a model's key `texts`: a vector of the whole text, or the mean of its lines'.
WHOLE_TEXT, LINES = "whole", "lines"


class Encoder(Protocol):
    """The dual encoder of a dense system; vectors are L2-normalised float32 [n, dim]."""

    dim: int

    def encode_texts(self, texts: list[str]) -> FloatArray:
        """Encode whole texts; what exceeds the model's context is cut."""
        ...

    def encode_images(self, images: list[Image.Image]) -> FloatArray:
        """Encode RGB pictures of any size."""
        ...

    def shapes(self, texts: list[str]) -> list[int]:
        """Return the length that each text is padded to; only texts of one length share a batch."""
        ...


@runtime_checkable
class ShortTextEncoder(Protocol):
    """An encoder of which short texts need not wait for long ones' positions."""

    def encode_short(self, texts: list[str]) -> FloatArray:
        """Return what `encode_texts` does but for the rounding, sooner where texts are short."""
        ...


@runtime_checkable
class SentenceVectors(Protocol):
    """An encoder that gives the vectors of sentences in their own lengths."""

    def encode_sentences(self, texts: list[str]) -> FloatArray:
        """Return float32 [n, dim], as the model leaves them."""
        ...


def load(model: ModelKind, *, weights: Path | None = None, device: str = "auto") -> Encoder:
    """Load the encoder that an entry of `models` in params.yaml describes.

    `weights` is the train phase's model.safetensors, for kinds `trained` and `lit`; `device` is
    `auto` (the GPU when there is one, in bf16) or a name of torch's.

    Raises:
        UnknownModel: a kind without an encoder, a name, config or tag that does not exist.
        MissingFile: weights that are not there.
        CorruptFile: weights that do not load, or do not fit the model.
        FetchFailed: a pretrained tag whose weights could not be downloaded.
        BadParams: a setting that the model does not have.
    """
    if not (model.is_encoder and model.loader):
        remedy = "name a model that encodes texts and images by itself"
        raise UnknownModel("models", f"kind {model.kind_name()!r}", remedy)
    load_kind: Any = function(model.loader)
    return load_kind(model, weights=weights, device=device)


def demand_weights(model: ModelKind, weights: Path | None) -> Path:
    """Return the weights that the train phase has learned.

    Raises:
        MissingFile: there are none.
    """
    if weights is None:
        where = f"a model of kind {model.kind_name()}"
        raise MissingFile(where, "no trained weights given", "run the train phase")
    return weights


class ShapeBatches:
    """Items that wait for a batch of their shape to be full."""

    def __init__(self, block: npt.NDArray[np.floating], encode: Encode, size: int) -> None:
        """Fill `block` [n, dim] with the vectors that `encode` returns for `size` items a call."""
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


def lines(text: str) -> list[str]:
    """Return the lines of a text that have words; an empty text is one empty line."""
    return [line.strip() for line in text.splitlines() if line.strip()] or [""]


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
    waiting = ShapeBatches(
        vectors, encoder.encode_sentences if own_lengths else encoder.encode_texts, batch
    )
    for row, shape in enumerate(encoder.shapes(texts)):
        waiting.add([row], texts[row], shape)
    waiting.finish()
    first = np.cumsum([0, *map(len, groups[:-1])])
    sums = np.add.reduceat(vectors.astype(np.float64), first, axis=0)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    # ASSUME sentences that cancel out exactly mean nothing: their vector stays zero; no paper says.
    return (sums / np.where(lengths == 0, 1.0, lengths)).astype(np.float32)
