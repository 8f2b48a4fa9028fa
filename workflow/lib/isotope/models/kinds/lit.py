"""Two small heads over frozen towers, trained contrastively."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pydantic import Field

from isotope.core.schemas import FIVE_FIELDS
from isotope.models.kinds import Tower
from isotope.params.recipes import HeadsRecipe
from isotope.params.sections import ModelKind, Opt, TextFields

if TYPE_CHECKING:
    from isotope.models.encoders import Encoder


class Lit(ModelKind):
    """Locked tuning of both sides (after Zhai et al., CVPR 2022)."""

    learned: ClassVar[bool] = True
    has_features: ClassVar[bool] = True

    kind: Literal["lit"]
    heads: Opt[HeadsRecipe] = Field(
        default=None, description="The recipe of the heads of a model of kind `lit`."
    )
    text: Tower = None
    fields: TextFields = Field(default=list(FIVE_FIELDS))


def load(spec: Mapping[str, Any], *, weights: Path | None, device: str) -> "Encoder":
    """Load the encoder of an entry with the heads that the train phase has learned.

    Raises:
        MissingFile: no weights.
    """
    from isotope.models.encoders import demand_weights  # noqa: PLC0415
    from isotope.models.lit import LitEncoder  # noqa: PLC0415

    tower = {"text": spec["text"]} if "text" in spec else {}
    return LitEncoder(demand_weights(spec, weights), device, **tower)
