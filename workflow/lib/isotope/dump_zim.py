"""Kiwix ZIM files: the articles of a wiki as HTML, and their pictures.

Format: https://wiki.openzim.org/wiki/ZIM_file_format and .../wiki/Metadata; what is in the pages
is mwoffliner's, https://github.com/openzim/mwoffliner.
"""

import hashlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import pyarrow as pa
from libzim.reader import Archive, Entry
from lxml.html import HtmlElement

from isotope.dump_parsed import Parsed
from isotope.dump_site import Site, known_site
from isotope.errors import CorruptFile
from isotope.html_page import enter, tree

ENTRIES = 256
_DIGITS = 15
_REMEDY = "give a whole ZIM file of a wiki, such as wikipedia_en_all_maxi_2024-01.zim"
_NAMED = re.compile(r"[a-z]+_([a-z-]+)_")
_HOST = re.compile(r"(?:https?://)?([a-z-]+)(?:\.m)?\.([a-z]+\.[a-z]+)(?:/|$)")
_REVISION = re.compile(r"(?:/revision/|[?&]oldid=)(\d+)")
# ASSUME a ZIM that names neither its source nor itself is one of Wikipedia, in its first language.
_SHORT = {
    **{"ara": "ar", "ben": "bn", "cat": "ca", "ces": "cs", "dan": "da", "deu": "de", "ell": "el"},
    **{"eng": "en", "fas": "fa", "fin": "fi", "fra": "fr", "heb": "he", "hin": "hi", "hun": "hu"},
    **{"ind": "id", "ita": "it", "jpn": "ja", "kor": "ko", "nld": "nl", "nor": "no", "pol": "pl"},
    **{"por": "pt", "ron": "ro", "rus": "ru", "spa": "es", "swa": "sw", "swe": "sv", "tam": "ta"},
    **{"tel": "te", "tha": "th", "tur": "tr", "ukr": "uk", "vie": "vi", "zho": "zh"},
}


@dataclass(frozen=True)
class Entries:
    """The entries of a file from number `start` to before `stop`, in the order of their paths."""

    path: Path
    start: int
    stop: int


def batches(path: Path, start: int, stop: int, size: int) -> Iterator[Entries]:
    """Cut the entries that belong to bytes `start` to `stop` of `size` into pieces, in order.

    Raises:
        CorruptFile: no ZIM file, or not all of it.
    """
    count = opened(path).entry_count
    first, last = count * start // size, count * stop // size
    for at in range(first, last, ENTRIES):
        yield Entries(path, at, min(at + ENTRIES, last))


def parse_entries(batch: Entries) -> tuple[pa.Table, pa.Table, Parsed]:
    """Parse a piece as `dump_pages.parse_batch` does; entries that are no pages don't count."""
    parsed, archive = Parsed(batch.path), opened(batch.path)
    site = site_of(batch.path)
    for number in range(batch.start, batch.stop):
        entry = archive._get_entry_by_id(number)
        page = entry
        while page.is_redirect:
            page = page.get_redirect_entry()
        if page.get_item().mimetype.startswith("text/html"):
            parsed.pages += 1
            _enter(entry, page, site, parsed)
    return parsed.handed_over()


def page_id_of(title: str) -> int:
    """Return the number of a page that tells none: the first 60 bits of its title's MD5.

    ASSUME that no two titles of a wiki meet: among ten million the odds are 1 to 23,000.
    """
    digest = hashlib.md5(title.encode(), usedforsecurity=False).hexdigest()
    return int(digest[:_DIGITS], 16)


@cache
def opened(path: Path) -> Archive:
    """Open a file, once a process.

    Raises:
        CorruptFile: no ZIM file, or not all of it.
    """
    try:
        return Archive(path)
    except RuntimeError as error:
        raise CorruptFile(path, f"it can't be opened ({error})", _REMEDY) from error


@cache
def site_of(path: Path) -> Site:
    """Return the wiki that a file is of, as its metadata Source, Name or Language tell."""
    archive = opened(path)
    told = {k: archive.get_metadata(k).decode() for k in archive.metadata_keys if _is_told(k)}
    host, name = _HOST.match(told.get("Source", "")), _NAMED.match(told.get("Name", ""))
    first = told.get("Language", "eng").partition(",")[0]
    language = host[1] if host else name[1] if name else _SHORT.get(first, first)
    domain = host[2] if host else "wikipedia.org"
    return known_site(language, f"https://{language}.{domain}/wiki/")


def _is_told(key: str) -> bool:
    return key in ("Source", "Name", "Language")


def _enter(entry: Entry, page: Entry, site: Site, parsed: Parsed) -> None:
    title = entry.title.replace("_", " ")
    prefix, colon, _ = title.partition(":")
    if entry.is_redirect:
        parsed.leave_out("redirect", title, page.title.replace("_", " "))
    elif colon and prefix.lower() in site.prefixes:
        parsed.leave_out("other_namespace", title)
    else:
        content = bytes(page.get_item().content)
        try:
            root = tree(content)
            page_id, revision_id = _ids(root) if root is not None else (None, None)
            ids = (page_id_of(title) if page_id is None else page_id, revision_id, title)
            enter(parsed, root, ids, site)
        except (ValueError, RecursionError) as error:
            raw = content.decode("utf-8", "backslashreplace")
            parsed.leave_out("bad_record", f"{title}: {error}", raw)


def _ids(root: HtmlElement) -> tuple[int | None, int | None]:
    """Return page and revision where Parsoid's head, or mwoffliner's foot, tells them."""
    told = next(iter(root.xpath("//meta[@property='mw:pageId']/@content")), None)
    feet = root.xpath("//body//a[contains(@href, '?oldid=') or contains(@href, '&oldid=')]")
    revision = _REVISION.search(root.get("about", ""))
    if feet and feet[-1].getparent().tag in ("div", "footer"):
        revision = revision or _REVISION.search(feet[-1].get("href", ""))
        feet[-1].getparent().drop_tree()
    return (int(told) if told else None), (int(revision[1]) if revision else None)
