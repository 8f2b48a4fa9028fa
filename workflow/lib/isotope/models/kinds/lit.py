from typing import ClassVar, Literal

from isotope.models.kinds._bases import OfTowers
from isotope.models.kinds._training import OfVectors, Pairs
from isotope.params.removed import Constant, Derived, Removed
from isotope.params.sections import Count


class HeadsRecipe(OfVectors):
    """The recipe of the heads of a model of kind `lit`."""

    removed: ClassVar[Removed] = {
        "weight_decay": Constant(0.1, "as in every training here"),
        "caption_rate": Constant(0.5, "as a frozen tower reads captions well"),
        "language": Derived("the language of the collection's captions"),
        "every": Constant(5, "often enough for seconds of training"),
    }
    # Epochs between two points of the learning curve.
    every: ClassVar[int] = 5

    dim: Pairs = 256
    """Components of a vector."""
    epochs: Count = 30
    """Passes over the training pairs."""


class Lit(OfTowers):
    """Locked tuning of both sides (after Zhai et al., CVPR 2022)."""

    loader: ClassVar[str] = "models.lit:load"
    learned: ClassVar[bool] = True
    has_features: ClassVar[bool] = True

    kind: Literal["lit"]
    heads: HeadsRecipe = HeadsRecipe()
    """The recipe of the heads of a model of kind `lit`."""

    @property
    def recipe(self) -> HeadsRecipe:
        """How it learns."""
        return self.heads
