"""Wikitext to sections and plain text, in C-level string work: no parse tree is built.

What a reader would not read as running text goes: comments, references, templates (but see
`templates`), pictures with their captions, categories, language links, formulas, code blocks,
galleries. What is linked, emphasised, listed or tabulated stays, without its markup. Grammar:
https://www.mediawiki.org/wiki/Help:Formatting and `Parser.php` of MediaWiki 1.39.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import accumulate
from urllib.parse import unquote

from isotope.core.titles import CATEGORIES, decode_entities, prefixed
from isotope.parse.files import FileUse, file_uses
from isotope.parse.prepared import PreparedPage
from isotope.parse.site import ENGLISH_NAMESPACES, Namespaces
from isotope.parse.templates import (
    GALLERY,
    MAX_DEPTH,
    literal,
    strip_blocks,
    strip_templates,
)

_SHORTEST_HEADING = 3
_DEEPEST_LEVEL = 6
_LISTED = ("\n*", "\n#", "\n;", "\n:")
_INDENTED_TABLE = "\n:{|"
# A row begins with the first cell after the begin of the table, a row's border or the caption,
# which may go on for some lines.
_ROW = re.compile(
    r"^[ \t:]*(?:\{\||\|[-+])[^\n]*\n(?:(?![ \t:]*(?:[|!]|\{\|))[^\n]*\n)*[ \t]*(?:!|\|(?![-+}]))"
    r"|<tr\b",
    re.MULTILINE | re.IGNORECASE,
)
_ITEM_TAG = re.compile(r"<li\b", re.IGNORECASE)
_LISTED_FIRST = tuple("*#;:")
_HEADING_LINE = re.compile(r"^=[^\n]*", re.MULTILINE)
_HEADING = re.compile(r"^=[^\n]*=[ \t]*$", re.MULTILINE)
_MARKUP = re.compile(r"[\[\]{}<&']|__")
_MARK = re.compile(r"\0(\d+);")
_INNERMOST = re.compile(r"\[\[((?:[^\[\]]++|\[(?!\[)|\](?!\]))*)\]\](\](?!\]))?")
_SCHEME = (
    r"(?:(?:https?|ftps?|sftp|ircs?|gopher|telnet|nntp|worldwind|svn|git|mms|news|mailto|tel|geo"
    r"|urn|magnet|bitcoin|xmpp|sips?|sms):|//)"
)
_ADDRESS = re.compile(_SCHEME, re.IGNORECASE)
_PERCENT = re.compile(r"(?:%[0-9A-Fa-f]{2})+")
_NO_TITLE = re.compile(r"[<>\[\]{}|\n\ufffd]|%[0-9A-Fa-f]{2}")
_EXTERNAL = re.compile(
    rf"\[{_SCHEME}[^\s\[\]<>]*+"
    r"([^\[\]\n]*+(?:\[[^\[\]\n]*+\][^\[\]\n]*+)*)\]",
    re.IGNORECASE,
)
_QUALIFIER = re.compile(r"(?<!\s)\s*+\([^()]*\)\s*$")
_BREAK = re.compile(r"<br[\s/]*>|\n", re.IGNORECASE)
_CELL_END = re.compile(r"\|\||!!")
_BULLET = re.compile(r"^[*#:;\s]+")
_RUN = re.compile(r"'{2,}")
_ITALIC, _BOLD, _BOTH = 2, 3, 5
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
_STRAY = re.compile(r"\[\[|\]\]|\{\{|\}\}")
_MAGIC_WORD = re.compile(r"__[^\W\d_]{3,20}__")
_BULLETS = "*#:; \t"


@dataclass(frozen=True)
class PageSplit:
    """A page cut at its headings, and where its sections have what is no running text.

    `sections` are those of `split_sections`; a file has the place of its section, counted from 0.
    `references` and `infoboxes` have a number a section; of several infoboxes the first counts.
    """

    sections: list[tuple[int, str, str]]
    files: list[tuple[int, FileUse]]
    references: list[int]
    infoboxes: list[int]


def split_page(page: PreparedPage, namespaces: Namespaces) -> PageSplit:
    """Cut a page as `split_sections` does, with its files, references and infoboxes.

    A file in an infobox or another template, which is no running text, has the place of the
    outermost template around it.
    """
    uses = file_uses(page.text, page.galleries, namespaces)
    text = strip_templates(_with_marks(page.text, uses), namespaces, page.title)
    if page.variant is not None:
        # Templates too leave words in several variants.
        text = page.variant.chosen(text)
    text, places = _without_marks(text, len(uses)) if uses else (text, list[int]())
    spans = list(_section_spans(text))
    ends = [end for *_, end in spans]
    begins, boxes = [0], page.boxes()
    if page.references or boxes:
        headings = [text[end:begin] for end, (*_, begin, _) in zip(ends, spans[1:], strict=False)]
        begins = _begins(page.blocks.replace(GALLERY, " "), headings, namespaces)
    return PageSplit(
        [(level, title, text[begin:end]) for level, title, begin, end in spans],
        [(bisect_left(ends, at), use) for at, use in zip(places, uses, strict=True)],
        _counted(page.references, begins, len(spans)),
        _counted(boxes, begins, len(spans)),
    )


def _begins(text: str, headings: Sequence[str], namespaces: Namespaces) -> list[int]:
    """Return where each section begins in text with its templates, by headings without theirs.

    A heading that a template has a part in is found if that template is on its line.
    """
    lines: dict[str, list[int]] = {}
    for line in _HEADING_LINE.finditer(text):
        lines.setdefault(strip_templates(line[0], namespaces).rstrip(), []).append(line.start())
    at, begins = -1, [0]
    for heading in headings:
        places = lines.get(heading.rstrip(), [])
        following = bisect_right(places, at)
        at = places[following] if following < len(places) else at
        begins.append(max(at, 0))
    return begins


def _counted(offsets: Sequence[int], begins: Sequence[int], sections: int) -> list[int]:
    """Return how many of these offsets lie in each section."""
    counts = [0] * sections
    for offset in offsets:
        counts[bisect_right(begins, offset) - 1] += 1
    return counts


def list_items(body: str) -> int:
    """Count the lines of reduced wikitext that begin as list items do, and HTML's own items."""
    lines = sum(map(body.count, _LISTED)) - body.count(_INDENTED_TABLE)
    first = body[:1] in _LISTED_FIRST and not body.startswith(_INDENTED_TABLE[1:])
    return lines + first + (len(_ITEM_TAG.findall(body)) if "<" in body else 0)


