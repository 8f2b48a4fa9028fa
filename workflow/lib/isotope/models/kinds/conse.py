from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.models.kinds._bases import OfTowers
from isotope.params.sections import Integer


class Conse(OfTowers):
    """Convex combination of semantic embeddings (Norouzi et al., ICLR 2014)."""

    loader: ClassVar[str] = "models.conse:load"

    kind: Literal["conse"]
    top: Annotated[Integer, Field(ge=1, le=1000)] = 10
    """Classes of a picture whose embeddings are averaged."""
