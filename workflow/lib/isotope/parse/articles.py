"""An article of any kind of snapshot, and the rows that it has in the tables of `dump`.

`xml_dump` and `html_snapshots` turn pages into articles. What they share is here: the templates
that mark a disambiguation page, and which links lead to articles.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from html import unescape
from pathlib import Path
from urllib.parse import quote, unquote

import pyarrow as pa

from isotope.core import faults
from isotope.core.schemas import STEP
from isotope.core.uploads import upload_url
from isotope.parse.boxes import NO_BOX
from isotope.parse.site import Namespaces, Site, disambiguation
from isotope.parse.tables import LINKS, OUTLINE, SECTIONS, lead_title

REASONS = (
    *("redirect", "disambiguation", "other_namespace", "not_wikitext", "empty"),
    *("repeated_page", "bad_xml", "bad_record"),
)
# ASSUME these templates mark a disambiguation page; wikis use more, in their own languages. OVEN
# leaves such pages out (section 3) and does not say how it knows them.
DISAMBIGUATION = re.compile(
    rf"__(?:{disambiguation()})__"
    r"|\{\{\s*(?:disambig(?![^{}|]*needed)[^{}|]*|dab|disam|hndis[^{}|]*|geodis"
    r"|(?:number|school|road|hospital|math|letter|airport|call ?sign|biology|mil-unit-|church)[ -]?"
    r"dis(?:ambiguation|ambig)?|(?:species|genus|taxonomy|chemistry|music|opus|phonetics|station"
    r"|molecular biology|latin ?name|human name|place name|letter-number combination|caselaw)[ -]"
    r"dis(?:ambiguation|ambig)[^{}|]*|begriffsklärung|homonymie|desambiguación|desambig|förgrening"
    r"|desambiguação|disambigua|doorverwijspagina|dp|ujednoznacznienie|gren|flertydig|aimai"
    r"|неоднозначность|曖昧さ回避|消歧义|消歧義|동음이의|rozcestník|täsmennyssivu|توضيح|ابهام‌زدایی|बहुविकल्पी[^{}|]*|maana)\s*[|}]",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class ArticleFile:
    """A file that an article shows, as plain text, and the section, counted from 0, it is in.

    `unread` are the parts of its link, as wikitext, that are no word of the wiki; `box` is what it
    stands in, one of `parse.boxes`.
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
    box: str = NO_BOX


@dataclass(frozen=True)
class Markup:
    """What the markup of a section has, without its subsections.

    List items, rows of tables and references are counted; `links` are titles of articles, each
    once.
    """

    list_items: int = 0
    table_rows: int = 0
    references: int = 0
    has_infobox: bool = False
    links: Sequence[str] = ()


@dataclass(frozen=True)
class Article:
    """An article as plain text: its sections are (level, heading, text), the lead first.

    `markup` has an item a section; `languages` are the page's in other Wikipedias, as `de:Titel`.
    """

    page_id: int
    revision_id: int | None
    title: str
    sections: Sequence[tuple[int, str, str]]
    categories: list[str]
    links: Sequence[str]
    files: Sequence[ArticleFile]
    box_picture: str | None
    markup: Sequence[Markup]
    languages: Sequence[str]


