"""A rendered page to sections, links and pictures, in one walk over its tree, in page order.

The rules are those for wikitext (`isotope.parse.wikitext`): a paragraph, list item or table row is
a line; references, boxes, pictures with their captions and formulas go; anchors stay.
"""

from dataclasses import dataclass, field

from lxml.html import HtmlElement

from isotope.parse.articles import Shown
from isotope.parse.html_media import File, boxed, gallery, media
from isotope.parse.html_roles import BLOCKS, BOX, GALLERY, GONE, HEADING, HEADINGS, MEDIA, role

_CELLS = ("td", "th")


@dataclass
class Reading:
    """What a tree says: sections as (level, heading, text), the addresses it links to, its files.

    Of galleries and boxes no links are followed, as of templates in wikitext.
    """

    sections: list[tuple[int, str, str]] = field(default_factory=list[tuple[int, str, str]])
    hrefs: list[HtmlElement] = field(default_factory=list[HtmlElement])
    shown: list[Shown] = field(default_factory=list[Shown])


def read(root: HtmlElement) -> Reading:
    """Read a page's tree; the first section is what stands before the first heading."""
    walk = _Walk()
    walk.inside(root)
    walk.close()
    return walk.found


def text_of(node: HtmlElement) -> str:
    """Return what an element says, as one section, without links and pictures."""
    return "\n".join(filter(None, (text for _, _, text in read(node).sections)))


class _Walk:
    def __init__(self) -> None:
        self.found = Reading()
        self._level, self._heading = 0, ""
        self._text: list[str] = []
        self._tables = self._rows = self._pre = 0

    def close(self) -> None:
        """End the present section."""
        lines = ("".join(self._text)).split("\n")
        text = "\n".join(line for line in (" ".join(raw.split()) for raw in lines) if line)
        self.found.sections.append((self._level, self._heading, text))
        self._text = []

    def inside(self, node: HtmlElement) -> None:
        """Read an element's content."""
        self._say(node.text)
        for child in node:
            self._meet(child)
            self._say(child.tail)

    def _meet(self, node: HtmlElement) -> None:
        what = role(node)
        if what == HEADING:
            self.close()
            self._level, self._heading = HEADINGS[node.tag], text_of(node).replace("\n", " ")
        elif what == MEDIA:
            self._show(media(node))
        elif what == GALLERY:
            self._show(gallery(node))
        elif what == BOX:
            self._show(boxed(node))
        elif what != GONE:
            self._element(node)

    def _element(self, node: HtmlElement) -> None:
        tag = node.tag
        if tag == "a" and node.get("href"):
            self.found.hrefs.append(node)
        self._tables += tag == "table"
        self._break(tag)
        self._rows += tag == "tr"
        self._pre += tag == "pre"
        self.inside(node)
        self._pre -= tag == "pre"
        self._rows -= tag == "tr"
        self._tables -= tag == "table"
        self._break(tag)

    def _break(self, tag: str) -> None:
        """A block begins or ends: a new line, but within a table's row."""
        if tag in _CELLS or (self._rows and tag in BLOCKS):
            self._text.append(" ")
        elif tag in BLOCKS:
            self._text.append("\n")

    def _say(self, text: str | None) -> None:
        if text:
            self._text.append(text if self._pre and not self._rows else text.replace("\n", " "))

    def _show(self, files: list[File]) -> None:
        for file in files:
            caption, alt = "", file.alt
            if file.caption is not None:
                under = read(file.caption)
                caption = "\n".join(filter(None, (text for _, _, text in under.sections)))
                self.found.hrefs += under.hrefs if file.origin == "link" else []
            if not file.is_framed:
                caption, alt = "", alt or caption or file.said
            place = len(self.found.sections)
            told = (file.width, file.is_framed, self._tables > 0 and file.origin != "infobox")
            self.found.shown.append(Shown(place, file.name, file.origin, caption, alt, *told))
