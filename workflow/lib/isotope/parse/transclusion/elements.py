"""Wikitext that a template leaves, read without what is no running text.

What that is, `boxes` says, of elements as `html_page` asks it of a page's.
"""

import re
from collections import Counter

from isotope.parse.boxes import FRAMES, HIDDEN, THUMBS, WORDLESS, is_infobox

TEXT, ASIDE, INFOBOX = "text", "aside", "infobox"
_TAG = re.compile(
    r"<(/?)([a-zA-Z][a-zA-Z0-9]*)\b([^<>]*?)(/?)>|^[ \t:]*(\{\||\|\})(.*)", re.MULTILINE
)
_ATTRIBUTE = re.compile(r"""\b(class|id|style)\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))""", re.I)
_VOID = frozenset(("br", "hr", "img", "wbr"))
_OF_TABLES = frozenset(("table", "tr", "td", "th", "caption"))
_GALLERIES = frozenset(("gallery", "gallerybox"))


def kind_of(tag: str, attributes: str) -> str:
    """Return TEXT, ASIDE or INFOBOX, of an element that a template makes.

    ASSUME templates that make tables make no running text; no paper says.
    """
    values = {m[1].lower(): m[2] or m[3] or m[4] or "" for m in _ATTRIBUTE.finditer(attributes)}
    names, identity = values.get("class", "").split(), values.get("id", "")
    if is_infobox(names, identity):
        return INFOBOX
    if tag in _OF_TABLES or tag == "figure" or identity in FRAMES:
        return ASIDE
    if not (WORDLESS | THUMBS | _GALLERIES).isdisjoint(names):
        return ASIDE
    if tag == "cite" and "citation" in names:
        return ASIDE
    return ASIDE if HIDDEN.search(values.get("style", "")) else TEXT


def is_balanced(text: str) -> bool:
    """Tell whether every element that wikitext opens ends in it, and none but those."""
    begun: Counter[str] = Counter()
    for mark in _TAG.finditer(text):
        tag = "table" if mark[5] else mark[2].lower()
        if tag not in _VOID and not mark[4]:
            begun[tag] += -1 if mark[1] == "/" or mark[5] == "|}" else 1
    return not any(begun.values())


def without_asides(text: str) -> tuple[str, list[str]]:
    """Return wikitext without what is no running text, and the kinds of what was left out.

    An element that does not end takes all that follows, as in HTML.
    """
    pieces, kinds, at = list[str](), list[str](), 0
    inside, depth = "", 0
    for mark in _TAG.finditer(text):
        tag = "table" if mark[5] else mark[2].lower()
        is_end = mark[1] == "/" or mark[5] == "|}"
        if inside:
            if tag == inside and not mark[4]:
                depth += -1 if is_end else 1
            if not depth:
                inside, at = "", mark.start(6) if mark[5] else mark.end()
        elif not is_end and tag not in _VOID:
            kind = kind_of(tag, mark[6] if mark[5] else mark[3])
            if kind != TEXT and not mark[4]:
                pieces.append(text[at : mark.start()])
                kinds.append(kind)
                inside, depth = tag, 1
    if not inside:
        pieces.append(text[at:])
    return "".join(pieces), kinds
