from typing import ClassVar, Literal

from pydantic import Field

from isotope.params.references import Model
from isotope.params.sections import SystemKind


class Sparse(SystemKind):
    """Learned weights of terms, whose inner products are searched exactly."""

    reads: ClassVar[str] = "terms"
    indexed: ClassVar[bool] = True
    is_sliced: ClassVar[bool] = True

    kind: Literal["sparse"]
    model: Model = Field(description="A key of `models`, of kind `sparse`.")