def table_rows(body: str) -> int:
    """Count the rows, headers included, of the tables in reduced wikitext; empty rows are none."""
    return len(_ROW.findall(body)) if "|" in body or "<" in body else 0


def split_pictured(
    text: str, namespaces: Namespaces
) -> tuple[list[tuple[int, str, str]], list[tuple[int, FileUse]]]:
    """Cut a page as `split_sections` does; list its files, each with the place of its section."""
    split = split_page(PreparedPage.from_wikitext(text, namespaces), namespaces)
    return split.sections, split.files


def split_sections(text: str) -> list[tuple[int, str, str]]:
    """Cut a page at its headings: (level, title, body) in page order, the lead first.

    The lead has level 0 and an empty title. Titles are plain text. Bodies are reduced wikitext
    (see `reduce`) up to the next heading of any level, so a heading inside a comment, a
    reference, `<nowiki>` or a template does not cut.
    """
    text = reduce(text)
    return [(level, title, text[begin:end]) for level, title, begin, end in _section_spans(text)]


def _section_spans(text: str) -> Iterator[tuple[int, str, int, int]]:
    """Yield level, title, begin and end of each section's body."""
    level, title, begin = 0, "", 0
    for match in _HEADING.finditer(text):
        heading = match[0].rstrip()
        if len(heading) >= _SHORTEST_HEADING:
            yield level, title, begin, match.start()
            level, title = _heading(heading)
            begin = match.end()
    yield level, title, begin, len(text)


