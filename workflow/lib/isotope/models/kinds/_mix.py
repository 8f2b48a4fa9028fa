from typing import Any, ClassVar

from isotope.core.errors import BadParams
from isotope.models import open_clip_files
from isotope.models.kinds import at
from isotope.params.recipes import MixRecipe
from isotope.params.references import Seeing
from isotope.params.sections import ModelKind, Opt, Params, model_kind


class MixKind(ModelKind):
    """A model of pictures with words: over the frozen vectors of another, or trained whole."""

    is_encoder: ClassVar[bool] = False
    encodes_images: ClassVar[bool] = False
    is_mix: ClassVar[bool] = True
    is_large: ClassVar[bool] = False

    of: Seeing
    """The model that is trained whole, of kind open_clip or trained; with `frozen`, any whose
    vectors of images, questions, texts and their pictures are mixed. Its `fields` are an entity's
    words."""
    frozen: bool = False
    """Learn over the vectors of `of` alone, whose towers stay as they are: not the paper's
    system."""
    learn: Opt[MixRecipe] = None
    """How a mix over frozen vectors is learned on the split train, with `frozen: true`."""

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
            _check_trainable(where, self.of, params.models[self.of])
        for key in {"train", "learn"} & self.model_fields_set:
            learns: Any = getattr(self, key)
            with at(f"{where}.{key}"):
                learns.demand_sense()


def _check_trainable(where: str, name: str, entry: Params) -> None:
    if not model_kind(entry).can_train_whole:
        found = f"a model of kind {entry['kind']}, which can't be trained whole"
        remedy = "name one of kind open_clip or trained, or freeze it"
        raise BadParams(f"{where}.of", found, remedy)
    if part := next((key for key in ("excerpt", "context") if key in entry), None):
        found = f"{name!r} reads a part of each text ({part})"
        raise BadParams(f"{where}.of", found, "name a model that reads whole texts, or freeze it")
    tokenizer = open_clip_files.tokenizer(str(entry.get("name", entry.get("config"))))
    if tokenizer:
        found = f"{name!r} reads text with the tokenizer of {tokenizer}"
        raise BadParams(f"{where}.of", found, "name a model with CLIP's own tokenizer")
