"""The weights, and the vectors of images, of another model, with other fields of the texts."""

from typing import ClassVar, Literal

from pydantic import Field

from isotope.params.sections import ModelKind, TextFields


class Reuse(ModelKind):
    """A model that reads other fields with the weights of another one."""

    encodes_images: ClassVar[bool] = False
    shares_weights: ClassVar[bool] = True

    kind: Literal["reuse"]
    weights_of: str = Field(
        description="Another model, whose weights and vectors of images this one shares."
    )
    fields: TextFields
