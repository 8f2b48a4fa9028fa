"""MediaWiki's own parser tests (`tests/parser/*.txt`), beside what isotope reads of the same pages.

Format: the head of `parserTests.txt`. What a browser shows of a test's HTML is told here by XPath
alone, so that the truth is MediaWiki's: the words of the running text, and the files with captions.
"""

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

import lxml.etree
import lxml.html
import pyarrow.parquet as pq

from isotope.parse import html_page, xml_dump
from isotope.parse.articles import ParsedBatch, ParsedTables
from isotope.parse.site import TEMPLATE, Site
from isotope.parse.transclusion.pages import TemplatePage, template_title
from isotope.parse.transclusion.reading import read_templates

SITE = Site.from_siteinfo(
    "https://en.wikipedia.org/wiki/",
    "en",
    {0: "", 1: "Talk", 2: "User", 4: "Wikipedia", 6: "File", 10: "Template", 14: "Category"},
    "enwiki",
)
PAGE = (
    "<page><title>Parser test</title><ns>0</ns><id>1</id><revision><id>1</id>"
    "<model>wikitext</model><text>{}</text></revision></page>"
)
_TARGET = re.compile(r"[^:\]]+:([^\]|#]+)")
_CONTROL = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f]")
# Parsoid's own HTML first: it is what dumps of HTML have.
_HTML = ("parsoid", "parsoid+integrated", "parsoid+langconv", "", "*", "php")
# Tags that the tests invent, or that no wiki of ours allows.
_INVENTED = re.compile(
    r"<(dummyanno|ann2|tag|statictag|spantag|divtag|pwraptest|embedtag|asidetag|sealtag|i18n|html"
    r"|script|style|indicator|nested|sealedtag|testtag|lang|tvar|translate|rawtag|aside)\b",
    re.IGNORECASE,
)
# Options that ask for something else than a page of an English wiki.
_OTHER_MODES = re.compile(
    r"\b(disabled|pst|msg|comment|local|preload|cat|ill|showflags|showtocdata|showmedia|language"
    r"|variant|extension|html2wt|title=|subpage|showindicators|nohtml|property|lastsavedrevision"
    r"|section=|replace=|wgFragment)",
    re.IGNORECASE,
)
_SHOWN = "starts-with(@typeof,'mw:File') or starts-with(@typeof,'mw:Error mw:File')"
_NO_TEXT = (
    f"//figure|//*[{_SHOWN} or contains(@typeof,'mw:Extension/ref')"
    " or contains(@typeof,'mw:Extension/gallery')]|//ul[contains(@class,'gallery')]"
    "|//sup[contains(@class,'reference')]|//style|//script|//comment()|//link|//meta"
    "|//*[contains(@class,'mw-editsection') or @id='toc' or contains(@class,'references')]"
)
_NOTHING = ("link", "meta", lxml.etree.Comment)
_BLOCKS = (
    *("p", "br", "div", "li", "dd", "dt", "td", "th", "tr", "caption", "hr", "blockquote"),
    *("h1", "h2", "h3", "h4", "h5", "h6"),
)


@dataclass(frozen=True)
class Case:
    """A test: its wikitext and what MediaWiki makes of it."""

    file: str
    name: str
    wikitext: str
    html: str | None
    options: str

    @property
    def has_templates(self) -> bool:
        """Tell whether the page calls anything by braces."""
        return "{{" in self.wikitext

    @property
    def is_page(self) -> bool:
        """Tell whether the test is a page of an English wiki with HTML to compare."""
        if self.html is None or _INVENTED.search(self.wikitext):
            return False
        return not _OTHER_MODES.search(self.options)


class Seen(NamedTuple):
    """The words of a page, and its files with their captions' words, each in any order."""

    words: Counter[str]
    files: Counter[tuple[str, str]]

    @property
    def names(self) -> Counter[str]:
        """The files alone."""
        return Counter(name.casefold() for name, _ in self.files.elements())

    @property
    def captions(self) -> Counter[str]:
        """The captions alone."""
        return Counter(caption for _, caption in self.files.elements() if caption)


@dataclass
class Suite:
    """The tests of a folder, and the articles that they suppose to exist, by title."""

    cases: list[Case] = field(default_factory=list[Case])
    articles: dict[str, str] = field(default_factory=dict[str, str])


def read(folder: Path) -> Suite:
    """Read all files of tests in a folder."""
    suite = Suite()
    for path in sorted(folder.glob("*.txt")):
        for parts in _blocks(path.read_text("utf-8")):
            if "article" in parts:
                suite.articles[parts["article"].strip()] = parts.get("text", "")
            elif "test" in parts and "wikitext" in parts:
                html = next((parts[key] for key in _keys() if key in parts), None)
                told = parts["test"].strip(), parts["wikitext"], html, parts.get("options", "")
                suite.cases.append(Case(path.stem, *told))
    return suite


