from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds import Revision
from isotope.params.references import Checkpoint
from isotope.params.sections import Count, ModelKind, TextFields


class Late(ModelKind):
    """Many vectors an item, for systems of kind `late`."""

    makes: ClassVar[Sequence[str]] = ("vectors", "vectors of tokens")
    is_encoder: ClassVar[bool] = False
    path_keys: ClassVar[Sequence[str]] = ("name",)

    kind: Literal["late"]
    name: Checkpoint
    """A folder, or a hub's id, in safetensors: a ColPali, ColQwen2 or ColModernVBert of
    transformers, or a ColBERT of sentence-transformers or PyLate."""
    revision: Revision = None
    images: Literal["pixels", "captions"] = "pixels"
    """What represents an image: its `pixels`, or its `captions`, joined, for models that read texts
    alone."""
    tokens: Count = 512
    """Most tokens of a text; the rest is cut. A ColBERT has lengths of its own."""
    fields: TextFields = Field(default=list(FIVE_FIELDS))
