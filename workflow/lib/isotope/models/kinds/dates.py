"""A model of when a text was written, from the words of texts with dated pictures."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds._shared import at
from isotope.params.sections import Count, ModelKind, Params, Positive, Section, TextFields, Whole

_Candidates = Annotated[list[Positive], Field(min_length=1)]


class DatesRecipe(Section):
    """What the model learns from, and the choices that training texts are given."""

    ngrams: Annotated[list[Count], Field(min_length=2, max_length=2)] = Field(
        default=[2, 4], description="Shortest and longest n-gram of characters."
    )
    bandwidths_years: _Candidates = Field(
        default=[4, 8, 16],
        description="Spreads of a text over the years around its own, of which training texts "
        "choose one.",
    )
    smoothings: _Candidates = Field(
        default=[100, 300, 1000],
        description="Occurrences that stand behind every year's share of an n-gram, of which "
        "training texts choose one.",
    )
    temperatures: _Candidates = Field(
        default=[0.1, 0.2, 0.5],
        description="Weights of the words against the years' own frequency, of which training "
        "texts choose one.",
    )
    folds: Annotated[Whole, Field(ge=2)] = Field(
        default=5,
        description="Parts of the training texts that are judged by what the other parts teach.",
    )
    texts: Annotated[Whole, Field(ge=2)] = Field(
        default=200_000, description="Training texts that are learned from at most."
    )

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> "DatesRecipe":
        """Read a model's entry of the params.

        Raises:
            BadParams: a shortest n-gram that is longer than the longest.
        """
        own = {key: value for key, value in spec.items() if key in DatesRecipe.model_fields}
        recipe = DatesRecipe.read("models", own)
        recipe.demand_sense()
        return recipe

    def demand_sense(self) -> None:
        """Refuse n-grams that run backwards.

        Raises:
            BadParams: a shortest n-gram that is longer than the longest.
        """
        if self.ngrams[0] > self.ngrams[1]:
            found = f"n-grams from {self.ngrams[0]} to {self.ngrams[1]}"
            raise BadParams("models: ngrams", found, "give the shortest first")


class Dates(ModelKind, DatesRecipe):
    """The temporal model: its vectors are distributions over years."""

    is_encoder: ClassVar[bool] = False
    encodes_images: ClassVar[bool] = False
    fitted: ClassVar[bool] = True
    is_large: ClassVar[bool] = False

    kind: Literal["dates"]
    column: str = Field(
        default="date",
        description="Column of the images with a date or a year, which texts are held against by "
        "their language.",
    )
    fields: TextFields = Field(default=list(FIVE_FIELDS))

    def check(self, where: str, params: Params) -> None:
        """Check the recipe.

        Raises:
            BadParams: as `DatesRecipe.demand_sense`.
        """
        with at(f"{where}.ngrams"):
            self.demand_sense()
