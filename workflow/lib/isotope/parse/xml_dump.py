"""MediaWiki's XML exports: bz2 streams or chunks of pages, and the articles in their wikitext.

One process cuts a multistream file into spans of whole streams, and decompresses any other into
chunks of whole pages; worker processes parse both.
"""

import bz2
import mmap
import re
import xml.etree.ElementTree as ET
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from pathlib import Path

from isotope.core.errors import CorruptFile, MissingFile, TruncatedFile
from isotope.core.languages import is_language, wiki_language
from isotope.core.titles import Capitals, is_title
from isotope.intake.records import id64, int64
from isotope.parse.articles import (
    BAD_TITLE,
    DISAMBIGUATION,
    REDIRECTS,
    Article,
    ArticleFile,
    Markup,
    ParsedBatch,
    ParsedTables,
    article_titles,
)
from isotope.parse.files import FileUse
from isotope.parse.infobox import infobox_picture
from isotope.parse.prepared import PreparedPage
from isotope.parse.site import Namespaces, Site
from isotope.parse.wikitext import (
    PageSplit,
    categories,
    list_items,
    plain_text,
    split_page,
    table_rows,
)

READ_BYTES = 1 << 20
SPAN_BYTES = 1 << 20
CHUNK_BYTES = 4 << 20
PAGE_LIMIT_BYTES = 256 << 20
_HEAD_BYTES = 64 << 20
# A stream header, then the magic number of a block (pi) or of an empty stream's end (sqrt pi).
_STREAM = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")
_PAGE, _PAGE_END, _END = b"<page>", b"</page>", b"</mediawiki>"
_NAMED = re.compile(r"<title>([^<]*)</title>")
_AGAIN = "download the file again and compare its checksum with the published one"
# A number sign begins a fragment, but for that of a character reference.
_TITLE = r"([^\[\]|#\n<>{}]++(?:(?<=&)#x?[0-9A-Fa-f]{1,7};[^\[\]|#\n<>{}]*+)*)(?=[|#\]])"
_TARGET = re.compile(rf"\[\[:?+{_TITLE}")
_INTERWIKI = re.compile(rf"\[\[ *([A-Za-z-]{{2,12}}) *:{_TITLE}")


@dataclass(frozen=True)
class StreamSpan:
    """Whole bz2 streams of a multistream dump, from byte `start` to before byte `stop`."""

    path: Path
    start: int
    stop: int
    last: bool


@dataclass(frozen=True)
class Chunk:
    """Whole pages as XML, already unpacked; `start` is the byte where they begin in the XML."""

    path: Path
    start: int
    xml: bytes


def batches(path: Path, start: int = 0, stop: int | None = None) -> Iterator[StreamSpan | Chunk]:
    """Cut a dump into pieces that can be parsed apart, in order.

    Only the streams that begin from byte `start` to before byte `stop` count; a file that is
    no multistream begins at byte 0 as a whole.

    Raises:
        MissingFile: no such file.
        CorruptFile, TruncatedFile: damage met while unpacking here; spans are unpacked later.
    """
    if is_multistream(path):
        yield from _spans(path, start, path.stat().st_size if stop is None else stop)
    elif start == 0 and stop != 0:
        yield from _chunks(path)


def parse_batch(task: tuple[Site, StreamSpan | Chunk]) -> ParsedTables:
    """Unpack and parse one piece, as `ParsedBatch.as_tables`.

    Raises:
        CorruptFile, TruncatedFile: the piece can't be unpacked.
    """
    site, batch = task
    parsed = ParsedBatch(batch.path)
    for page in _pages(batch.xml if isinstance(batch, Chunk) else span_xml(batch)):
        parsed.pages += 1
        try:
            parsed_page = _Page.from_element(
                ET.fromstring(page) if isinstance(page, bytes) else page
            )
        except (ET.ParseError, ValueError) as error:
            raw = page if isinstance(page, bytes) else ET.tostring(page, "utf-8")
            text, message = raw.decode("utf-8", "backslashreplace"), str(error)
            named = _NAMED.search(text) if isinstance(error, ET.ParseError) else None
            parsed.reject("bad_xml", f"{named[1]}: {message}" if named else message, text)
            continue
        with parsed.naming(parsed_page.page_id, parsed_page.title):
            _add_page(parsed_page, site, parsed)
    return parsed.as_tables()


