from typing import ClassVar, Literal

from isotope.params.sections import Integer, SystemKind


class Random(SystemKind):
    """Documents in random order, the same in every run: a baseline."""

    call: ClassVar[str] = "search.systems:search_random"
    is_sliced: ClassVar[bool] = True

    kind: Literal["random"]
    seed: Integer = 0
    """Seed of the shuffle."""
