"""Entries of params as jobs get them."""

import copy
from typing import Any

from isotope.params.resolve import fill
from isotope.params.sections import system_kind


def system(kind: str, **entry: Any) -> dict[str, Any]:
    """Return an entry of `systems` with the defaults of its kind."""
    filled = copy.deepcopy({"kind": kind, **entry})
    fill(filled, system_kind(filled))
    return filled
