"""A model of open_clip with its published weights, or weights from a file."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds import RESIZED, Activation, Context, Images, _open_clip
from isotope.params.sections import Count, ModelKind, Opt, Params, Section, TextFields

if TYPE_CHECKING:
    from isotope.models.encoders import Encoder


class Excerpt(Section):
    """How much of a text a model reads, and how its line ends are written."""

    characters: Count = Field(description="Characters that are read, from the first on.")
    line_ends: Literal["space", "written"] = Field(
        default="space",
        description="A line end is a space, or the two characters \\n as in TICRC's files.",
    )


def excerpt(text: str, characters: int, line_ends: str = "space") -> str:
    """Return the first characters of a text with single spaces, as an `Excerpt` has them."""
    written = text.replace("\n", "\\n") if line_ends == "written" else text
    return " ".join(written.split())[:characters]


class OpenClip(ModelKind):
    """A pretrained model of open_clip."""

    can_train_whole: ClassVar[bool] = True
    path_keys: ClassVar[Sequence[str]] = ("pretrained",)

    kind: Literal["open_clip"]
    name: str = Field(description="A model of open_clip.")
    pretrained: str | None = Field(
        default=None, description="A tag of open_clip or a local weights file."
    )
    resize: Opt[Literal["own", "squash", "crop", "pad"]] = Field(
        default=None, description=f"{RESIZED} `pad` fills up, by the longer side."
    )
    context: Context = None
    activation: Activation = None
    excerpt: Opt[Excerpt] = Field(
        default=None, description="Read an excerpt of each text; by default all that fits."
    )
    images: Images = "pixels"
    fields: TextFields = Field(default=list(FIVE_FIELDS))

    def check(self, where: str, params: Params) -> None:
        """Check names against open_clip's own lists.

        Raises:
            BadParams: a model or weights that open_clip does not have, more tokens than the model
                has places for, or GELU for a model whose configuration has QuickGELU.
        """
        _open_clip.check_architecture(where, "name", self.name)
        _open_clip.check_weights(where, self.name, self.pretrained)
        places = _open_clip.places(self.name)
        if self.context and self.context > places:
            found, remedy = f"{self.context} tokens of {places}", f"use {places} or fewer"
            raise BadParams(f"{where}.context", found, remedy)
        if self.activation == "gelu" and _open_clip.has_quick_gelu(self.name):
            found = f"{self.name!r} has QuickGELU in its configuration"
            remedy = f"name {self.name.removesuffix('-quickgelu')!r}, or leave it out"
            raise BadParams(f"{where}.activation", found, remedy)


def load(spec: Mapping[str, Any], *, weights: Path | None, device: str) -> "Encoder":
    """Load the encoder of an entry; `weights` are of no use here.

    Raises:
        BadParams: no name, or more tokens than the model has places for.
    """
    from isotope.models.encoders import need  # noqa: PLC0415
    from isotope.models.open_clip import ClipEncoder, create  # noqa: PLC0415

    name = need(spec, "name")
    model = create(name, *(spec.get(key) for key in ("pretrained", "resize", "activation")))
    own = spec.get("excerpt")
    read = (lambda text: excerpt(text, **own)) if own else str
    return ClipEncoder(name, model, device, read, spec.get("context"))
