"""Comments, references and extension tags of wikitext: dropped with their content, or literal."""

import html
import re
from html.entities import html5

_DROPPED = (
    "ref|references|gallery|math|syntaxhighlight|source|timeline|score|imagemap|inputbox|hiero"
    "|categorytree|graph|mapframe|maplink|templatedata|templatestyles|includeonly|indicator"
)
# ASSUME formulas, code listings, scores and galleries are no running text, chemistry is; no paper
# says.
_LITERAL = "nowiki|pre|ce|chem"
# No XML document has it.
GALLERY = "\0"
_OPENING = re.compile(rf"<(?:(!--)|({_DROPPED}|{_LITERAL})(?:[\s/][^<>]*)?>)", re.IGNORECASE)
_CLOSING = {
    name: re.compile(rf"</{name}\s*>", re.IGNORECASE)
    for name in f"{_DROPPED}|{_LITERAL}".split("|")
} | {
    "!--": re.compile("-->"),
    "ref": re.compile(r"</ref\s*>|<ref(?:\s[^<>]*(?<!/))?>", re.IGNORECASE),
}
_ESCAPES = {ord(char): f"&#{ord(char)};" for char in "&[]{}|'=<>*#:;_!-+"}
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
_LITERAL_NAMES = frozenset(_LITERAL.split("|"))


def strip_blocks(text: str, galleries: list[str] | None = None) -> str:
    """Drop comments and embedded blocks; keep the content of literal ones as character references.

    What galleries hold goes to the list `galleries` if there is one; GALLERY stands in their place.

    An opening tag without its closing one is dropped alone. A reference that meets another
    opening `<ref>` first counts as such, so that it can't swallow what lies between.
    """
    if "<" not in text:
        return text
    kept: list[str] = []
    unclosed: set[str] = set()
    at = 0
    while opening := _OPENING.search(text, at):
        kept.append(text[at : opening.start()])
        name = (opening[1] or opening[2]).lower()
        content, at = _content(text, opening, name, unclosed)
        if content and name in _LITERAL_NAMES:
            kept.append(decode_entities(content).translate(_ESCAPES))
        elif content and name == "gallery" and galleries is not None:
            kept.append(GALLERY)
            galleries.append(content)
    kept.append(text[at:])
    return "".join(kept)


def decode_entities(text: str) -> str:
    """Replace character references; unlike HTML, wikitext needs their semicolon."""
    return _ENTITY.sub(_character, text) if "&" in text else text


def _character(entity: re.Match[str]) -> str:
    name = entity[0]
    return html.unescape(name) if name[1] == "#" else html5.get(name[1:], name)


def _content(text: str, opening: re.Match[str], name: str, unclosed: set[str]) -> tuple[str, int]:
    """Return what the block holds, and where the text goes on after it."""
    start = opening.end()
    if name in unclosed or opening[0].endswith("/>"):
        return "", start
    closing = _CLOSING[name].search(text, start)
    if closing is None:
        unclosed.add(name)
        return "", start
    if not closing[0].startswith(("</", "--")):
        return "", start
    return text[start : closing.start()], closing.end()
