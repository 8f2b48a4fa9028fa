from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds import Tower
from isotope.params.sections import ModelKind, TextFields, Whole


class Conse(ModelKind):
    """Convex combination of semantic embeddings (Norouzi et al., ICLR 2014)."""

    loader: ClassVar[str] = "models.conse:load"

    kind: Literal["conse"]
    top: Annotated[Whole, Field(ge=1, le=1000)] = 10
    """Classes of a picture whose embeddings are averaged."""
    text: Tower = None
    fields: TextFields = Field(default=list(FIVE_FIELDS))
