"""Poolings of sentence-transformers: from the states of tokens to one vector a text."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from isotope.core.errors import UnknownModel

_Pooling = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]
_LEGACY = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


def _first(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return states[torch.arange(len(states)), mask[..., 0].argmax(dim=1)]


def _largest(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return states.masked_fill(mask == 0, -torch.inf).amax(dim=1)


def _mean(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (states * mask).sum(dim=1) / mask.sum(dim=1)


def _rooted(states: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (states * mask).sum(dim=1) / mask.sum(dim=1).sqrt()


_POOLINGS: Mapping[str, _Pooling] = {
    "cls": _first,
    "max": _largest,
    "mean": _mean,
    "mean_sqrt_len_tokens": _rooted,
}


def pooling_modes(name: str, config: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the poolings that a checkpoint's config asks for; their vectors are concatenated.

    Raises:
        UnknownModel: one that is not supported, or none.
    """
    told = config.get("pooling_mode") or [m for key, m in _LEGACY.items() if config.get(key)]
    modes = (told,) if isinstance(told, str) else tuple(told)
    if not modes or set(modes) - set(_POOLINGS):
        found = f"pooling {', '.join(modes) or 'of no kind'}"
        raise UnknownModel(f"models: {name}", found, f"use one of {', '.join(_POOLINGS)}")
    return modes


def pooled(states: torch.Tensor, mask: torch.Tensor, modes: Sequence[str]) -> torch.Tensor:
    """Return one row a text, [n, dim * modes], of states [n, tokens, dim] where the mask is 1."""
    chosen = mask.unsqueeze(-1).to(states.dtype)
    return torch.cat([_POOLINGS[mode](states, chosen) for mode in modes], dim=-1)
