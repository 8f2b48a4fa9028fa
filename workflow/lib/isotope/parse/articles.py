"""What a piece of any snapshot holds, whatever it was written in: rows of the tables of `dump`."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa

from isotope.core.wikimedia import upload_url
from isotope.parse.site import Site
from isotope.parse.tables import LINKS, SECTIONS, lead_title

REASONS = (
    *("redirect", "disambiguation", "other_namespace", "not_wikitext", "empty"),
    *("repeated_page", "bad_xml", "bad_record"),
)


@dataclass(frozen=True)
class Shown:
    """A file that an article shows, as plain text, and the section, counted from 0, it is in.

    `unread` are the parts of its link that the wiki's words don't explain, as wikitext.
    """

    section: int
    file: str
    origin: str
    caption: str
    alt: str
    width: int | None
    is_framed: bool
    is_in_table: bool
    unread: tuple[str, ...] = ()


@dataclass(frozen=True)
class Article:
    """An article as plain text: its sections are (level, heading, text), the lead first."""

    page_id: int
    revision_id: int | None
    title: str
    sections: Sequence[tuple[int, str, str]]
    categories: list[str]
    links: Sequence[str]
    shown: Sequence[Shown]
    box_picture: str | None


@dataclass
class Parsed:
    """What a piece of a dump held: its pages, the rows of their sections, the pages left out."""

    path: Path
    pages: int = 0
    articles: int = 0
    rows: list[tuple[object, ...]] = field(default_factory=list[tuple[object, ...]])
    rejected: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    links: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    infoboxes: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    pictures: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    # Whose words each wiki of an article is read in; None for one that has none of its own.
    wikis: dict[str, str | None] = field(default_factory=dict[str, str | None])

    def take(self, article: Article, site: Site) -> None:
        """Enter an article."""
        self.articles += 1
        self.wikis[site.wiki] = site.words
        if article.box_picture:
            box = {"page_id": article.page_id, "page_title": article.title}
            url = upload_url(article.box_picture)
            self.infoboxes.append({**box, "file": article.box_picture, "image_url": url})
        self.rows += _rows(article, site)
        self.links += [(article.page_id, to) for to in article.links]
        self.pictures += _pictures(article, site)

    def leave_out(self, reason: str, title: str, raw: str = "") -> None:
        """Keep a page aside; its row is its ordinal in this piece, `raw` a redirect's target."""
        self.rejected.append({"row": self.pages, "reason": reason, "detail": title, "raw": raw})

    def handed_over(self) -> tuple[pa.Table, pa.Table, "Parsed"]:
        """Return sections (`tables.SECTIONS`) and links (`tables.LINKS`) as tables, and the rest.

        So that a worker process hands over columns in place of many rows.
        """
        sections = SECTIONS.empty_table()
        if self.rows:
            columns = [list(column) for column in zip(*self.rows, strict=True)]
            sections = pa.table(columns, schema=SECTIONS)
        linked = [[link[i] for link in self.links] for i in range(len(LINKS))]
        rest = replace(self, rows=[], links=[])
        return sections, pa.table(linked, schema=LINKS), rest


def _rows(article: Article, site: Site) -> Iterator[tuple[object, ...]]:
    """Yield one row a section, in the order of `tables.SECTIONS`."""
    url = site.base_url + quote(article.title.replace(" ", "_"))
    path: list[tuple[int, str]] = []
    for number, (level, heading, text) in enumerate(article.sections):
        while path and path[-1][0] >= level:
            path.pop()
        if number:
            path.append((level, heading))
        yield (
            f"projected-{article.page_id:08d}-{number:03d}",
            article.page_id,
            article.revision_id,
            url,
            article.title,
            number,
            heading if number else lead_title(site.language),
            " / ".join([article.title, *(name for _, name in path)]),
            article.sections[0][2],
            text,
            site.language,
            article.categories,
        )


def _pictures(article: Article, site: Site) -> list[dict[str, object]]:
    """Return one row a file that the page shows, as `tables.PICTURES`."""
    return [
        {
            "page_id": article.page_id,
            "place": place,
            "text_id": f"projected-{article.page_id:08d}-{use.section:03d}",
            "file": use.file,
            "origin": use.origin,
            "caption": use.caption,
            "alt": use.alt,
            "width": use.width,
            "is_framed": use.is_framed,
            "is_in_table": use.is_in_table,
            "wiki": site.wiki,
            "words": site.words,
            "unread": use.unread,
        }
        for place, use in enumerate(article.shown)
    ]
