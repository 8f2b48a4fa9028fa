"""A text is read together with what a column says of the picture."""

import re
from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.params.sections import Distinct, Params, SystemKind, Text, model_kind

TEXT = "text"
# What a template may say of a date; of a value of another type only `value`.
PLACES = (TEXT, "value", "year", "decade", "month")
PLACE = re.compile(r"\{(\w+)\}")


def check(templates: Sequence[str], where: str) -> None:
    """Refuse templates without `{text}`, or with a place that nothing fills.

    Raises:
        BadParams: such a template.
    """
    for template in templates:
        named = PLACE.findall(template)
        unknown = [name for name in named if name not in PLACES]
        if unknown or TEXT not in named:
            found = f"template {template!r}"
            known = ", ".join(f"{{{name}}}" for name in PLACES)
            raise BadParams(where, found, f"use {{text}} and any of {known}")


class Prompt(SystemKind):
    """A dual encoder that reads prompts."""

    kind: Literal["prompt"]
    model: str = Field(description="A key of `models`.")
    column: str = Field(
        default="date", description="Column of the images that is put into words, such as a date."
    )
    templates: Annotated[Distinct[Text], Field(min_length=1)] = Field(
        description="What the model reads: `{text}` with any of `{value}`, `{year}`, `{decade}` and"
        " `{month}`; vectors of several are averaged."
    )

    def check(self, where: str, params: Params) -> None:
        """Check that the templates can be filled, and that the model reads texts.

        Raises:
            BadParams: as `check`; a model that is no encoder.
        """
        check(self.templates, where)
        if not model_kind(params["models"][self.model]).is_encoder:
            found = f"model {self.model!r} is no encoder of prompts"
            raise BadParams(where, found, "name a model that reads texts and sees pictures")
