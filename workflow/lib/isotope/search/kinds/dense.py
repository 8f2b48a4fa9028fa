from typing import ClassVar, Literal

from pydantic import Field

from isotope.params.references import Model
from isotope.params.sections import SystemKind


class Dense(SystemKind):
    """A dual encoder, whose vectors are searched exactly."""

    indexed: ClassVar[bool] = True
    is_sliced: ClassVar[bool] = True
    answers_any_query: ClassVar[bool] = True

    kind: Literal["dense"]
    model: Model = Field(description="A key of `models`.")
