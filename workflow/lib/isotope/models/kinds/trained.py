from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from isotope.core.errors import BadParams
from isotope.models import open_clip_files
from isotope.models.kinds._bases import FieldReader
from isotope.models.kinds._training import Pairs, Resources
from isotope.params.messages import refuse
from isotope.params.references import Built, Checkpoint, Continued
from isotope.params.removed import Constant, Derived, Removed
from isotope.params.sections import (
    Count,
    Opt,
    Params,
    Positive,
    Rare,
    Share,
)


class Train(Resources):
    """The recipe of a trained model: contrastive training.

    The number of `threads` changes the order of sums, hence the weights, and two that wait for
    other jobs are slower than one. A tower that does not
    learn stays as it was (Zhai et al., LiT, CVPR 2022).
    """

    removed: ClassVar[Removed] = {
        **Resources.removed,
        "weight_decay": Constant(0.1, "half of CLIP's, for short trainings"),
        "warmup": Constant(0.1, "the share of the steps that every training here warms up for"),
        "token_dropout": Constant(0.0, "since a text must stay true of its picture"),
        "field_dropout": Constant(0.1, "or 0 with `augment: false`"),
        "translate": Constant(0.04, "or 0 with `augment: false`"),
        "zoom": Constant(0.05, "or 0 with `augment: false`"),
        "jitter": Constant(0.05, "or 0 with `augment: false`"),
        "language": Derived("the language of the collection's captions"),
        "limit_s": Constant(None, "as weights that depend on speed can't be made again"),
    }

    epochs: Count = 30
    """Passes over the training pairs."""
    batch: Pairs
    """Pairs contrasted at a time."""
    learning_rate: Positive
    """Peak of the schedule."""
    every: Rare[Count] = 5
    """Epochs between two points of the learning curve."""
    caption_rate: Share = 0.3
    """Share of views whose text is a caption instead of the fields."""
    augment: bool = True
    """Whether pictures are shifted by up to 4 % of their side, zoomed, and changed in brightness by
    up to 5 %, and a tenth of the fields left out of a view."""
    steps: Opt[Count] = None
    """Batches to learn from, instead of `epochs`."""
    tune: Literal["both", "text", "vision"] = "both"
    """The tower that learns; the other is frozen."""

    @model_validator(mode="after")
    def _has_one_length(self) -> Self:
        if {"steps", "epochs"} <= self.model_fields_set:
            raise refuse("both steps and epochs", "keep one of them")
        return self

    def method(self) -> dict[str, Any]:
        """Return every value that weights tell; keys that came later only if not the default."""
        later: dict[str, Any] = {"steps": None, "tune": "both"}
        values = {key: value for key, value in super().method().items() if key != "seed"}
        return {key: value for key, value in values.items() if later.get(key, ...) != value}


class Trained(FieldReader):
    """A CLIP that is trained here."""

    loader: ClassVar[str] = "models.open_clip:load_trained"
    learned: ClassVar[bool] = True
    can_train_whole: ClassVar[bool] = True
    continues: ClassVar[bool] = True
    either: ClassVar[Sequence[str]] = ("config", "name", "from")

    kind: Literal["trained"]
    config: Opt[str] = None
    """A model configuration to train from scratch: of workflow/lib/isotope/models or of open_clip,
    such as ViT-S-32-alt."""
    name: Opt[str] = None
    """A model of open_clip to fine-tune; exactly one of this, `config` and `from`."""
    pretrained: Checkpoint | None = None
    """Initial weights of `name`: a tag of open_clip or a local weights file."""
    from_: Opt[Continued] = Field(default=None, alias="from")
    """Another model of kind `trained`, whose weights are the start."""
    resize: Opt[Literal["own", "squash", "crop"]] = None
    """How pictures become the square of a model that `name` names: squashed whatever their shape,
    or cropped in the centre by the shorter side; `own`, the default, is the model's way."""
    collection: Opt[Built] = None
    """The collection that is learned from, one of `build`, whatever collection is searched; by
    default a model learns from each."""
    train: Train
    """The recipe of a trained model."""

    @property
    def recipe(self) -> Train:
        """How it learns."""
        return self.train

    @property
    def architecture(self) -> str:
        """Its configuration, or the model of open_clip; that of `from` where it goes on from it."""
        return str(self.config or self.name)

    def check(self, where: str, params: Params) -> None:
        """Check names against open_clip's own lists.

        Raises:
            BadParams: a model or weights that open_clip does not have, a model that reads text with
                another tokenizer than CLIP's, or a way of resizing for a model that has one from
                where it starts.
        """
        if self.resize and not self.name:
            problem = f"{self.resize!r} without `name`"
            remedy = "leave it out: a configuration squashes, and `from` brings its way along"
            raise BadParams(f"{where}.resize", problem, remedy)
        key, name = ("config", self.config) if self.config else ("name", self.name)
        if name is None or not open_clip_files.are_here():
            return
        open_clip_files.check_architecture(where, key, name)
        if other := open_clip_files.tokenizer(name):
            problem = f"{name} reads text with the tokenizer of {other}"
            raise BadParams(f"{where}.{key}", problem, "train a model with CLIP's own tokenizer")
        open_clip_files.check_weights(where, name, self.pretrained)
