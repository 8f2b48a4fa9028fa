"""Where an encoder computes, and the form in which its vectors leave."""

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import torch
from transformers.utils import logging

# Its bars would fill a log with lines that are no news.
logging.disable_progress_bar()
FloatArray = npt.NDArray[np.float32]


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
