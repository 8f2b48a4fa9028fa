"""A rendered page whose words stand in several variants of its language: those of one stay.

Parsoid leaves the choice to whoever shows the page:
https://www.mediawiki.org/wiki/Specs/HTML/2.8.0#Language_conversion_blocks.
"""

from typing import cast

from lxml import html
from lxml.etree import ParserError
from lxml.html import HtmlElement

from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.parse.variants import Variant, rules_of

_KIND, _RULES = "mw:LanguageVariant", "data-mw-variant"
_BLOCKS = f"descendant-or-self::*[contains(@typeof, '{_KIND}')]"
_CHOSEN_BY_RULES = f"//*[contains(@data-mw, '{_KIND}')]"
# Rules that are not shown, such as those of a page's title and its own glossary.
_HIDDEN = "meta"


def choose_variant(root: HtmlElement, variant: Variant) -> None:
    """Put the words of a variant into a page's tree, in texts and in alternative texts."""
    waiting = cast(list[HtmlElement], root.xpath(_BLOCKS))
    while waiting:
        waiting += _choose(waiting.pop(), variant)
    for node in cast(list[HtmlElement], root.xpath(_CHOSEN_BY_RULES)):
        _choose_alt(node, variant)


def _choose(node: HtmlElement, variant: Variant) -> list[HtmlElement]:
    """Put words into an element; return the elements among them that have rules of their own."""
    kinds = node.get("typeof", "").split()
    node.set("typeof", " ".join(kind for kind in kinds if kind != _KIND))
    words = None if node.tag == _HIDDEN else _words(node.attrib.pop(_RULES, ""), variant)
    fragment = None if words is None else _parsed(words)
    if fragment is None:
        return []
    for child in node:
        node.remove(child)
    node.text = fragment.text
    node.extend(list(fragment))
    return [inner for child in node for inner in child.xpath(_BLOCKS)]


def _words(rules: str, variant: Variant) -> str | None:
    try:
        rule_set = json_value(rules)
    except Refused:
        return None
    return rules_of(rule_set, variant) if isinstance(rule_set, dict) else None


def _parsed(words: str) -> HtmlElement | None:
    try:
        return html.fragment_fromstring(words, create_parent=True)
    except (ParserError, ValueError):
        return None


def _choose_alt(node: HtmlElement, variant: Variant) -> None:
    """Mend an alternative text, from which Parsoid takes such words out."""
    try:
        template_data = json_value(node.get("data-mw", ""))
    except Refused:
        return
    attributes = template_data.get("attribs") if isinstance(template_data, dict) else None
    for name, value in attributes if isinstance(attributes, list) else ():
        words = value.get("html") if name == "alt" and isinstance(value, dict) else None
        parsed = _parsed(words) if isinstance(words, str) else None
        if parsed is not None:
            choose_variant(parsed, variant)
            text = parsed.text_content().partition("=")[2]
            for picture in cast(list[HtmlElement], node.xpath("descendant-or-self::img")):
                picture.set("alt", text)
