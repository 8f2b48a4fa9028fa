"""A text encoder of the sentence-transformers library; something else stands for images."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds import Images, Revision, Summary, Texts
from isotope.params.sections import ModelKind, TextFields

if TYPE_CHECKING:
    from isotope.models.encoders import Encoder


class Sentence(ModelKind):
    """A sentence encoder."""

    encodes_images: ClassVar[bool] = False
    path_keys: ClassVar[Sequence[str]] = ("name",)

    kind: Literal["sentence"]
    summary: Summary = None
    texts: Texts = "whole"
    name: str = Field(
        description="A folder, or a hub's id, with a sentence-transformers model in safetensors."
    )
    revision: Revision = None
    images: Images
    fields: TextFields = Field(default=list(FIVE_FIELDS))


def load(spec: Mapping[str, Any], *, weights: Path | None, device: str) -> "Encoder":
    """Load the encoder of an entry; `weights` are of no use here.

    Raises:
        BadParams: no name.
    """
    from isotope.models.encoders import need  # noqa: PLC0415
    from isotope.models.sentence import SentenceEncoder  # noqa: PLC0415

    name = need(spec, "name")
    return SentenceEncoder(name, spec.get("revision"), device)
