"""Snapshots whose pages are no wikitext: those of Wikimedia Enterprise, and Kiwix's ZIM files.

Enterprise: https://enterprise.wikimedia.com/docs/data-dictionary/ and
https://dumps.wikimedia.org/other/enterprise_html/: `.tar.gz` of `.ndjson` files, or such files
themselves, one JSON record an article with Parsoid's HTML, or with its Structured Contents
(`structured`); what the records have tells which. Redirects have no records of their own; those to
an article stand in its record. An article that was edited while the snapshot was made may have
several records: the one of its newest revision counts.

ZIM: the pages are mwoffliner's, https://github.com/openzim/mwoffliner; `core.files` reads the
format.
"""

import hashlib
import posixpath
import re
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np
from lxml.html import HtmlElement

from isotope.core.errors import CorruptFile
from isotope.core.files import EntryContent, content_of, open_zim, page_at, page_by, zim_pieces
from isotope.core.progress import Progress
from isotope.core.titles import ARTICLES, FILES, is_title
from isotope.core.wikimedia import wiki_of
from isotope.intake.archives import is_archive
from isotope.intake.limits import Refused
from isotope.intake.records import id64, int64, json_value
from isotope.intake.tables import json_rows
from isotope.intake.texts import records, suffix_of
from isotope.parse import structured
from isotope.parse.articles import BAD_TITLE, REPEATED, ParsedBatch, ParsedTables
from isotope.parse.html_page import TitleOf, add_page, parse_html, title_of_address
from isotope.parse.record_kinds import HTML, STRUCTURED, RecordKinds
from isotope.parse.site import Site, wikipedia_site

_LINES, _PARQUET, _ROWS = (".ndjson", ".jsonl"), ".parquet", 512
UNREADABLE = (Refused, ValueError, KeyError, TypeError, RecursionError)
BATCH_BYTES = 4 << 20
ENTRIES = 256
_DIGITS = 15
_ADDRESSES = 1 << 17
_REDIRECTS = {ARTICLES: "redirect", FILES: "file_redirect"}
_HTML = "text/html"
_REVISION = re.compile(r"(?:/revision/|[?&]oldid=)(\d+)")
_ROOT = re.compile(r"^(?:(?:\.\./)+|/(?:wiki/)?)")


@dataclass(frozen=True)
class SnapshotLines:
    """Whole lines of a snapshot, all HTML or all STRUCTURED.

    `repeated` are those whose article has another, newer one; `variant` is the code of the one of
    the wiki's language that they are read in.
    """

    path: Path
    lines: tuple[bytes, ...]
    kind: str
    repeated: frozenset[int] = frozenset()
    variant: str | None = None


def is_of_records(path: Path) -> bool:
    """Tell by the name whether a file has JSON records, of Enterprise or of those who copy it."""
    is_text = suffix_of(path.name.lower()) in _LINES
    return is_text or is_archive(path) or path.suffix.lower() == _PARQUET


def record_batches(path: Path, variant: str | None = None) -> Iterator[SnapshotLines]:
    """Cut a snapshot into pieces of whole records; a piece is in memory at a time.

    Raises:
        CorruptFile: damaged data, or an archive without a record; records of both kinds, or of
            Wikidata.
    """
    kind, repeated = survey(path)
    lines, size, first, is_empty = list[bytes](), 0, 0, True
    for line in lines_of(path):
        is_empty = False
        lines.append(line)
        size += len(line)
        if size >= BATCH_BYTES:
            yield _records(path, lines, first, kind, repeated, variant)
            first += len(lines)
            lines, size = [], 0
    if is_empty:
        raise CorruptFile(path, "no record in it", "give a snapshot with .ndjson files")
    yield _records(path, lines, first, kind, repeated, variant)


def _records(  # noqa: PLR0913, PLR0917
    path: Path,
    lines: list[bytes],
    first: int,
    kind: str,
    repeated: frozenset[int],
    variant: str | None,
) -> SnapshotLines:
    repeated_here = frozenset(n for n in range(len(lines)) if first + n in repeated)
    return SnapshotLines(path, tuple(lines), kind, repeated_here, variant)


def demand_one_kind(paths: Iterable[Path]) -> None:
    """Check that files of records are of one kind, by the first record of each that tells.

    Raises:
        CorruptFile: as `RecordKinds.demand`; damaged data.
    """
    kinds = RecordKinds()
    for path in paths:
        for row, line in enumerate(lines_of(path), 1):
            try:
                record = json_value(line)
            except Refused:
                continue
            if kinds.demand(record, f"{path}, row {row}"):
                break


