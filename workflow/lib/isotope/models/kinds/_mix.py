"""Models of pictures with words, over the frozen vectors of another model or trained whole.

Defaults are the figures of Hu et al., Open-domain Visual Entity Recognition (ICCV 2023), appendices
11.1 (CLIP Fusion) and 11.2 (CLIP2CLIP), where they give one.
"""

import math
from typing import Any, ClassVar, NamedTuple

from isotope.core.errors import BadParams
from isotope.models import open_clip_files
from isotope.models.kinds._training import OfVectors, Pairs, Resources
from isotope.params.references import Seeing
from isotope.params.removed import Constant, Derived, Removed
from isotope.params.sections import Count, ModelKind, Opt, Params, Positive

_OF_PAPER = "as in OVEN (Hu et al., ICCV 2023), appendix 11"


class MixRecipe(OfVectors):
    """How a mix over frozen vectors is learned on the split train, with `frozen: true`."""

    every: ClassVar[int] = 1
    removed: ClassVar[Removed] = {
        "step": Constant(0.1, "the start of four weights that are learned"),
        "layers": Constant(2, "as in OVEN, appendix 11.1"),
        "heads": Derived("the components of a vector, 64 a head"),
        "sample": Constant(2000, "enough pairs to choose a start and to measure by"),
    }

    epochs: Count = 10
    """Passes over the training pairs."""


class WholeRecipe(Resources):
    """How a model of pictures with words is fine-tuned, all of its parameters.

    What is left out is the paper's (OVEN, appendix 11). Of the measurements on validation the best
    harmonic mean chooses the weights (section 6).
    """

    removed: ClassVar[Removed] = {
        **Resources.removed,
        "final_learning_rate": Constant(1e-6, _OF_PAPER),
        "warmup": Derived("the kind: a tenth of the steps of clip_fusion, none of clip2clip"),
        "every": Constant(100, "between two measurements; the last step is measured, too"),
        "sample": Constant(None, "as all pairs of validation are measured"),
        "layers": Constant(2, _OF_PAPER),
        "heads": Constant(12, _OF_PAPER),
        "head_width": Constant(64, _OF_PAPER),
        "step": Constant(0.1, "the start of four weights that are learned"),
        "grid_sample": Constant(2000, "enough pairs to choose where four weights start"),
    }

    steps: Opt[Count] = None
    """Batches to learn from: by default 10,000 of clip_fusion, 2,000 of clip2clip."""
    batch: Pairs = 4_096
    """Pairs contrasted at a time."""
    learning_rate: Opt[Positive] = None
    """Rate at the end of the warm-up, or of the first step: by default 1e-3 of clip_fusion, 1e-4 of
    clip2clip."""


class Schedule(NamedTuple):
    """The steps of a fine-tuning and their rates.

    `warmup` is the share of the steps in which the rate rises from zero.
    """

    steps: int
    learning_rate: float
    warmup: float
    # Of both kinds (11.1 and 11.2).
    final_learning_rate: float = 1e-6

    def rate(self, done: int) -> float:
        """Return the learning rate of the step after `done` steps.

        It rises in a line to `learning_rate`, which the last step of the warm-up has, and falls
        with the square root of what is left to the final rate, which the last step has.
        """
        # ASSUME the root is of the share of the steps that is left: it is the square-root decay
        # that has a final rate (Keras, PolynomialDecay with power 0.5). 1/sqrt(step) would end at
        # 3e-4, and the paper writes no formula.
        warmup = round(self.warmup * self.steps)
        if done < warmup:
            return self.learning_rate * (done + 1) / warmup
        peak = max(warmup - 1, 0)
        left = 1 - (done - peak) / max(self.steps - 1 - peak, 1)
        final = min(self.final_learning_rate, self.learning_rate)
        return final + (self.learning_rate - final) * math.sqrt(max(left, 0))


class MixKind(ModelKind):
    """A model of pictures with words: over the frozen vectors of another, or trained whole."""

    is_encoder: ClassVar[bool] = False
    encodes_images: ClassVar[bool] = False
    is_mix: ClassVar[bool] = True
    # The paper's schedule of a training whole.
    usual: ClassVar[Schedule]

    of: Seeing
    """The model that is trained whole, of kind open_clip or trained; with `frozen`, any whose
    vectors of images, questions, texts and their pictures are mixed. Its `fields` are an entity's
    words."""
    frozen: bool = False
    """Learn over the vectors of `of` alone, whose towers stay as they are: not the paper's
    system."""
    learn: MixRecipe = MixRecipe()
    """How a mix over frozen vectors is learned on the split train, with `frozen: true`."""
    train: WholeRecipe = WholeRecipe()
    """How it is fine-tuned, all of its parameters: by default the paper's recipe (OVEN, appendix
    11)."""

    @property
    def schedule(self) -> Schedule:
        """The steps of its training whole, and their rates."""
        recipe = self.whole_recipe
        return self.usual._replace(steps=recipe.steps, learning_rate=recipe.learning_rate)

    @property
    def whole_recipe(self) -> WholeRecipe:
        """Its key `train`, with the steps and the rate of its kind where it says none."""
        usual = {"steps": self.usual.steps, "learning_rate": self.usual.learning_rate}
        lacking = {key: value for key, value in usual.items() if getattr(self.train, key) is None}
        return self.train.model_copy(update=lacking)

    @property
    def recipe(self) -> MixRecipe | WholeRecipe:
        """How it learns."""
        return self.learn if self.frozen else self.whole_recipe

    def method(self) -> dict[str, Any]:
        """Return what weights tell of how the model was trained whole."""
        return {**self.train.method(), **self.schedule._asdict()}

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
