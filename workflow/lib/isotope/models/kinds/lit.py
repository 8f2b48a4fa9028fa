from typing import ClassVar, Literal

from isotope.models.kinds._bases import OfTowers
from isotope.models.kinds._training import OfVectors, Pairs
from isotope.params.sections import Count, Language, NotNegative, Share


class HeadsRecipe(OfVectors):
    """The recipe of the heads of a model of kind `lit`."""

    dim: Pairs = 256
    """Components of a vector."""
    epochs: Count = 30
    """Passes over the training pairs."""
    weight_decay: NotNegative = 0.1
    """Of AdamW."""
    caption_rate: Share = 0.5
    """Share of views whose text is a caption instead of the fields."""
    language: Language = "en"
    """Language of the captions that are used."""
    every: Count = 5
    """Epochs between two points of the learning curve."""


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
