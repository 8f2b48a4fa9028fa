from collections.abc import Sequence
from typing import ClassVar, Literal

from isotope.models.kinds._bases import Checkpointed
from isotope.params.references import Checkpoint
from isotope.params.sections import Count


class Sparse(Checkpointed):
    """Weights of terms, for systems of kind `sparse`; captions represent images."""

    makes: ClassVar[Sequence[str]] = ("terms",)
    is_encoder: ClassVar[bool] = False
    encodes_images: ClassVar[bool] = False

    kind: Literal["sparse"]
    name: Checkpoint
    """A folder, or a hub's id, in safetensors: a masked language model, or a SparseEncoder of
    sentence-transformers with SPLADE's pooling."""
    tokens: Count = 256
    """Most tokens of a text; the rest is cut."""
