"""Structured Contents of Wikimedia Enterprise: an article as JSON, read into the tables of `dump`.

A record has `sections`, whose parts are sections, paragraphs, lists, tables and pictures,
`infoboxes` of the same parts, and the `tables` that a part names. Schema: the data dictionary,
https://enterprise.wikimedia.com/docs/data-dictionary/ (Structured Contents, beta), and
https://github.com/wikimedia-enterprise/wikimedia-enterprise, general/schema/structured.go,
hasparts.go and structuredtable.go. Copies that are free, of two languages and more:
https://huggingface.co/datasets/wikimedia/structured-wikipedia and
https://www.kaggle.com/datasets/wikimedia-foundation/wikipedia-structured-contents; in their Parquet
files a list of parts is a text of JSON.

A record has no redirects, categories, templates, page properties, namespaces and language links,
and says of a picture neither its box nor its table: docs/parse.md has what follows from that.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, cast

from isotope.core.titles import file_name, spaced
from isotope.core.uploads import file_of
from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.parse.articles import (
    DISAMBIGUATION,
    Article,
    ArticleFile,
    ParsedBatch,
    article_titles,
)
from isotope.parse.boxes import INFOBOX, NO_BOX
from isotope.parse.files import pixels
from isotope.parse.html_page import (
    BOX,
    ITEM,
    REFERENCE,
    ROW,
    box_picture,
    markup_of,
    title_of_address,
)
from isotope.parse.site import Site

# What a record has that has no HTML of the page.
FIELDS = ("sections", "infoboxes", "abstract")
# What the snapshot names and does not have, by what counts it.
LOST_TABLES, LOST_PICTURES, BARE_LEADS = (
    "tables_not_in_record",
    "pictures_without_a_name",
    "leads_by_abstract_alone",
)
# ASSUME the lead is the first section and has this name in every language, as in the published
# samples; the data dictionary does not say.
_LEAD = "Abstract"
_SECTION, _IMAGE, _GALLERY, _TABLE = "section", "image", "gallery", "table"
_ITEMS = frozenset(("list_item", "definition_term", "definition"))
_MARK = re.compile(r"\[[^\[\]]{1,20}\]")
_IN_BRACKETS = re.compile(r"\(([^()]+)\)$")
# ASSUME a picture of its own without a caption that is no wider is an icon of its line, as in
# workflow/sql/parse/wikitext/10_uses.sql; no data of a record say whether a picture has a frame.
_ICON_PX = 60
_TOP = 2
Part = Mapping[str, Any]


def is_structured(record: Part) -> bool:
    """Tell a record of Structured Contents from one that has the HTML of its page."""
    return "article_body" not in record and any(name in record for name in FIELDS)


def add_page(
    parsed: ParsedBatch, record: Part, ids: tuple[int, int | None, str], site: Site
) -> None:
    """Add an article, or reject it: empty, disambiguation (by what its title has in brackets).

    `ids` are page id, revision id and title.

    Raises:
        Refused: a part of another form than the schema's.
    """
    walk = _Walk(ids[2], site, _tables(record))
    walk.page(record)
    parsed.unsaid.update(walk.unsaid)
    title = _IN_BRACKETS.search(ids[2])
    if not walk.files and not any(text for _, _, text in walk.sections):
        parsed.reject("empty", ids[2])
    elif title and DISAMBIGUATION.match(f"{{{{{title[1]}}}}}"):
        parsed.reject("disambiguation", ids[2])
    else:
        parsed.add(walk.article(ids), site)


def _list(value: object) -> list[object]:
    """Return a list, which may be a text of JSON.

    Raises:
        Refused: anything else.
    """
    value = json_value(value) if isinstance(value, str) and value else value
    if value and not isinstance(value, list):
        raise Refused(f"no list but {type(value).__name__}")
    return cast(list[object], value or [])


def _parts(value: object) -> list[Part]:
    """Return a list of parts, or of links, pictures, cells.

    Raises:
        Refused: no list, or one of anything else.
    """
    parts = [part for part in _list(value) if part]
    strange = next((part for part in parts if not isinstance(part, dict)), None)
    if strange is not None:
        raise Refused(f"no part but {type(strange).__name__}")
    return cast(list[Part], parts)


def _plain(value: object) -> str:
    return " ".join(str(value or "").split())


def _kind(part: Part) -> str:
    return str(part.get("type") or "")


def _tables(record: Part) -> dict[str, Part]:
    return {str(table.get("identifier")): table for table in _parts(record.get("tables"))}


def _text_of(part: Part) -> str:
    """Return a part's text without the marks of its footnotes."""
    text = str(part.get("value") or "")
    for citation in _parts(part.get("citations")):
        mark = str(citation.get("text") or "")
        text = text.replace(mark, "", 1) if _MARK.fullmatch(mark) else text
    return _plain(text)


