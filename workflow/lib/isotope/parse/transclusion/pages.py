"""A template's page: its title, the part of it that other pages include, and its TemplateData."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, NamedTuple, cast

from isotope.core.titles import USUAL_CAPITALS
from isotope.intake.limits import Refused
from isotope.intake.records import json_value

TEMPLATE, MODULE = 10, 828
_LITERAL = re.compile(
    r"<!--.*?(?:-->|\Z)|<(nowiki|pre|syntaxhighlight|source|math|templatedata)\b[^<>]*"
    r"(?:/>|(?<!/)>.*?(?:</\1\s*>|\Z))",
    re.DOTALL | re.IGNORECASE,
)
_ONLY = re.compile(r"<(/?)onlyinclude\s*>")
_NOT = re.compile(r"<noinclude(?:\s*/>|\b[^<>]*>(?:.*?)(?:</noinclude\s*>|\Z))", re.DOTALL | re.I)
_INCLUDE_TAG = re.compile(r"</?(?:includeonly|onlyinclude)\b[^<>]*>|</noinclude\s*>", re.I)
_DATA = re.compile(r"<templatedata\b[^<>]*>(.*?)</templatedata\s*>", re.DOTALL | re.IGNORECASE)
_FILE_TYPE = "wiki-file-name"


class TemplatePage(NamedTuple):
    """A page of the namespaces Template (10) or Module (828), of which `title` says no more.

    `title` has spaces, and a capital first where the wiki has it so; `redirect` is the title of the
    template that the page leads to, likewise, or empty.
    """

    namespace: int
    title: str
    redirect: str
    text: str


@dataclass(frozen=True)
class TemplateData:
    """What editors say of a template's parameters: other names of each, and which are files."""

    names: list[str] = field(default_factory=list[str])
    aliases: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    files: list[str] = field(default_factory=list[str])


@lru_cache(maxsize=1 << 14)
def template_title(name: str) -> str:
    """Return the title that the name in a call stands for, without its namespace."""
    return USUAL_CAPITALS.title(name)


def included(text: str) -> str:
    """Return what a page leaves where it is included: neither comments nor `<noinclude>`.

    Where there is an `<onlyinclude>`, nothing else is left, as in `Preprocessor_Hash`. Marks within
    `<nowiki>` and the like are text.
    """
    if "<" not in text:
        return text
    literal: list[str] = []

    def hidden(match: re.Match[str]) -> str:
        if match[0].startswith("<!--"):
            return ""
        literal.append(match[0])
        return f"\0{len(literal) - 1};"

    text = _LITERAL.sub(hidden, text.replace("\0", ""))
    if "<onlyinclude" in text:
        text = "".join(_only(text)) or text
    text = _INCLUDE_TAG.sub("", _NOT.sub("", text))
    return re.sub(r"\0(\d+);", lambda mark: literal[int(mark[1])], text) if literal else text


def _only(text: str) -> Iterator[str]:
    """Yield what stands in `<onlyinclude>`; an element that does not end holds nothing."""
    begin = None
    for tag in _ONLY.finditer(text):
        if begin is not None and tag[1]:
            yield text[begin : tag.start()]
            begin = None
        elif begin is None and not tag[1]:
            begin = tag.end()


def template_data(text: str) -> TemplateData | None:
    """Read the first TemplateData of a page; None where there is none or no JSON in it.

    Format: https://www.mediawiki.org/wiki/Help:TemplateData#Format.
    """
    begin = text.find("<templatedata")
    block = _DATA.match(text, begin) if text.find("</templatedata", begin) > begin >= 0 else None
    try:
        document: object = json_value(block[1]) if block else None
    except Refused:
        return None
    params = cast(dict[str, Any], document).get("params") if isinstance(document, dict) else None
    if not isinstance(params, dict):
        return None
    data = TemplateData()
    for name, param in cast(dict[str, Any], params).items():
        if isinstance(param, dict):
            data.names.append(name)
            aliases = cast(dict[str, Any], param).get("aliases")
            if isinstance(aliases, list):
                data.aliases[name] = [a for a in cast(list[object], aliases) if isinstance(a, str)]
            if cast(dict[str, Any], param).get("type") == _FILE_TYPE:
                data.files.append(name)
    return data
