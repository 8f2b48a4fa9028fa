import math
from collections.abc import Sequence
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.params.sections import Number, Opt, Params, Section
from isotope.search.kinds._fusion import Fusion

Weights = Annotated[list[Number], Field(min_length=2)]


class WsumGrid(Section):
    """Values to try."""

    either: ClassVar[Sequence[str]] = ("weights", "step")

    weights: Opt[Annotated[list[Weights], Field(min_length=1)]] = None
    """Lists of weights, one for each fused system."""
    step: Opt[Annotated[Number, Field(gt=0, le=1)]] = None
    """All weights that are multiples of it and add up to 1."""


class Wsum(Fusion[WsumGrid]):
    """Runs fused by score: the weighted sum of normalised scores."""

    fixed: ClassVar[str] = "weights"

    kind: Literal["wsum"]
    weights: Opt[Weights] = None
    """One weight for each fused system; scores are min-max normalised first."""

    def check(self, where: str, params: Params) -> None:
        """Check the weights, and the grid that others are chosen from.

        Raises:
            BadParams: as `Fusion.check`; neither weights nor `tune`; weights that do not fit the
                systems, a step that does not divide 1.
        """
        super().check(where, params)
        if self.tune:
            grid, step = self.tune.grid, self.tune.grid.step or 1
            self._check_weights(f"{where}.tune.grid.weights", grid.weights or [])
            if not math.isclose(round(1 / step) * step, 1):
                remedy = "use one that divides 1, as 0.1"
                raise BadParams(f"{where}.tune.grid.step", f"{step}", remedy)
        elif self.weights:
            self._check_weights(f"{where}.weights", [self.weights])
        else:
            raise BadParams(where, "neither weights nor tune", "give one of them")

    def _check_weights(self, where: str, lists: Sequence[Sequence[float]]) -> None:
        wrong = next((weights for weights in lists if len(weights) != len(self.of)), None)
        if wrong is not None:
            listed = ", ".join(f"{weight:g}" for weight in wrong)
            problem = f"[{listed}]: weights that are not one for each system"
            raise BadParams(where, problem, f"give {len(self.of)}, of {', '.join(self.of)}")
