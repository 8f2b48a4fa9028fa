"""Models of pictures with words, over the frozen vectors of another model or trained whole.

Defaults are the figures of Hu et al., Open-domain Visual Entity Recognition (ICCV 2023), appendices
11.1 (CLIP Fusion) and 11.2 (CLIP2CLIP), where they give one.
"""

import math
from typing import ClassVar, Self, cast

from pydantic import model_validator

from isotope.core.errors import BadParams
from isotope.models import open_clip_files
from isotope.models.kinds._training import OfVectors, Pairs, Resources, Step
from isotope.params.messages import refuse
from isotope.params.references import Seeing
from isotope.params.sections import Count, ModelKind, Natural, NotNegative, Params, Positive


class MixRecipe(OfVectors):
    """How a mix over frozen vectors is learned on the split train, with `frozen: true`."""

    every: ClassVar[int] = 1

    epochs: Count = 10
    """Passes over the training pairs."""
    step: Step = 0.1
    """CLIP2CLIP starts from the best four weights that are multiples of it and add up to 1."""
    layers: Count = 2
    """Layers of CLIP Fusion's transformers."""
    heads: Count = 8
    """Heads of CLIP Fusion's attention; they divide the components of a vector."""
    sample: Pairs = 2000
    """Pairs that choose the start and that accuracy is measured on."""


class WholeRecipe(Resources):
    """What both models of pictures with words have in common.

    Of the measurements on validation the best harmonic mean chooses the weights (section 6).
    """

    steps: Count
    """Batches to learn from."""
    batch: Pairs = 4_096
    """Pairs contrasted at a time."""
    learning_rate: Positive
    """Rate at the end of the warm-up, or of the first step."""
    final_learning_rate: NotNegative = 1e-6
    """Rate of the last step."""
    warmup: Natural
    """Steps in which the rate rises from zero."""
    every: Count = 100
    """Steps between two measurements on validation, of which the best chooses the weights."""
    sample: Count | None = None
    """Pairs of validation that are measured, evenly spaced; null for all."""

    @model_validator(mode="after")
    def _can_train(self) -> Self:
        if self.warmup >= self.steps:
            raise refuse(f"a warm-up of {self.warmup} of {self.steps} steps", "shorten it")
        if self.final_learning_rate > self.learning_rate:
            problem = f"a rate that rises from {self.learning_rate} to {self.final_learning_rate}"
            raise refuse(problem, "lower final_learning_rate")
        return self

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


class MixKind(ModelKind):
    """A model of pictures with words: over the frozen vectors of another, or trained whole."""

    is_encoder: ClassVar[bool] = False
    encodes_images: ClassVar[bool] = False
    is_mix: ClassVar[bool] = True

    of: Seeing
    """The model that is trained whole, of kind open_clip or trained; with `frozen`, any whose
    vectors of images, questions, texts and their pictures are mixed. Its `fields` are an entity's
    words."""
    frozen: bool = False
    """Learn over the vectors of `of` alone, whose towers stay as they are: not the paper's
    system."""
    learn: MixRecipe = MixRecipe()
    """How a mix over frozen vectors is learned on the split train, with `frozen: true`."""

    @property
    def whole_recipe(self) -> WholeRecipe:
        """How it is trained whole: its key `train`, whose type is that of its kind."""
        return cast("WholeRecipe", vars(self)["train"])

    @property
    def recipe(self) -> MixRecipe | WholeRecipe:
        """How it learns."""
        return self.learn if self.frozen else self.whole_recipe

    def check(self, where: str, params: Params) -> None:
        """Check that what learns can learn.

        Raises:
            BadParams: a mix that is frozen and trained, or trained of what can't be.
        """
        unused = "train" if self.frozen else "learn"
        if unused in self.model_fields_set:
            problem = f"{unused} besides frozen: {str(self.frozen).lower()}"
            remedy = "`learn` is for frozen: true, `train` for models that are trained whole"
            raise BadParams(f"{where}.{unused}", problem, remedy)
        if not self.frozen:
            _check_trainable(f"{where}.of", self.of, params.models[self.of])


def _check_trainable(where: str, name: str, entry: ModelKind) -> None:
    if not entry.can_train_whole:
        problem = f"a model of kind {entry.kind_name()}, which can't be trained whole"
        raise BadParams(where, problem, "name one of kind open_clip or trained, or freeze it")
    configured = {
        key: getattr(entry, key, None) for key in ("excerpt", "context", "name", "config")
    }
    if part := next((key for key in ("excerpt", "context") if configured[key]), None):
        problem = f"{name!r} reads a part of each text ({part})"
        raise BadParams(where, problem, "name a model that reads whole texts, or freeze it")
    if not open_clip_files.are_here():
        return
    if tokenizer := open_clip_files.tokenizer(str(configured["name"] or configured["config"])):
        problem = f"{name!r} reads text with the tokenizer of {tokenizer}"
        raise BadParams(where, problem, "name a model with CLIP's own tokenizer")
