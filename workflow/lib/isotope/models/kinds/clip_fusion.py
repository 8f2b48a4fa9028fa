from typing import ClassVar, Literal

from isotope.models.kinds._mix import MixKind, Schedule


class ClipFusion(MixKind):
    """A transformer over pictures and words on either side."""

    # OVEN, 11.1: 10K steps of 4,096 pairs, 1K of warm-up to .001, then down to 1e-6.
    usual: ClassVar[Schedule] = Schedule(steps=10_000, learning_rate=1e-3, warmup=0.1)

    kind: Literal["clip_fusion"]
