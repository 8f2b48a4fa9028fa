"""Pages of a dump to rows of sections; runs in worker processes."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import quote

import pyarrow as pa

from isotope import tables
from isotope.dump_links import redirect_target, targets
from isotope.dump_site import Site
from isotope.dump_streams import Chunk, Span, span_xml
from isotope.wikitext import plain_text, split_pictured
from isotope.wikitext_files import Use
from isotope.wikitext_infobox import infobox_picture, upload_url
from isotope.wikitext_links import categories

REASONS = ("redirect", "disambiguation", "other_namespace", "not_wikitext", "empty", "bad_xml")
_PAGE, _PAGE_END = b"<page>", b"</page>"
_REDIRECT = re.compile(
    r"\s*#(?:redirect|weiterleitung|redirection|redirección|rinvia|redirecionamento|doorverwijzing"
    r"|patrz|przekieruj|tam|omdirigering|omdiriger|перенаправление|перенапр|перенаправлення|転送"
    r"|リダイレクト|重定向|넘겨주기|تحويل|تغییرمسیر|הפניה|ohjaus|uudelleenohjaus|přesměruj|yönlendi̇r"
    r"|yönlendirme|alih|đổi|ανακατευθυνση|átirányítás|redirecteaza|redirecció)\s*:?\s*\[\[",
    re.IGNORECASE,
)
# ASSUME these templates mark a disambiguation page; wikis use more, in their own languages.
_DISAMBIGUATION = re.compile(
    r"__DISAMBIG__|\{\{\s*(?:disambig(?![^{}|]*needed)[^{}|]*|dab|disam|hndis[^{}|]*|geodis"
    r"|(?:number|school|road|hospital|math|letter|airport|call ?sign|biology|mil-unit-|church)[ -]?"
    r"dis(?:ambiguation|ambig)?|(?:species|genus|taxonomy|chemistry|music|opus|phonetics|station"
    r"|molecular biology|latin ?name|human name|place name|letter-number combination|caselaw)[ -]"
    r"dis(?:ambiguation|ambig)[^{}|]*|begriffsklärung|homonymie|desambiguación|desambig|förgrening"
    r"|desambiguação|disambigua|doorverwijspagina|dp|ujednoznacznienie|gren|flertydig|aimai"
    r"|неоднозначность|曖昧さ回避|消歧义|消歧義|동음이의|rozcestník|täsmennyssivu)\s*[|}]",
    re.IGNORECASE,
)


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

    def table(self) -> pa.Table:
        """Return the sections as `tables.SECTIONS`."""
        if not self.rows:
            return tables.SECTIONS.empty_table()
        columns = [list(column) for column in zip(*self.rows, strict=True)]
        return pa.table(columns, schema=tables.SECTIONS)

    def linked(self) -> pa.Table:
        """Return the links of articles as `tables.LINKS`."""
        columns = [[link[i] for link in self.links] for i in range(len(tables.LINKS))]
        return pa.table(columns, schema=tables.LINKS)

    def leave_out(self, reason: str, title: str, raw: str = "") -> None:
        """Keep a page aside; its row is its ordinal in this piece, `raw` a redirect's target."""
        self.rejected.append({"row": self.pages, "reason": reason, "detail": title, "raw": raw})


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
    return parsed.table(), parsed.linked(), replace(parsed, rows=[], links=[])


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
    reason = _unusable(page, revision, wikitext, site)
    if reason:
        to = redirect_target(page, wikitext) if reason == "redirect" else ""
        parsed.leave_out(reason, title, to)
        return
    parsed.articles += 1
    picture = infobox_picture(wikitext)
    if picture:
        box = {"page_id": page_id, "page_title": title, "file": picture}
        parsed.infoboxes.append({**box, "image_url": upload_url(picture)})
    revision_id = int(revision.findtext("id", ""))
    sections, shown = split_pictured(wikitext, site.namespaces)
    parsed.pictures += _pictures(page_id, shown, site)
    parsed.rows += _rows(title, page_id, revision_id, sections, site)
    text = "".join(body for _, _, body in sections)
    parsed.links += [(page_id, to) for to in targets(text, site.namespaces, site.prefixes)]


def _unusable(page: ET.Element, revision: ET.Element, wikitext: str, site: Site) -> str | None:
    title = page.findtext("title", "")
    prefix = title.partition(":")[0].lower() if ":" in title else ""
    if page.findtext("ns", "0" if prefix not in site.prefixes else "-") != "0":
        return "other_namespace"
    if page.find("redirect") is not None or _REDIRECT.match(wikitext):
        return "redirect"
    if revision.findtext("model", "wikitext") != "wikitext":
        return "not_wikitext"
    if not wikitext.strip():
        return "empty"
    return "disambiguation" if _DISAMBIGUATION.search(wikitext) else None


def _rows(
    title: str, page_id: int, revision_id: int, sections: list[tuple[int, str, str]], site: Site
) -> Iterator[tuple[object, ...]]:
    """Yield one row a section, in the order of `tables.SECTIONS`."""
    url = site.base_url + quote(title.replace(" ", "_"))
    texts = [plain_text(body, site.namespaces) for _, _, body in sections]
    listed = categories("".join(body for _, _, body in sections), site.namespaces)
    path: list[tuple[int, str]] = []
    for number, (level, heading, _) in enumerate(sections):
        while path and path[-1][0] >= level:
            path.pop()
        if number:
            path.append((level, heading))
        yield (
            f"projected-{page_id:08d}-{number:03d}",
            page_id,
            revision_id,
            url,
            title,
            number,
            heading if number else "Introduction",
            " / ".join([title, *(name for _, name in path)]),
            texts[0],
            texts[number],
            site.language,
            listed,
        )


def _pictures(page_id: int, shown: list[tuple[int, Use]], site: Site) -> list[dict[str, object]]:
    """Return one row a file that the page shows, as `tables.PICTURES`."""
    return [
        {
            "page_id": page_id,
            "place": place,
            "text_id": f"projected-{page_id:08d}-{section:03d}",
            "file": use.file,
            "origin": use.origin,
            "caption": plain_text(use.shown.caption, site.namespaces),
            "alt": plain_text(use.shown.alt, site.namespaces),
            "width": use.shown.width,
            "is_framed": use.shown.is_framed,
            "is_in_table": use.is_in_table,
        }
        for place, (section, use) in enumerate(shown)
    ]
