"""What recipes of trainings have in common; each stands beside the kind whose models it trains.

What a recipe takes from `Resources` changes memory, time and rounding; the rest is the method, and
is written into the metadata of the weights.
"""

import math
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field

from isotope.params.messages import refuse
from isotope.params.sections import Count, Integer, NotNegative, Number, Positive, Section

Pairs = Annotated[Integer, Field(ge=2)]


def _divides_one(step: float) -> float:
    if not math.isclose(round(1 / step) * step, 1):
        raise refuse(f"step {step}", "use one that divides 1")
    return step


Step = Annotated[Number, Field(gt=0, le=1), AfterValidator(_divides_one)]


class Recipe(Section):
    """What every recipe has."""

    seed: Integer = 0
    """Of initialisation and order."""
    threads: Count = 1
    """Threads of the tensor library."""


class OfVectors(Recipe):
    """How little is learned over vectors of frozen towers, epoch by epoch."""

    limit_s: ClassVar[float | None] = None

    batch: Pairs = 256
    """Pairs contrasted at a time."""
    learning_rate: Positive = 1e-3
    """Of AdamW, at its peak."""


class Resources(Recipe):
    """How the arithmetic of a training from pictures is carried out."""

    micro_batch: Count | None = None
    """Pairs embedded at a time; larger batches are split, with the same gradients."""
    precision: Literal["auto", "bf16", "fp32"] = "auto"
    """Precision of the towers' products; auto is bf16 on a GPU that supports it."""
    processes: Count = 1
    """Processes that share a batch through torchrun; one for each GPU."""
    checkpoint_every: Count | None = None
    """Steps between two checkpoints; without checkpoints an interrupted training starts again."""
    squares_gib: NotNegative = 4.0
    """Disk for a split's pictures as squares of the model's size, where pairs have two for those of
    either side; more pictures are decoded batch by batch."""
    workers: Count = 1
    """Threads that decode pictures beyond squares_gib."""

    def method(self) -> dict[str, Any]:
        """Return every value but the resources, for the weights' metadata."""
        means = Resources.model_fields.keys() - Recipe.model_fields.keys()
        return {key: value for key, value in self.values().items() if key not in means}