def _heading(line: str) -> tuple[int, str]:
    lead = len(line) - len(line.lstrip("="))
    level = min(lead, len(line) - len(line.rstrip("=")), (len(line) - 1) // 2, _DEEPEST_LEVEL)
    title = line[level:-level].strip()
    return level, plain_text(title).replace("\n", " ") if _MARKUP.search(title) else title


def _with_marks(text: str, uses: list[FileUse]) -> str:
    """Put a numbered mark before each file, and take those of galleries away."""
    pieces, at = list[str](), 0
    for number, use in enumerate(uses):
        pieces += [text[at : use.at].replace(GALLERY, ""), f"\0{number};"]
        at = use.at
    return "".join([*pieces, text[at:].replace(GALLERY, "")])


def _without_marks(text: str, marks: int) -> tuple[str, list[int]]:
    """Take numbered marks away; return where each was, one that is lost where its neighbour was."""
    places, pieces, at, removed = [0] * marks, list[str](), 0, 0
    for mark in _MARK.finditer(text):
        pieces.append(text[at : mark.start()])
        places[int(mark[1])] = mark.start() - removed
        removed += len(mark[0])
        at = mark.end()
    return "".join([*pieces, text[at:]]), list(accumulate(places, max))


def plain_text(body: str, namespaces: Namespaces = ENGLISH_NAMESPACES) -> str:
    """Return the words a reader would see, one paragraph, list item or table row a line.

    Links leave their anchors, external links their labels; unbalanced markup loses its brackets
    and nothing else. Time is linear in the length of `body`. Never raises.
    """
    text = strip_tables(reduce(body, namespaces))
    text = strip_external_links(strip_links(text, namespaces))
    if "<" in text:
        text = _TAG.sub(_tag_space, text)
    if "__" in text:
        text = _MAGIC_WORD.sub(_magic_word, text)
    text = _STRAY.sub("", text)
    lines = map(_clean_line, text.split("\n"))
    return "\n".join(line for line in lines if line)


def reduce(text: str, namespaces: Namespaces = ENGLISH_NAMESPACES) -> str:
    """Drop comments, references, embedded blocks and templates; the rest of the markup stays.

    Applying it twice changes nothing: `<nowiki>` leaves character references behind.
    """
    return strip_templates(strip_blocks(text), namespaces)


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


def categories(text: str, namespaces: Namespaces) -> list[str]:
    """List the categories of reduced wikitext in page order, each once, without sort keys."""
    names: dict[str, None] = {}
    for match in _INNERMOST.finditer(text):
        prefix, colon, target = match[1].partition(":")
        if colon and namespaces.is_category(prefix):
            name = namespaces.capitals.target(target.partition("|")[0], CATEGORIES)
            names[name] = None
    names.pop("", None)
    return list(names)


def strip_links(text: str, namespaces: Namespaces) -> str:
    """Replace every internal link by its anchor, from the innermost out.

    Pictures go with their captions, categories and language links go altogether, unless a colon
    leads (`[[:Category:Songs]]`). Brackets without their partner stay for the caller to strip.
    """
    if "[[" not in text:
        return text
    anchor = partial(_anchor, namespaces)
    for _ in range(MAX_DEPTH):
        text, replaced = _INNERMOST.subn(anchor, text)
        if not replaced:
            break
    return text


def _anchor(namespaces: Namespaces, link: re.Match[str]) -> str:
    content, trail = link[1], link[2] or ""
    # `[[A|b [c]]]`: the last bracket belongs to the label, as in MediaWiki.
    if trail and content.count("[") > content.count("]"):
        content, trail = content + trail, ""
    target, pipe, label = content.partition("|")
    # A prefix, an address, or what needs decoding.
    if ":" in target or "%" in target or "&" in target or "//" in target:
        prefix, colon, _ = prefixed(target)
        if colon and namespaces.is_hidden(prefix):
            return trail
        target = target.strip().removeprefix(":")
        if _ADDRESS.match(target):
            return f"[{content}]{trail}"
    if not pipe:
        return _shown(target.strip()) + trail
    return (label or _QUALIFIER.sub("", target.strip().rpartition(":")[2])) + trail


def _shown(target: str) -> str:
    """Return what a link without a label shows: percent signs decoded if that makes a title."""
    if "%" in target:
        title = _PERCENT.sub(lambda escaped: unquote(escaped[0]), target)
        target = target if _NO_TITLE.search(title.partition("#")[0]) else literal(title)
    return target.replace("''", literal("''")) if "''" in target else target


def strip_external_links(text: str) -> str:
    """Replace `[url label]` by its label and drop `[url]`; an address in the open stays."""
    return _EXTERNAL.sub(_label, text) if "[" in text else text


def _label(link: re.Match[str]) -> str:
    return link[1].strip()


def strip_tables(text: str) -> str:
    """Turn every table row into one line of its cells' text; a caption gets a line of its own.

    A table without its end mark keeps its lines as they are, less the marks: it can't swallow
    what follows. Source: https://www.mediawiki.org/wiki/Help:Tables.
    """
    if "{|" not in text and "\n|" not in text and not text.startswith("|"):
        return text
    return _Tables(text).strip()


class _Tables:
    def __init__(self, text: str) -> None:
        self.lines = text.split("\n")
        marks = [line.lstrip(" \t:")[:2] for line in self.lines]
        self.marks = marks
        self.ends_left = marks.count("|}")
        # A section may begin inside a table whose start lies before its heading.
        self.depth = 1 if self.ends_left > marks.count("{|") else 0
        self.row: list[str] = []
        self.out: list[str] = []

    def strip(self) -> str:
        for line, mark in zip(self.lines, self.marks, strict=True):
            if mark in ("{|", "|}", "|-", "|+"):
                self._border(mark, line.lstrip(" \t:")[2:])
            elif mark[:1] == "|" or (self.depth and mark[:1] == "!"):
                self._cells(line.lstrip(" \t:"))
            elif self.depth:
                self.row.append(_BULLET.sub("", line))
            else:
                self.out.append(line)
        self._end_row()
        return "\n".join(self.out)

    def _border(self, mark: str, attributes: str) -> None:
        self._end_row()
        if mark == "{|":
            self.depth += self.ends_left > self.depth
            self.out.append("" if "=" in attributes else attributes)
        elif mark == "|}":
            self.ends_left -= 1
            self.depth = max(self.depth - 1, 0)
            self.out.append(attributes)
        elif mark == "|+":
            self.out.append(_without_attributes(attributes))

    def _cells(self, line: str) -> None:
        cells = _CELL_END.split(line[1:]) if line[0] == "!" else line[1:].split("||")
        without = _without_attributes if self.depth else _without_evident_attributes
        self.row += [without(cell) for cell in cells]
        if not self.depth:
            self._end_row()

    def _end_row(self) -> None:
        if self.row:
            self.out.append(_BREAK.sub(" ", " ".join(self.row)))
            self.row = []


def _without_attributes(cell: str) -> str:
    """Drop what stands before a pipe, as `Parser::handleTables` does; the pipe of a link stays."""
    attributes, pipe, content = cell.partition("|")
    return content if pipe and "[[" not in attributes else cell


def _without_evident_attributes(line: str) -> str:
    """Drop attributes of a line that looks like a cell where no table is open."""
    attributes, _, content = line.partition("|")
    is_evident = "=" in attributes or attributes.strip() in ("", "nowrap")
    return content if content and is_evident and "[[" not in attributes else line


def strip_quotes(line: str) -> str:
    """Drop runs of two, three and five quotes; of four or more than five, the surplus is text.

    When bold and italic are both unbalanced, one bold run is an apostrophe before italics
    (`l'''amour''` reads `l'amour`), chosen as `Parser::doQuotes` of MediaWiki chooses it.
    """
    runs = list(_RUN.finditer(line))
    markup = [_BOLD if len(run[0]) == _BOLD + 1 else min(len(run[0]), _BOTH) for run in runs]
    bolds = sum(marks != _ITALIC for marks in markup)
    italics = sum(marks != _BOLD for marks in markup)
    if bolds % 2 and italics % 2:
        candidates = [i for i, marks in enumerate(markup) if marks == _BOLD]
        if candidates:
            markup[min(candidates, key=lambda i: _rank(line, runs[i]))] = _ITALIC
    pieces: list[str] = []
    at = 0
    for run, marks in zip(runs, markup, strict=True):
        pieces.append(line[at : run.end() - marks])
        at = run.end()
    return "".join(pieces) + line[at:]


def _rank(line: str, run: re.Match[str]) -> int:
    """Rank an apostrophe's likelihood: after a one-letter word, a longer word, a space."""
    before = line[: run.end() - _BOLD][-2:]
    if before.endswith(" "):
        return 2
    return 0 if before[:1] == " " and len(before) == len("l'") else 1
