"""Where an encoder computes, how long its texts are, and the form in which its vectors leave.

A matrix product is summed in an order that follows from its shape. Padded to the longest of a batch
a text would have another vector, in the last bits, in another batch; so lengths are powers of two.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from transformers.utils import logging

# Its bars would fill a log with lines that are no news.
logging.disable_progress_bar()
FloatArray = npt.NDArray[np.float32]
_SHORTEST = 16


class Device:
    """A device of torch's: `auto` is the GPU when there is one, in bf16."""

    def __init__(self, name: str = "auto") -> None:
        """Choose a device by torch's name, or `auto`."""
        automatic = "cuda" if torch.cuda.is_available() else "cpu"
        self.torch = torch.device(automatic if name == "auto" else name)
        self._half = self.torch.type == "cuda" and torch.cuda.is_bf16_supported()

    def rows(self, compute: Callable[[], torch.Tensor]) -> torch.Tensor:
        """Return what `compute` gives without gradients, as float32 in main memory."""
        with torch.inference_mode(), torch.autocast("cuda", torch.bfloat16, enabled=self._half):
            return compute().float().cpu()

    def unit_rows(self, compute: Callable[[], torch.Tensor]) -> FloatArray:
        """Return the same with every row L2-normalised, as an array."""
        return torch.nn.functional.normalize(self.rows(compute), dim=-1).numpy()


def padded(tokens: int, context: int) -> int:
    """Return the length that a text of so many tokens gets: a power of two or the context."""
    return min(max(_SHORTEST, 1 << (tokens - 1).bit_length()), context)


def lengths(tokenizer: Any, texts: Sequence[str], context: int) -> list[int]:  # noqa: ANN401
    """Return the padded length of each text under a tokenizer of transformers."""
    if not texts:
        return []
    ids = tokenizer(list(texts), truncation=True, max_length=context)["input_ids"]
    return [padded(len(row), context) for row in ids]


def tokenized(tokenizer: Any, texts: Sequence[str], context: int) -> Any:  # noqa: ANN401
    """Return what a tokenizer of transformers makes of texts, all as long as the longest needs."""
    found = tokenizer(list(texts), truncation=True, max_length=context)
    most = max(padded(len(row), context) for row in found["input_ids"])
    return tokenizer.pad(found, padding="max_length", max_length=most, return_tensors="pt")