@dataclass(frozen=True)
class _Page:
    element: ET.Element
    revision: ET.Element
    page_id: int
    revision_id: int
    title: str

    @classmethod
    def from_element(cls, page: ET.Element) -> "_Page":
        title, revision = page.findtext("title", ""), page.find("revision[last()]")
        try:
            page_id = id64(page.findtext("id", ""))
        except ValueError as error:
            raise ValueError(f"{title}: its page id: {error}") from error
        if not title.strip():
            raise ValueError(f"page {page_id}: a page without a title")
        if revision is None:
            raise ValueError(f"{title}: a page without a revision")
        try:
            return cls(page, revision, page_id, int64(revision.findtext("id", "")), title)
        except ValueError as error:
            raise ValueError(f"{title}: its revision id: {error}") from error


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


def _add_page(page_read: _Page, site: Site, parsed: ParsedBatch) -> None:
    page, revision, title = page_read.element, page_read.revision, page_read.title
    wikitext = revision.findtext("text") or ""
    reason = _unusable(page, revision, wikitext, site)
    if reason:
        to = redirect_target(page, wikitext, site) if reason in REDIRECTS else ""
        parsed.reject(reason, title, to)
        return
    prepared = PreparedPage.from_wikitext(wikitext, site.namespaces, title, site.variant)
    if reason := _no_article(prepared):
        parsed.reject(reason, title)
        return
    split = split_page(prepared, site.namespaces)
    text = "".join(body for _, _, body in split.sections)
    markup = _markup(split, site)
    article = Article(
        page_read.page_id,
        page_read.revision_id,
        title,
        [(level, title, plain_text(b, site.namespaces)) for level, title, b in split.sections],
        categories(text, site.namespaces),
        list(dict.fromkeys(chain.from_iterable(links_of_part.links for links_of_part in markup))),
        [_article_file(section, use, site) for section, use in split.files],
        infobox_picture(prepared.text, prepared.infobox, site.language),
        markup,
        language_links(text, site.language),
    )
    parsed.add(article, site)


def _unusable(page: ET.Element, revision: ET.Element, wikitext: str, site: Site) -> str | None:
    title = page.findtext("title", "")
    prefix = title.partition(":")[0].lower() if ":" in title else ""
    namespace = page.findtext("ns", "").strip()
    if not namespace.lstrip("-").isdecimal():
        namespace = "-" if prefix in site.prefixes else "0"
    if namespace != "0":
        is_file = page.find("redirect") is not None and site.namespaces.is_file(prefix)
        return "file_redirect" if is_file else "other_namespace"
    if not is_title(title):
        return BAD_TITLE
    if page.find("redirect") is not None or site.namespaces.words.redirect.match(wikitext):
        return "redirect"
    if revision.findtext("model", "wikitext") != "wikitext":
        return "not_wikitext"
    return None


def _no_article(page: PreparedPage) -> str | None:
    if page.is_empty:
        return "empty"
    return "disambiguation" if DISAMBIGUATION.search(page.text) else None


def _article_file(section: int, use: FileUse, site: Site) -> ArticleFile:
    return ArticleFile(
        section,
        use.file,
        use.origin,
        plain_text(use.options.caption, site.namespaces),
        plain_text(use.options.alt, site.namespaces),
        use.options.width,
        use.options.is_framed,
        use.is_in_table,
        use.options.unread,
        use.box,
    )


def targets(text: str, namespaces: Namespaces, prefixes: Collection[str]) -> list[str]:
    """List the titles that wikitext links to, each once, in page order, as their pages have them.

    Pictures, categories, other wikis and the wiki's own `prefixes` (lower case) are left out, and
    so are links within the page. Links in a picture's caption count.
    """
    return article_titles(dict.fromkeys(_TARGET.findall(text)), namespaces, prefixes)


def _markup(split: PageSplit, site: Site) -> list[Markup]:
    return [
        Markup(
            list_items(body),
            table_rows(body),
            references,
            bool(boxes),
            targets(body, site.namespaces, site.prefixes),
        )
        for (_, _, body), references, boxes in zip(
            split.sections, split.references, split.infoboxes, strict=True
        )
    ]


def language_links(text: str, language: str) -> list[str]:
    """List the pages in other Wikipedias that wikitext says are this page, such as `de:Titel`.

    Only a link without a leading colon says so, and none to the wiki's own `language`.
    """
    links: dict[str, None] = {}
    own_code = wiki_language(language)
    for prefix, target in _INTERWIKI.findall(text):
        code = wiki_language(prefix)
        title = Capitals(code).target(target)
        if title and code != own_code and is_language(prefix.lower()):
            links[f"{code}:{title}"] = None
    return list(links)


def redirect_target(page: ET.Element, wikitext: str, site: Site) -> str:
    """Return the title that a redirect leads to, without a section; empty where none is named."""
    redirect = page.find("redirect")
    title = redirect.get("title", "") if redirect is not None else ""
    targets = [title.partition("#")[0]] if title else _TARGET.findall(wikitext)
    return site.namespaces.capitals.target(targets[0]) if targets else ""


