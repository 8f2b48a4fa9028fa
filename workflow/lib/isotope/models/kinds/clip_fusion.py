"""CLIP Fusion of Hu et al. (ICCV 2023): a transformer on either side joins pictures and words."""

from typing import ClassVar, Literal

from pydantic import Field

from isotope.models.kinds._shared import MixKind
from isotope.params.recipes import ClipFusionRecipe, ClipFusionTraining
from isotope.params.sections import Opt, Section


class ClipFusion(MixKind):
    """A transformer over pictures and words on either side."""

    recipe: ClassVar[type[Section] | None] = ClipFusionRecipe

    kind: Literal["clip_fusion"]
    train: Opt[ClipFusionTraining] = Field(
        default=None,
        description="How CLIP Fusion is fine-tuned, all of its parameters: by the paper's recipe "
        "(OVEN, 11.1) unless told.",
    )
