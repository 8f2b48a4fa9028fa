from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Tag

from isotope.core.errors import BadParams
from isotope.models.kinds._bases import Checkpointed
from isotope.params.references import Weights
from isotope.params.removed import Constant, Removed
from isotope.params.sections import (
    BY_TYPE,
    Count,
    Opt,
    Params,
    Section,
    Text,
)


class Instructions(Section):
    """An instruction for each task."""

    key_counts: ClassVar[tuple[int, int] | None] = (1, 2)

    t2m: Opt[Text] = None
    """Where a text asks for images."""
    m2t: Opt[Text] = None
    """Where an image asks for texts."""


class Reranker(Checkpointed):
    """A model that scores a query and a document together: no vectors, a score for each pair."""

    makes: ClassVar[Sequence[str]] = ("scores of pairs",)
    loader: ClassVar[str] = "models.rerankers:load"
    is_encoder: ClassVar[bool] = False
    reranks: ClassVar[bool] = True

    removed: ClassVar[Removed] = {
        "cache_mb": Constant(1024, "as `.isotope/pairs` may be deleted at any time"),
    }

    kind: Literal["reranker"]
    name: Annotated[Text, Weights]
    """A folder, or a hub's id, with safetensors: a sequence classifier (cross-encoder),
    Qwen3-Reranker, a Qwen-VL reranker, or jina-reranker-m0."""
    images: Literal["captions", "pixels"]
    """What represents an image: its `captions`, as BM25 reads them, or its `pixels`, which only
    vision-language models see."""
    instruction: Opt[
        Annotated[Annotated[Text, Tag("string")] | Annotated[Instructions, Tag("object")], BY_TYPE]
    ] = None
    """What counts as relevant, for models that read it: one sentence, or one for each task. By
    default the model card's."""
    context: Opt[Count] = None
    """Most tokens of a pair; of longer ones the longer text is cut. By default the model's, at most
    8,192 (10,240 for jina-reranker-m0)."""
    pixels: Opt[Count] = None
    """Most pixels of a picture, which is scaled down to them. By default the model card's."""
    batch: Count = 16
    """Pairs scored at a time."""

    def check(self, where: str, params: Params) -> None:
        """Check that `pixels` has a picture to scale.

        Raises:
            BadParams: `pixels` without pictures.
        """
        if self.pixels is not None and self.images != "pixels":
            remedy = "leave it out, or set `images: pixels`"
            raise BadParams(f"{where}.pixels", f"a model with images: {self.images}", remedy)
