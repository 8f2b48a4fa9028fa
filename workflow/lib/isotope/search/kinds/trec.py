from typing import ClassVar, Literal

from isotope.params.sections import SystemKind


class Trec(SystemKind):
    """A run that comes from elsewhere, below runs/."""

    external: ClassVar[bool] = True
    is_pointwise: ClassVar[bool] = False

    kind: Literal["trec"]
