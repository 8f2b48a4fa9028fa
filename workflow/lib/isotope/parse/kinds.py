"""The kinds of snapshot: each is cut into tasks, and a task is parsed, by an adapter of its own.

| name of the file | adapter |
| --- | --- |
| `.xml`, `.xml.bz2`, any other | `dump_pages`: MediaWiki's export, see below |
| `.ndjson`, `.ndjson.gz`, `.tar.gz` | `dump_enterprise`: Wikimedia Enterprise |
| `.zim`, or `.zimaa`, `.zimab` and so on | `dump_zim`: Kiwix |

The export is that of https://www.mediawiki.org/xml/export-0.11.xsd, as
https://meta.wikimedia.org/wiki/Data_dumps has it. The workers unpack the streams of a multistream
dump and read ZIM files, anything else is unpacked by the parent.
"""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import pyarrow as pa

from isotope.core.errors import MissingFile
from isotope.core.zim import is_zim, opened
from isotope.parse import enterprise, streams, zim
from isotope.parse.articles import Parsed
from isotope.parse.enterprise import Records
from isotope.parse.pages import parse_batch
from isotope.parse.site import Site, read_site
from isotope.parse.streams import Chunk, Span
from isotope.parse.zim import Entries

Task = tuple[Site, Span | Chunk] | Records | Entries
# What there is to do for the bytes from the first number to before the second one.
Cut = Callable[[int, int], Iterator[Task]]
_RECORDS = (".ndjson", ".ndjson.gz", ".tar.gz", ".tgz")


def prepared(path: Path) -> Cut:
    """Open a snapshot as far as is needed to refuse what is none; return how it is cut.

    A dump is cut by the bytes of its streams, a ZIM file by its entries; a file of Enterprise
    belongs as a whole to the slice that has its first byte.

    Raises:
        MissingFile: no such file, or not all pieces of a split one.
        CorruptFile, TruncatedFile: a file that is not what its name says.
    """
    if not path.is_file():
        raise MissingFile(path, "no such file", "check the path, or run `acquire` first")
    if is_zim(path):
        opened(path)
        return partial(zim.batches, path)
    if path.name.endswith(_RECORDS):
        return partial(_of_records, path)
    return partial(_of_xml, path, read_site(path, streams.unpacked(path)))


def parse_task(task: Task) -> tuple[pa.Table, pa.Table, Parsed]:
    """Return sections, links, and the rest of what a piece holds.

    Raises:
        CorruptFile, TruncatedFile: the piece can't be unpacked.
    """
    if isinstance(task, Records):
        return enterprise.parse_records(task)
    return zim.parse_entries(task) if isinstance(task, Entries) else parse_batch(task)


def _of_xml(path: Path, site: Site, start: int, stop: int) -> Iterator[Task]:
    for batch in streams.batches(path, start, stop):
        yield site, batch


def _of_records(path: Path, start: int, stop: int) -> Iterator[Task]:
    if start == 0 and stop > 0:
        yield from enterprise.batches(path)
