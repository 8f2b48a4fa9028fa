"""How OVEN's two dual encoders are fine-tuned whole: the keys under `train:` of their kinds.

Defaults are the figures of Hu et al., Open-domain Visual Entity Recognition (ICCV 2023), appendices
11.1 (CLIP Fusion) and 11.2 (CLIP2CLIP), where they give one.
"""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, ClassVar, Self

from isotope.core.errors import BadParams
from isotope.params.recipes import Means

_OURS = "models: train"


@dataclass(frozen=True, kw_only=True)
class MultimodalRecipe:
    """What both have in common.

    `warmup`: steps. `every`: steps between measurements on validation, of which the best harmonic
    mean chooses the weights (section 6). `sample`: validation pairs that are measured, None for
    all. `threads`: of torch's.
    """

    steps: int
    batch: int = 4_096
    learning_rate: float
    final_learning_rate: float = 1e-6
    warmup: int
    every: int = 100
    sample: int | None = None
    seed: int = 0
    threads: int = 1

    tune: ClassVar[str] = "both"

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Self:
        """Read the `train` mapping of a model's entry; the means are no part of the recipe.

        Raises:
            BadParams: a key that no recipe has, or values no training can use.
        """
        given = dict(spec.get("train") or {})
        own, means = ([f.name for f in fields(each)] for each in (cls, Means))
        if unknown := sorted(given.keys() - {*own, *means}):
            raise BadParams(_OURS, f"unknown {unknown}", f"use some of {sorted([*own, *means])}")
        recipe = cls(**{k: v for k, v in given.items() if k in own})
        recipe.demand_sense()
        return recipe

    def demand_sense(self) -> None:
        """Refuse what no training can use.

        Raises:
            BadParams: counts below 1, a warm-up longer than the training, a rate that would rise.
        """
        if min(self.counts()) < 1:
            raise BadParams(_OURS, f"a count too small in {self.as_dict()}", "raise it")
        if self.warmup >= self.steps:
            found = f"a warm-up of {self.warmup} of {self.steps} steps"
            raise BadParams(_OURS, found, "shorten it")
        if self.final_learning_rate > self.learning_rate:
            found = f"a rate that rises from {self.learning_rate} to {self.final_learning_rate}"
            raise BadParams(_OURS, found, "lower final_learning_rate")

    def counts(self) -> list[int]:
        """Return what has to be 1 at least."""
        sample = 1 if self.sample is None else self.sample
        return [self.steps, self.every, self.threads, sample, self.batch - 1]

    def total(self, _per_epoch: int) -> int:
        """Return the steps of the whole training."""
        return self.steps

    def rate(self, done: int) -> float:
        """Return the learning rate of the step after `done` steps.

        It rises in a line to `learning_rate`, which the last step of the warm-up has, and falls
        with the square root of what is left to `final_learning_rate`, which the last step has.
        """
        # ASSUME the root is of the share of the steps that is left: it is the square-root decay
        # that has a final rate (Keras, PolynomialDecay with power 0.5). 1/sqrt(step) would end at
        # 3e-4, and the paper writes no formula.
        if done < self.warmup:
            return self.learning_rate * (done + 1) / self.warmup
        peak = max(self.warmup - 1, 0)
        left = 1 - (done - peak) / max(self.steps - 1 - peak, 1)
        reach = self.learning_rate - self.final_learning_rate
        return self.final_learning_rate + reach * math.sqrt(max(left, 0))

    def as_dict(self) -> dict[str, object]:
        """Return every value, for the weights' metadata."""
        return asdict(self)


# ASSUME a batch of 4,096 and Adafactor for CLIP2CLIP too, without a warm-up: 11.2 names none of the
# three, 11.1 and 11.3 name Adafactor, and only 11.1 a batch.
@dataclass(frozen=True, kw_only=True)
class Clip2ClipRecipe(MultimodalRecipe):
    """Appendix 11.2: 2K steps from a rate of 1e-4 to 1e-6.

    `step`: of the grid that finds the four weights to start from, on `grid_sample` training pairs.
    """

    steps: int = 2_000
    learning_rate: float = 1e-4
    warmup: int = 0
    step: float = 0.1
    grid_sample: int = 2_000

    def demand_sense(self) -> None:
        """Refuse what no training can use.

        Raises:
            BadParams: as for both, or a step that does not divide 1.
        """
        super().demand_sense()
        if not math.isclose(round(1 / self.step) * self.step, 1):
            raise BadParams(_OURS, f"step {self.step}", "use one that divides 1")

    def counts(self) -> list[int]:
        """Return what has to be 1 at least."""
        return [*super().counts(), self.grid_sample - 1]


@dataclass(frozen=True, kw_only=True)
class ClipFusionRecipe(MultimodalRecipe):
    """Appendix 11.1: 10K steps of 4,096 pairs, 1K of warm-up to .001, then down to 1e-6.

    On either side a T5 encoder of `layers`, each of `heads` of `head_width` components.
    """

    steps: int = 10_000
    learning_rate: float = 1e-3
    warmup: int = 1_000
    layers: int = 2
    heads: int = 12
    head_width: int = 64

    def counts(self) -> list[int]:
        """Return what has to be 1 at least."""
        return [*super().counts(), self.layers, self.heads, self.head_width]


RECIPES: dict[str, type[MultimodalRecipe]] = {
    "clip2clip": Clip2ClipRecipe,
    "clip_fusion": ClipFusionRecipe,
}


def recipe_of(spec: Mapping[str, Any]) -> MultimodalRecipe:
    """Read the recipe of an entry of a kind of RECIPES.

    Raises:
        BadParams: as `MultimodalRecipe.of`.
    """
    return RECIPES[spec["kind"]].of(spec)
