from typing import ClassVar, Literal

from isotope.params.references import Model
from isotope.params.sections import SystemKind


class Dense(SystemKind):
    """A dual encoder, whose vectors are searched exactly."""

    is_sliced: ClassVar[bool] = True
    answers_any_query: ClassVar[bool] = True

    kind: Literal["dense"]
    model: Model
    """A key of `models`."""
