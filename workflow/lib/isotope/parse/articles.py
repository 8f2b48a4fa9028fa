"""An article of any kind of snapshot, and the rows that it has in the tables of `dump`.

`xml_dump` and `html_snapshots` turn pages into articles. What they share is here: the templates
that mark a disambiguation page, and which links lead to articles.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa

from isotope.core import faults
from isotope.core.languages import lead_title
from isotope.core.schemas import STEP
from isotope.core.titles import decoded, is_title, spaced
from isotope.core.uploads import upload_url
from isotope.parse.boxes import NO_BOX
from isotope.parse.site import Namespaces, Site, disambiguation
from isotope.schemas.parse import LINKS, OUTLINE, SECTIONS

# Most titles in Latin letters are spelt as their pages have them.
_PLAIN = re.compile(r"[A-Z][A-Za-z0-9(),.'!-]*+(?: [A-Za-z0-9(),.'!-]++){0,9}").fullmatch
REPEATED, BAD_TITLE = "repeated_page", "bad_title"
REASONS = (
    *("redirect", "file_redirect", "disambiguation", "other_namespace", "not_wikitext", "empty"),
    *(REPEATED, BAD_TITLE, "bad_xml", "bad_record"),
)
_PAGE, _TITLE = SECTIONS.names.index("page_id"), SECTIONS.names.index("page_title")
# What leads to another page; the row of such a page has its target.
REDIRECTS = ("redirect", "file_redirect")
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
    # Each article's revision id (0 where there is none) and ordinal, by its page id.
    added: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    # With whose words each wiki is read, by the names of both; None where they are not its own.
    wikis: dict[str, str | None] = field(default_factory=dict[str, str | None])
    # What the snapshot names and does not have, where its form allows that (`structured`).
    unsaid: Counter[str] = field(default_factory=Counter[str])

    def add(self, article: Article, site: Site) -> None:
        """Add the rows of an article; of a page that comes again the newest revision counts."""
        revision = article.revision_id or 0
        if article.page_id in self.added:
            if self.added[article.page_id][0] >= revision:
                self.reject(REPEATED, article.title, f"revision {revision}")
                return
            self._drop(article.page_id)
        self.articles += 1
        self.added[article.page_id] = (revision, self.pages)
        self.wikis[site.wiki] = site.words
        if article.box_picture:
            box = {"page_id": article.page_id, "page_title": article.title}
            url = upload_url(article.box_picture)
            self.infoboxes.append({**box, "file": article.box_picture, "image_url": url})
        self.rows += _rows(article, site)
        self.outline += _outline(article)
        self.links += [(article.page_id, to) for to in article.links]
        self.pictures += _pictures(article, site)

    def _drop(self, page_id: int) -> None:
        """Reject a page that was added."""
        revision, ordinal = self.added.pop(page_id)
        title = next(str(row[_TITLE]) for row in self.rows if row[_PAGE] == page_id)
        self.articles -= 1
        self.rows = [row for row in self.rows if row[_PAGE] != page_id]
        self.outline = [row for row in self.outline if row[_PAGE] != page_id]
        self.links = [row for row in self.links if row[0] != page_id]
        self.infoboxes = [row for row in self.infoboxes if row["page_id"] != page_id]
        self.pictures = [row for row in self.pictures if row["page_id"] != page_id]
        reason = {"reason": REPEATED, "detail": title, "raw": f"revision {revision}"}
        self.rejected.append({"row": ordinal, **reason})
        self.rejected.sort(key=lambda row: int(str(row["row"])))

    def naming(self, page_id: int | None, title: str) -> AbstractContextManager[None]:
        """Name a page in whatever isotope itself raises on it."""
        number = "" if page_id is None else f" {page_id}"
        return faults.naming(lambda: f"{self.path}, page{number} {title!r}")

    def reject(self, reason: str, title: str, raw: str = "") -> None:
        """Add a rejected page: its row is its ordinal in this batch, `raw` a redirect's target."""
        self.rejected.append({"row": self.pages, "reason": reason, "detail": title, "raw": raw})

    def as_tables(self) -> "ParsedTables":
        """Return sections, links and outline (`schemas.SECTIONS` and so on), and the rest.

        A worker process sends columns in place of many rows.
        """
        sections, outline = _table(self.rows, SECTIONS), _table(self.outline, OUTLINE)
        remainder = replace(self, rows=[], links=[], outline=[])
        return sections, _table(self.links, LINKS), outline, remainder


ParsedTables = tuple[pa.Table, pa.Table, pa.Table, ParsedBatch]


def _table(rows: Sequence[tuple[object, ...]], schema: pa.Schema) -> pa.Table:
    if not rows:
        return schema.empty_table()
    return pa.table([list(column) for column in zip(*rows, strict=True)], schema=schema)


def _rows(article: Article, site: Site) -> Iterator[tuple[object, ...]]:
    """Yield one row a section, in the order of `schemas.SECTIONS`.

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
    """Yield one row a section, in the order of `schemas.OUTLINE`."""
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
    """Return one row a file that the page shows, as `schemas.PICTURES`."""
    return [
        {
            "page_id": article.page_id,
            "place": position,
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
        for position, use in enumerate(article.files)
    ]


def article_titles(
    titles: Iterable[str], namespaces: Namespaces, prefixes: Collection[str]
) -> list[str]:
    """Return the titles of articles among these, each once, as their pages have them."""
    articles = (t if _PLAIN(t) else _article(t, namespaces, prefixes) for t in titles)
    return list(filter(None, dict.fromkeys(articles)))


def _article(target: str, namespaces: Namespaces, prefixes: Collection[str]) -> str | None:
    """Return the title of the article that a link's target names; None where it names none."""
    title = spaced(decoded(target)).removeprefix(":").lstrip()
    prefix, colon, _ = title.partition(":")
    if colon and (prefix.strip().lower() in prefixes or namespaces.is_hidden(prefix)):
        return None
    title = namespaces.capitals.begun(title)
    return title if is_title(title) else None