def survey(path: Path) -> tuple[str, frozenset[int]]:
    """Return the kind of a snapshot's records, and the ordinals of those that are repeated.

    These are of articles that have another record: a newer, or else the first. Reads the whole
    snapshot, but no page; 16 bytes of a record stay in memory.

    Raises:
        CorruptFile: damaged data; records of both kinds, or of Wikidata.
    """
    pages, revisions, progress = array("q"), array("q"), Progress("dump records")
    kinds = RecordKinds()
    for ordinal, line in enumerate(lines_of(path)):
        try:
            record = json_value(line)
            kinds.demand(record, f"{path}, row {ordinal + 1}")
            page, revision = id64(record["identifier"]), int64(record["version"]["identifier"])
        except UNREADABLE:
            page, revision = -1 - ordinal, 0
        pages.append(page)
        revisions.append(revision)
        progress.add(1)
    progress.finish()
    page = np.asarray(pages)
    order = np.lexsort((np.arange(len(page)), -np.asarray(revisions), page))
    repeated = page[order][1:] == page[order][:-1]
    return kinds.kind or HTML, frozenset(order[1:][repeated].tolist())


def lines_of(path: Path) -> Iterator[bytes]:
    """Return the records of a snapshot, each with its end of line.

    Raises:
        CorruptFile: damaged data.
    """
    lines = json_rows(path, _ROWS) if path.suffix.lower() == _PARQUET else records(path)
    return (line for line in lines if line.strip())


def parse_records(batch: SnapshotLines) -> ParsedTables:
    """Parse a piece as `xml_dump.parse_batch` does; redirects follow their article."""
    parsed = ParsedBatch(batch.path)
    for n, line in enumerate(batch.lines):
        parsed.pages += 1
        try:
            fields = json_value(line)
            record = _Record.from_json(fields, batch.kind, batch.variant)
        except (*UNREADABLE, AttributeError) as error:
            raw = line.decode("utf-8", "backslashreplace").rstrip("\n")
            parsed.reject("bad_record", f"{type(error).__name__}: {error}", raw)
            continue
        if n in batch.repeated:
            _, revision, title = record.ids
            parsed.reject(REPEATED, title, f"revision {revision}")
        elif batch.kind == STRUCTURED:
            _add_structured(fields, record, parsed, line)
        else:
            _add_record(record, parsed)
    return parsed.as_tables()


@dataclass(frozen=True)
class _Record:
    ids: tuple[int, int, str]
    html: str
    site: Site
    namespace: int
    redirects: tuple[str, ...]

    @classmethod
    def from_json(cls, record: Mapping[str, Any], kind: str, variant: str | None) -> "_Record":
        title, wiki = record["name"], str(record["is_part_of"]["url"]).rstrip("/")
        if not isinstance(title, str) or not title.strip():
            raise ValueError(f"page {record['identifier']}: a page without a title")
        database = str(record["is_part_of"].get("identifier", ""))
        language = str(record["in_language"]["identifier"])
        return cls(
            (id64(record["identifier"]), int64(record["version"]["identifier"]), title),
            str(record["article_body"]["html"] or "") if kind == HTML else "",
            wikipedia_site(language, f"{wiki}/wiki/", database).in_variant(variant),
            int64((record.get("namespace") or {}).get("identifier", ARTICLES)),
            tuple(str(redirect["name"]) for redirect in record.get("redirects") or ()),
        )


def _no_article(record: _Record) -> str:
    return "other_namespace" if record.namespace != ARTICLES else BAD_TITLE


def _add_structured(
    page: Mapping[str, Any], record: _Record, parsed: ParsedBatch, line: bytes
) -> None:
    *_, title = record.ids
    if record.namespace != ARTICLES or not is_title(title):
        parsed.reject(_no_article(record), title)
        return
    with parsed.naming(record.ids[0], title):
        try:
            structured.add_page(parsed, page, record.ids, record.site)
        except (Refused, RecursionError) as error:
            raw = line.decode("utf-8", "backslashreplace").rstrip("\n")
            parsed.reject("bad_record", f"{title}: {error}", raw)


def _add_record(record: _Record, parsed: ParsedBatch) -> None:
    *_, title = record.ids
    if record.namespace != ARTICLES or not is_title(title):
        parsed.reject(_no_article(record), title)
    else:
        try:
            root = parse_html(record.html.encode()) if record.html.strip() else None
        except ValueError as error:
            parsed.reject("bad_record", f"{title}: {error}", record.html)
        else:
            _add(parsed, root, record.ids, record.site, record.html)
    for redirect in record.redirects:
        parsed.pages += 1
        reason = _REDIRECTS.get(record.namespace, "other_namespace")
        parsed.reject(reason, redirect, "" if reason == "other_namespace" else title)


@dataclass(frozen=True)
class Entries:
    """The entries of a file from number `start` to before `stop`, in the order of their paths."""

    path: Path
    start: int
    stop: int
    variant: str | None = None


def entry_batches(path: Path, variant: str | None, start: int, stop: int) -> Iterator[Entries]:
    """Cut the entries that belong to bytes `start` to `stop` of a file into batches, in order.

    Of a split file, each piece has its own share of the entries, which all come from the first one.

    Raises:
        MissingFile, CorruptFile: as `core.files.open_zim`.
    """
    files = zim_pieces(path)
    sizes = [file.stat().st_size for file in files]
    before, size = sum(sizes[: files.index(path)]), sum(sizes)
    count = open_zim(files[0]).entry_count
    first, last = count * (before + start) // size, count * (before + stop) // size
    for at in range(first, last, ENTRIES):
        yield Entries(files[0], at, min(at + ENTRIES, last), variant)


