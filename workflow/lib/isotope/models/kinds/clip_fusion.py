from typing import ClassVar, Literal

from isotope.models.kinds._mix import MixKind
from isotope.params.recipes import ClipFusionRecipe, ClipFusionTraining
from isotope.params.sections import Opt, Section


class ClipFusion(MixKind):
    """A transformer over pictures and words on either side."""

    recipe: ClassVar[type[Section] | None] = ClipFusionRecipe

    kind: Literal["clip_fusion"]
    train: Opt[ClipFusionTraining] = None
    """How CLIP Fusion is fine-tuned, all of its parameters: by default the paper's recipe (OVEN,
    11.1)."""
