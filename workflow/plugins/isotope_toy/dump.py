"""The toy's dump: wikitext of its pages, in a multistream file as Wikimedia publishes it.

A dump has articles and what a real one mixes in: redirects, disambiguation pages, other namespaces.
It is a sequence of bz2 streams of pages, and an index of the streams' offsets. Formats:
https://www.mediawiki.org/xml/export-0.10.xsd and
https://meta.wikimedia.org/wiki/Data_dumps/Dump_format#Multistream_dumps.
"""

import bz2
import hashlib
import random
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO
from xml.sax.saxutils import escape, quoteattr

from isotope.core import store
from isotope.core.errors import BadParams
from isotope_toy import captions, pages, wit, words
from isotope_toy.edition import replay
from isotope_toy.pages import FLAG, LOGO, Page, ToySection, caption_of

_DUE = {
    "redirect": (10, 0),
    "ampersand": (30, 1),
    "disambiguation": (25, 2),
    "talk": (20, 3),
    "file": (30, 4),
    "season": (50, 0),
    "books": (10, 1),
    "list": (80, 17),
    "year": (80, 57),
    "logo": (2, 0),
}
_SHARES = {"cited": 0.06, "cited twice": 0.1, "table": 0.2, "list": 0.4}
# Wikipedias whose pages WIT's rows do not have, and how many pages link to one of them.
_ELSEWHERE, _LINKED_ELSEWHERE = ("it", "nl", "sv"), 0.1
_FIRST_YEAR = 1873
_IDS_PER_ARTICLE = 10
_FIRST_ID = 1000
_TEMPLATE = "<includeonly>{{{{#if:{{{{{{1|}}}}}}|'''{name}''': {{{{{{1}}}}}}}}}}</includeonly>"
_TABLE = """{{| class="wikitable sortable"
|+ Visitors
! Year !! Guests
|-
| {year} || {guests}
|-
| {later} || style="text-align:right" | {more}
|}}"""
_INFOBOX = """{{{{Infobox building
| name = {title}
| image = {image}
| caption = {caption}
| location = [[{title}|The valley]]
| opened = {{{{start date|{year}}}}}
}}}}"""
_FLAG = f"\n| flag = {FLAG.name}"
_LIST = """* [[{first}]], to the north
* [[{second}|the old house]] and its ''garden''
** a well
# [https://example.org/{slug} timetable]"""
_BOOKS = """* Fenwick, A. ({year}). ''Houses of the Valley''. Ashford: Tarn Press.
* Oakley, B. ({later}). ''[[{first}]] and its neighbours''. Ashford: Tarn Press."""
_NAMESPACES = {
    -2: "Media",
    -1: "Special",
    0: "",
    1: "Talk",
    2: "User",
    3: "User talk",
    4: "Wikipedia",
    5: "Wikipedia talk",
    6: "File",
    7: "File talk",
    8: "MediaWiki",
    9: "MediaWiki talk",
    10: "Template",
    11: "Template talk",
    12: "Help",
    13: "Help talk",
    14: "Category",
    15: "Category talk",
}
_XMLNS = "http://www.mediawiki.org/xml/export-0.10/"
_DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"
_SHA1_LENGTH = 31
_MONTH = timedelta(days=31)


@dataclass(frozen=True, slots=True)
class WikiPage:
    """One `<page>` of a dump; `redirect` is the target's title or empty.

    `revised` says that it was edited between the first edition and the second.
    """

    page_id: int
    namespace: int
    title: str
    text: str
    redirect: str = ""
    revised: bool = False