def _keys() -> Iterator[str]:
    return (f"html/{kind}".removesuffix("/") for kind in _HTML)


def _blocks(text: str) -> Iterator[dict[str, str]]:
    """Yield what stands between the marks of each test or article, by the mark's word."""
    lines: dict[str, list[str]] = {}
    key = None
    for line in text.split("\n"):
        mark = re.match(r"!!\s*(.+?)\s*$", line)
        word = mark[1].lower() if mark else None
        if word in ("end", "endarticle"):
            yield {name: "\n".join(own) for name, own in lines.items()}
            lines, key = {}, None
        elif word:
            lines = {} if word in ("test", "article") else lines
            key = word
            lines[key] = []
        elif key:
            lines[key].append(line)


def site_with_templates(suite: Suite, folder: Path) -> Site:
    """Return the site that knows the templates of the tests, of which a table is written."""
    pages = list[TemplatePage]()
    for name, text in suite.articles.items():
        prefix, _, title = name.partition(":")
        if prefix.strip().lower() == "template":
            begin = SITE.namespaces.words.redirect.match(text)
            target = _TARGET.match(text, begin.end()) if begin else None
            to = template_title(target[1]) if target else ""
            pages.append(TemplatePage(TEMPLATE, template_title(title), to, text))
    path = folder / "templates.parquet"
    pq.write_table(read_templates(pages, SITE), path)
    return SITE.with_templates(path)


def words(text: str) -> list[str]:
    """Return the words of a text: runs of letters and digits, case and underscores aside."""
    return re.findall(r"\w+", text.replace("_", " ").casefold())


def expected(case: Case) -> Seen:
    """Return what a browser shows of a test's HTML."""
    root = lxml.html.fromstring(f"<div>{case.html}</div>")
    files = Counter(_files(root))
    for node in root.xpath(_NO_TEXT):
        if node.tag not in _NOTHING:
            # What stands on both sides are two words.
            node.tail = " " + (node.tail or "")
        node.drop_tree()
    _space(root, _BLOCKS)
    return Seen(Counter(words(root.text_content())), files)


def _files(root: lxml.html.HtmlElement) -> Iterator[tuple[str, str]]:
    for node in root.xpath(f"//*[{_SHOWN}]"):
        named = node.xpath(".//@resource")
        if not named:
            continue
        boxes = node.xpath("ancestor::li[contains(@class,'gallerybox')]")
        kind = node.get("typeof")
        is_shown = ("Thumb" in kind or "Frame" in kind) and "Frameless" not in kind
        text = ".//*[contains(@class,'gallerytext')]" if boxes else "./figcaption"
        captions = (boxes[0] if boxes else node).xpath(text) if boxes or is_shown else []
        for caption in captions:
            _space(caption, ("td", "th", "tr", "br", "caption"))
        caption = " ".join(words(captions[0].text_content())) if captions else ""
        yield named[0].partition(":")[2].replace("_", " "), caption


def _space(root: lxml.html.HtmlElement, tags: tuple[str, ...]) -> None:
    for node in root.iter(*tags):
        node.tail, node.text = " " + (node.tail or ""), " " + (node.text or "")


def by_wikitext(case: Case, site: Site = SITE) -> Seen:
    """Return what isotope reads of a test's wikitext, as a page of a dump."""
    text = escape(_CONTROL.sub("", case.wikitext))
    chunk = xml_dump.Chunk(Path("dump.xml"), 0, PAGE.format(text).encode())
    return _seen(xml_dump.parse_batch((site, chunk)))


def by_html(case: Case, site: Site = SITE) -> Seen:
    """Return what isotope reads of a test's HTML, as a record of Wikimedia Enterprise."""
    parsed = ParsedBatch(Path("dump.ndjson"))
    page = f'<html><head><meta charset="utf-8"/></head><body>{case.html}</body></html>'
    html_page.add_page(parsed, html_page.parse_html(page.encode()), (1, 1, "Parser test"), site)
    return _seen(parsed.as_tables())


def _seen(tables: ParsedTables) -> Seen:
    sections, _, _, rest = tables
    text = [
        f"{row['section_title'] if row['section'] else ''} {row['context_section_description']}"
        for row in sections.to_pylist()
    ]
    files = ((str(row["file"]), " ".join(words(str(row["caption"])))) for row in rest.pictures)
    return Seen(Counter(words(" ".join(text))), Counter(files))
