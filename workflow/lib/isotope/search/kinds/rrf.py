from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.params.sections import Opt, Positive, Section
from isotope.search.kinds._fusion import Fusion, Tune


class RrfGrid(Section):
    """Values to try."""

    k: Annotated[list[Positive], Field(min_length=1)] = Field(description="Values of `k`.")


class Rrf(Fusion):
    """Runs fused by rank: reciprocal-rank fusion."""

    fixed: ClassVar[str] = "k"

    kind: Literal["rrf"]
    # As Cormack, Clarke and Buettcher, SIGIR 2009, have it.
    k: Positive = Field(default=60, description="Damping of reciprocal-rank fusion.")
    tune: Opt[Tune[RrfGrid]] = None
    """Choose `k` on a split, for each setting and task, instead."""
