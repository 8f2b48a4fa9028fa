"""Snapshots of Wikimedia Enterprise: one JSON record an article, with Parsoid's HTML.

Format: https://enterprise.wikimedia.com/docs/data-dictionary/ and
https://dumps.wikimedia.org/other/enterprise_html/: `.tar.gz` of `.ndjson` files, or such files
themselves. Redirects have no records of their own; those to an article stand in its record.
"""

import gzip
import json
import tarfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, cast

import pyarrow as pa

from isotope.dump_parsed import Parsed
from isotope.dump_site import Site, known_site
from isotope.errors import CorruptFile, TruncatedFile
from isotope.html_page import enter, tree

BATCH_BYTES = 4 << 20
_AGAIN = "download the file again and compare its checksum with the published one"
_ARTICLES = 0


@dataclass(frozen=True)
class Records:
    """Whole lines of a snapshot, in its order."""

    path: Path
    lines: tuple[bytes, ...]


def batches(path: Path) -> Iterator[Records]:
    """Cut a snapshot into pieces of whole records; memory follows a piece.

    Raises:
        TruncatedFile, CorruptFile: damaged data, or an archive without a record.
    """
    held, size, seen = list[bytes](), 0, False
    for line in _lines(path):
        seen = True
        held.append(line)
        size += len(line)
        if size >= BATCH_BYTES:
            yield Records(path, tuple(held))
            held, size = [], 0
    if not seen:
        raise CorruptFile(path, "no record in it", "give a snapshot with .ndjson files")
    yield Records(path, tuple(held))


def parse_records(batch: Records) -> tuple[pa.Table, pa.Table, Parsed]:
    """Parse a piece as `dump_pages.parse_batch` does; redirects follow their article."""
    parsed = Parsed(batch.path)
    for line in batch.lines:
        parsed.pages += 1
        try:
            record = _Record.of(json.loads(line))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raw = line.decode("utf-8", "backslashreplace").rstrip("\n")
            parsed.leave_out("bad_record", f"{type(error).__name__}: {error}", raw)
            continue
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
        return cls(
            (int(told["identifier"]), int(told["version"]["identifier"]), title),
            str(told["article_body"]["html"] or ""),
            known_site(str(told["in_language"]["identifier"]), f"{wiki}/wiki/"),
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


def _lines(path: Path) -> Iterator[bytes]:
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
