from typing import ClassVar, Literal

from isotope.models.kinds._bases import OfTowers
from isotope.params.removed import Constant, Removed


class Conse(OfTowers):
    """Convex combination of semantic embeddings (Norouzi et al., ICLR 2014)."""

    loader: ClassVar[str] = "models.conse:load"

    removed: ClassVar[Removed] = {
        "top": Constant(10, "as in the paper of ConSE (Norouzi et al., ICLR 2014)"),
    }

    kind: Literal["conse"]
