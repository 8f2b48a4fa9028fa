"""What the encoders of all families share: where they compute, how a batch is cut into chunks.

A vector must not depend on what is encoded beside it. The sums of a matrix product are ordered by
the product's shape, so a model of billions of parameters computes chunks of one shape, as many
items as a budget of tokens allows; the last chunk is filled up with its last item.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from PIL import Image
from torch.nn.functional import normalize

from isotope.models.families.checkpoint import largest_power_of_two
from isotope.models.transformers import Device

FloatArray = npt.NDArray[np.float32]
# Tokens that are computed at a time, padding included.
BUDGET = 4_096


class FamilyEncoder:
    """A model with L2-normalised vectors of `dim` components, cut from those that it makes."""

    def __init__(self, device: str, dim: int) -> None:
        """Compute on a device by torch's name, or `auto`; keep `dim` components."""
        self.device, self.dim = Device(device), dim

    def unit(self, compute: Callable[[], torch.Tensor]) -> FloatArray:
        """Return float32 [n, dim], cut and L2-normalised, of the rows that `compute` gives."""
        return normalize(self.device.rows(compute)[:, : self.dim], dim=-1).numpy()

    def on_device(self, *tensors: torch.Tensor) -> list[torch.Tensor]:
        """Return tensors on the encoder's device."""
        return [tensor.to(self.device.torch) for tensor in tensors]


def picture_side(processor: Any) -> int:  # noqa: ANN401 (one of transformers')
    """Return the side in px of the squares that it makes; 0 where pictures keep their shapes."""
    pixels = processor([Image.new("RGB", (8, 8))], return_tensors="pt")["pixel_values"]
    return int(pixels.shape[-1]) if pixels.ndim == 4 else 0  # noqa: PLR2004 (n, 3, side, side)


def compute_type(device: str) -> torch.dtype:
    """Return the type that a large model's weights are loaded in: bf16 on a GPU that has it."""
    chosen_device = Device(device).torch
    return (
        torch.bfloat16
        if chosen_device.type == "cuda" and torch.cuda.is_bf16_supported()
        else torch.float32
    )


def fitting(tokens: int) -> int:
    """Return how many items of so many tokens are computed at a time: a power of two."""
    return largest_power_of_two(BUDGET // tokens)


def chunks(items: int, size: int) -> Iterator[list[int]]:
    """Yield the places of `items` in chunks of `size`, the last one filled up with its last."""
    for start in range(0, items, size):
        chunk = list(range(start, min(start + size, items)))
        yield chunk + chunk[-1:] * (size - len(chunk))


def distinct(images: Sequence[Image.Image]) -> tuple[list[Image.Image], list[int]]:
    """Return the pictures without those that stand there twice, and the place of each in them.

    A batch that is not full holds one picture many times.
    """
    places: dict[int, int] = {}
    some: list[Image.Image] = []
    for image in images:
        if id(image) not in places:
            places[id(image)] = len(some)
            some.append(image)
    return some, [places[id(image)] for image in images]


def last_tokens(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the states [n, width] of each row's last token; padding stands at the end."""
    rows = torch.arange(len(states), device=states.device)
    return states[rows, mask.sum(dim=1) - 1]


def mean_tokens(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Return the means [n, width] of each row's states without padding."""
    counted = mask.unsqueeze(-1).to(states.dtype)
    return (states * counted).sum(dim=1) / counted.sum(dim=1)


POOLINGS: dict[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    "lasttoken": last_tokens,
    "mean": mean_tokens,
}


def right_padded(rows: Sequence[Sequence[int]], length: int, pad: int) -> tuple[Any, Any]:
    """Return token ids int64 [n, length], padded at the end, and their mask."""
    ids = torch.full((len(rows), length), pad, dtype=torch.int64)
    mask = torch.zeros_like(ids)
    for n, row in enumerate(rows):
        ids[n, : len(row)] = torch.tensor(row, dtype=torch.int64)
        mask[n, : len(row)] = 1
    return ids, mask
