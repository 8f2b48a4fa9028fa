"""Abstractive summaries in place of captions: the keys of `encode.summaries.<name>`."""

from collections.abc import Sequence
from typing import Annotated, ClassVar

from isotope.params.references import OptPath
from isotope.params.removed import Constant, Removed
from isotope.params.sections import UNSET, Opt, Rare, Section, Text

# Why keys have gone.
_USUAL = "as the paper that has summaries says nothing else"


class Summaries(Section):
    """Abstractive summaries of the captions of images."""

    either: ClassVar[Sequence[str]] = ("file", "name")
    removed: ClassVar[Removed] = {
        "tokens": Constant("isotope.models.transformers:TOKENS", _USUAL),
        "beams": Constant("isotope.models.transformers:BEAMS", _USUAL),
    }

    file: OptPath = None
    """Ready summaries: a csv or Parquet table of image_id or image_url, and summary."""
    name: Opt[Text] = None
    """A folder, or a hub's id, with a sequence-to-sequence model in safetensors, such as
    google-t5/t5-base."""
    revision: Annotated[str | None, UNSET] = None
    """A commit, branch or tag of the hub; none is its newest."""
    prefix: Rare[Opt[str]] = None
    """Prefix of the model's input; by default T5's own for a T5."""
