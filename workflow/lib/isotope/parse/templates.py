"""Templates of wikitext, and the blocks embedded in it.

A template leaves what the wiki's table of templates says (`transclusion`), or else what is known of
it by hand; any other leaves nothing.
"""

import re

from isotope.core.titles import decode_entities
from isotope.parse.site import ENGLISH_NAMESPACES, Namespaces
from isotope.parse.transclusion.arguments import Arguments
from isotope.parse.transclusion.elements import without_asides
from isotope.parse.transclusion.known import TEXT, UNKNOWN
from isotope.parse.transclusion.pages import template_title
from isotope.parse.transclusion.reduction import Bound, Reduction, TooLong
from isotope.parse.transclusion.tree import Nodes, flat, parse
from isotope.parse.transclusion.words import rule_of

_DROPPED = (
    "ref|references|gallery|math|syntaxhighlight|source|timeline|score|imagemap|inputbox|hiero"
    "|categorytree|graph|mapframe|maplink|templatedata|templatestyles|includeonly|indicator"
)
# ASSUME formulas, code listings, scores and galleries are no running text, chemistry is; no paper
# says.
_LITERAL = "nowiki|pre|ce|chem"
# No XML document has it.
GALLERY = "\0"
# What their tags enclose is the page's own where the page itself is shown.
_TRANSPARENT = "noinclude|onlyinclude"
_OPENING = re.compile(
    rf"<(?:(!--)|({_DROPPED}|{_LITERAL})(?:[\s/][^<>]*)?>|/?(?:{_TRANSPARENT})(?:[\s/][^<>]*)?>)",
    re.IGNORECASE,
)
_CLOSING = {
    name: re.compile(rf"</{name}\s*>", re.IGNORECASE)
    for name in f"{_DROPPED}|{_LITERAL}".split("|")
} | {
    "!--": re.compile("-->"),
    "ref": re.compile(r"</ref\s*>|<ref(?:\s[^<>]*(?<!/))?>", re.IGNORECASE),
}
_ESCAPES = {ord(char): f"&#{ord(char)};" for char in "&[]{}|'=<>*#:;_!-+"}
_LITERAL_NAMES = frozenset(_LITERAL.split("|"))


def strip_blocks(
    text: str, galleries: list[str] | None = None, references: list[int] | None = None
) -> str:
    """Drop comments and embedded blocks; keep the content of literal ones as character references.

    What galleries hold goes to the list `galleries` if there is one; GALLERY stands in their place.
    An image map becomes a link to its file.
    The offsets at which references stood, in the text that is returned, go to `references`.

    An opening tag without its closing one is dropped alone. A reference that meets another
    opening `<ref>` first counts as such, so that it can't swallow what lies between. Of what is for
    inclusion elsewhere `<includeonly>` goes, and the tags of `<noinclude>` and `<onlyinclude>`.
    """
    if "<" not in text:
        return text
    pieces: list[str] = []
    unclosed: set[str] = set()
    at = removed = 0
    while opening := _OPENING.search(text, at):
        pieces.append(text[at : opening.start()])
        name = (opening[1] or opening[2] or "").lower()
        content, at = _content(text, opening, name, unclosed)
        stays = ""
        if content and name in _LITERAL_NAMES:
            stays = literal(decode_entities(content))
        elif content and name == "gallery" and galleries is not None:
            stays = GALLERY
            galleries.append(content)
        elif content and name == "imagemap":
            stays = _mapped(content)
        elif name == "ref" and references is not None:
            references.append(opening.start() - removed)
        pieces.append(stays)
        removed += at - opening.start() - len(stays)
    pieces.append(text[at:])
    return "".join(pieces)


def _mapped(content: str) -> str:
    """Return an image map as the link to a file that its first line is.

    Source: https://www.mediawiki.org/wiki/Extension:ImageMap.
    """
    lines = (line.strip() for line in content.split("\n"))
    first = next((line for line in lines if line and not line.startswith(("#", "<!--"))), "")
    prefix, colon, _ = first.partition(":")
    return f"[[{first}]]" if colon and prefix.replace("_", "").replace(" ", "").isalpha() else ""


def literal(text: str) -> str:
    """Return wikitext that shows this text, whatever markup it looks like."""
    return text.translate(_ESCAPES)


def _content(text: str, opening: re.Match[str], name: str, unclosed: set[str]) -> tuple[str, int]:
    """Return what the block holds, and where the text goes on after it."""
    start = opening.end()
    if not name or name in unclosed or opening[0].endswith("/>"):
        return "", start
    closing = _CLOSING[name].search(text, start)
    if closing is None:
        unclosed.add(name)
        return "", start
    if not closing[0].startswith(("</", "--")):
        return "", start
    return text[start : closing.start()], closing.end()


