from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.core.schemas import FIVE_FIELDS
from isotope.params.sections import Count, ModelKind, Params, Positive, TextFields, Whole

_Candidates = Annotated[list[Positive], Field(min_length=1)]


class Dates(ModelKind):
    """The temporal model: its vectors are distributions over years."""

    is_encoder: ClassVar[bool] = False
    encodes_images: ClassVar[bool] = False
    fitted: ClassVar[bool] = True
    is_large: ClassVar[bool] = False

    kind: Literal["dates"]
    ngrams: Annotated[list[Count], Field(min_length=2, max_length=2)] = Field(default=[2, 4])
    """Shortest and longest n-gram of characters."""
    bandwidths_years: _Candidates = Field(default=[4, 8, 16])
    """Standard deviations, in years, of a text's weight around its year; training texts choose
    one."""
    smoothings: _Candidates = Field(default=[100, 300, 1000])
    """Occurrences that stand behind every year's share of an n-gram, of which training texts choose
    one."""
    temperatures: _Candidates = Field(default=[0.1, 0.2, 0.5])
    """Weights of the words against the years' own frequency, of which training texts choose one."""
    folds: Annotated[Whole, Field(ge=2)] = 5
    """Folds of the cross-validation over the training texts."""
    texts: Annotated[Whole, Field(ge=2)] = 200_000
    """Largest number of training texts."""
    column: str = "date"
    """Column of the images with a date or a year, with which the language of texts is compared."""
    fields: TextFields = Field(default=list(FIVE_FIELDS))

    def check(self, where: str, params: Params) -> None:
        """Refuse n-grams that run backwards.

        Raises:
            BadParams: a shortest n-gram that is longer than the longest.
        """
        if self.ngrams[0] > self.ngrams[1]:
            found = f"n-grams from {self.ngrams[0]} to {self.ngrams[1]}"
            raise BadParams(f"{where}.ngrams", found, "give the shortest first")
