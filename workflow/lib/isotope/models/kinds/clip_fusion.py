from typing import Literal

from isotope.models.kinds._mix import MixKind, WholeRecipe
from isotope.params.sections import Count, Natural, Positive


class ClipFusionRecipe(WholeRecipe):
    """How CLIP Fusion is fine-tuned, all of its parameters: by the paper's recipe (OVEN, 11.1).

    10K steps of 4,096 pairs, 1K of warm-up to .001, then down to 1e-6.
    """

    steps: Count = 10_000
    """Batches to learn from."""
    learning_rate: Positive = 1e-3
    """Rate at the end of the warm-up."""
    warmup: Natural = 1_000
    """Steps in which the rate rises from zero."""
    layers: Count = 2
    """Layers of the transformer on either side."""
    heads: Count = 12
    """Heads of its attention."""
    head_width: Count = 64
    """Components of a head."""


class ClipFusion(MixKind):
    """A transformer over pictures and words on either side."""

    kind: Literal["clip_fusion"]
    train: ClipFusionRecipe = ClipFusionRecipe()
    """How CLIP Fusion is fine-tuned, all of its parameters: by default the paper's recipe (OVEN,
    11.1)."""
