"""The weighted sum of normalised scores."""

import math
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.params.sections import Number, Opt, Params, Section
from isotope.search.kinds._fusion import Fusion, Tune


class WsumGrid(Section):
    """What is tried."""

    key_counts: ClassVar[tuple[int, int] | None] = (1, 1)

    weights: Opt[
        Annotated[list[Annotated[list[Number], Field(min_length=2)]], Field(min_length=1)]
    ] = Field(default=None, description="Lists of weights, one for each fused system.")
    step: Opt[Annotated[Number, Field(gt=0, le=1)]] = Field(
        default=None, description="All weights that are multiples of it and add up to 1."
    )


class WsumTune(Tune):
    """Choose `weights` on a split, for each setting and task, instead."""

    grid: WsumGrid = Field(description="What is tried.")


class Wsum(Fusion):
    """Runs fused by score."""

    fixed: ClassVar[str] = "weights"

    kind: Literal["wsum"]
    weights: Opt[Annotated[list[Number], Field(min_length=2)]] = Field(
        default=None,
        description="One weight for each fused system; scores are min-max normalised first.",
    )
    tune: Opt[WsumTune] = Field(
        default=None, description="Choose `weights` on a split, for each setting and task, instead."
    )

    def check(self, where: str, params: Params) -> None:
        """Check the weights, and the grid that others are chosen from.

        Raises:
            BadParams: as `Fusion.check`; weights that do not fit the systems, a step that does not
                divide 1.
        """
        if self.tune is None and self.weights is None:
            raise BadParams(where, "neither weights nor tune", "give one of them")
        super().check(where, params)
        if self.tune is None:
            self.check_weights(f"{where}.weights", [self.weights or []])
            return
        grid = self.tune.grid
        self.check_weights(f"{where}.tune.grid.weights", grid.weights or [])
        step = 1 if grid.step is None else grid.step
        if not math.isclose(round(1 / step) * step, 1):
            raise BadParams(f"{where}.tune.grid.step", f"{step}", "use one that divides 1, as 0.1")
