from typing import ClassVar, Literal

from isotope.core.prepare import ATOMIC
from isotope.params.collect import CollectionKind


class Atomic(CollectionKind):
    """AToMiC as published: sections of Wikipedia, its images, and which belong together."""

    origin: ClassVar[str] = "wikipedia"
    prepare: ClassVar[str] = ATOMIC

    kind: Literal["atomic"]  # pyright: ignore[reportIncompatibleVariableOverride]
