from typing import ClassVar, Literal

from isotope.core.errors import BadParams
from isotope.params.references import Model, System
from isotope.params.sections import Count, Params, SystemKind


class Rerank(SystemKind):
    """The first hits of another system, in the order of a model that reads query and document."""

    reads: ClassVar[str] = "scores of pairs"
    loads_model: ClassVar[bool] = True
    reranks: ClassVar[bool] = True
    is_pointwise: ClassVar[bool] = False
    is_sliced: ClassVar[bool] = True

    kind: Literal["rerank"]
    of: System
    """The system whose runs are reranked."""
    model: Model
    """A key of `models`, of kind reranker."""
    depth: Count = 100
    """Hits of each query that the model scores; the others follow them."""

    def check(self, where: str, params: Params) -> None:
        """Check the model, and that there are as many hits as it is to score.

        Raises:
            BadParams: as `SystemKind.check`; a depth that is more than `search.depth`.
        """
        super().check(where, params)
        most = params.search.depth
        if self.depth > most:
            problem = f"{self.depth} hits of runs that have {most}"
            raise BadParams(f"{where}.depth", problem, f"use {most} or less, or raise search.depth")
