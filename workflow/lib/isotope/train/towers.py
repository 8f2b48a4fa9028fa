"""Which parameters learn: the text tower, the vision tower or both, the temperature always."""

from typing import Any

import torch

_SHARED = frozenset({"logit_scale", "logit_bias"})


def freeze(model: Any, tune: str) -> None:  # noqa: ANN401
    """Let only the tower `tune` (`text`, `vision` or `both`) and the temperature learn.

    Locked-image tuning and its mirror: Zhai et al., LiT (CVPR 2022), section 3.
    """
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name in _SHARED or tune in ("both", tower_of(name)))


def tower_of(name: str) -> str:
    """Return the tower that a parameter or module of an open_clip model belongs to."""
    return "vision" if name.partition(".")[0] == "visual" else "text"


def learning(model: Any, tune: str, *, whole_batch: bool) -> None:  # noqa: ANN401
    """Put the tower that learns in training mode and the other in evaluation mode.

    Batch statistics of a part are not those of the whole, so where a batch is computed in parts
    BatchNorm keeps the statistics it came with.
    """
    for name, module in model.named_modules():
        mode = tune in ("both", tower_of(name))
        norm = isinstance(module, torch.nn.modules.batchnorm._BatchNorm)  # pyright: ignore[reportPrivateUsage]
        module.training = mode and (whole_batch or not norm)
