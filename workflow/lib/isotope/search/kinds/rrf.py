from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.params.sections import Positive, Section
from isotope.search.kinds._fusion import Fusion


class RrfGrid(Section):
    """Values to try."""

    k: Annotated[list[Positive], Field(min_length=1)]
    """Values of `k`."""


class Rrf(Fusion[RrfGrid]):
    """Runs fused by rank: reciprocal-rank fusion."""

    fixed: ClassVar[str] = "k"

    kind: Literal["rrf"]
    # As Cormack, Clarke and Buettcher, SIGIR 2009, have it.
    k: Positive = 60
    """Damping of reciprocal-rank fusion."""
