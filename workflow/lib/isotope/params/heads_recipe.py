"""How the heads of a `lit` model are trained: the closed set of keys under its `heads:`."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, cast

from isotope.core.errors import BadParams


@dataclass(frozen=True)
class HeadsRecipe:
    """How heads are trained: components of a vector, passes, pairs a step, peak of the cosine.

    `caption_rate`: how often a caption in `language` stands in for the text. `every`: epochs
    between measurements. `threads`: of torch's.
    """

    dim: int = 256
    epochs: int = 30
    batch: int = 256
    learning_rate: float = 1e-3
    weight_decay: float = 0.1
    caption_rate: float = 0.5
    language: str = "en"
    every: int = 5
    threads: int = 1
    seed: int = 0

    @classmethod
    def of(cls, spec: Mapping[str, object]) -> "HeadsRecipe":
        """Read the `heads` mapping of a model's entry.

        Raises:
            BadParams: a key that no recipe has, or values no training can use.
        """
        given = dict(cast("Mapping[str, Any]", spec.get("heads") or {}))
        known = [f.name for f in fields(cls)]
        unknown = sorted(given.keys() - set(known))
        if unknown:
            raise BadParams("models: heads", f"unknown {unknown}", f"use some of {known}")
        recipe = cls(**given)
        if min(recipe.dim, recipe.epochs, recipe.batch - 1, recipe.every, recipe.threads) < 1:
            raise BadParams("models: heads", f"a count too small in {given}", "raise it")
        return recipe
