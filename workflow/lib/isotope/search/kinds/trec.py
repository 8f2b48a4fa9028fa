"""A run that comes from elsewhere, below runs/."""

from typing import ClassVar, Literal

from isotope.params.sections import SystemKind


class Trec(SystemKind):
    """A foreign run."""

    foreign: ClassVar[bool] = True

    kind: Literal["trec"]
