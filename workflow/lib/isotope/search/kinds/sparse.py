from typing import ClassVar, Literal

from isotope.params.references import Model
from isotope.params.sections import SystemKind


class SparseSystem(SystemKind):
    """Learned weights of terms, whose inner products are searched exactly."""

    reads: ClassVar[str] = "terms"
    is_sliced: ClassVar[bool] = True

    kind: Literal["sparse"]
    model: Model
    """A key of `models`, of kind `sparse`."""
