"""The registry of what is built: a record a collection, which the front page and the catalog list.

A record is the last file that a collection gets, results/report/<collection>/record.json, so what
is half built has none. Params of other commands have no part in it: a collection that one overlay
built stays listed when another is run. Without its record a collection is listed nowhere, and its
files stay where they are.
"""

import json
import shutil
from collections.abc import Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from isotope.core import digests, plugins, store
from isotope.core.errors import CorruptFile, MissingFile

RECORD = "results/report/{collection}/record.json"
_ANY = RECORD.format(collection="*")
# Where the tables of a collection lie, beside those of plug-ins, and those of a source.
_OF_COLLECTIONS = (
    *("data/collect", "data/train", "data/encode", "data/index", "results/search", "results/score"),
    *("results/tables", "results/figures", "results/report", "results/release"),
)
_OF_SOURCES = ("data/acquire", "data/parse", "data/crawl", "data/project")
_SCORES = ("{}.parquet", "{}.significance.parquet")


class Record(NamedTuple):
    """What is said of a built collection.

    `collections` are itself and those that it is compared with, made of or goes on from, `sources`
    theirs; `setting` and `split` the pool that the front page is about; `groups` the tables in
    which it stands beside others, by group; `fingerprint` is of its params.
    """

    name: str
    kind: str
    language: str
    collections: list[str]
    sources: list[str]
    setting: str
    split: str
    groups: dict[str, list[str]]
    fingerprint: str


class Listing(NamedTuple):
    """The collections and the sources that some records name, sorted."""

    collections: list[str]
    sources: list[str]


def write(record: Record, out: Path) -> None:
    """Write the record of a collection.

    Raises:
        DiskFull: no room for it.
    """
    text = json.dumps(record._asdict(), indent=1, ensure_ascii=False)
    with store.aside(out) as part:
        part.write_text(text + "\n", encoding="utf-8", newline="\n")


def fingerprint(content: object) -> str:
    """Return 16 hex digits of the SHA-256 of plain data, whatever the order of their keys."""
    text = json.dumps(content, sort_keys=True, ensure_ascii=False)
    return sha256(text.encode()).hexdigest()[:16]


def records(root: Path = Path()) -> list[Path]:
    """Return the files of the records that are there, sorted."""
    return sorted(root.glob(_ANY))


def read(files: Iterable[Path]) -> list[Record]:
    """Return records, by name.

    Raises:
        CorruptFile: a file that is no record.
    """
    return sorted(map(_record, files))


def _record(path: Path) -> Record:
    try:
        record = Record(**json.loads(path.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        remedy = "delete it and run `snakemake --cores all`"
        raise CorruptFile(path, f"no record of a collection ({error})", remedy) from error
    if record.name != path.parent.name:
        problem = f"the record of {record.name!r}"
        raise CorruptFile(path, problem, f"delete it; {record.name} has a record of its own")
    return record


def listing(listed: Sequence[Record]) -> Listing:
    """Return what records name, once each."""
    return Listing(
        sorted({name for record in listed for name in record.collections}),
        sorted({source for record in listed for source in record.sources}),
    )


def take_off(name: str, root: Path = Path()) -> Record:
    """Delete the record of a collection; return what it said.

    Raises:
        MissingFile: it has none, with the names of those that have one.
        CorruptFile: as `read`.
    """
    path = root / RECORD.format(collection=name)
    if not path.is_file():
        names = [record.name for record in read(records(root))]
        raise MissingFile(path, "no such record", f"listed: {', '.join(names) or 'none'}")
    [record] = read([path])
    delete([path])
    return record


def files_of(record: Record, listed: Sequence[Record], root: Path = Path()) -> list[Path]:
    """Return the folders and files of a collection that no other record names, that are there.

    They are those of the collection, of what only it is compared with, and of its sources.
    """
    remaining = listing([other for other in listed if other.name != record.name])
    names = [name for name in record.collections if name not in remaining.collections]
    sources = [source for source in record.sources if source not in remaining.sources]
    folders = (*_OF_COLLECTIONS, *plugins.outs())
    paths = [root / folder / name for folder in folders for name in names]
    paths += [root / "results/score" / form.format(name) for form in _SCORES for name in names]
    paths += [root / folder / source for folder in _OF_SOURCES for source in sources]
    paths += [root / "results/release" / f"{name}-lite" for name in names]
    return [path for path in paths if path.exists()]


def delete(paths: Iterable[Path]) -> None:
    """Delete folders and files, protected ones too, and their records of digests."""
    for path in paths:
        digests.forget(path)
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink()
