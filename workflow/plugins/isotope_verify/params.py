"""What a run verifies: the key `verify` of params.yaml."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.params.sections import Distinct, Number, PluginSection

_Check = Literal["digests", "means", "significance", "printed", "measures", "rankings", "vectors"]


class Verify(PluginSection):
    """What other people's tools recompute at the end of a run, for the report to say so."""

    is_always: ClassVar[bool] = True

    checks: Distinct[_Check] = [
        "digests",
        "means",
        "significance",
        "printed",
        "measures",
        "rankings",
    ]
    """What is compared; [] is nothing, and the report says so. `rankings` holds the words of the
    collection in memory and indexes every pool again, which takes hours at full size; `vectors`
    loads every model again."""
    sample: Annotated[Number, Field(gt=0, le=1)] = 0.01
    """Share of the scores, rankings and vectors that is recomputed."""
