"""Reciprocal-rank fusion."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.params.sections import Opt, Positive, Section
from isotope.search.kinds._fusion import Fusion, Tune


class RrfGrid(Section):
    """What is tried."""

    k: Annotated[list[Positive], Field(min_length=1)] = Field(description="Values of `k`.")


class RrfTune(Tune):
    """Choose `k` on a split, for each setting and task, instead."""

    grid: RrfGrid = Field(description="What is tried.")


class Rrf(Fusion):
    """Runs fused by rank."""

    fixed: ClassVar[str] = "k"

    kind: Literal["rrf"]
    k: Positive = Field(default=60, description="Damping of reciprocal-rank fusion.")
    tune: Opt[RrfTune] = Field(
        default=None, description="Choose `k` on a split, for each setting and task, instead."
    )
