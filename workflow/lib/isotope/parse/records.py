"""The lines of a snapshot of Wikimedia Enterprise, packed or not, and which tell of a page again.

See `dump_enterprise` for the format.
"""

import gzip
import json
import tarfile
import zlib
from array import array
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

import numpy as np

from isotope.core.errors import CorruptFile, TruncatedFile
from isotope.core.progress import Progress

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
