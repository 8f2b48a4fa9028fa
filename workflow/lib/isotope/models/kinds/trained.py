"""A CLIP that the train phase learns, from scratch or from published weights."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds import RESIZED, _open_clip, at
from isotope.params.recipes import Train
from isotope.params.sections import ModelKind, Opt, Params, TextFields

if TYPE_CHECKING:
    from isotope.models.encoders import Encoder


class Trained(ModelKind):
    """A CLIP that is trained here."""

    learned: ClassVar[bool] = True
    is_large: ClassVar[bool] = False
    can_train_whole: ClassVar[bool] = True
    continues: ClassVar[bool] = True
    path_keys: ClassVar[Sequence[str]] = ("pretrained",)

    kind: Literal["trained"]
    config: Opt[str] = Field(
        default=None,
        description="A model configuration to train from scratch: of workflow/lib/isotope/models "
        "or of open_clip, such as ViT-S-32-alt.",
    )
    name: Opt[str] = Field(
        default=None,
        description="A model of open_clip to fine-tune; exactly one of this, `config` and `from`.",
    )
    pretrained: str | None = Field(
        default=None,
        description="Initial weights of `name`: a tag of open_clip or a local weights file.",
    )
    from_: Opt[str] = Field(
        default=None,
        alias="from",
        description="Another model of kind `trained`, whose weights are the start.",
    )
    resize: Opt[Literal["own", "squash", "crop"]] = Field(
        default=None, description=f"{RESIZED} Of a model that `name` names."
    )
    collection: Opt[str] = Field(
        default=None,
        description="The collection that is learned from, one of `build`, whatever collection is "
        "searched; by default a model learns from each.",
    )
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
        _open_clip.check_architecture(where, key, name)
        if other := _open_clip.tokenizer(name):
            found = f"{name} reads text with the tokenizer of {other}"
            raise BadParams(f"{where}.{key}", found, "train a model with CLIP's own tokenizer")
        _open_clip.check_weights(where, name, self.pretrained)


def load(spec: Mapping[str, Any], *, weights: Path | None, device: str) -> "Encoder":
    """Load the encoder of an entry with the weights that the train phase has learned.

    Raises:
        MissingFile: no weights.
        BadParams: no architecture.
    """
    from isotope.models.encoders import demand_weights, need  # noqa: PLC0415
    from isotope.models.open_clip import ClipEncoder, create_custom, create_trained  # noqa: PLC0415

    file, custom = demand_weights(spec, weights), "name" not in spec
    name = need(spec, "config" if custom else "name")
    model = create_custom(name, file) if custom else create_trained(name, file)
    return ClipEncoder(name, model, device)