class Multistream:
    """Collects pages and writes a bz2 stream, with its lines of the index, every few pages."""

    def __init__(self, xml: BinaryIO, index: BinaryIO, first: datetime, per_stream: int) -> None:
        self._xml, self._index, self._per_stream = xml, index, per_stream
        self._index_bz2 = bz2.BZ2Compressor()
        self._day = first
        self._buffer: list[tuple[int, str, str]] = []
        self._stream(_header())

    def add(self, page: WikiPage) -> None:
        """Take one page, in the order of the dump."""
        title = escape(page.title)
        self._buffer.append((page.page_id, title, _page_xml(page, title, self._day)))
        if len(self._buffer) == self._per_stream:
            self._flush()

    def close(self) -> None:
        """Write the pages still in the buffer, and the closing tag in a stream of its own."""
        self._flush()
        self._stream("</mediawiki>")
        self._index.write(self._index_bz2.flush())

    def _flush(self) -> None:
        if not self._buffer:
            return
        offset = self._xml.tell()
        lines = "".join(f"{offset}:{page_id}:{title}\n" for page_id, title, _ in self._buffer)
        self._index.write(self._index_bz2.compress(lines.encode()))
        self._stream("".join(xml for *_, xml in self._buffer))
        self._buffer.clear()

    def _stream(self, text: str) -> None:
        self._xml.write(bz2.compress(text.encode()))


@contextmanager
def multistream(
    folder: Path, date: str, per_stream: int, edition: int = 1
) -> Generator[Multistream, None, None]:
    """Open the two files of a dump; both appear when complete.

    `date` (YYYYMMDD) is the date of the first edition; each later edition is a month younger.

    Raises:
        BadParams: `date` is no date.
    """
    first = _day(date)
    stem = f"toywiki-{first + (edition - 1) * _MONTH:%Y%m%d}-pages-articles-multistream"
    with ExitStack() as stack:
        names = (f"{stem}.xml.bz2", f"{stem}-index.txt.bz2")
        paths = [stack.enter_context(store.aside(folder / name)) for name in names]
        xml, index = (stack.enter_context(path.open("wb")) for path in paths)
        out = Multistream(xml, index, first, per_stream)
        yield out
        out.close()


def _day(date: str) -> datetime:
    try:
        return datetime.strptime(date, "%Y%m%d").replace(tzinfo=UTC)
    except ValueError as error:
        remedy = "write it as YYYYMMDD, e.g. 20230101"
        raise BadParams("the toy dump's date", f"{date!r} is no day", remedy) from error


def _header() -> str:
    ends = {key: f">{name}</namespace>" if name else " />" for key, name in _NAMESPACES.items()}
    lines = (f'<namespace key="{key}" case="first-letter"{end}' for key, end in ends.items())
    spaces = "".join(f"      {line}\n" for line in lines)
    return (
        f'<mediawiki xmlns="{_XMLNS}" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
        f'xsi:schemaLocation="{_XMLNS} http://www.mediawiki.org/xml/export-0.10.xsd" '
        'version="0.10" xml:lang="en">\n'
        "  <siteinfo>\n    <sitename>Wikipedia</sitename>\n    <dbname>toywiki</dbname>\n"
        "    <base>https://en.wikipedia.org/wiki/Main_Page</base>\n"
        "    <generator>MediaWiki 1.40.0-wmf.14</generator>\n    <case>first-letter</case>\n"
        f"    <namespaces>\n{spaces}    </namespaces>\n  </siteinfo>\n"
    )


def _page_xml(page: WikiPage, title: str, day: datetime) -> str:
    revision = 1_100_000_000 + page.page_id * 7 + page.revised
    edited = day - timedelta(days=1 + page.page_id % 700, seconds=page.page_id % 86_399)
    if page.revised:
        edited = day + timedelta(days=1 + page.page_id % 28, seconds=page.page_id % 86_399)
    redirect = f"    <redirect title={quoteattr(page.redirect)} />\n" if page.redirect else ""
    raw = page.text.encode()
    return (
        f"  <page>\n    <title>{title}</title>\n    <ns>{page.namespace}</ns>\n"
        f"    <id>{page.page_id}</id>\n{redirect}    <revision>\n      <id>{revision}</id>\n"
        f"      <parentid>{revision - 3}</parentid>\n"
        f"      <timestamp>{edited:%Y-%m-%dT%H:%M:%SZ}</timestamp>\n      <contributor>\n"
        f"        <username>Editor{page.page_id % 17}</username>\n"
        f"        <id>{1 + page.page_id % 17}</id>\n      </contributor>\n"
        "      <model>wikitext</model>\n      <format>text/x-wiki</format>\n"
        f'      <text bytes="{len(raw)}" xml:space="preserve">{escape(page.text)}</text>\n'
        f"      <sha1>{_base36(raw)}</sha1>\n    </revision>\n  </page>\n"
    )


