from typing import ClassVar, Literal

from isotope.params.collect import CollectionKind


class Oven(CollectionKind):
    """A collection of questions on pictures, as OVEN publishes them."""

    has_entities: ClassVar[bool] = True

    kind: Literal["oven"]  # pyright: ignore[reportIncompatibleVariableOverride]
