"""Processors whose kernels differ: some compute the rows of a batch in more than one way.

A matrix product is cut into blocks of rows; the rows of the last block may be summed in another
order. So an item's vector can differ by rounding with its place in a batch. With its neighbours it
can't: a row of a product is computed from that row, by the way of its place.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
import torch

# What rounding leaves, after some dozen layers, of a component beside the largest, or beside 1.
ROUNDING = 1e-5
ALIKE, DIFFERENT = "kernels that are alike", "kernels that differ by row"
KINDS = (ALIKE, DIFFERENT)
# What the log says of a model on a processor where this is so; nothing of it is reused there.
PLACES = "depends on its place in a batch"


@contextmanager
def processor(kind: str) -> Iterator[None]:
    """Be a processor of this kind until the block ends; ALIKE leaves this one as it is.

    DIFFERENT rounds what a linear layer gives the second half of a batch once more.
    """
    with pytest.MonkeyPatch.context() as patch:
        if kind == DIFFERENT:
            linear = torch.nn.functional.linear

            def by_row(rows: torch.Tensor, *weights: Any, **more: Any) -> torch.Tensor:
                product = linear(rows, *weights, **more)
                if product.ndim < 2 or len(product) < 2:
                    return product
                half = len(product) // 2
                rest = product[half:] * (1 + 2**-23)
                return torch.cat([product[:half], rest.to(product.dtype)])

            patch.setattr(torch.nn.functional, "linear", by_row)
        yield


def assert_same_but_for_rounding(found: np.ndarray, expected: np.ndarray) -> None:
    """Assert that two vectors, or rows of them, are the same within ROUNDING."""
    limit = ROUNDING * max(1.0, float(np.abs(expected).max(initial=0)))
    np.testing.assert_allclose(found, expected, rtol=0, atol=limit)
