"""What recipes of trainings have in common; each stands beside the kind whose models it trains.

What a recipe takes from `Resources` changes memory, time and rounding; the rest is the method, and
is written into the metadata of the weights.
"""

from typing import Annotated, Any, ClassVar

from pydantic import Field

from isotope.params.removed import Constant, Derived, Removed
from isotope.params.sections import Count, Integer, Positive, Rare, Section

Pairs = Annotated[Integer, Field(ge=2)]


class Recipe(Section):
    """What every recipe has."""

    seed: Integer = 0
    """Of initialisation and order."""
    threads: Rare[Count] = 1
    """Threads of the tensor library, and of the decoder of pictures that have no squares on
    disk."""


class OfVectors(Recipe):
    """How little is learned over vectors of frozen towers, epoch by epoch."""

    batch: Pairs = 256
    """Pairs contrasted at a time."""
    learning_rate: Positive = 1e-3
    """Of AdamW, at its peak."""


class Resources(Recipe):
    """How the arithmetic of a training from pictures is carried out."""

    removed: ClassVar[Removed] = {
        "precision": Constant("auto", "bf16 on a GPU that supports it and fp32 elsewhere"),
        "squares_gib": Constant(4.0, "as it bounds the disk that is used, and no result"),
        "workers": Derived("the key `threads`"),
    }

    micro_batch: Rare[Count | None] = None
    """Pairs embedded at a time; larger batches are split, with the same gradients."""
    processes: Rare[Count] = 1
    """Processes that share a batch through torchrun; one for each GPU."""
    checkpoint_every: Rare[Count | None] = None
    """Steps between two checkpoints; without checkpoints an interrupted training starts again."""

    def method(self) -> dict[str, Any]:
        """Return every value but the resources, for the weights' metadata."""
        means = Resources.model_fields.keys() - Recipe.model_fields.keys()
        return {key: value for key, value in self.values().items() if key not in means}
