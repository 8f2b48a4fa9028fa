"""How long a tokenised text is padded: so that its vector does not tell what stood beside it.

A matrix product is summed in an order that follows from its shape. Padded to the longest of a batch
a text would have another vector, in the last bits, in another batch; so lengths are powers of two.
"""

from collections.abc import Sequence
from typing import Any

_SHORTEST = 16


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
