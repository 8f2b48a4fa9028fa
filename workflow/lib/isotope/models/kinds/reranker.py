"""A reranker of the transformers library, from a folder or a hub: it reads both sides at once.

What an entry of `models` may say, and how many weights a published checkpoint has. The module is
imported whenever params are read; `isotope.models.rerankers` loads the model.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, Tag

from isotope.core.errors import BadParams
from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds import Revision
from isotope.models.weights import count
from isotope.params.sections import (
    BY_TYPE,
    Count,
    ModelKind,
    Natural,
    Opt,
    Params,
    Section,
    Text,
    TextFields,
)


class Instructions(Section):
    """An instruction for each task."""

    key_counts: ClassVar[tuple[int, int] | None] = (1, 2)

    t2m: Opt[Text] = Field(default=None, description="Where a text asks for images.")
    m2t: Opt[Text] = Field(default=None, description="Where an image asks for texts.")


class Reranker(ModelKind):
    """A model that scores a query and a document together: no vectors, a score for each pair."""

    makes: ClassVar[Sequence[str]] = ("scores of pairs",)
    is_encoder: ClassVar[bool] = False
    reranks: ClassVar[bool] = True
    path_keys: ClassVar[Sequence[str]] = ("name",)

    kind: Literal["reranker"]
    name: Text = Field(
        description="A folder, or a hub's id, with safetensors: a sequence classifier (cross-"
        "encoder), Qwen3-Reranker, a Qwen-VL reranker, or jina-reranker-m0."
    )
    revision: Revision = None
    images: Literal["captions", "pixels"] = Field(
        description="What represents an image: its `captions`, as BM25 reads them, or its `pixels`,"
        " which only vision-language models see."
    )
    fields: TextFields = Field(default=list(FIVE_FIELDS))
    instruction: Opt[
        Annotated[Annotated[Text, Tag("string")] | Annotated[Instructions, Tag("object")], BY_TYPE]
    ] = Field(
        default=None,
        description="What counts as relevant, for models that read it: one sentence, or one for "
        "each task. By default the model card's.",
    )
    context: Opt[Count] = Field(
        default=None,
        description="Most tokens of a pair; of longer ones the longer text is cut. By default the "
        "model's, at most 8,192 (10,240 for jina-reranker-m0).",
    )
    pixels: Opt[Count] = Field(
        default=None,
        description="Most pixels of a picture, which is scaled down to them. By default the model "
        "card's.",
    )
    batch: Count = Field(default=16, description="Pairs scored at a time.")
    cache_mb: Natural = Field(
        default=1024,
        description="Megabytes of scores that `.isotope/pairs` holds after a job, of all models; "
        "the least recently used go first.",
    )

    @classmethod
    def code(cls) -> str:
        """Return the root of the code that its scores depend on."""
        return "models.rerankers:load"

    def check(self, where: str, params: Params) -> None:
        """Check that `pixels` has a picture to scale.

        Raises:
            BadParams: `pixels` without pictures.
        """
        if self.pixels is not None and self.images != "pixels":
            remedy = "leave it out, or set `images: pixels`"
            raise BadParams(f"{where}.pixels", f"a model with images: {self.images}", remedy)


def instructions(values: Mapping[str, Any]) -> dict[str, str]:
    """Return the instruction of each task that an entry has one for."""
    own = values.get("instruction")
    if own is None:
        return {}
    return {"t2m": own, "m2t": own} if isinstance(own, str) else {k: v for k, v in own.items() if v}


# Weights as the model cards state them; of a folder on this disk the files tell.
_PUBLISHED = {
    "cross-encoder/ms-marco-minilm-l6-v2": 22_700_000,
    "baai/bge-reranker-v2-m3": 568_000_000,
    "qwen/qwen3-reranker-0.6b": 596_000_000,
    "qwen/qwen3-reranker-4b": 4_020_000_000,
    "qwen/qwen3-reranker-8b": 8_190_000_000,
    "qwen/qwen3-vl-reranker-2b": 2_130_000_000,
    "qwen/qwen3-vl-reranker-8b": 8_770_000_000,
    "jinaai/jina-reranker-m0": 2_440_000_000,
}
# ASSUME a reranker that is neither on this disk nor in the list has 600 million weights, as
# bge-reranker-v2-m3 has; no measurement says.
_USUAL = 600_000_000


def weights(name: str) -> int:
    """Return how many weights a checkpoint has: by its files, by its model card, or assumed.

    Raises:
        CorruptFile: a file of safetensors without a head.
    """
    files = sorted(Path(name).glob("*.safetensors"))
    if files:
        return sum(map(count, files))
    return _PUBLISHED.get(name.lower(), _USUAL)
