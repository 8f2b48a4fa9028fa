"""How models are trained: the keys under `train`, `heads` and `learn` of a model in params.yaml.

A recipe says what is learned, `Resources` how the arithmetic is carried out; a training reads both
from the same mapping. Defaults of CLIP2CLIP and CLIP Fusion are the figures of Hu et al.,
Open-domain Visual Entity Recognition (ICCV 2023), appendices 11.1 (CLIP Fusion) and 11.2
(CLIP2CLIP), where they give one.
"""

import math
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, Self, TypeGuard, get_args

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.params.sections import (
    Count,
    Language,
    Natural,
    NotNegative,
    Number,
    Opt,
    Positive,
    Section,
    Share,
    Whole,
    model_kind,
)

_TRAIN = "models: train"
# Keys of a model under which a recipe stands.
_KEYS = ("train", "heads", "learn")
# Keys that came later: weights that were trained before keep their bytes.
_LATER = ("steps", "tune")
_Pairs = Annotated[Whole, Field(ge=2)]
_Step = Annotated[Number, Field(gt=0, le=1)]


def _part(of: type[Section], spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a recipe has of the `train` mapping of a model, which has the resources, too."""
    entries = dict(spec.get("train") or {})
    keys = {*of.model_fields, *Resources.model_fields, "seed"}
    if unknown := sorted(entries.keys() - keys):
        raise BadParams(_TRAIN, f"unknown {unknown}", f"use some of {sorted(keys)}")
    return {key: value for key, value in entries.items() if key in of.model_fields}


def _demand_divisor(where: str, step: float) -> None:
    if not math.isclose(round(1 / step) * step, 1):
        raise BadParams(where, f"step {step}", "use one that divides 1")


class HeadsRecipe(Section):
    """The recipe of the heads of a model of kind `lit`."""

    dim: _Pairs = 256
    """Components of a vector."""
    epochs: Count = 30
    """Passes over the training pairs."""
    batch: _Pairs = 256
    """Pairs contrasted at a time."""
    learning_rate: Positive = 1e-3
    """Peak of the schedule."""
    weight_decay: NotNegative = 0.1
    """Of AdamW."""
    caption_rate: Share = 0.5
    """Share of views whose text is a caption instead of the fields."""
    language: Language = "en"
    """Language of the captions that are used."""
    every: Count = 5
    """Epochs between two points of the learning curve."""
    threads: Count = 1
    """Threads of the tensor library."""
    seed: Whole = 0
    """Of initialisation and order."""

    limit_s: ClassVar[float | None] = None

    def total(self, per_epoch: int) -> int:
        """Return the steps of the whole training."""
        return self.epochs * per_epoch

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Self:
        """Read the `heads` mapping of a model's entry.

        Raises:
            BadParams: a key that no recipe has, or values no training can use.
        """
        return cls.read("models: heads", spec.get("heads") or {})


class MixRecipe(Section):
    """How a mix over frozen vectors is learned on the split train, with `frozen: true`."""

    epochs: Count = 10
    """Passes over the training pairs."""
    batch: _Pairs = 256
    """Pairs contrasted at a time."""
    learning_rate: Positive = 1e-3
    """Of AdamW."""
    step: _Step = 0.1
    """CLIP2CLIP starts from the best four weights that are multiples of it and add up to 1."""
    layers: Count = 2
    """Layers of CLIP Fusion's transformers."""
    heads: Count = 8
    """Heads of CLIP Fusion's attention; they divide the components of a vector."""
    sample: _Pairs = 2000
    """Pairs that choose the start and that accuracy is measured on."""
    seed: Whole = 0
    """Of initialisation and order."""
    threads: Count = 1
    """Threads of the tensor library."""

    every: ClassVar[int] = 1
    limit_s: ClassVar[float | None] = None

    def total(self, per_epoch: int) -> int:
        """Return the steps of the whole training."""
        return self.epochs * per_epoch

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Self:
        """Read the `learn` mapping of a model's entry.

        Raises:
            BadParams: a key that no recipe has, or a step that does not divide 1.
        """
        recipe = cls.read("models: learn", spec.get("learn") or {})
        recipe.demand_sense()
        return recipe

    def demand_sense(self) -> None:
        """Refuse what no mix can be learned by.

        Raises:
            BadParams: a step that does not divide 1.
        """
        _demand_divisor("models: learn", self.step)


class Resources(Section):
    """How the arithmetic is carried out: these change memory, time and rounding, not the method."""

    micro_batch: Count | None = None
    """Pairs embedded at a time; larger batches are split, with the same gradients."""
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    """Precision of the towers' products; auto is bf16 on a GPU that supports it."""
    processes: Count = 1
    """Processes that share a batch through torchrun; one for each GPU."""
    checkpoint_every: Count | None = None
    """Steps between two checkpoints; without checkpoints an interrupted training starts again."""
    squares_gib: NotNegative = 4.0
    """Disk for a split's pictures as squares of the model's size; a larger split is decoded batch
    by batch."""
    workers: Count = 1
    """Threads that decode the pictures of a split larger than squares_gib."""

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> "Resources":
        """Read the resources from the `train` mapping of a model's entry, whatever its recipe.

        Raises:
            BadParams: values no training can use.
        """
        entries = spec.get("train") or {}
        return Resources.read(
            _TRAIN, {k: v for k, v in entries.items() if k in Resources.model_fields}
        )


class Recipe(Section):
    """Hyperparameters of contrastive training; shares, rates and reaches are fractions of 1.

    The number of `threads` changes the order of sums, hence the weights, and two that wait for
    other jobs are slower than one. A tower that does not learn stays as it was (Zhai et al., LiT,
    CVPR 2022).
    """

    epochs: Count = 30
    """Passes over the training pairs."""
    batch: _Pairs = 64
    """Pairs contrasted at a time."""
    learning_rate: Positive = 1e-3
    """Peak of the schedule."""
    weight_decay: NotNegative = 0.1
    """Of AdamW."""
    warmup: Share = 0.1
    """Share of the steps in the warm-up."""
    every: Count = 5
    """Epochs between two points of the learning curve."""
    caption_rate: Share = 0.3
    """Share of views whose text is a caption instead of the fields."""
    field_dropout: Share = 0.1
    """Probability that a field is left out of a view."""
    token_dropout: Share = 0.0
    """Probability that a word is left out of a view."""
    translate: Share = 0.04
    """Largest shift of a picture, as a share of its side."""
    zoom: Share = 0.05
    """Largest change of a picture's scale, as a share."""
    jitter: Share = 0.05
    """Largest change of brightness and contrast, as a share."""
    language: Language = "en"
    """Language of the captions that are used."""
    threads: Count = 1
    """Threads of the tensor library."""
    limit_s: Positive | None = None
    """Longest training time in seconds; stops early and is then not reproducible."""
    steps: Opt[Count] = None
    """Batches to learn from, instead of `epochs`."""
    tune: Literal["both", "text", "vision"] = "both"
    """The tower that learns; the other is frozen."""

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> "Recipe":
        """Read the recipe from the `train` mapping of a model's entry.

        Raises:
            BadParams: a key that neither recipe nor resources have, or values no training can use.
        """
        recipe = Recipe.read(_TRAIN, _part(Recipe, spec))
        recipe.demand_sense()
        return recipe

    def demand_sense(self) -> None:
        """Refuse what no training can use.

        Raises:
            BadParams: both steps and epochs.
        """
        if {"steps", "epochs"} <= self.model_fields_set:
            raise BadParams(_TRAIN, "both steps and epochs", "keep one of them")

    def total(self, per_epoch: int) -> int:
        """Return the steps of the whole training."""
        return self.steps or self.epochs * per_epoch

    def as_dict(self) -> dict[str, object]:
        """Return every value, for the weights' metadata; later keys only if not the default."""
        plain, every = Recipe.defaults(), self.values().items()
        return {k: v for k, v in every if k not in _LATER or v != plain.get(k)}


class Train(Recipe, Resources):  # pyright: ignore[reportIncompatibleMethodOverride]
    """The recipe of a trained model."""

    batch: _Pairs = Field()
    """Pairs contrasted at a time."""
    learning_rate: Positive = Field()
    """Peak of the schedule."""
    seed: Whole = 0
    """Of initialisation and order."""


class MultimodalRecipe(Section):
    """What both models of pictures with words have in common.

    Of the measurements on validation the best harmonic mean chooses the weights (section 6).
    """

    steps: Count
    """Batches to learn from."""
    batch: _Pairs = 4_096
    """Pairs contrasted at a time."""
    learning_rate: Positive
    """Rate at the end of the warm-up."""
    final_learning_rate: NotNegative = 1e-6
    """Rate of the last step."""
    warmup: Natural
    """Steps in which the rate rises from zero."""
    every: Count = 100
    """Steps between two measurements on validation, of which the best chooses the weights."""
    sample: Count | None = None
    """Pairs of validation that are measured, evenly spaced; null for all."""
    seed: Whole = 0
    """Of initialisation and order."""
    threads: Count = 1
    """Threads of the tensor library."""

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> Self:
        """Read the recipe from the `train` mapping of a model's entry.

        Raises:
            BadParams: a key that neither recipe nor resources have, or values no training can use.
        """
        recipe = cls.read(_TRAIN, _part(cls, spec))
        recipe.demand_sense()
        return recipe

    def demand_sense(self) -> None:
        """Refuse what no training can use.

        Raises:
            BadParams: a warm-up longer than the training, a rate that would rise.
        """
        if self.warmup >= self.steps:
            found = f"a warm-up of {self.warmup} of {self.steps} steps"
            raise BadParams(_TRAIN, found, "shorten it")
        if self.final_learning_rate > self.learning_rate:
            found = f"a rate that rises from {self.learning_rate} to {self.final_learning_rate}"
            raise BadParams(_TRAIN, found, "lower final_learning_rate")

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
        return self.values()


# ASSUME a batch of 4,096 and Adafactor for CLIP2CLIP too, without a warm-up: 11.2 names none of the
# three, 11.1 and 11.3 name Adafactor, and only 11.1 a batch.
class Clip2ClipRecipe(MultimodalRecipe):
    """Appendix 11.2: 2K steps from a rate of 1e-4 to 1e-6."""

    steps: Count = 2_000
    """Batches to learn from."""
    learning_rate: Positive = 1e-4
    """Rate of the first step, or at the end of the warm-up."""
    warmup: Natural = 0
    """Steps in which the rate rises from zero."""
    step: _Step = 0.1
    """The four weights start at the best multiples of it that add up to 1."""
    grid_sample: _Pairs = 2_000
    """Training pairs that choose where the four weights start."""

    def demand_sense(self) -> None:
        """Refuse what no training can use.

        Raises:
            BadParams: as for both, or a step that does not divide 1.
        """
        super().demand_sense()
        _demand_divisor(_TRAIN, self.step)


class ClipFusionRecipe(MultimodalRecipe):
    """Appendix 11.1: 10K steps of 4,096 pairs, 1K of warm-up to .001, then down to 1e-6."""

    steps: Count = 10_000
    """Batches to learn from."""
    learning_rate: Positive = 1e-3
    """Rate at the end of the warm-up."""
    warmup: Natural = 1_000
    """Steps in which the rate rises from zero."""
    layers: Count = 2
    """Layers of the transformer on either side."""
    heads: Count = 12
    """Heads of its attention."""
    head_width: Count = 64
    """Components of a head."""


class SideResources(Resources):
    """The resources of a training whose pairs have a picture on either side."""

    squares_gib: NotNegative = 4.0
    """Disk for the pictures of one side of a split cut to squares; more are decoded batch by
    batch."""
    workers: Count = 1
    """Threads that decode the pictures of a side larger than squares_gib."""


class Clip2ClipTraining(Clip2ClipRecipe, SideResources):  # pyright: ignore[reportIncompatibleMethodOverride]
    """How CLIP2CLIP is fine-tuned, all of its parameters: by the paper's recipe (OVEN, 11.2)."""


class ClipFusionTraining(ClipFusionRecipe, SideResources):  # pyright: ignore[reportIncompatibleMethodOverride]
    """How CLIP Fusion is fine-tuned, all of its parameters: by the paper's recipe (OVEN, 11.1)."""


def recipe_of(spec: Mapping[str, Any]) -> MultimodalRecipe:
    """Read the recipe of a model of pictures with words, by its kind.

    Raises:
        BadParams: as `MultimodalRecipe.of`; a kind without such a recipe.
    """
    recipe = model_kind(spec).recipe
    if recipe is None or not issubclass(recipe, MultimodalRecipe):
        raise BadParams("models", f"kind {spec['kind']!r} has no recipe", "name another kind")
    return recipe.of(spec)


def recipe_values(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return how a model's entry says that it learns, with the defaults of its kind.

    Raises:
        BadParams: a kind that learns by no recipe.
    """
    fields = model_kind(spec).model_fields
    keys = [key for key in _KEYS if key in fields]
    if not keys:
        raise BadParams("models", f"kind {spec['kind']!r} has no recipe", "name another kind")
    key = next((key for key in keys if spec.get(key)), keys[0])
    annotation = fields[key].annotation
    [of] = [each for each in (annotation, *get_args(annotation)) if _is_section(each)]
    return of.filled(spec.get(key) or {})


def _is_section(of: Any) -> TypeGuard[type[Section]]:  # noqa: ANN401
    return isinstance(of, type) and issubclass(of, Section)