def _base36(raw: bytes) -> str:
    """MediaWiki's revision checksum: SHA-1 in base 36, 31 digits."""
    number, digits = int.from_bytes(hashlib.sha1(raw, usedforsecurity=False).digest(), "big"), ""
    while number:
        number, digit = divmod(number, len(_DIGITS))
        digits = _DIGITS[digit] + digits
    return digits.rjust(_SHA1_LENGTH, "0")


def page_id(number: int) -> int:
    """Return the page id of article `number`."""
    return _FIRST_ID + number * _IDS_PER_ARTICLE


def wiki_pages(page: Page, seed: int) -> Iterator[WikiPage]:
    """Yield the article and the redirects, disambiguations and other namespaces that go with it."""
    first_id = page_id(page.number)
    article_text, revised = article(page, seed), page.first is not None
    yield WikiPage(first_id, 0, page.later_title, article_text, revised=revised)
    for offset, (namespace, title, text, target) in enumerate(_other_pages(page), start=1):
        yield WikiPage(first_id + offset, namespace, title, text, target)


def article(page: Page, seed: int) -> str:
    """Return the article's wikitext of the dump's day."""
    rng = random.Random(f"{seed}/{page.number}/wiki")
    blocks = ["{{Short description|Public building}}", "<!-- kept by the local history club -->"]
    blocks += replay(rng, page, lambda section_rng, section: _section(rng, section_rng, section))
    books = _books(page) if _due("books", page.number) else ""
    if books or any("<ref" in block for block in blocks):
        blocks.append("\n".join(filter(None, ["== References ==\n{{Reflist}}", books])))
    kind = page.title.split()[-1]
    blocks.append(f"[[Category:{kind} buildings]]\n[[Category:Places open to the public]]")
    blocks += filter(None, ["\n".join(_language_links(page, seed))])
    return "\n\n".join(blocks)


def _books(page: Page) -> str:
    year = _FIRST_YEAR + page.number % 100
    return _BOOKS.format(year=year, later=year + 11, first=words.title(max(0, page.number - 1)))


def _language_links(page: Page, seed: int) -> Iterator[str]:
    """Yield links to the page in the languages that WIT has rows of, and now and then one more."""
    rng = random.Random(f"{seed}/{page.number}/languages")
    codes = wit.languages(page, seed)
    if rng.random() < _LINKED_ELSEWHERE:
        codes.append(rng.choice(_ELSEWHERE))
    yield from (f"[[{code}:{page.title}]]" for code in codes)


def _section(rng: random.Random, page: Page, section: ToySection) -> str:
    bars = "=" * (2 + len(section.above))
    blocks = [f"{bars} {section.later_title or section.title} {bars}"] if section.title else []
    blocks += _pictures(rng, page, section)
    sentences = [*section.sentences, *filter(None, [section.later_sentence])]
    cited = [_cite(rng, page, s) if i else s for i, s in enumerate(sentences)]
    blocks += ["\n\n".join(" ".join(p) for p in pages.paragraphs(cited))]
    return "\n".join([*blocks, *_extras(rng, page, section)])


def _pictures(rng: random.Random, page: Page, section: ToySection) -> Iterator[str]:
    pictures = list(section.pictures)
    if not section.title and (pictures or rng.choice((True, False))):
        image = pictures.pop(0) if pictures else None
        year, caption = rng.randrange(1700, 2015), caption_of(image) if image else ""
        name = f"{image.name}{_FLAG}" if image else ""
        yield _INFOBOX.format(title=page.later_title, image=name, caption=caption, year=year)
    for picture in pictures:
        alt = captions.alternative(picture.scene, picture.note)
        parts = [f"alt={alt}" if alt else "", caption_of(picture)]
        yield "|".join([f"[[File:{picture.name}|thumb|upright=1.1", *filter(None, parts)]) + "]]"
    if pictures and section.subject is None and _due("logo", page.number):
        yield f"[[File:{LOGO.name}|20px]]"


