"""Wikitext to sections and plain text, in C-level string work: no parse tree is built.

What a reader would not read as running text goes: comments, references, templates (but see
`wikitext_templates`), pictures with their captions, categories, language links, formulas, code
blocks, galleries. What is linked, emphasised, listed or tabulated stays, without its markup.
Grammar: https://www.mediawiki.org/wiki/Help:Formatting and `Parser.php` of MediaWiki 1.39.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator
from itertools import accumulate

from isotope.parse.blocks import GALLERY, decode_entities, strip_blocks
from isotope.parse.files import Use, uses
from isotope.parse.links import ENGLISH, Namespaces, strip_external_links, strip_links
from isotope.parse.quotes import strip_quotes
from isotope.parse.templates import strip_templates
from isotope.parse.wikitables import strip_tables

__all__ = ["ENGLISH", "Namespaces", "plain_text", "reduce", "split_pictured", "split_sections"]

_HEADING = re.compile(r"^=[^\n]*=[ \t]*$", re.MULTILINE)
_MARKUP = re.compile(r"[\[\]{}<&']|__")
_MAGIC_WORD = re.compile(r"__[^\W\d_]{3,20}__")
_BULLETS = "*#:; \t"
_BLOCK_TAGS = "p|br|div|li|ul|ol|dl|dt|dd|tr|table|blockquote|center|hr|h[1-6]|poem|caption|pre"
_INLINE_TAGS = (
    "b|i|u|s|em|strong|small|big|sub|sup|span|font|code|tt|kbd|samp|var|cite|q|del|ins|strike|abbr"
    "|bdi|bdo|dfn|mark|time|wbr|ruby|rb|rp|rt|rtc|data|tbody|thead|tfoot|col|colgroup|a|img"
    "|ref|references|nowiki|noinclude|includeonly|onlyinclude|section|langconvert|translate|tvar"
    "|gallery|math|syntaxhighlight|source|timeline|score|ce|chem|templatestyles|indicator|nobr"
)
_TAG = re.compile(
    rf"</?(?:({_BLOCK_TAGS})|(t[dh])|(?:{_INLINE_TAGS}))(?:[\s/][^<>]*)?>", re.IGNORECASE
)
_MARK = re.compile(r"\0(\d+);")
_STRAY = re.compile(r"\[\[|\]\]|\{\{|\}\}")


def reduce(text: str) -> str:
    """Drop comments, references, embedded blocks and templates; the rest of the markup stays.

    Applying it twice changes nothing: `<nowiki>` leaves character references behind.
    """
    return strip_templates(strip_blocks(text))


def split_sections(text: str) -> list[tuple[int, str, str]]:
    """Cut a page at its headings: (level, title, body) in page order, the lead first.

    The lead has level 0 and an empty title. Titles are plain text. Bodies are reduced wikitext
    (see `reduce`) up to the next heading of any level, so a heading inside a comment, a
    reference, `<nowiki>` or a template does not cut.
    """
    text = reduce(text)
    return [(level, title, text[begin:end]) for level, title, begin, end in _cut(text)]


def split_pictured(
    text: str, namespaces: Namespaces
) -> tuple[list[tuple[int, str, str]], list[tuple[int, Use]]]:
    """Cut a page as `split_sections` does; tell each file that it shows, with its section's place.

    A file in an infobox or another template, which is no running text, stands where the outermost
    template around it does.
    """
    galleries: list[str] = []
    text = namespaces.without_prefix(strip_blocks(text, galleries))
    shown = uses(text, galleries, namespaces)
    if not shown:
        return split_sections(text.replace(GALLERY, "")), []
    text, places = _unmarked(strip_templates(_marked(text, shown)), len(shown))
    cut = list(_cut(text))
    ends = [end for *_, end in cut]
    sections = [(level, title, text[begin:end]) for level, title, begin, end in cut]
    return sections, [(bisect_left(ends, at), u) for at, u in zip(places, shown, strict=True)]


def _marked(text: str, shown: list[Use]) -> str:
    """Put a numbered mark before each file, and take those of galleries away."""
    kept, at = list[str](), 0
    for number, use in enumerate(shown):
        kept += [text[at : use.at].replace(GALLERY, ""), f"\0{number};"]
        at = use.at
    return "".join([*kept, text[at:].replace(GALLERY, "")])


def _unmarked(text: str, marks: int) -> tuple[str, list[int]]:
    """Take numbered marks away; return where each was, one that is lost where its neighbour was."""
    places, kept, at, gone = [0] * marks, list[str](), 0, 0
    for mark in _MARK.finditer(text):
        kept.append(text[at : mark.start()])
        places[int(mark[1])] = mark.start() - gone
        gone += len(mark[0])
        at = mark.end()
    return "".join([*kept, text[at:]]), list(accumulate(places, max))


def _cut(text: str) -> Iterator[tuple[int, str, int, int]]:
    """Yield level, title, begin and end of each section's body."""
    level, title, begin = 0, "", 0
    for match in _HEADING.finditer(text):
        heading = match[0].rstrip()
        if len(heading) >= _SHORTEST_HEADING:
            yield level, title, begin, match.start()
            level, title = _heading(heading)
            begin = match.end()
    yield level, title, begin, len(text)


_SHORTEST_HEADING = 3
_DEEPEST_LEVEL = 6


def _heading(line: str) -> tuple[int, str]:
    lead = len(line) - len(line.lstrip("="))
    level = min(lead, len(line) - len(line.rstrip("=")), (len(line) - 1) // 2, _DEEPEST_LEVEL)
    title = line[level:-level].strip()
    return level, plain_text(title).replace("\n", " ") if _MARKUP.search(title) else title


def plain_text(body: str, namespaces: Namespaces = ENGLISH) -> str:
    """Return the words a reader would see, one paragraph, list item or table row a line.

    Links leave their anchors, external links their labels; unbalanced markup loses its brackets
    and nothing else. Time is linear in the length of `body`. Never raises.
    """
    text = strip_tables(reduce(body))
    text = strip_external_links(strip_links(text, namespaces))
    if "<" in text:
        text = _TAG.sub(_tag_space, text)
    if "__" in text:
        text = _MAGIC_WORD.sub(_magic_word, text)
    text = _STRAY.sub("", text)
    lines = map(_clean_line, text.split("\n"))
    return "\n".join(line for line in lines if line)


def _tag_space(tag: re.Match[str]) -> str:
    return "\n" if tag[1] else " " if tag[2] else ""


def _magic_word(match: re.Match[str]) -> str:
    return "" if match[0] == match[0].upper() else match[0]


def _clean_line(line: str) -> str:
    line = line.lstrip(_BULLETS)
    if line.startswith("----"):
        line = line.lstrip("-")
    if "''" in line:
        line = strip_quotes(line)
    if "&" in line:
        line = decode_entities(line)
    return " ".join(line.split())
