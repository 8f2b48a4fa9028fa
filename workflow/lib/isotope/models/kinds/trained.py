from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.core.schemas import FIVE_FIELDS
from isotope.models import open_clip_files
from isotope.models.kinds import at
from isotope.params.recipes import Train
from isotope.params.references import Built, Checkpoint, Model
from isotope.params.sections import ModelKind, Opt, Params, TextFields


class Trained(ModelKind):
    """A CLIP that is trained here."""

    loader: ClassVar[str] = "models.open_clip:load_trained"
    learned: ClassVar[bool] = True
    is_large: ClassVar[bool] = False
    can_train_whole: ClassVar[bool] = True
    continues: ClassVar[bool] = True
    path_keys: ClassVar[Sequence[str]] = ("pretrained",)

    kind: Literal["trained"]
    config: Opt[str] = None
    """A model configuration to train from scratch: of workflow/lib/isotope/models or of open_clip,
    such as ViT-S-32-alt."""
    name: Opt[Checkpoint] = None
    """A model of open_clip to fine-tune; exactly one of this, `config` and `from`."""
    pretrained: Checkpoint | None = None
    """Initial weights of `name`: a tag of open_clip or a local weights file."""
    from_: Opt[Model] = Field(default=None, alias="from")
    """Another model of kind `trained`, whose weights are the start."""
    resize: Opt[Literal["own", "squash", "crop"]] = None
    """How pictures become the square of a model that `name` names: squashed whatever their shape,
    or cropped in the centre by the shorter side; `own`, the default, is the model's way."""
    collection: Opt[Built] = None
    """The collection that is learned from, one of `build`, whatever collection is searched; by
    default a model learns from each."""
    train: Train = Field(description="The recipe of a trained model.")
    fields: TextFields = Field(default=list(FIVE_FIELDS))

    def check(self, where: str, params: Params) -> None:
        """Check the recipe, and names against open_clip's own lists.

        Raises:
            BadParams: a recipe that can't be carried out, a model or weights that open_clip does
                not have, a model that reads text with another tokenizer than CLIP's, or a way of
                resizing for a model that has one from where it starts.
        """
        with at(f"{where}.train"):
            self.train.demand_sense()
        if self.resize and not self.name:
            found = f"{self.resize!r} without `name`"
            remedy = "leave it out: a configuration squashes, and `from` brings its way along"
            raise BadParams(f"{where}.resize", found, remedy)
        key, name = ("config", self.config) if self.config else ("name", self.name)
        if name is None:
            return
        open_clip_files.check_architecture(where, key, name)
        if other := open_clip_files.tokenizer(name):
            found = f"{name} reads text with the tokenizer of {other}"
            raise BadParams(f"{where}.{key}", found, "train a model with CLIP's own tokenizer")
        open_clip_files.check_weights(where, name, self.pretrained)