# MediaWiki itself expands templates no deeper than this ($wgMaxTemplateDepth).
MAX_DEPTH = 40
# Nodes that the templates of a page may make; what is called after that leaves nothing.
MOST_STEPS_A_PAGE = 1_000_000
_INNERMOST = re.compile(r"\{\{((?:[^{}]++|\{(?!\{)|\}(?!\}))*)\}\}")
_PARAMETER = re.compile(r"\{\{\{[^{}|]*+(?:\|([^{}|]*+)[^{}]*+)?\}\}\}")
_ARGUMENT = re.compile(r"\|((?:\[\[[^\[\]]*+\]\]|[^|])*)")
_NAMED = re.compile(r"\s*([\w-]{1,30})\s*=")
# What stands for a bar and an equals sign that a template left: they cut no argument of another.
BAR, _EQUALS = "\1", "\2"
_BAR_CALL = "{{!}}"
_LINES = ("{|", "*", "#", ":", ";")


def hide_bars(text: str) -> str:
    """Replace `{{!}}` by BAR, which cuts neither arguments nor, as yet, links."""
    return text.replace(_BAR_CALL, BAR) if _BAR_CALL in text else text


def show_bars(text: str) -> str:
    """Make the bars that `hide_bars` replaced, and those that templates left, bars again."""
    return text.replace(BAR, "|").replace(_EQUALS, "=")


def strip_templates(text: str, namespaces: Namespaces = ENGLISH_NAMESPACES, title: str = "") -> str:
    """Replace templates by what they leave, from the innermost out, in linear passes.

    Braces without their partner stay for the caller to strip: they never take text with them.
    `title` is the page's; there are at most `MAX_DEPTH` passes.
    """
    if "{{" not in text:
        return show_bars(text)
    read = _Page(namespaces, title).read
    for _ in range(MAX_DEPTH):
        if "{{{" in text:
            text = _PARAMETER.sub(_default, text)
        text, replaced = _INNERMOST.subn(read, text)
        if not replaced:
            break
    return show_bars(text)


def _default(parameter: re.Match[str]) -> str:
    return parameter[1] or ""


class _Page:
    """What calls on a page of this title leave, of which none encloses another."""

    def __init__(self, namespaces: Namespaces, title: str) -> None:
        self._namespaces, self._title = namespaces, title
        self._templates_by_title = namespaces.templates.by_title
        self._steps = MOST_STEPS_A_PAGE

    def read(self, match: re.Match[str]) -> str:
        content = match[1]
        name = content.partition("|")[0]
        template = (
            self._templates_by_title.get(template_title(name)) if self._templates_by_title else None
        )
        if template is None:
            left = self._unknown(name, content)
        elif template.prints == TEXT:
            left = self._expanded(template.tree, content)
        else:
            left = self._unknown(template.title, content) if template.prints == UNKNOWN else ""
        return (
            left.replace("\n=", "\n&#61;").replace("|", BAR).replace("=", _EQUALS) if left else ""
        )

    def _unknown(self, name: str, content: str) -> str:
        """Return what is known of a template by hand, and what a parser function leaves."""
        rule = rule_of(name)
        if rule is not None:
            return rule(_arguments(name, content))
        if ":" in name or name.isupper():
            return self._expanded(parse(f"{{{{{content}}}}}"), "")
        return ""

    def _within(self, title: str) -> Nodes | None:
        """Return the tree of a template whose name an argument made."""
        template = self._templates_by_title.get(title)
        if template is None or template.prints == UNKNOWN:
            return None
        return template.tree if template.prints == TEXT else ()

    def _expanded(self, tree: Nodes, content: str) -> str:
        if len(tree) == 1 and isinstance(tree[0], str):
            return tree[0]
        language = self._namespaces.wiki.removesuffix("wiki")
        reduction = Reduction(self._namespaces, language, self._within, title=self._title)
        before = reduction.steps = min(reduction.steps, self._steps)
        try:
            text = flat(reduction.nodes(tree, Bound(_bound_arguments(content))))
        except (TooLong, RecursionError):
            return ""
        finally:
            self._steps -= before - max(reduction.steps, 0)
        text = without_asides(text)[0] if "<" in text or "{|" in text else text
        if "{{" in text or "}}" in text:
            text = text.replace("{{", "&#123;&#123;").replace("}}", "&#125;&#125;")
        return "\n" + text if text.startswith(_LINES) else text


def _bound_arguments(content: str) -> dict[str, Nodes]:
    """Return the arguments of a call by name, as MediaWiki binds them."""
    values, count = dict[str, Nodes](), 0
    for argument in _ARGUMENT.findall(content):
        key, equals, value = argument.partition("=")
        if equals and "[[" not in key:
            values[key.strip()] = (show_bars(value.strip()),)
        else:
            count += 1
            values[str(count)] = (show_bars(argument),)
    return values


def _arguments(name: str, content: str) -> Arguments:
    """Return the arguments of a call as the rules by hand have them."""
    function, colon, argument_text = name.partition(":")
    if colon:
        return Arguments(function.strip().lower(), [show_bars(argument_text)], {})
    positional, named = list[str](), dict[str, str]()
    for argument in _ARGUMENT.findall(content):
        key = _NAMED.match(argument)
        if key and key[1] != "1":
            named[key[1]] = show_bars(argument[key.end() :].strip())
        else:
            positional.append(show_bars(argument[key.end() if key else 0 :].strip(" \t")))
    return Arguments(name.strip().replace("_", " ").lower(), positional, named)
