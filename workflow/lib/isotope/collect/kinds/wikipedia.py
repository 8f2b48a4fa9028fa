"""A snapshot of Wikipedia: sections, pictures, and which belong together."""

from typing import ClassVar, Literal

from isotope.params.phases import CollectionKind


class Wikipedia(CollectionKind):
    """A collection of a snapshot."""

    is_snapshot: ClassVar[bool] = True

    kind: Literal["wikipedia"]  # pyright: ignore[reportIncompatibleVariableOverride]
