"""How a model is trained: the closed set of numbers under `train:` of a model in params.yaml."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, cast

from isotope.errors import BadParams


@dataclass(frozen=True)
class Recipe:
    """Hyperparameters of contrastive training; shares, rates and reaches are fractions of 1.

    `warmup`: share of the steps. `every`: epochs between measurements. `caption_rate`: how often a
    caption stands in for the text. `field_dropout`, `token_dropout`: how often a field or token is
    left out. `translate`, `zoom`, `jitter`: how far a picture is moved, scaled and tinted.
    `threads`: of torch's; their number changes the order of sums, hence the weights, and two that
    wait for other jobs are slower than one. `limit_s`: stop after the epoch that passes it.
    """

    epochs: int = 30
    batch: int = 64
    learning_rate: float = 1e-3
    weight_decay: float = 0.1
    warmup: float = 0.1
    every: int = 5
    caption_rate: float = 0.3
    field_dropout: float = 0.1
    token_dropout: float = 0.0
    translate: float = 0.04
    zoom: float = 0.05
    jitter: float = 0.05
    language: str = "en"
    threads: int = 1
    limit_s: float | None = None

    @classmethod
    def of(cls, spec: Mapping[str, object]) -> "Recipe":
        """Read the `train` mapping of a model's entry; its seed is no part of the recipe.

        Raises:
            BadParams: a key that no recipe has, or numbers no training can use.
        """
        given = dict(cast("Mapping[str, Any]", spec.get("train") or {}))
        given.pop("seed", None)
        known = [f.name for f in fields(cls)]
        unknown = sorted(given.keys() - set(known))
        if unknown:
            raise BadParams("models: train", f"unknown {unknown}", f"use some of {known}")
        recipe = cls(**given)
        if min(recipe.batch - 1, recipe.epochs, recipe.every, recipe.threads) < 1:
            found = f"a batch below 2, or epochs, every or threads below 1 in {given}"
            raise BadParams("models: train", found, "raise them")
        return recipe

    def as_dict(self) -> dict[str, object]:
        """Return every number, for the weights' metadata."""
        return asdict(self)
