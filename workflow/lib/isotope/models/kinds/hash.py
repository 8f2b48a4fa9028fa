from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.models.kinds import Images
from isotope.models.kinds._bases import Averaged
from isotope.params.sections import Integer


class Hash(Averaged):
    """Vectors from hashes of words and pictures."""

    loader: ClassVar[str] = "models.hash:load"

    kind: Literal["hash"]
    dim: Annotated[Integer, Field(ge=2)]
    """Components of a vector."""
    images: Images = "pixels"