def span_xml(span: StreamSpan) -> bytes:
    """Unpack a span.

    Raises:
        CorruptFile: damage, or a page that runs over the end of its stream.
        TruncatedFile: the last stream of the file without the dump's end tag.
    """
    xml = b"".join(decompress(span.path, span.start, span.stop))
    tail = xml[xml.rfind(_PAGE_END) + len(_PAGE_END) :] if _PAGE_END in xml else xml
    if span.last and _END not in tail:
        problem = f"no {_END.decode()} after the stream at byte {span.start:,}"
        raise TruncatedFile(span.path, problem, _AGAIN)
    if xml.find(_PAGE_END) < xml.find(_PAGE) or xml.rfind(_PAGE) > xml.rfind(_PAGE_END):
        problem = f"a page that is cut in two in the streams from byte {span.start:,}"
        raise CorruptFile(span.path, problem, _AGAIN)
    return xml


def decompress(path: Path, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
    """Yield the XML of a `.xml` or bz2 file, or of the streams between two bytes of it.

    Raises:
        MissingFile: no such file.
        CorruptFile, TruncatedFile: damage, with the byte where it was met.
    """
    if not path.is_file():
        raise MissingFile(path, "no such file", "check the path, or run `acquire` first")
    with path.open("rb") as file:
        zipped = file.peek(3)[:3] == b"BZh"
        if not zipped and path.suffix == ".bz2":
            kind = CorruptFile if file.peek(1) else TruncatedFile
            raise kind(path, "not a bz2 file: it does not begin with BZh at byte 0", _AGAIN)
        file.seek(start)
        stop = path.stat().st_size if stop is None else stop
        pieces = iter(lambda: file.read(min(READ_BYTES, stop - file.tell())), b"")
        yield from _unzip(path, start, pieces) if zipped else pieces


def _unzip(path: Path, at: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
    unzip = bz2.BZ2Decompressor()
    for piece in pieces:
        data = piece
        while data or not (unzip.eof or unzip.needs_input):
            if unzip.eof:
                unzip = bz2.BZ2Decompressor()
            try:
                yield unzip.decompress(data, READ_BYTES)
            except OSError as error:
                problem = f"damaged bz2 data between byte {at:,} and byte {at + len(piece):,}"
                raise CorruptFile(path, problem, _AGAIN) from error
            data = unzip.unused_data if unzip.eof else b""
        at += len(piece)
    if not unzip.eof:
        raise TruncatedFile(path, f"the bz2 data break off at byte {at:,}", _AGAIN)


def is_multistream(path: Path) -> bool:
    """Tell whether the second bz2 stream begins with a page, as Wikimedia's multistreams do.

    Streams cut anywhere (pbzip2 writes such) have to be unpacked one after the other.
    """
    with path.open("rb") as file:
        if file.peek(3)[:3] != b"BZh":
            return False
    matches = _STREAM.finditer(_mapped(path), 0, _HEAD_BYTES)
    second = [match.start() for match in islice(matches, 2)][1:]
    if not second:
        return False
    try:
        return next(decompress(path, second[0])).lstrip().startswith((_PAGE, _END))
    except CorruptFile:
        return False


def _spans(path: Path, first: int, end: int) -> Iterator[StreamSpan]:
    size, content = path.stat().st_size, _mapped(path)
    after = _STREAM.search(content, end)
    end = after.start() if after else size
    for start, stop in pairwise(chain(_cuts(content, first, end), [end])):
        yield StreamSpan(path, start, stop, last=stop == size)


def _mapped(path: Path) -> mmap.mmap:
    """Map a file; it is unmapped when the last match on it is gone."""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _cuts(content: mmap.mmap, first: int, end: int) -> Iterator[int]:
    cut = first - SPAN_BYTES
    for match in _STREAM.finditer(content, first, end):
        if match.start() - cut >= SPAN_BYTES:
            cut = match.start()
            yield cut


def _chunks(path: Path) -> Iterator[Chunk]:
    xml, at = b"", 0
    for piece in decompress(path):
        xml += piece
        cut = xml.rfind(_PAGE_END) + len(_PAGE_END) if len(xml) >= CHUNK_BYTES else 0
        if cut >= len(_PAGE_END):
            yield Chunk(path, at, xml[:cut])
            xml, at = xml[cut:], at + cut
        elif len(xml) > PAGE_LIMIT_BYTES:
            problem = f"no end of a page in the {len(xml):,} bytes of XML from byte {at:,}"
            raise CorruptFile(path, problem, "give a dump of current revisions, not of histories")
    if _END not in xml:
        problem = f"no {_END.decode()} at its end, byte {at + len(xml):,} of the XML"
        raise TruncatedFile(path, problem, _AGAIN)
    yield Chunk(path, at, xml)
