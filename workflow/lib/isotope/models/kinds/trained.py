from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, model_validator

from isotope.core.errors import BadParams
from isotope.models import open_clip_files
from isotope.models.kinds._bases import Reader
from isotope.models.kinds._training import Pairs, Resources
from isotope.params.messages import refuse
from isotope.params.references import Built, Checkpoint, Continued
from isotope.params.sections import (
    Count,
    Language,
    NotNegative,
    Opt,
    Params,
    Positive,
    Share,
)


class Train(Resources):
    """The recipe of a trained model: contrastive training.

    Shares, rates and reaches are fractions of 1. The number of `threads` changes the order of sums,
    hence the weights, and two that wait for other jobs are slower than one. A tower that does not
    learn stays as it was (Zhai et al., LiT, CVPR 2022).
    """

    epochs: Count = 30
    """Passes over the training pairs."""
    batch: Pairs
    """Pairs contrasted at a time."""
    learning_rate: Positive
    """Peak of the schedule."""
    weight_decay: NotNegative = 0.1
    """Of AdamW."""
    warmup: Share = 0.1
    """Share of the steps in the warm-up."""
    every: Count = 5
    """Epochs between two points of the learning curve."""
    caption_rate: Share = 0.3
    """Share of views whose text is a caption instead of the fields."""
    field_dropout: Share = 0.1
    """Probability that a field is left out of a view."""
    token_dropout: Share = 0.0
    """Probability that a word is left out of a view."""
    translate: Share = 0.04
    """Largest shift of a picture, as a share of its side."""
    zoom: Share = 0.05
    """Largest change of a picture's scale, as a share."""
    jitter: Share = 0.05
    """Largest change of brightness and contrast, as a share."""
    language: Language = "en"
    """Language of the captions that are used."""
    limit_s: Positive | None = None
    """Longest training time in seconds; stops early and is then not reproducible."""
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


class Trained(Reader):
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
