from typing import Annotated, ClassVar, Literal

from pydantic import Field

from isotope.core.errors import BadParams
from isotope.core.schemas import PLACEHOLDER, TEXT
from isotope.params.references import Model
from isotope.params.sections import Distinct, Params, SystemKind, Text

# Placeholders of a template for a date; a value of another type has `value` only.
PLACES = (TEXT, "value", "year", "decade", "month")


class Prompt(SystemKind):
    """A dual encoder that reads a text together with what a column says of the picture."""

    loads_model: ClassVar[bool] = True

    kind: Literal["prompt"]
    model: Model
    """A key of `models`."""
    column: str = "date"
    """Column of the images that is added to the texts, such as a date."""
    templates: Annotated[Distinct[Text], Field(min_length=1)]
    """The model's input: `{text}` with any of `{value}`, `{year}`, `{decade}` and `{month}`;
    vectors of several are averaged."""

    def check(self, where: str, params: Params) -> None:
        """Check that the templates can be filled, and that the model reads texts.

        Raises:
            BadParams: a template without `{text}`, or with a placeholder that nothing fills; a
                model that is no encoder.
        """
        for template in self.templates:
            named = PLACEHOLDER.findall(template)
            if TEXT not in named or {*named} - {*PLACES}:
                places = ", ".join(f"{{{name}}}" for name in PLACES)
                remedy = f"use {{text}} and any of {places}"
                raise BadParams(where, f"template {template!r}", remedy)
        if not params.models[self.model].is_encoder:
            problem = f"model {self.model!r} is no encoder of prompts"
            raise BadParams(where, problem, "name a model that reads texts and sees pictures")