def parse_entries(batch: Entries) -> ParsedTables:
    """Parse a batch as `xml_dump.parse_batch` does; entries that are no pages don't count.

    Raises:
        CorruptFile: a pointer, type or cluster that is damaged.
    """
    parsed, site = ParsedBatch(batch.path), site_of(batch.path).in_variant(batch.variant)
    for number in range(batch.start, batch.stop):
        title, page = page_at(batch.path, number)
        if page is None:
            parsed.pages += 1
            parsed.reject("redirect", title)
        elif page.kind.startswith(_HTML):
            parsed.pages += 1
            _add_entry(title, page, site, parsed)
    return parsed.as_tables()


def _add_entry(title: str, page: EntryContent, site: Site, parsed: ParsedBatch) -> None:
    prefix, colon, _ = title.partition(":")
    if colon and prefix.lower() in site.prefixes:
        parsed.reject("other_namespace", title)
    elif page.is_redirected:
        parsed.reject("redirect", title, page.title)
    else:
        content = content_of(parsed.path, page)
        raw = content.decode("utf-8", "backslashreplace")
        try:
            root = parse_html(content)
            page_id, revision_id = _ids(root) if root is not None else (None, None)
        except ValueError as error:
            parsed.reject("bad_record", f"{title}: {error}", raw)
            return
        ids = (page_id_of(title) if page_id is None else page_id, revision_id, title)
        _add(parsed, root, ids, site, raw, titles_by_address(parsed.path, page.address))


def _add(  # noqa: PLR0913, PLR0917
    parsed: ParsedBatch,
    root: HtmlElement | None,
    ids: tuple[int, int | None, str],
    site: Site,
    raw: str,
    title_of: TitleOf = title_of_address,
) -> None:
    """Add a page; one that is nested too deep is rejected, and any other fault is isotope's."""
    page_id, _, title = ids
    with parsed.naming(page_id, title):
        try:
            add_page(parsed, root, ids, site, title_of)
        except RecursionError as error:
            parsed.reject("bad_record", f"{title}: {error}", raw)


def _ids(root: HtmlElement) -> tuple[int | None, int | None]:
    """Return page and revision from Parsoid's head or mwoffliner's footer."""
    number = next(iter(root.xpath("//meta[@property='mw:pageId']/@content")), None)
    footers = root.xpath("//body//a[contains(@href, '?oldid=') or contains(@href, '&oldid=')]")
    revision = _REVISION.search(root.get("about", ""))
    if footers and footers[-1].getparent().tag in ("div", "footer"):
        revision = revision or _REVISION.search(footers[-1].get("href", ""))
        footers[-1].getparent().drop_tree()
    return (id64(number) if number else None), (int64(revision[1]) if revision else None)


def page_id_of(title: str) -> int:
    """Return the number of a page that states none: the first 60 bits of its title's MD5.

    ASSUME that no two titles of a wiki meet: among ten million the odds are 1 to 23,000; a ZIM file
    does not say what number a page has.
    """
    digest = hashlib.md5(title.encode(), usedforsecurity=False).hexdigest()
    return int(digest[:_DIGITS], 16)


@cache
def site_of(path: Path) -> Site:
    """Return the wiki that a file is of.

    Raises:
        MissingFile, CorruptFile: as `core.wikimedia.wiki_of`.
    """
    language, host = wiki_of(path)
    return wikipedia_site(language, f"https://{host}/wiki/")


def titles_by_address(path: Path, page: str) -> Callable[[str], str | None]:
    """Return a function from the links of a page, which its own path names, to titles of pages.

    An address is resolved against the page's, as readers do it, and the entry there has the title;
    a redirect has its own title. Where the file lacks the page, its address is all there is;
    None where the target is no page, such as a picture.

    Raises:
        CorruptFile: a pointer that leads nowhere, by the function that is returned.
    """
    folder = posixpath.dirname(quote(page))

    def title_of(address: str) -> str | None:
        if not address:
            return None
        at = unquote(_ROOT.sub("", posixpath.normpath(posixpath.join(folder, address)), count=1))
        exists, title = _title_at(path, at)
        return title if exists else _title_without(at, page)

    return title_of


@lru_cache(_ADDRESSES)
def _title_at(path: Path, at: str) -> tuple[bool, str | None]:
    """Return whether there is an entry, and its title if it is a page or a redirect to one."""
    entry = page_by(path, at)
    if entry is None:
        return False, None
    title, page = entry
    return True, title if page is None or page.kind.startswith(_HTML) else None


def _title_without(at: str, page: str) -> str:
    """Return the title in an address alone, written as the page that links writes addresses."""
    if page.startswith("A/"):
        at = at.removeprefix("A/")
    if page.endswith(".html"):
        at = at.removesuffix(".html")
    return at
