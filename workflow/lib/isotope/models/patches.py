"""Patches of pictures, as vision-language models of Qwen's build read them.

A picture is scaled to sides that are multiples of a token's side, between two numbers of pixels,
its shape kept as far as that goes (https://huggingface.co/docs/transformers/model_doc/qwen2_vl).
"""

import io
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import transformers
from PIL import Image
from torch import Tensor
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import smart_resize

from isotope.core.errors import CorruptFile
from isotope.core.pixels import decode

Grid = tuple[int, int]
# The library refuses a picture whose sides differ by more.
_NARROWEST = 200
_REMEMBERED = 16


class Patches:
    """A checkpoint's picture processor, by Pillow, as torchvision's scales pictures otherwise."""

    def __init__(
        self, name: str, options: Mapping[str, Any], tokens: Grid, pixels: int | None = None
    ) -> None:
        """Load it; a picture becomes at least and at most so many `tokens`, or at most `pixels`.

        Raises:
            OSError, ValueError: no such processor.
        """
        self._processor: Any = transformers.AutoImageProcessor.from_pretrained(
            name, backend="pil", **options
        )
        self._side, self._merge = int(self._processor.patch_size), int(self._processor.merge_size)
        unit = (self._side * self._merge) ** 2
        most = pixels or tokens[1] * unit
        self._range = min(tokens[0] * unit, most), most
        # Pairs with one picture come one after the other.
        self.processed = lru_cache(maxsize=_REMEMBERED)(self._process)

    def grid(self, webp: bytes) -> Grid:
        """Return rows and columns of a picture's patches, from its head alone.

        Raises:
            CorruptFile: bytes without the head of a picture.
        """
        try:
            with Image.open(io.BytesIO(webp)) as image:
                width, height = _broad(*image.size)
        except OSError as error:
            remedy = "remove its shard and run the crawl phase again"
            raise CorruptFile("picture", f"not a picture ({error})", remedy) from error
        least, most = self._range
        factor = self._side * self._merge
        sides = smart_resize(height, width, factor=factor, min_pixels=least, max_pixels=most)
        return sides[0] // self._side, sides[1] // self._side

    def tokens(self, grid: Grid) -> int:
        """Return how many tokens so many patches become."""
        return grid[0] * grid[1] // self._merge**2

    def _process(self, webp: bytes) -> dict[str, Tensor]:
        """Return pixel_values [patches, values] and image_grid_thw [1, 3] of a picture."""
        image = decode(webp)
        if image.size != (size := _broad(*image.size)):
            image = image.resize(size, Image.Resampling.BICUBIC)
        edges = dict(zip(("shortest_edge", "longest_edge"), self._range, strict=True))
        processed = self._processor(images=[image], size=edges, return_tensors="pt")
        return {name: processed[name] for name in ("pixel_values", "image_grid_thw")}


def _broad(width: int, height: int) -> tuple[int, int]:
    """Return a picture's size, its shorter side grown where the other is 200 times as long.

    ASSUME such a picture may lose its shape: the library refuses it, and one picture must not end
    a run; no model card says.
    """
    least = -(-max(width, height) // _NARROWEST)
    return max(width, least), max(height, least)
