"""The first infobox of a page of wikitext, and its picture: what an entity of a benchmark shows."""

import re

from isotope.core.titles import decode_entities, decoded, file_name
from isotope.parse.site import ENGLISH_NAMESPACES, Namespaces, normal_name
from isotope.parse.transclusion.pages import template_title

# ASSUME these templates are what readers call an infobox; OVEN takes the first infobox image
# (section 3) and does not say which templates make one.
_INFOBOX = re.compile(
    r"\{\{\s*(?:[^{}|\n]*infobox|[^{}|\n]*taxobox|speciesbox|subspeciesbox|chembox|drugbox|geobox"
    r"|ficha|infoboîte|infoboks|карточка|基礎情報)",
    re.IGNORECASE,
)
_CALL = re.compile(r"\{\{\s*([^{}|<\n]+)")
_BRACES = re.compile(r"\{\{|\}\}")
_PICTURE = re.compile(
    r"=\s*(?:\[\[[^\[\]|:\n]{1,30}:\s*|[^\[\]|:=\n]{1,30}:\s*)?"
    r"([^\n|\[\]{}<>:]{1,240}\.(?:jpe?g|png|gif|svg|tiff?|webp))(?=\s*[\n|\]}<\x01])",
    re.IGNORECASE,
)
_NO_NAME = frozenset("|[]{}<>#:\n")
_LONGEST_BOX = 60_000


def infobox_at(text: str, namespaces: Namespaces = ENGLISH_NAMESPACES) -> int | None:
    """Return the offset of the first infobox, or None."""
    templates = namespaces.templates.by_title
    if not templates:
        box = _INFOBOX.search(text)
        return box.start() if box else None
    for call in _CALL.finditer(text):
        prefix, colon, title = call[1].partition(":")
        is_prefixed = colon and normal_name(prefix) in namespaces.template
        template = templates.get(template_title(title if is_prefixed else call[1]))
        if (template is not None and template.is_infobox) or _INFOBOX.match(call[0]):
            return call.start()
    return None


def infobox_picture(text: str, start: int | None, language: str = "") -> str | None:
    """Return the name of the first picture in the infobox that begins at `start`, or None.

    Names are such as `A b.jpg`; `text` is that of `prepared.PreparedPage`, `language` the wiki's.
    """
    if start is None:
        return None
    for picture in _PICTURE.finditer(_template(text, start)):
        # Literal text has character references for bars and brackets.
        if "&#" not in picture[1] or _NO_NAME.isdisjoint(decode_entities(picture[1])):
            return file_name(decoded(picture[1]), language)
    return None


def _template(text: str, start: int) -> str:
    """Return a template with all that it encloses, or what there is of it."""
    depth = 0
    for brace in _BRACES.finditer(text, start, start + _LONGEST_BOX):
        depth += 1 if brace[0] == "{{" else -1
        if not depth:
            return text[start : brace.end()]
    return text[start : start + _LONGEST_BOX]
