from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.params.phases import Measure
from isotope.params.references import System
from isotope.params.sections import Distinct, Params, Section, SystemKind

Grid = TypeVar("Grid", bound=Section)


class Tune(Section, Generic[Grid]):
    """How a split chooses the parameters of a fusion, for each setting and task."""

    fills: ClassVar[bool] = True

    measure: Measure = Field(default="MRR@10", description="Measure whose mean is maximised.")
    split: Literal["train", "validation"] = "validation"
    """Split on which it is measured."""
    grid: Grid = Field(description="Values to try.")


class Fusion(SystemKind):
    """Runs of several systems in one."""

    fuses: ClassVar[bool] = True
    is_pointwise: ClassVar[bool] = False
    # The parameter of a fusion without `tune`.
    fixed: ClassVar[str]

    of: Annotated[Distinct[System], Field(min_length=2)] = Field(description="Systems to fuse.")

    def check(self, where: str, params: Params) -> None:
        """Check that a fusion is fixed or tuned, on a split that is searched.

        Raises:
            BadParams: both; a split that is not searched.
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
