"""Collections of several languages put together."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.params.phases import CollectionKind
from isotope.params.sections import Distinct, Opt


class Union(CollectionKind):
    """A collection of collections, one a language."""

    is_union: ClassVar[bool] = True

    kind: Literal["union"]  # pyright: ignore[reportIncompatibleVariableOverride]
    of: Opt[Annotated[Distinct[str], Field(min_length=2)]] = Field(
        default=None,
        description="Collections of kind wikipedia, one a language, that a collection of kind "
        "union puts together.",
    )
