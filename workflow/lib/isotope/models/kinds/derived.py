"""The weights, and the vectors of images, of another model, with other fields of the texts."""

from typing import ClassVar, Literal

from pydantic import Field

from isotope.models.kinds._shared import MixKind
from isotope.params.recipes import (
    Clip2ClipRecipe,
    Clip2ClipTraining,
    ClipFusionRecipe,
    ClipFusionTraining,
)
from isotope.params.sections import ModelKind, Opt, Section, TextFields


class ClipFusion(MixKind):
    """A transformer over pictures and words on either side."""

    recipe: ClassVar[type[Section] | None] = ClipFusionRecipe

    kind: Literal["clip_fusion"]
    train: Opt[ClipFusionTraining] = Field(
        default=None,
        description="How CLIP Fusion is fine-tuned, all of its parameters: by the paper's recipe "
        "(OVEN, 11.1) unless told.",
    )


class Clip2Clip(MixKind):
    """Four weighed similarities of pictures and words."""

    recipe: ClassVar[type[Section] | None] = Clip2ClipRecipe

    kind: Literal["clip2clip"]
    train: Opt[Clip2ClipTraining] = Field(
        default=None,
        description="How CLIP2CLIP is fine-tuned, all of its parameters: by the paper's recipe "
        "(OVEN, 11.2) unless told.",
    )


class Reuse(ModelKind):
    """A model that reads other fields with the weights of another one."""

    encodes_images: ClassVar[bool] = False
    shares_weights: ClassVar[bool] = True

    kind: Literal["reuse"]
    weights_of: str = Field(
        description="Another model, whose weights and vectors of images this one shares."
    )
    fields: TextFields
