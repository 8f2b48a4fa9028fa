"""Snapshots of Wikimedia Enterprise: one JSON record an article, with Parsoid's HTML.

Format: https://enterprise.wikimedia.com/docs/data-dictionary/ and
https://dumps.wikimedia.org/other/enterprise_html/: `.tar.gz` of `.ndjson` files, or such files
themselves. Redirects have no records of their own; those to an article stand in its record. An
article that was edited while the snapshot was made may have several records: the one of its newest
revision counts.
"""

import gzip
import json
import tarfile
import zlib
from array import array
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
import pyarrow as pa

from isotope.core.errors import CorruptFile, TruncatedFile
from isotope.core.progress import Progress
from isotope.parse.articles import Parsed
from isotope.parse.html_page import enter, tree
from isotope.parse.site import Site, known_site

UNREADABLE = (ValueError, KeyError, TypeError, RecursionError)
_AGAIN = "download the file again and compare its checksum with the published one"


def repeated_records(path: Path) -> frozenset[int]:
    """Return the ordinals of records whose article has another one: a newer, or else the first.

    Reads the whole snapshot, but no HTML; of a record 16 bytes are kept.
    """
    pages, revisions, progress = array("q"), array("q"), Progress("dump records")
    for ordinal, line in enumerate(lines_of(path)):
        try:
            told = json.loads(line)
            page, revision = int(told["identifier"]), int(told["version"]["identifier"])
        except UNREADABLE:
            page, revision = -1 - ordinal, 0
        pages.append(page)
        revisions.append(revision)
        progress.add(1)
    progress.finish()
    page = np.asarray(pages)
    order = np.lexsort((np.arange(len(page)), -np.asarray(revisions), page))
    again = page[order][1:] == page[order][:-1]
    return frozenset(order[1:][again].tolist())


def lines_of(path: Path) -> Iterator[bytes]:
    """Yield the records of a snapshot, each with its end of line.

    Raises:
        TruncatedFile, CorruptFile: damaged data.
    """
    with _named_damage(path):
        if ".tar" in path.suffixes or path.suffix == ".tgz":
            with tarfile.open(path, "r|*") as archive:
                for member in archive:
                    file = archive.extractfile(member) if member.isfile() else None
                    yield from _whole(cast(BinaryIO, file) if file else None)
        elif path.suffix == ".gz":
            with gzip.open(path) as file:
                yield from _whole(cast(BinaryIO, file))
        else:
            with path.open("rb") as file:
                yield from _whole(file)


def _whole(file: BinaryIO | None) -> Iterator[bytes]:
    for line in file or ():
        if line.strip():
            yield line


@contextmanager
def _named_damage(path: Path) -> Iterator[None]:
    try:
        yield
    except (EOFError, tarfile.ReadError) as error:
        if "end" in str(error).lower():
            raise TruncatedFile(path, f"the data break off ({error})", _AGAIN) from error
        raise CorruptFile(path, f"no archive that can be read ({error})", _AGAIN) from error
    except (tarfile.TarError, zlib.error, gzip.BadGzipFile) as error:
        raise CorruptFile(path, f"damaged data ({error})", _AGAIN) from error


BATCH_BYTES = 4 << 20
_ARTICLES = 0


@dataclass(frozen=True)
class Records:
    """Whole lines of a snapshot, in its order, and which of them tell of an article again."""

    path: Path
    lines: tuple[bytes, ...]
    repeated: frozenset[int] = frozenset()


def batches(path: Path) -> Iterator[Records]:
    """Cut a snapshot into pieces of whole records; memory follows a piece.

    Raises:
        TruncatedFile, CorruptFile: damaged data, or an archive without a record.
    """
    repeated = repeated_records(path)
    held, size, first, seen = list[bytes](), 0, 0, False
    for line in lines_of(path):
        seen = True
        held.append(line)
        size += len(line)
        if size >= BATCH_BYTES:
            yield _records(path, held, first, repeated)
            first += len(held)
            held, size = [], 0
    if not seen:
        raise CorruptFile(path, "no record in it", "give a snapshot with .ndjson files")
    yield _records(path, held, first, repeated)


def _records(path: Path, lines: list[bytes], first: int, repeated: frozenset[int]) -> Records:
    own = frozenset(n for n in range(len(lines)) if first + n in repeated)
    return Records(path, tuple(lines), own)


def parse_records(batch: Records) -> tuple[pa.Table, pa.Table, Parsed]:
    """Parse a piece as `dump_pages.parse_batch` does; redirects follow their article."""
    parsed = Parsed(batch.path)
    for n, line in enumerate(batch.lines):
        parsed.pages += 1
        try:
            record = _Record.of(json.loads(line))
        except (*UNREADABLE, AttributeError) as error:
            raw = line.decode("utf-8", "backslashreplace").rstrip("\n")
            parsed.leave_out("bad_record", f"{type(error).__name__}: {error}", raw)
            continue
        if n in batch.repeated:
            _, revision, title = record.ids
            parsed.leave_out("repeated_page", title, f"revision {revision}")
        else:
            _enter(record, parsed)
    return parsed.handed_over()


@dataclass(frozen=True)
class _Record:
    ids: tuple[int, int, str]
    html: str
    site: Site
    namespace: int
    redirects: tuple[str, ...]

    @classmethod
    def of(cls, told: Mapping[str, Any]) -> "_Record":
        title, wiki = str(told["name"]), str(told["is_part_of"]["url"]).rstrip("/")
        database = str(told["is_part_of"].get("identifier", ""))
        return cls(
            (int(told["identifier"]), int(told["version"]["identifier"]), title),
            str(told["article_body"]["html"] or ""),
            known_site(str(told["in_language"]["identifier"]), f"{wiki}/wiki/", database),
            int((told.get("namespace") or {}).get("identifier", _ARTICLES)),
            tuple(str(redirect["name"]) for redirect in told.get("redirects") or ()),
        )


def _enter(record: _Record, parsed: Parsed) -> None:
    *_, title = record.ids
    if record.namespace != _ARTICLES:
        parsed.leave_out("other_namespace", title)
    else:
        try:
            root = tree(record.html.encode()) if record.html.strip() else None
            enter(parsed, root, record.ids, record.site)
        except (ValueError, RecursionError) as error:
            parsed.leave_out("bad_record", f"{title}: {error}", record.html)
    for redirect in record.redirects:
        parsed.pages += 1
        parsed.leave_out("redirect", redirect, title)
