"""Documents in random order, the same in every run."""

from typing import Literal

from pydantic import Field

from isotope.params.sections import SystemKind, Whole


class Random(SystemKind):
    """A baseline that knows nothing of queries."""

    kind: Literal["random"]
    seed: Whole = Field(0, description="Of the shuffle.")
