from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.core.schemas import SEVERAL
from isotope.params.collect import CollectionKind
from isotope.params.references import Member
from isotope.params.sections import Distinct, Language, Opt


class Union(CollectionKind):
    """A collection of collections, one a language."""

    is_union: ClassVar[bool] = True
    origin: ClassVar[str] = "wikipedia"

    kind: Literal["union"]  # pyright: ignore[reportIncompatibleVariableOverride]
    language: Language = SEVERAL
    """Language of the texts, by its code; `mul` is all languages."""
    of: Opt[Annotated[Distinct[Member], Field(min_length=2)]] = None
    """Collections of kind wikipedia, one a language, that a collection of kind union joins."""