def _cite(rng: random.Random, page: Page, sentence: str) -> str:
    chance, year = rng.random(), rng.randrange(1980, 2015)
    book = f"{{{{cite book |title=Houses of the Valley |year={year} |page={year % 97}}}}}"
    if chance < _SHARES["cited"]:
        return f"{sentence}<ref>{book}</ref>"
    if chance < _SHARES["cited twice"]:
        return f'{sentence}<ref name="v{page.number}">{book}</ref><ref name="v{page.number}" />'
    return sentence


def _extras(rng: random.Random, page: Page, section: ToySection) -> Iterator[str]:
    chance, year = rng.random(), rng.randrange(1900, 2000)
    if section.pictures or section.subject or not section.title:
        return
    if chance < _SHARES["table"]:
        guests, more = rng.randrange(100, 999), rng.randrange(1000, 9999)
        yield _TABLE.format(year=year, guests=guests, later=year + 10, more=more)
    elif chance < _SHARES["list"]:
        near = [words.title(max(0, page.number - step)) for step in (1, 2)]
        yield _LIST.format(first=near[0], second=near[1], slug=page.number)


def _other_pages(page: Page) -> Iterator[tuple[int, str, str, str]]:
    title, n = page.later_title, page.number
    if page.title != title:
        yield 0, page.title, f"#REDIRECT [[{title}]]\n\n{{{{R from move}}}}", title
    if _due("redirect", n):
        yield 0, f"The {title}", f"#REDIRECT [[{title}]]", title
    if _due("ampersand", n):
        joint = f"{title} & Garden"
        yield 0, joint, f"#redirect [[{title}#Setting]]", title
    if _due("disambiguation", n):
        yield 0, f"{title} (disambiguation)", _disambiguation(title), ""
    if _due("list", n):
        yield 0, f"List of places near {page.title}", _list_page(page), ""
    if _due("year", n):
        year = _FIRST_YEAR + n // _DUE["year"][0]
        yield 0, f"{year} in architecture", _year_page(n, year), ""
    yield from _other_namespaces(page)


def _other_namespaces(page: Page) -> Iterator[tuple[int, str, str, str]]:
    title, n = page.later_title, page.number
    if _due("talk", n):
        yield 1, f"Talk:{title}", "== Opening hours ==\nAre they right? ~~~~", ""
    if _due("file", n):
        name = next(s for s in page.sections if s.pictures).pictures[0].name
        yield 6, f"File:{name}", f"== Summary ==\nA picture at [[{title}]].", ""
    if _due("season", n):
        yield 10, f"Template:Season {n}", _TEMPLATE.format(name=title), ""
        yield 14, f"Category:Season {n}", "[[Category:Places open to the public]]", ""


def _disambiguation(title: str) -> str:
    return (
        f"'''{title}''' may refer to:\n* [[{title}]], a public building\n"
        f"* ''{title}'', a lost play\n\n{{{{disambiguation}}}}"
    )


def _list_page(page: Page) -> str:
    near = [words.title(max(0, page.number - step)) for step in range(1, 13)]
    items = [f"* [[{name}]], a public place" for name in near]
    rows = "".join(f"|-\n| [[{name}]] || {1700 + 9 * i}\n" for i, name in enumerate(near))
    table = f'{{| class="wikitable"\n! Place !! Since\n{rows}|}}'
    sections = [
        f"This is a '''list of places near [[{page.title}]]'''.",
        "\n".join(["== North ==", *items[:6]]),
        "\n".join(["== South ==", *items[6:]]),
        f"== By age ==\n{table}",
        "== References ==\n{{Reflist}}\n" + _books(page),
        "[[Category:Lists of places]]",
    ]
    return "\n\n".join(sections)


def _year_page(number: int, year: int) -> str:
    near = [words.title(max(0, number - step)) for step in range(1, 9)]
    events = [f"* {2 + 3 * i} May: [[{name}]] opens its doors." for i, name in enumerate(near[:5])]
    builders = zip(words.PEOPLE, near, strict=True)
    births = [f"* {who}, builder of [[{name}]]" for who, name in builders]
    sections = [
        f"The year '''{year} in architecture''' had these events.",
        "\n".join(["== Buildings ==", *events]),
        "\n".join(["== Births ==", *births]),
        "[[Category:Years in architecture]]",
    ]
    return "\n\n".join(sections)


def _due(feature: str, number: int) -> bool:
    period, first = _DUE[feature]
    return number % period == first
