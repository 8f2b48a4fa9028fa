"""BM25 of the fields of a text and the captions of an image, through Lucene."""

from typing import ClassVar, Literal

from pydantic import Field

from isotope.core.schemas import FIVE_FIELDS
from isotope.params.sections import NotNegative, Share, SystemKind, TextFields


class Bm25(SystemKind):
    """BM25."""

    indexed: ClassVar[bool] = True
    is_sliced: ClassVar[bool] = True
    asks_later: ClassVar[bool] = True

    kind: Literal["bm25"]
    k1: NotNegative = Field(default=0.9, description="Term saturation.")
    b: Share = Field(default=0.4, description="Length normalisation.")
    fields: TextFields = Field(default=list(FIVE_FIELDS))
