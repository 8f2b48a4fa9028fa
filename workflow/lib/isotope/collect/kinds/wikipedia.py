from typing import ClassVar, Literal

from isotope.core.prepare import ATOMIC
from isotope.params.collect import CollectionKind


class Wikipedia(CollectionKind):
    """A collection of a snapshot of Wikipedia: sections, images, and which belong together."""

    is_snapshot: ClassVar[bool] = True
    # What img2dataset makes unless told otherwise, and what AToMiC's published pictures have.
    side_px: ClassVar[int | None] = 256
    origin: ClassVar[str] = "wikipedia"
    prepare: ClassVar[str] = ATOMIC

    kind: Literal["wikipedia"]  # pyright: ignore[reportIncompatibleVariableOverride]
