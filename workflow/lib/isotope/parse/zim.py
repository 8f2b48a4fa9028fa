"""Kiwix ZIM files: the articles of a wiki as HTML, and their pictures.

What is in the pages is mwoffliner's, https://github.com/openzim/mwoffliner. `zim_file` has the
format, `zim_wiki` the wiki.
"""

import hashlib
import posixpath
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from urllib.parse import quote, unquote

import pyarrow as pa
from lxml.html import HtmlElement

from isotope.core.files import Page, content_of, open_zim, page_at, page_by, zim_pieces
from isotope.core.wikimedia import wiki_of
from isotope.parse.articles import Parsed
from isotope.parse.html_page import enter, tree
from isotope.parse.site import Site, known_site


@cache
def site_of(path: Path) -> Site:
    """Return the wiki that a file is of.

    Raises:
        MissingFile, CorruptFile: as `core.wikimedia.wiki_of`.
    """
    language, host = wiki_of(path)
    return known_site(language, f"https://{host}/wiki/")


ENTRIES = 256
_DIGITS = 15
_ADDRESSES = 1 << 17
_HTML = "text/html"
_REVISION = re.compile(r"(?:/revision/|[?&]oldid=)(\d+)")
_ROOT = re.compile(r"^(?:(?:\.\./)+|/(?:wiki/)?)")


@dataclass(frozen=True)
class Entries:
    """The entries of a file from number `start` to before `stop`, in the order of their paths."""

    path: Path
    start: int
    stop: int


def batches(path: Path, start: int, stop: int) -> Iterator[Entries]:
    """Cut the entries that belong to bytes `start` to `stop` of a file into batches, in order.

    Of a split file, each piece has its own share of the entries, which all come from the first one.

    Raises:
        MissingFile, CorruptFile: as `files.open_zim`.
    """
    files = zim_pieces(path)
    sizes = [file.stat().st_size for file in files]
    before, size = sum(sizes[: files.index(path)]), sum(sizes)
    count = open_zim(files[0]).entry_count
    first, last = count * (before + start) // size, count * (before + stop) // size
    for at in range(first, last, ENTRIES):
        yield Entries(files[0], at, min(at + ENTRIES, last))


def parse_entries(batch: Entries) -> tuple[pa.Table, pa.Table, Parsed]:
    """Parse a batch as `dump_pages.parse_batch` does; entries that are no pages don't count.

    Raises:
        CorruptFile: a pointer, type or cluster that is damaged.
    """
    parsed, site = Parsed(batch.path), site_of(batch.path)
    for number in range(batch.start, batch.stop):
        title, page = page_at(batch.path, number)
        if page is None:
            parsed.pages += 1
            parsed.leave_out("redirect", title)
        elif page.kind.startswith(_HTML):
            parsed.pages += 1
            _enter(title, page, site, parsed)
    return parsed.handed_over()


def page_id_of(title: str) -> int:
    """Return the number of a page that tells none: the first 60 bits of its title's MD5.

    ASSUME that no two titles of a wiki meet: among ten million the odds are 1 to 23,000; a ZIM file
    does not say what number a page has.
    """
    digest = hashlib.md5(title.encode(), usedforsecurity=False).hexdigest()
    return int(digest[:_DIGITS], 16)


def titles_by_address(path: Path, page: str) -> Callable[[str], str | None]:
    """Return what turns the links of a page, given by its own path, into titles of pages.

    An address is resolved against the page's, as readers do it, and the entry there has the title;
    a redirect has its own title. Where the file lacks the page, its address is all that tells;
    None where what is linked is no page, such as a picture.

    Raises:
        CorruptFile: a pointer that leads nowhere, by the function that is returned.
    """
    folder = posixpath.dirname(quote(page))

    def title(address: str) -> str | None:
        if not address:
            return None
        at = unquote(_ROOT.sub("", posixpath.normpath(posixpath.join(folder, address)), count=1))
        found, known = _title_at(path, at)
        return known if found else _title_without(at, page)

    return title


@lru_cache(_ADDRESSES)
def _title_at(path: Path, at: str) -> tuple[bool, str | None]:
    """Return whether there is an entry, and its title if it is a page or a redirect to one."""
    found = page_by(path, at)
    if found is None:
        return False, None
    title, page = found
    return True, title if page is None or page.kind.startswith(_HTML) else None


def _title_without(at: str, page: str) -> str:
    """Return the title that an address alone tells, in the manner of the page that links to it."""
    if page.startswith("A/"):
        at = at.removeprefix("A/")
    if page.endswith(".html"):
        at = at.removesuffix(".html")
    return at


def _enter(title: str, page: Page, site: Site, parsed: Parsed) -> None:
    prefix, colon, _ = title.partition(":")
    if page.is_redirected:
        parsed.leave_out("redirect", title, page.title)
    elif colon and prefix.lower() in site.prefixes:
        parsed.leave_out("other_namespace", title)
    else:
        content = content_of(parsed.path, page)
        try:
            root = tree(content)
            page_id, revision_id = _ids(root) if root is not None else (None, None)
            ids = (page_id_of(title) if page_id is None else page_id, revision_id, title)
            enter(parsed, root, ids, site, titles_by_address(parsed.path, page.address))
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
