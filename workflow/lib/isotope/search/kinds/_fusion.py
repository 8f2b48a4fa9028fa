"""What fusions have in common: their parts, and parameters that a split may choose."""

from collections.abc import Sequence
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.params.sections import Distinct, Params, Section, SystemKind


class Tune(Section):
    """How a split chooses the parameters of a fusion."""

    measure: str = Field(default="MRR@10", description="Measure whose mean is made largest.")
    split: Literal["train", "validation"] = Field(
        default="validation", description="Split that chooses."
    )


class Fusion(SystemKind):
    """Runs of several systems in one."""

    fuses: ClassVar[bool] = True
    # The key that a fusion without `tune` is fixed by.
    fixed: ClassVar[str]

    of: Annotated[Distinct[str], Field(min_length=2)] = Field(description="Systems to fuse.")

    def check(self, where: str, params: Params) -> None:
        """Check that a fusion is fixed or tuned, on a split that is searched.

        Raises:
            BadParams: both or, for weights, neither; a split that is not searched.
        """
        tune: Any = getattr(self, "tune", None)
        if tune is None:
            return
        if self.fixed in self.model_fields_set:
            raise BadParams(where, f"both {self.fixed} and tune", "keep one of them")
        splits = params["search"]["splits"]
        if tune.split not in splits:
            found = f"split {tune.split!r} is not searched"
            remedy = f"add it to search.splits, or name one of {', '.join(splits)}"
            raise BadParams(f"{where}.tune.split", found, remedy)

    def check_weights(self, where: str, given: Sequence[Sequence[float]]) -> None:
        """Check that weights are one for each system.

        Raises:
            BadParams: they are more or fewer.
        """
        wrong = next((weights for weights in given if len(weights) != len(self.of)), None)
        if wrong is not None:
            listed = ", ".join(f"{weight:g}" for weight in wrong)
            found = f"[{listed}]: weights that are not one for each system"
            raise BadParams(where, found, f"give {len(self.of)}, of {', '.join(self.of)}")
