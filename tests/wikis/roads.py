"""An article of a test wiki on both roads, from its wikitext and from Parsoid's HTML.

For the wikitext the pages of the wiki's templates are read first, as of a dump.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import escape

import pyarrow.parquet as pq
from tests.wikis import Picture, Wiki

from isotope.parse import html_page, xml_dump
from isotope.parse.articles import ParsedBatch, ParsedTables
from isotope.parse.site import Site
from isotope.parse.transclusion.pages import TemplatePage, template_title
from isotope.parse.transclusion.reading import read_templates
from isotope.parse.xml_dump import Chunk

PAGE = (
    "<page><title>{title}</title><ns>0</ns><id>{number}</id><revision><id>1</id>"
    "<model>wikitext</model><text>{text}</text></revision></page>"
)
# Unframed and no wider: a sign, and no picture of its section.
ICON_PIXELS = 60
_TARGET = re.compile(r"[^:\]]+:([^\]|#]+)")


class Seen(NamedTuple):
    """What a road has of an article: its words, headings included, and its pictures."""

    words: list[str]
    pictures: list[Picture]


def words(text: str) -> list[str]:
    """Return the words of a text: runs of letters and digits."""
    return re.findall(r"\w+", text)


def site(of: Wiki) -> Site:
    """Return the wiki's site as a dump's head tells it."""
    base = f"https://{of.language}.wikipedia.org/wiki/"
    return Site.from_siteinfo(base, of.language, {0: "", **of.namespaces}, of.name)


def template_pages(of: Wiki) -> list[TemplatePage]:
    """Return the wiki's pages as the pass over its dump hands them to the reader."""
    redirect = site(of).namespaces.words.redirect
    numbers = {name: number for number, name in of.namespaces.items()}
    found = list[TemplatePage]()
    for name, text in of.pages.items():
        prefix, _, title = name.partition(":")
        begin = redirect.match(text)
        target = _TARGET.match(text, begin.end()) if begin else None
        to = template_title(target[1]) if target else ""
        found.append(TemplatePage(numbers[prefix], template_title(title), to, text))
    return found


def with_templates(of: Wiki, folder: Path) -> Site:
    """Return the site that knows the wiki's templates, of which a table is written to a folder."""
    path = folder / f"{of.name}.parquet"
    pq.write_table(read_templates(template_pages(of), site(of)), path)
    return site(of).with_templates(path)


def by_wikitext(of: Wiki, title: str, own: Site) -> Seen:
    """Read an article's wikitext, as a page of a dump."""
    page = next(page for page in of.articles if page.title == title)
    xml = PAGE.format(title=escape(page.title), number=1, text=escape(page.wikitext))
    return _seen(xml_dump.parse_batch((own, Chunk(Path("dump.xml"), 0, xml.encode()))))


def by_html(of: Wiki, title: str) -> Seen:
    """Read an article's HTML, as a record of Wikimedia Enterprise."""
    parsed = ParsedBatch(Path("dump.ndjson"))
    root = html_page.parse_html(of.html_path(title).read_bytes())
    html_page.add_page(parsed, root, (1, 1, title), site(of))
    return _seen(parsed.as_tables())


def _is_icon(row: Mapping[str, Any]) -> bool:
    return not row["is_framed"] and 0 < (row["width"] or 0) <= ICON_PIXELS


def _seen(tables: ParsedTables) -> Seen:
    sections, _, _, rest = tables
    assert not rest.rejected, rest.rejected
    text = "\n".join(
        f"{row['section_title'] if row['section'] else ''}\n{row['context_section_description']}"
        for row in sections.to_pylist()
    )
    pictures = [
        Picture(*(" ".join(str(row[of]).split()) for of in ("file", "caption", "alt")))
        for row in rest.pictures
        if not _is_icon(row)
    ]
    return Seen(words(text), pictures)
