"""Words of templates in the languages of wikis, from `template_words.json`.

`functions` has the names of parser functions by the English one (ParserFunctions.i18n.magic.php),
`default_case` those of `#default`, `parameters` the words of parameters' names by what they say,
and `modules` names of Lua modules by what they leave.
"""

import json
from collections.abc import Mapping, Sequence
from functools import cache
from typing import TypedDict

from isotope.core.resources import PACKAGE


class Vocabulary(TypedDict):
    """The content of the file."""

    functions: Mapping[str, Sequence[str]]
    default_case: Sequence[str]
    parameters: Mapping[str, Sequence[str]]
    modules: Mapping[str, Sequence[str]]


@cache
def vocabulary() -> Vocabulary:
    """Read the file."""
    path = PACKAGE / "parse/template_words.json"
    return json.loads(path.read_text(encoding="utf-8"))
