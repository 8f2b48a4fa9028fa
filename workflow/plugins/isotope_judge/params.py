"""How a model judges, the keys of `score.judge.models.<name>`."""

from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from isotope.core.schemas import PLACE
from isotope.params.messages import refuse
from isotope.params.references import System, Weights
from isotope.params.sections import UNSET, Count, Distinct, Opt, Section, Text, Whole

_ASKED = ("query", "document")


def _check_prompt(prompt: str) -> str:
    """Refuse a prompt that does not show the pair, or names what nothing fills in."""
    named = PLACE.findall(prompt)
    lacking = [name for name in _ASKED if name not in named]
    strange = [name for name in named if name not in (*_ASKED, "scale")]
    if lacking or strange:
        found = f"no {{{lacking[0]}}}" if lacking else f"{{{strange[0]}}}, which nothing fills in"
        raise refuse(found, "write {query}, {document} and, as you like, {scale}")
    return prompt


class ModelJudge(Section):
    """A vision-language model that grades the pairs of the pool, beside people."""

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
    letters: Count = 4000
    """Longest text of an item; what is beyond is cut."""
    pixels: Annotated[Whole, Field(ge=1024)] = 602_112
    """Most pixels of a picture; a larger one is made smaller."""
    precision: Literal["bfloat16", "float32"] = "bfloat16"
    """Type of the weights and of the computation."""
    batch: Count = 16
    """Pairs whose answers are written at a time, while the pictures of the next ones are decoded;
    no answer depends on it."""
    own: Distinct[System] = []
    """Systems that are the judge's own, beside those whose models' names say so: runs of others
    that used it."""
