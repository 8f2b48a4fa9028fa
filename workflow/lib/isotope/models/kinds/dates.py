from typing import ClassVar, Literal

from isotope.models.kinds._bases import FieldReader
from isotope.params.removed import Constant, Removed


class Dates(FieldReader):
    """The temporal model: its vectors are distributions over years."""

    is_encoder: ClassVar[bool] = False
    encodes_images: ClassVar[bool] = False
    fitted: ClassVar[bool] = True

    removed: ClassVar[Removed] = {
        "ngrams": Constant([2, 4], "the n-grams of characters that words of any language have"),
        "bandwidths_years": Constant([4, 8, 16], "a grid that training texts choose from"),
        "smoothings": Constant([100, 300, 1000], "a grid that training texts choose from"),
        "temperatures": Constant([0.1, 0.2, 0.5], "a grid that training texts choose from"),
        "folds": Constant(5, "usual folds of a cross-validation"),
        "texts": Constant(200_000, "as more texts change little and take memory"),
    }

    kind: Literal["dates"]
    column: str = "date"
    """Column of the images with a date or a year, with which the language of texts is compared."""
