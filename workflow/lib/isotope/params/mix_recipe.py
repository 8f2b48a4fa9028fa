"""How a mix of frozen vectors is learned: the closed set of keys under a model's `learn:`."""

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from isotope.core.errors import BadParams


@dataclass(frozen=True)
class Recipe:
    """How a mix is learned; `step` is the grid's of CLIP2CLIP, layers and heads are of CLIP Fusion.

    `sample`: pairs that choose the start and that accuracy is measured on. `threads`: of torch's.
    """

    epochs: int = 10
    batch: int = 256
    learning_rate: float = 1e-3
    step: float = 0.1
    layers: int = 2
    heads: int = 8
    sample: int = 2000
    seed: int = 0
    threads: int = 1

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> "Recipe":
        """Read the `learn` mapping of a model's entry.

        Raises:
            BadParams: a key that no recipe has, or a step that does not divide 1.
        """
        given = dict(spec.get("learn") or {})
        known = [f.name for f in fields(cls)]
        if unknown := sorted(given.keys() - set(known)):
            raise BadParams("models: learn", f"unknown {unknown}", f"use some of {known}")
        recipe = cls(**given)
        if not math.isclose(round(1 / recipe.step) * recipe.step, 1):
            raise BadParams("models: learn", f"step {recipe.step}", "use one that divides 1")
        return recipe