@dataclass
class ParsedBatch:
    """The rows that a batch of pages has in the tables, and the pages left out."""

    path: Path
    pages: int = 0
    articles: int = 0
    rows: list[tuple[object, ...]] = field(default_factory=list[tuple[object, ...]])
    outline: list[tuple[object, ...]] = field(default_factory=list[tuple[object, ...]])
    rejected: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    links: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    infoboxes: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    pictures: list[dict[str, object]] = field(default_factory=list[dict[str, object]])
    # With whose words each wiki is read, by the names of both; None where they are not its own.
    wikis: dict[str, str | None] = field(default_factory=dict[str, str | None])
    # What the snapshot names and does not have, where its form allows that (`structured`).
    unsaid: Counter[str] = field(default_factory=Counter[str])

    def add(self, article: Article, site: Site) -> None:
        """Add the rows of an article."""
        self.articles += 1
        self.wikis[site.wiki] = site.words
        if article.box_picture:
            box = {"page_id": article.page_id, "page_title": article.title}
            url = upload_url(article.box_picture)
            self.infoboxes.append({**box, "file": article.box_picture, "image_url": url})
        self.rows += _rows(article, site)
        self.outline += _outline(article)
        self.links += [(article.page_id, to) for to in article.links]
        self.pictures += _pictures(article, site)

    def naming(self, page_id: int | None, title: str) -> AbstractContextManager[None]:
        """Name a page in whatever isotope itself raises on it."""
        number = "" if page_id is None else f" {page_id}"
        return faults.naming(lambda: f"{self.path}, page{number} {title!r}")

    def reject(self, reason: str, title: str, raw: str = "") -> None:
        """Add a rejected page: its row is its ordinal in this batch, `raw` a redirect's target."""
        self.rejected.append({"row": self.pages, "reason": reason, "detail": title, "raw": raw})

    def as_tables(self) -> "ParsedTables":
        """Return sections, links and outline (`tables.SECTIONS` and so on), and the rest.

        A worker process sends columns in place of many rows.
        """
        sections, outline = _table(self.rows, SECTIONS), _table(self.outline, OUTLINE)
        rest = replace(self, rows=[], links=[], outline=[])
        return sections, _table(self.links, LINKS), outline, rest


ParsedTables = tuple[pa.Table, pa.Table, pa.Table, ParsedBatch]


def _table(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    if not rows:
        return schema.empty_table()
    return pa.table([list(column) for column in zip(*rows, strict=True)], schema=schema)


def _rows(article: Article, site: Site) -> Iterator[tuple[object, ...]]:
    """Yield one row a section, in the order of `tables.SECTIONS`.

    Addresses have `%20` for a space, as those of the published texts do: TREC-AToMiC/AToMiC,
    notebooks/01_Basics_Browsing.ipynb.
    """
    url = site.base_url + quote(article.title)
    path: list[tuple[int, str]] = []
    lead, about = lead_title(site.language), article.sections[0][2]
    linked = _linked(article)
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
            heading if number else lead,
            STEP.join(name for _, name in path) if number else lead,
            about if number else "",
            text,
            site.language,
            article.categories,
            linked.get(number, []),
        )


def _linked(article: Article) -> dict[int, list[str]]:
    """Return the files that each section links to itself, each once; galleries link to none."""
    linked: dict[int, list[str]] = {}
    for use in article.files:
        names = linked.setdefault(use.section, [])
        if use.origin == "link" and use.file not in names:
            names.append(use.file)
    return linked


def _outline(article: Article) -> Iterator[tuple[object, ...]]:
    """Yield one row a section, in the order of `tables.OUTLINE`."""
    sections = zip(article.sections, article.markup, strict=True)
    for number, ((level, heading, text), markup) in enumerate(sections):
        yield (
            f"projected-{article.page_id:08d}-{number:03d}",
            article.page_id,
            number,
            len(article.sections),
            level,
            heading,
            len(text),
            markup.list_items,
            markup.table_rows,
            markup.references,
            markup.has_infobox,
            markup.links,
            [] if number else article.languages,
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
            "box": use.box,
            "wiki": site.wiki,
            "words": site.words,
            "unread": use.unread,
        }
        for place, use in enumerate(article.files)
    ]


def article_titles(
    titles: Iterable[str], namespaces: Namespaces, prefixes: Collection[str]
) -> list[str]:
    """Return the titles of articles among these, each once, as their pages have them."""
    articles = (title for title in titles if not _is_no_article(title, namespaces, prefixes))
    return [title for title in dict.fromkeys(map(article_title, articles)) if title]


def _is_no_article(title: str, namespaces: Namespaces, prefixes: Collection[str]) -> bool:
    prefix, colon, _ = title.partition(":")
    return bool(colon) and (prefix.strip().lower() in prefixes or namespaces.is_hidden(prefix))


def article_title(title: str) -> str:
    """Return the title of the page that a link's target names."""
    if "%" in title:
        title = unquote(title)
    if "&" in title:
        title = unescape(title)
    # ASSUME titles begin with a capital, as in all Wikipedias; a page of a dump does not say.
    title = " ".join(title.replace("_", " ").split())
    return title[:1].upper() + title[1:]
