"""Keys that several kinds of models have, with their defaults."""

from typing import Annotated, Literal

from pydantic import Field

from isotope.core.schemas import FIVE_FIELDS
from isotope.params.references import Ref
from isotope.params.sections import ModelKind, Opt, TextFields


class FieldReader(ModelKind):
    """A model that reads the fields of a text."""

    fields: TextFields = Field(default=list(FIVE_FIELDS))


class Checkpointed(FieldReader):
    """A model whose weights are a checkpoint in a folder or on a hub."""

    revision: str | None = None
    """A commit, branch or tag of the hub; none is its newest."""


class Averaged(FieldReader):
    """A model whose vector of a text, or of captions, may be a mean, or be replaced by another."""

    summary: Opt[Annotated[str, Ref("encode.summaries")]] = None
    """A key of `encode.summaries`: with `images: captions`, one summary represents an image instead
    of the mean of its captions."""
    texts: Literal["whole", "lines"] = "whole"
    """Whether a text's vector is that of the whole text, or the mean of the vectors of its lines,
    as when a query has several sentences."""


class OfTowers(FieldReader):
    """A model over a frozen tower of texts, and one of pictures."""

    text: Literal["minilm", "fuse"] = "minilm"
    """The frozen text tower: minilm (all-MiniLM-L6-v2, English, 384 components) or fuse (Universal
    Sentence Encoder, 16 languages, 512)."""
