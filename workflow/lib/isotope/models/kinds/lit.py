from typing import ClassVar, Literal

from pydantic import Field

from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds import Tower
from isotope.params.recipes import HeadsRecipe
from isotope.params.sections import ModelKind, Opt, TextFields


class Lit(ModelKind):
    """Locked tuning of both sides (after Zhai et al., CVPR 2022)."""

    loader: ClassVar[str] = "models.lit:load"
    learned: ClassVar[bool] = True
    has_features: ClassVar[bool] = True

    kind: Literal["lit"]
    heads: Opt[HeadsRecipe] = None
    """The recipe of the heads of a model of kind `lit`."""
    text: Tower = None
    fields: TextFields = Field(default=list(FIVE_FIELDS))
