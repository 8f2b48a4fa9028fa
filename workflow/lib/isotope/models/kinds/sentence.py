from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds import Images, Revision, Summary, Texts
from isotope.params.references import Checkpoint
from isotope.params.sections import ModelKind, TextFields


class Sentence(ModelKind):
    """A sentence encoder."""

    loader: ClassVar[str] = "models.sentence:load"
    encodes_images: ClassVar[bool] = False
    path_keys: ClassVar[Sequence[str]] = ("name",)

    kind: Literal["sentence"]
    summary: Summary = None
    texts: Texts = "whole"
    name: Checkpoint
    """A folder, or a hub's id, with a sentence-transformers model in safetensors."""
    revision: Revision = None
    images: Images
    fields: TextFields = Field(default=list(FIVE_FIELDS))
