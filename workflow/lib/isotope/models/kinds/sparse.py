from collections.abc import Sequence
from typing import ClassVar, Literal

from isotope.models.kinds._bases import Checkpointed
from isotope.params.references import Checkpoint
from isotope.params.removed import Constant, Removed


class SparseModel(Checkpointed):
    """Weights of terms, for systems of kind `sparse`; captions represent images."""

    makes: ClassVar[Sequence[str]] = ("terms",)
    is_encoder: ClassVar[bool] = False
    encodes_images: ClassVar[bool] = False

    removed: ClassVar[Removed] = {
        "tokens": Constant(256, "the rest of a text is cut, as SPLADE's authors do it"),
    }

    kind: Literal["sparse"]
    name: Checkpoint
    """A folder, or a hub's id, in safetensors: a masked language model, or a SparseEncoder of
    sentence-transformers with SPLADE's pooling."""
