"""A CLIP, BLIP or FLAVA model of the transformers library."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds._shared import Images, Revision
from isotope.params.sections import ModelKind, TextFields

if TYPE_CHECKING:
    from isotope.models.encoders import Encoder


class Transformers(ModelKind):
    """A dual encoder of the transformers library."""

    path_keys: ClassVar[Sequence[str]] = ("name",)

    kind: Literal["transformers"]
    name: str = Field(
        description="A folder, or a hub's id, with a CLIP, BLIP or FLAVA model in safetensors."
    )
    revision: Revision = None
    images: Images = "pixels"
    fields: TextFields = Field(default=list(FIVE_FIELDS))


def load(spec: Mapping[str, Any], *, weights: Path | None, device: str) -> "Encoder":
    """Load the encoder of an entry; `weights` are of no use here.

    Raises:
        BadParams: no name.
    """
    from isotope.models.encoders import need  # noqa: PLC0415
    from isotope.models.transformers import TransformersEncoder  # noqa: PLC0415

    name = need(spec, "name")
    return TransformersEncoder(name, spec.get("revision"), device)
