from typing import ClassVar, Literal

from isotope.params.references import Owning
from isotope.params.sections import ModelKind, TextFields


class Reuse(ModelKind):
    """A model that reads other fields with the weights of another one."""

    encodes_images: ClassVar[bool] = False
    shares_weights: ClassVar[bool] = True

    kind: Literal["reuse"]
    weights_of: Owning
    """Another model, whose weights and vectors of images this one shares."""
    fields: TextFields
