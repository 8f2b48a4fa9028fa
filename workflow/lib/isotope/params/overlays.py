"""How params are laid over others: an overlay changes only the keys that it has."""

import copy
from collections.abc import Mapping
from typing import Any


def lay_over(params: dict[str, Any], overlay: Mapping[str, Any]) -> None:
    """Change in params what an overlay has, mappings key by key, as Snakemake does."""
    for key, value in overlay.items():
        if isinstance(value, Mapping) and isinstance(params.get(key), dict):
            lay_over(params[key], value)
        else:
            params[key] = copy.deepcopy(value)
