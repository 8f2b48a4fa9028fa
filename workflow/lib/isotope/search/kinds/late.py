from typing import ClassVar, Literal

from isotope.core.errors import BadParams
from isotope.params.references import Model
from isotope.params.sections import Count, Natural, Params, SystemKind


class LateSystem(SystemKind):
    """Late interaction: the many vectors of a query against those of a document, by MaxSim."""

    reads: ClassVar[str] = "vectors of tokens"
    is_sliced: ClassVar[bool] = True

    kind: Literal["late"]
    model: Model
    """A key of `models`, of kind `late`."""
    exact_up_to: Natural = 10_000
    """Documents of the largest pool that is searched whole; of a larger one the `candidates`
    are."""
    candidates: Count = 1_000
    """Documents of a larger pool that are scored for a query: those whose pooled vectors are
    nearest to its own."""

    def check(self, where: str, params: Params) -> None:
        """Check the model, and that candidates suffice for the depth.

        Raises:
            BadParams: as `SystemKind.check`; fewer candidates than hits that are kept.
        """
        super().check(where, params)
        depth = params.search.depth
        if self.candidates < depth:
            problem = f"{self.candidates:,} candidates, search.depth {depth:,}"
            raise BadParams(f"{where}.candidates", problem, "raise it to the depth at least")
