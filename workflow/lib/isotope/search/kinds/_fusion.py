from typing import Annotated, ClassVar, Generic, Literal, TypeVar, cast

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.params.phases import Measure
from isotope.params.references import System
from isotope.params.sections import Distinct, Opt, Params, Section, SystemKind

Grid = TypeVar("Grid", bound=Section)


class Tune(Section, Generic[Grid]):
    """How a split chooses the parameters of a fusion, for each setting and task."""

    measure: Measure = "MRR@10"
    """Measure whose mean is maximised."""
    split: Literal["train", "validation"] = "validation"
    """Split on which it is measured."""
    grid: Grid
    """Values to try."""


class Fusion(SystemKind, Generic[Grid]):
    """Runs of several systems in one."""

    fuses: ClassVar[bool] = True
    is_pointwise: ClassVar[bool] = False
    # The parameter of a fusion without `tune`.
    fixed: ClassVar[str]

    of: Annotated[Distinct[System], Field(min_length=2)]
    """Systems to fuse."""
    tune: Opt[Tune[Grid]] = None
    """Choose the parameter on a split, for each setting and task, instead."""

    @property
    def tuning(self) -> Tune[Grid]:
        """How the parameter is chosen, of a fusion that is tuned."""
        return cast("Tune[Grid]", self.tune)

    def check(self, where: str, params: Params) -> None:
        """Check that a fusion is fixed or tuned, on a split that is searched.

        Raises:
            BadParams: both; a split that is not searched.
        """
        if self.tune is None:
            return
        if self.fixed in self.model_fields_set:
            raise BadParams(where, f"both {self.fixed} and tune", "keep one of them")
        splits = params.search.splits
        if self.tune.split not in splits:
            problem = f"split {self.tune.split!r} is not searched"
            remedy = f"add it to search.splits, or name one of {', '.join(splits)}"
            raise BadParams(f"{where}.tune.split", problem, remedy)
