"""Models made of another model: its weights on other fields, or pictures joined with words.

CLIP2CLIP and CLIP Fusion are those of Hu et al., Open-domain Visual Entity Recognition (ICCV 2023),
section 4.1. None of these kinds loads an encoder of its own.
"""

from typing import ClassVar, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.models.kinds import _open_clip, at
from isotope.params.recipes import (
    Clip2ClipRecipe,
    Clip2ClipTraining,
    ClipFusionRecipe,
    ClipFusionTraining,
    MixRecipe,
    MultimodalRecipe,
)
from isotope.params.sections import ModelKind, Opt, Params, Section, TextFields, model_kind


class Reuse(ModelKind):
    """A model that reads other fields with the weights of another one."""

    encodes_images: ClassVar[bool] = False
    shares_weights: ClassVar[bool] = True

    kind: Literal["reuse"]
    weights_of: str = Field(
        description="Another model, whose weights and vectors of images this one shares."
    )
    fields: TextFields


class MixKind(ModelKind):
    """A model of pictures with words: over the frozen vectors of another, or trained whole."""

    is_encoder: ClassVar[bool] = False
    encodes_images: ClassVar[bool] = False
    is_mix: ClassVar[bool] = True
    is_large: ClassVar[bool] = False

    of: str = Field(
        description="The model that is trained whole, of kind open_clip or trained; with `frozen`, "
        "any whose vectors of images, questions, texts and their pictures are mixed. Its `fields` "
        "are an entity's words."
    )
    frozen: bool = Field(
        default=False,
        description="Learn over the vectors of `of` alone, whose towers stay as they are: not the "
        "paper's system.",
    )
    learn: Opt[MixRecipe] = Field(
        default=None,
        description="How a mix over frozen vectors is learned on the split train, with `frozen: "
        "true`.",
    )

    def check(self, where: str, params: Params) -> None:
        """Check that what learns can learn.

        Raises:
            BadParams: a mix that is frozen and trained, or trained of what can't be; a recipe that
                can't be carried out.
        """
        unused = "train" if self.frozen else "learn"
        if unused in self.model_fields_set:
            found = f"{unused} besides frozen: {str(self.frozen).lower()}"
            remedy = "`learn` is for frozen: true, `train` for models that are trained whole"
            raise BadParams(f"{where}.{unused}", found, remedy)
        if not self.frozen:
            _check_trainable(where, self.of, params["models"][self.of])
        for key in {"train", "learn"} & self.model_fields_set:
            with at(f"{where}.{key}"):
                _demand_sense(getattr(self, key))


class Clip2Clip(MixKind):
    """Four weighed similarities of pictures and words."""

    recipe: ClassVar[type[Section] | None] = Clip2ClipRecipe

    kind: Literal["clip2clip"]
    train: Opt[Clip2ClipTraining] = Field(
        default=None,
        description="How CLIP2CLIP is fine-tuned, all of its parameters: by default the paper's "
        "recipe (OVEN, 11.2).",
    )


class ClipFusion(MixKind):
    """A transformer over pictures and words on either side."""

    recipe: ClassVar[type[Section] | None] = ClipFusionRecipe

    kind: Literal["clip_fusion"]
    train: Opt[ClipFusionTraining] = Field(
        default=None,
        description="How CLIP Fusion is fine-tuned, all of its parameters: by default the paper's "
        "recipe (OVEN, 11.1).",
    )


def _demand_sense(recipe: MultimodalRecipe | MixRecipe) -> None:
    recipe.demand_sense()


def _check_trainable(where: str, name: str, entry: Params) -> None:
    if not model_kind(entry).can_train_whole:
        found = f"a model of kind {entry['kind']}, which can't be trained whole"
        remedy = "name one of kind open_clip or trained, or freeze it"
        raise BadParams(f"{where}.of", found, remedy)
    if part := next((key for key in ("excerpt", "context") if key in entry), None):
        found = f"{name!r} reads a part of each text ({part})"
        raise BadParams(f"{where}.of", found, "name a model that reads whole texts, or freeze it")
    tokenizer = _open_clip.tokenizer(str(entry.get("name", entry.get("config"))))
    if tokenizer:
        found = f"{name!r} reads text with the tokenizer of {tokenizer}"
        raise BadParams(f"{where}.of", found, "name a model with CLIP's own tokenizer")
