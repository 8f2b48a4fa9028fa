"""Zero training: a picture is the mean meaning of the classes that a classifier sees in it."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds._shared import Tower
from isotope.params.sections import ModelKind, TextFields, Whole

if TYPE_CHECKING:
    from isotope.models.encoders import Encoder

_TOP = 10


class Conse(ModelKind):
    """Convex combination of semantic embeddings (Norouzi et al., ICLR 2014)."""

    kind: Literal["conse"]
    top: Annotated[Whole, Field(ge=1, le=1000)] = Field(
        default=_TOP, description="Classes of a picture whose meanings are mixed."
    )
    text: Tower = None
    fields: TextFields = Field(default=list(FIVE_FIELDS))


def load(spec: Mapping[str, Any], *, weights: Path | None, device: str) -> "Encoder":
    """Load the encoder of an entry; `weights` are of no use here."""
    from isotope.models.conse import ConseEncoder  # noqa: PLC0415

    tower = {"text": spec["text"]} if "text" in spec else {}
    return ConseEncoder(spec.get("top", _TOP), device, **tower)
