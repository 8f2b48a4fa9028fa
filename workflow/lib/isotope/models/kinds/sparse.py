from collections.abc import Sequence
from typing import ClassVar, Literal

from pydantic import Field

from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds import Revision
from isotope.params.references import Checkpoint
from isotope.params.sections import Count, ModelKind, TextFields


class Sparse(ModelKind):
    """Weights of terms, for systems of kind `sparse`; captions represent images."""

    makes: ClassVar[Sequence[str]] = ("terms",)
    is_encoder: ClassVar[bool] = False
    encodes_images: ClassVar[bool] = False
    shard_suffix: ClassVar[str] = "terms.parquet"
    path_keys: ClassVar[Sequence[str]] = ("name",)

    kind: Literal["sparse"]
    name: Checkpoint
    """A folder, or a hub's id, in safetensors: a masked language model, or a SparseEncoder of
    sentence-transformers with SPLADE's pooling."""
    revision: Revision = None
    tokens: Count = Field(default=256, description="Most tokens of a text; the rest is cut.")
    fields: TextFields = Field(default=list(FIVE_FIELDS))
