"""What is pooled for people and models to judge: the key `judge` of params.yaml."""

from typing import Annotated, ClassVar, Literal, Self, get_args

from pydantic import AfterValidator, Field

from isotope.core.schemas import PLACEHOLDER
from isotope.params import SETTINGS
from isotope.params.messages import refuse
from isotope.params.phases import Measure
from isotope.params.references import Ref, System, Weights
from isotope.params.removed import Constant, Removed
from isotope.params.sections import (
    UNSET,
    Count,
    Distinct,
    Integer,
    Name,
    Opt,
    Params,
    PluginSection,
    Section,
    Setting,
    Split,
    Text,
)

_ASKED = ("query", "document")
# YAML reads a digit as a number or, in quotes, as text.
Grade = Literal[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, "0", "1", "2", "3", "4", "5", "6", "7", "8", "9"]


def _check_prompt(prompt: str) -> str:
    """Refuse a prompt that does not show the pair, or names what nothing fills in."""
    named = PLACEHOLDER.findall(prompt)
    lacking = [name for name in _ASKED if name not in named]
    strange = [name for name in named if name not in (*_ASKED, "scale")]
    if lacking or strange:
        problem = f"no {{{lacking[0]}}}" if lacking else f"{{{strange[0]}}}, which nothing fills in"
        raise refuse(problem, "write {query}, {document} and, as you like, {scale}")
    return prompt


class ModelJudge(Section):
    """A vision-language model that grades the pairs of the pool, beside people."""

    removed: ClassVar[Removed] = {
        "letters": Constant(4000, "more than editors write in a section that people judge"),
        "batch": Constant(16, "as no answer depends on it"),
    }

    kind: Literal["vlm"]
    """A chat model of pictures and texts; its grade is the likeliest digit of the scale as the next
    token."""
    name: Annotated[Text, Weights]
    """A folder, or a hub's id, with the model in safetensors, such as Qwen/Qwen3-VL-8B-Instruct."""
    revision: Annotated[str | None, UNSET] = None
    """A commit, branch or tag of the hub; none is its newest."""
    prompt: Opt[Annotated[Text, AfterValidator(_check_prompt)]] = None
    """What the model is asked: {query} and {document} are the items, with their pictures, {scale}
    the meanings of the grades. Without it the package's own."""
    answer: str = ""
    """What the model's answer begins with, before the grade, such as `Grade: `."""
    pixels: Annotated[Integer, Field(ge=1024)] = 602_112
    """Most pixels of a picture; a larger one is made smaller."""
    precision: Literal["bfloat16", "float32"] = "bfloat16"
    """Type of the weights and of the computation."""
    own: Distinct[System] = []
    """Systems that are the judge's own, beside those whose models' names say so: runs of others
    that used it."""


class Judge(PluginSection):
    """Pools for people to judge."""

    removed: ClassVar[Removed] = {
        "level": Constant(0.95, "the level of all intervals of the report"),
    }

    depth: Count
    """Hits of each system that enter the pool of a query."""
    setting: Opt[Annotated[Setting, Ref("search.settings")]] = None
    """Setting whose runs are pooled; by default the largest that is searched."""
    split: Opt[Annotated[Split, Ref("search.splits")]] = None
    """Split whose queries are judged; by default test, or the last that is searched."""
    measures: Annotated[Distinct[Measure], Field(min_length=1)]
    """Measures on graded judgements, such as nDCG@10, MAP, bpref, Judged@10."""
    scale: Annotated[
        dict[Grade, Annotated[Text, Field(description="What the grade means.")]],
        Field(min_length=2, json_schema_extra={"propertyNames": {"enum": [*get_args(Grade)]}}),
    ] = {
        0: "not relevant",
        1: "related, but of no use here",
        2: "relevant, could stand here",
        3: "just what belongs here",
    }
    """Meaning of each grade on the judging page; a grade is a digit, and the key to press."""
    models: Opt[dict[Name, ModelJudge]] = None
    """Models that grade the pool, by name; their grades are kept beside those of people and never
    among them."""

    def completed(self, params: Params) -> Self:
        """Return the section with the largest setting and the test split, where it names none."""
        search = params.search
        splits = ["test"] if "test" in search.splits else search.splits
        setting = max(search.settings, key=SETTINGS.index)
        usual = {"setting": setting, "split": splits[-1]}
        named = self.model_fields_set
        return self.model_copy(update={k: v for k, v in usual.items() if k not in named})
