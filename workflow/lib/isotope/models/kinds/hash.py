from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds import Images, Summary, Texts
from isotope.params.sections import ModelKind, TextFields, Whole


class Hash(ModelKind):
    """Vectors from hashes of words and pictures."""

    loader: ClassVar[str] = "models.hash:load"
    is_large: ClassVar[bool] = False

    kind: Literal["hash"]
    summary: Summary = None
    texts: Texts = "whole"
    dim: Annotated[Whole, Field(ge=2)] = Field(description="Components of a vector.")
    images: Images = "pixels"
    fields: TextFields = Field(default=list(FIVE_FIELDS))
