"""A multistream dump as Wikimedia publishes it: bz2 streams of pages and an index of their offsets.

Format: https://www.mediawiki.org/xml/export-0.10.xsd and
https://meta.wikimedia.org/wiki/Data_dumps/Dump_format#Multistream_dumps.
"""

import bz2
import hashlib
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import BinaryIO
from xml.sax.saxutils import escape, quoteattr

from isotope.core import store
from isotope.core.errors import BadParams
from isotope.toy.wiki import WikiPage

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


class Multistream:
    """Collects pages and writes a bz2 stream, with its lines of the index, every few pages."""

    def __init__(self, xml: BinaryIO, index: BinaryIO, first: datetime, per_stream: int) -> None:
        self._xml, self._index, self._per_stream = xml, index, per_stream
        self._index_bz2 = bz2.BZ2Compressor()
        self._day = first
        self._waiting: list[tuple[int, str, str]] = []
        self._stream(_header())

    def add(self, page: WikiPage) -> None:
        """Take one page, in the order of the dump."""
        title = escape(page.title)
        self._waiting.append((page.page_id, title, _page_xml(page, title, self._day)))
        if len(self._waiting) == self._per_stream:
            self._flush()

    def close(self) -> None:
        """Write the pages still waiting, and the closing tag in a stream of its own."""
        self._flush()
        self._stream("</mediawiki>")
        self._index.write(self._index_bz2.flush())

    def _flush(self) -> None:
        if not self._waiting:
            return
        offset = self._xml.tell()
        lines = "".join(f"{offset}:{page_id}:{title}\n" for page_id, title, _ in self._waiting)
        self._index.write(self._index_bz2.compress(lines.encode()))
        self._stream("".join(xml for *_, xml in self._waiting))
        self._waiting.clear()

    def _stream(self, text: str) -> None:
        self._xml.write(bz2.compress(text.encode()))


@contextmanager
def multistream(
    folder: Path, date: str, per_stream: int, edition: int = 1
) -> Generator[Multistream, None, None]:
    """Open the two files of a dump; both appear when complete.

    `date` (YYYYMMDD) is that of the first edition, each other one is a month later.
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
