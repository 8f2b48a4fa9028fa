from typing import ClassVar, Literal, Self

from pydantic import Field

from isotope.core.schemas import FIVE_FIELDS
from isotope.params.sections import NotNegative, Opt, Share, SystemKind, TextFields


class Bm25(SystemKind):
    """BM25 of the fields of a text and the captions of an image."""

    is_sliced: ClassVar[bool] = True
    answers_any_query: ClassVar[bool] = True
    is_lexical: ClassVar[bool] = True

    kind: Literal["bm25"]
    # The paper's (section 4.2).
    k1: NotNegative = 0.9
    """Term saturation."""
    b: Share = 0.4
    """Length normalisation."""
    fields: TextFields = Field(default=list(FIVE_FIELDS))
    prepare: Opt[Literal["atomic", "none"]] = None
    """What becomes of the words before they are indexed or asked: `atomic`, what AToMiC's authors
    did, or nothing. By default `atomic` of collections of kind wikipedia and of those of the form
    atomic, `none` of others."""
    engine: Literal["native", "lucene"] = "native"
    """What indexes and searches: isotope.bm25, or Lucene, which gives the same answers."""

    def on(self, prepare: str) -> Self:
        """Return the system on a collection whose words are usually prepared so."""
        return self.model_copy(update={"prepare": self.prepare or prepare})
