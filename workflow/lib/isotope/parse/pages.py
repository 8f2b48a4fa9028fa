"""Pages of a dump to rows of sections; runs in worker processes."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterable
from html import unescape
from urllib.parse import unquote

import pyarrow as pa

from isotope.parse.articles import Article, Parsed, Shown
from isotope.parse.files import Use, infobox_picture
from isotope.parse.links import Namespaces, categories
from isotope.parse.site import Site
from isotope.parse.streams import Chunk, Span, span_xml
from isotope.parse.wikitext import plain_text, split_pictured
from isotope.parse.words import disambiguation

_TARGET = re.compile(r"\[\[:?+([^\[\]|#\n<>{}]++)(?=[|#\]])")


def targets(text: str, namespaces: Namespaces, prefixes: Collection[str]) -> list[str]:
    """List the titles that wikitext links to, each once, in page order, as their pages have them.

    Pictures, categories, other wikis and the wiki's own `prefixes` (lower case) are left out, and
    so are links within the page. Links in a picture's caption count.
    """
    titles = dict.fromkeys(_TARGET.findall(text))
    return article_titles(titles, namespaces, prefixes)


def article_titles(
    titles: Iterable[str], namespaces: Namespaces, prefixes: Collection[str]
) -> list[str]:
    """Return the titles of articles among these, each once, as their pages have them."""
    found = (title for title in titles if not _elsewhere(title, namespaces, prefixes))
    return [title for title in dict.fromkeys(map(_normal, found)) if title]


def redirect_target(page: ET.Element, wikitext: str) -> str:
    """Return the title that a redirect leads to, without a section; empty where none is told."""
    told = page.find("redirect")
    title = told.get("title", "") if told is not None else ""
    found = [title.partition("#")[0]] if title else _TARGET.findall(wikitext)
    return _normal(found[0]) if found else ""


def _elsewhere(title: str, namespaces: Namespaces, prefixes: Collection[str]) -> bool:
    prefix, colon, _ = title.partition(":")
    return bool(colon) and (prefix.strip().lower() in prefixes or namespaces.hides(prefix))


def _normal(title: str) -> str:
    if "%" in title:
        title = unquote(title)
    if "&" in title:
        title = unescape(title)
    # ASSUME titles begin with a capital, as in all Wikipedias; a page of a dump does not say.
    title = " ".join(title.replace("_", " ").split())
    return title[:1].upper() + title[1:]


_PAGE, _PAGE_END = b"<page>", b"</page>"
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


def parse_batch(task: tuple[Site, Span | Chunk]) -> tuple[pa.Table, pa.Table, Parsed]:
    """Unpack and parse one piece; sections and links come as tables, not as rows.

    Raises:
        CorruptFile, TruncatedFile: the piece can't be unpacked.
    """
    site, batch = task
    parsed = Parsed(batch.path)
    for page in _pages(batch.xml if isinstance(batch, Chunk) else span_xml(batch)):
        parsed.pages += 1
        try:
            _parse_page(ET.fromstring(page) if isinstance(page, bytes) else page, site, parsed)
        except (ET.ParseError, ValueError) as error:
            raw = page if isinstance(page, bytes) else ET.tostring(page, "utf-8")
            parsed.leave_out("bad_xml", str(error), raw.decode("utf-8", "backslashreplace"))
    return parsed.handed_over()


def _pages(xml: bytes) -> Iterable[ET.Element | bytes]:
    """Return page elements; the bytes of each page where the piece as a whole is malformed."""
    start, end = xml.find(_PAGE), xml.rfind(_PAGE_END) + len(_PAGE_END)
    if start < 0:
        return []
    try:
        return ET.fromstring(b"<pages>" + xml[start:end] + b"</pages>")
    except ET.ParseError:
        parts = (part.partition(_PAGE_END) for part in xml[start:end].split(_PAGE)[1:])
        return [_PAGE + inside + closed for inside, closed, _ in parts]


def _parse_page(page: ET.Element, site: Site, parsed: Parsed) -> None:
    title = page.findtext("title", "")
    page_id, revision = int(page.findtext("id", "")), page.find("revision[last()]")
    if revision is None:
        raise ValueError(f"{title}: a page without a revision")
    wikitext = revision.findtext("text") or ""
    bare = site.namespaces.without_prefix(wikitext)
    reason = _unusable(page, revision, bare, site)
    if reason:
        to = redirect_target(page, wikitext) if reason == "redirect" else ""
        parsed.leave_out(reason, title, to)
        return
    sections, shown = split_pictured(wikitext, site.namespaces)
    text = "".join(body for _, _, body in sections)
    article = Article(
        page_id,
        int(revision.findtext("id", "")),
        title,
        [(level, heading, plain_text(b, site.namespaces)) for level, heading, b in sections],
        categories(text, site.namespaces),
        targets(text, site.namespaces, site.prefixes),
        [_plain(section, use, site) for section, use in shown],
        infobox_picture(bare),
    )
    parsed.take(article, site)


def _unusable(page: ET.Element, revision: ET.Element, wikitext: str, site: Site) -> str | None:
    title = page.findtext("title", "")
    prefix = title.partition(":")[0].lower() if ":" in title else ""
    if page.findtext("ns", "0" if prefix not in site.prefixes else "-") != "0":
        return "other_namespace"
    if page.find("redirect") is not None or site.namespaces.words.redirect.match(wikitext):
        return "redirect"
    if revision.findtext("model", "wikitext") != "wikitext":
        return "not_wikitext"
    if not wikitext.strip():
        return "empty"
    return "disambiguation" if DISAMBIGUATION.search(wikitext) else None


def _plain(section: int, use: Use, site: Site) -> Shown:
    return Shown(
        section,
        use.file,
        use.origin,
        plain_text(use.shown.caption, site.namespaces),
        plain_text(use.shown.alt, site.namespaces),
        use.shown.width,
        use.shown.is_framed,
        use.is_in_table,
        use.shown.unread,
    )
