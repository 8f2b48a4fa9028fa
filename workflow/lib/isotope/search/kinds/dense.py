"""Exact search among the vectors of a model."""

from typing import ClassVar, Literal

from pydantic import Field

from isotope.params.sections import SystemKind


class Dense(SystemKind):
    """A dual encoder, searched exactly."""

    indexed: ClassVar[bool] = True
    is_sliced: ClassVar[bool] = True
    asks_later: ClassVar[bool] = True

    kind: Literal["dense"]
    model: str = Field(description="A key of `models`.")