@dataclass
class _Walk:
    """A walk over a record's parts that collects what `html_page.PageContent` has."""

    title: str
    site: Site
    tables: Mapping[str, Part]
    sections: list[tuple[int, str, str]] = field(default_factory=list[tuple[int, str, str]])
    links: list[list[str]] = field(default_factory=list[list[str]])
    counts: list[Counter[str]] = field(default_factory=list[Counter[str]])
    files: list[ArticleFile] = field(default_factory=list[ArticleFile])
    unsaid: Counter[str] = field(default_factory=Counter[str])

    def page(self, record: Part) -> None:
        """Read a record; its lead is section 0, and has the infoboxes."""
        boxes, sections = _parts(record.get("infoboxes")), _parts(record.get("sections"))
        for box in boxes:
            self._box(box)
        has_lead = bool(sections) and _plain(sections[0].get("name")) == _LEAD
        if has_lead:
            self._section(sections[0], 0)
        else:
            # The abstract lacks what stands in brackets; it is all that the record has of a lead.
            abstract = _plain(record.get("abstract"))
            self.unsaid[BARE_LEADS] += bool(abstract)
            self._close(0, "", [abstract], [], Counter())
        self.counts[0][BOX] = len(boxes)
        for section in sections[has_lead:]:
            self._section(section, _TOP)

    def _section(self, section: Part, level: int) -> None:
        """Read a section and those within it, each below the one around it by a level."""
        lines, links, counts = list[str](), list[str](), Counter[str]()
        inner = _parts(section.get("has_parts"))
        for part in inner:
            if _kind(part) != _SECTION:
                self._part(part, lines, links, counts)
        self._close(level, _plain(section.get("name")) if level else "", lines, links, counts)
        for part in inner:
            if _kind(part) == _SECTION:
                self._section(part, max(level + 1, _TOP))

    def _close(
        self, level: int, name: str, lines: list[str], links: list[str], counts: Counter[str]
    ) -> None:
        self.sections.append((level, name, "\n".join(filter(None, lines))))
        self.links.append(links)
        self.counts.append(counts)

    def _part(self, part: Part, lines: list[str], links: list[str], counts: Counter[str]) -> None:
        kind, own_links = _kind(part), _parts(part.get("links"))
        counts[REFERENCE] += len(_parts(part.get("citations")))
        if kind == _GALLERY:
            self._show(_parts(part.get("images")), "gallery")
            return
        links += filter(None, (self._target(link) for link in own_links))
        if kind == _IMAGE:
            self._show(_parts(part.get("images")), "link")
            return
        counts[ITEM] += kind in _ITEMS
        if kind == _TABLE:
            lines += self._rows(part, counts)
        lines.append(_text_of(part))
        lines += map(_plain, _list(part.get("values")))
        inline = (image for link in own_links for image in _parts(link.get("images")))
        self._show([*_parts(part.get("images")), *inline], "link", framed=False)
        for inner in _parts(part.get("has_parts")):
            self._part(inner, lines, links, counts)

    def _rows(self, part: Part, counts: Counter[str]) -> Iterator[str]:
        """Yield a line for each row of the tables that a part names."""
        references = _parts(part.get("table_references"))
        named = [str(reference.get("identifier")) for reference in references]
        for name in named:
            if name in self.tables:
                yield from self._table(self.tables[name], counts)
        self.unsaid[LOST_TABLES] += sum(name not in self.tables for name in named) or not named

    def _table(self, table: Part, counts: Counter[str]) -> Iterator[str]:
        for name in ("headers", "rows", "footers"):
            for row in _list(table.get(name)):
                cells = _parts(row)
                counts[ROW] += bool(cells)
                yield _plain(" ".join(chain.from_iterable(self._cell(c, counts) for c in cells)))

    def _cell(self, cell: Part, counts: Counter[str]) -> Iterator[str]:
        yield str(cell.get("value") or "")
        inner = cell.get("nested_table")
        for table in _parts([json_value(inner) if isinstance(inner, str) and inner else inner]):
            yield from self._table(table, counts)

    def _box(self, part: Part) -> None:
        """Read an infobox: a picture of its own is one of the box, any other one an icon."""
        images = _parts(part.get("images"))
        inline = [i for link in _parts(part.get("links")) for i in _parts(link.get("images"))]
        if _kind(part) == _IMAGE:
            self._show(images, "infobox", box=INFOBOX)
        else:
            self._show([*images, *inline], "link", framed=False, box=INFOBOX)
        for inner in _parts(part.get("has_parts")):
            self._box(inner)

    def _show(
        self, images: Sequence[Part], origin: str, *, framed: bool = True, box: str = NO_BOX
    ) -> None:
        """Add pictures, each name once; of one in a line caption and text are one, as in HTML."""
        shown = set[str]()
        for image in images:
            name = file_of(str(image.get("content_url") or ""))
            self.unsaid[LOST_PICTURES] += name is None
            if name is None or name in shown:
                continue
            shown.add(name)
            caption, alt = (_plain(image.get(key)) for key in ("caption", "alternative_text"))
            alt = "" if file_name(alt) == name else alt
            width_text = str(image.get("width") or "")
            width = pixels(width_text) if width_text.isdecimal() else None
            is_icon = origin == "link" and not caption and width is not None and width <= _ICON_PX
            if not framed or is_icon:
                caption, alt = "", alt or caption
            layout = (None, True) if framed and not is_icon else (width, False)
            section = len(self.sections)
            self.files.append(
                ArticleFile(section, name, origin, caption, alt, *layout, False, box=box)
            )

    def _target(self, link: Part) -> str | None:
        """Return the title that a link leads to; None where it leaves the wiki or the article."""
        address = str(link.get("url") or "")
        base = self.site.base_url
        at = next((b for b in (base, base.partition(":")[2]) if address.startswith(b)), "")
        if not at and not address.startswith(("./", "/wiki/")):
            return None
        path, _, within = address.removeprefix(at).partition("#")
        target = spaced(title_of_address(path.partition("?")[0]))
        return None if within and target == self.title else target or None

    def article(self, ids: tuple[int, int | None, str]) -> Article:
        """Return the article; what a record does not say is empty."""
        site = self.site
        return Article(
            *ids,
            sections=self.sections,
            categories=[],
            links=article_titles(chain.from_iterable(self.links), site.namespaces, site.prefixes),
            files=self.files,
            box_picture=box_picture(self.files),
            markup=markup_of(self.counts, self.links, site),
            languages=[],
        )
