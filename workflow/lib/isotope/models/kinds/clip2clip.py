"""CLIP2CLIP of Hu et al. (ICCV 2023): four similarities of pictures and words, weighed."""

from typing import ClassVar, Literal

from pydantic import Field

from isotope.models.kinds._shared import MixKind
from isotope.params.recipes import Clip2ClipRecipe, Clip2ClipTraining
from isotope.params.sections import Opt, Section


class Clip2Clip(MixKind):
    """Four weighed similarities of pictures and words."""

    recipe: ClassVar[type[Section] | None] = Clip2ClipRecipe

    kind: Literal["clip2clip"]
    train: Opt[Clip2ClipTraining] = Field(
        default=None,
        description="How CLIP2CLIP is fine-tuned, all of its parameters: by the paper's recipe "
        "(OVEN, 11.2) unless told.",
    )
