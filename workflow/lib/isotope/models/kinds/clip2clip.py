from typing import ClassVar, Literal

from isotope.models.kinds._mix import MixKind
from isotope.params.recipes import Clip2ClipRecipe, Clip2ClipTraining
from isotope.params.sections import Opt, Section


class Clip2Clip(MixKind):
    """Four weighed similarities of pictures and words."""

    recipe: ClassVar[type[Section] | None] = Clip2ClipRecipe

    kind: Literal["clip2clip"]
    train: Opt[Clip2ClipTraining] = None
    """How CLIP2CLIP is fine-tuned, all of its parameters: by default the paper's recipe (OVEN,
    11.2)."""
