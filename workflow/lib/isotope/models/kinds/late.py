from collections.abc import Sequence
from typing import ClassVar, Literal

from isotope.models.kinds._bases import Checkpointed
from isotope.params.references import Checkpoint
from isotope.params.removed import Constant, Removed


class LateModel(Checkpointed):
    """Many vectors an item, for systems of kind `late`."""

    makes: ClassVar[Sequence[str]] = ("vectors", "vectors of tokens")
    is_encoder: ClassVar[bool] = False

    removed: ClassVar[Removed] = {
        "tokens": Constant(512, "the rest of a text is cut, but where a ColBERT has its own length")
    }

    kind: Literal["late"]
    name: Checkpoint
    """A folder, or a hub's id, in safetensors: a ColPali, ColQwen2 or ColModernVBert of
    transformers, or a ColBERT of sentence-transformers or PyLate."""
    images: Literal["pixels", "captions"] = "pixels"
    """What represents an image: its `pixels`, or its `captions`, joined, for models that read texts
    alone."""
