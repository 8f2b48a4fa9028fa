from typing import ClassVar, Literal

from isotope.core.errors import BadParams
from isotope.models import open_clip_files
from isotope.models.kinds import Context, Images
from isotope.models.kinds._bases import FieldReader
from isotope.params.references import Checkpoint
from isotope.params.sections import Count, Opt, Params, Section


class Excerpt(Section):
    """How much of a text a model reads, and how its line ends are written."""

    characters: Count
    """Characters that are read, from the first on."""
    line_ends: Literal["space", "written"] = "space"
    r"""A line end is a space, or the two characters \n as in TICRC's files."""


class OpenClip(FieldReader):
    """A pretrained model of open_clip."""

    loader: ClassVar[str] = "models.open_clip:load"
    can_train_whole: ClassVar[bool] = True

    kind: Literal["open_clip"]
    name: str
    """A model of open_clip."""
    pretrained: Checkpoint | None = None
    """A tag of open_clip or a local weights file."""
    resize: Opt[Literal["own", "squash", "crop", "pad"]] = None
    """How pictures become a model's square: squashed whatever their shape, cropped in the centre by
    the shorter side, or filled up by the longer one; `own`, the default, is the model's way."""
    context: Context = None
    activation: Opt[Literal["own", "gelu", "quickgelu"]] = None
    """The activation between layers: `own`, the default, is what the weights were trained with, as
    far as open_clip or the notes of a weights file know."""
    excerpt: Opt[Excerpt] = None
    """Read an excerpt of each text; by default all that fits."""
    images: Images = "pixels"

    def check(self, where: str, params: Params) -> None:
        """Check names against open_clip's own lists.

        Raises:
            BadParams: a model or weights that open_clip does not have, more tokens than the model
                has places for, or GELU for a model whose configuration has QuickGELU.
        """
        if not open_clip_files.are_here():
            return
        open_clip_files.check_architecture(where, "name", self.name)
        open_clip_files.check_weights(where, self.name, self.pretrained)
        places = open_clip_files.places(self.name)
        if self.context and self.context > places:
            problem, remedy = f"{self.context} tokens of {places}", f"use {places} or fewer"
            raise BadParams(f"{where}.context", problem, remedy)
        if self.activation == "gelu" and open_clip_files.has_quick_gelu(self.name):
            problem = f"{self.name!r} has QuickGELU in its configuration"
            remedy = f"name {self.name.removesuffix('-quickgelu')!r}, or leave it out"
            raise BadParams(f"{where}.activation", problem, remedy)
