from typing import ClassVar, Literal

from isotope.models.kinds._mix import MixKind, Schedule


# ASSUME a batch of 4,096 and Adafactor for CLIP2CLIP too, without a warm-up: 11.2 names none of the
# three, 11.1 and 11.3 name Adafactor, and only 11.1 a batch.
class Clip2Clip(MixKind):
    """Four weighed similarities of pictures and words."""

    # OVEN, 11.2: 2K steps from a rate of 1e-4 to 1e-6.
    usual: ClassVar[Schedule] = Schedule(steps=2_000, learning_rate=1e-4, warmup=0.0)

    kind: Literal["clip2clip"]
