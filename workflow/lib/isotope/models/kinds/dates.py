from typing import Annotated, ClassVar, Literal

from pydantic import AfterValidator, Field

from isotope.models.kinds._bases import Reader
from isotope.params.messages import refuse
from isotope.params.sections import Count, Integer, Positive


def _rising(lengths: list[int]) -> list[int]:
    if lengths[0] > lengths[1]:
        raise refuse(f"n-grams from {lengths[0]} to {lengths[1]}", "give the shortest first")
    return lengths


_Ngrams = Annotated[list[Count], Field(min_length=2, max_length=2), AfterValidator(_rising)]
_Candidates = Annotated[list[Positive], Field(min_length=1)]


class Dates(Reader):
    """The temporal model: its vectors are distributions over years."""

    is_encoder: ClassVar[bool] = False
    encodes_images: ClassVar[bool] = False
    fitted: ClassVar[bool] = True

    kind: Literal["dates"]
    ngrams: _Ngrams = [2, 4]
    """Shortest and longest n-gram of characters."""
    bandwidths_years: _Candidates = [4, 8, 16]
    """Standard deviations, in years, of a text's weight around its year; training texts choose
    one."""
    smoothings: _Candidates = [100, 300, 1000]
    """Occurrences that stand behind every year's share of an n-gram, of which training texts choose
    one."""
    temperatures: _Candidates = [0.1, 0.2, 0.5]
    """Weights of the words against the years' own frequency, of which training texts choose one."""
    folds: Annotated[Integer, Field(ge=2)] = 5
    """Folds of the cross-validation over the training texts."""
    texts: Annotated[Integer, Field(ge=2)] = 200_000
    """Largest number of training texts."""
    column: str = "date"
    """Column of the images with a date or a year, with which the language of texts is compared."""
