"""A deterministic stand-in for an encoder: no learning, no torch, the same vectors everywhere."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Literal

from pydantic import Field

from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds._shared import Images, Summary, Texts
from isotope.params.sections import ModelKind, TextFields, Whole

if TYPE_CHECKING:
    from isotope.models.encoders import Encoder


class Hash(ModelKind):
    """Vectors from hashes of words and pictures."""

    is_large: ClassVar[bool] = False

    kind: Literal["hash"]
    summary: Summary = None
    texts: Texts = "whole"
    dim: Annotated[Whole, Field(ge=2)] = Field(description="Components of a vector.")
    images: Images = "pixels"
    fields: TextFields = Field(default=list(FIVE_FIELDS))


def load(spec: Mapping[str, Any], *, weights: Path | None, device: str) -> "Encoder":
    """Make the encoder of an entry; `weights` and `device` are of no use here."""
    from isotope.models.encoders import need  # noqa: PLC0415
    from isotope.models.hash import HashEncoder  # noqa: PLC0415

    return HashEncoder(int(need(spec, "dim")))
