from typing import Literal

from isotope.models.kinds._mix import MixKind, WholeRecipe
from isotope.models.kinds._training import Pairs, Step
from isotope.params.sections import Count, Natural, Positive


# ASSUME a batch of 4,096 and Adafactor for CLIP2CLIP too, without a warm-up: 11.2 names none of the
# three, 11.1 and 11.3 name Adafactor, and only 11.1 a batch.
class Clip2ClipRecipe(WholeRecipe):
    """How CLIP2CLIP is fine-tuned, all of its parameters: by the paper's recipe (OVEN, 11.2).

    2K steps from a rate of 1e-4 to 1e-6.
    """

    steps: Count = 2_000
    """Batches to learn from."""
    learning_rate: Positive = 1e-4
    """Rate of the first step, or at the end of the warm-up."""
    warmup: Natural = 0
    """Steps in which the rate rises from zero."""
    step: Step = 0.1
    """The four weights start at the best multiples of it that add up to 1."""
    grid_sample: Pairs = 2_000
    """Training pairs that choose where the four weights start."""


class Clip2Clip(MixKind):
    """Four weighed similarities of pictures and words."""

    kind: Literal["clip2clip"]
    train: Clip2ClipRecipe = Clip2ClipRecipe()
    """How CLIP2CLIP is fine-tuned, all of its parameters: by default the paper's recipe (OVEN,
    11.2)."""
