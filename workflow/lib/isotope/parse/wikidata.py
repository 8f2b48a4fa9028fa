"""Snapshots of Wikidata to a table of the pages of one wiki: picture, category, classes, names.

The public dumps are a list of JSON, an entity a line (`latest-all.json.gz`, `.bz2`),
https://www.wikidata.org/wiki/Wikidata:Database_download; those of Wikimedia Enterprise are files of
records in a tar. 115 million entities are 1.5 TB of text, so a snapshot is read once, as a stream:
a line that does not name the wiki is passed over by its bytes, some megabytes of the others are
parsed by each worker, and what a block of lines gives is written before the next one. A run that
was killed reads what is done again, and parses none of it.
"""

import hashlib
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa

from isotope.core import provenance, sql, store
from isotope.core.errors import CorruptFile, MissingFile, TruncatedFile
from isotope.core.files import labels
from isotope.core.manifest import placed
from isotope.core.parallel import ordered_map
from isotope.core.progress import Progress, log
from isotope.core.resume import resumable
from isotope.core.schemas import schema
from isotope.core.syntax import located
from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.intake.texts import records
from isotope.parse.entities import entity_row, is_entity
from isotope.parse.site import wiki_name
from isotope.schemas.parse import ENTITIES, REJECTED

# Lines of a block, 3 GB of a dump: what a killed run has not written is parsed again.
BLOCK = 1 << 18
_BATCH_BYTES = 4 << 20
_CALL = "parse.wikidata:parse_source"
_STEPS = sql.SQL / "parse" / "wikidata"
_AGAIN = "download the file again and compare its checksum with the published one"
_REMEDY = "give Wikidata's latest-all.json.gz, or Enterprise's wikidatawiki_namespace_0.tar.gz"
# With where a record stands, which decides among several of a page.
_PLACED = schema(modified=pa.string(), file=pa.string(), nth=pa.int64())
_ROWS = pa.schema([*ENTITIES, *_PLACED])
_LISTS = (b"[", b"]")


@dataclass(frozen=True)
class _Lines:
    """Lines that name the wiki, each with its row in the file; an end has none."""

    block: tuple[str, int]
    rows: tuple[int, ...]
    lines: tuple[bytes, ...]


def parse_source(
    *, manifest: Path, sections: Path, entities: Path, rejected: Path, threads: int
) -> None:
    """Parse the acquired part `wikidata`: see `parse_wikidata`. The wiki is that of `sections`."""
    wiki, language = wiki_of_sections(sections)
    files = placed(manifest, "wikidata")
    parse_wikidata(files, (wiki, language), entities, rejected, workers=threads)


def wiki_of_sections(sections: Path) -> tuple[str, str]:
    """Return the name of the database of a snapshot's wiki, and its language.

    Raises:
        MissingFile: a table without a section.
    """
    first = pl.scan_parquet(sections, glob=False).select("page_url", "language").head(1).collect()
    if first.is_empty():
        raise MissingFile(sections, "no section, so no wiki", "give a dump with articles")
    url, language = first.row(0)
    return wiki_name("", url).replace("-", "_"), language


def parse_wikidata(
    files: Sequence[Path], wiki: tuple[str, str], entities: Path, rejected: Path, *, workers: int
) -> None:
    """Write the entities that have a page in a wiki, by its database's name and its language.

    * `entities`, `schemas.ENTITIES`: a row an item, by page title. Of several records of a page the
      one that was modified last counts, of those the last one.
    * `rejected`, `schemas.REJECTED`: records that name the wiki and can't be read (`bad_record`,
      with all of it in `raw`), and those that others replace (`repeated_page`).

    The bytes of both do not depend on `workers`, nor on a kill in between.

    Raises:
        MissingFile: no files given, or one that is not there.
        CorruptFile: a file whose first record is no entity of Wikidata, or that is damaged.
        TruncatedFile: a list that does not end.
    """
    if not files:
        raise MissingFile("wikidata", "no files", _REMEDY)
    for path in files:
        _demand_entities(path)
    names = labels(files)
    with resumable(entities, _digest(files, wiki)) as folder:
        progress = Progress("entities")
        tasks = _tasks(files, wiki[0], folder, progress)
        parsed = ordered_map(partial(_parsed, wiki), tasks, workers)
        for (name, block), pieces in groupby(parsed, key=lambda piece: piece[0]):
            _write(folder / f"{name}-{block:05d}", names[files[int(name)]], pieces)
        progress.finish()
        _gather(folder, entities, rejected)
    log.info("wikidata: %d pages of %s", store.rows_in(entities), wiki[0])


def _demand_entities(path: Path) -> None:
    """Check that a file's first record is an entity.

    Raises:
        MissingFile, CorruptFile.
    """
    if not path.is_file():
        raise MissingFile(path, "no such file", "check the path, or run `acquire`")
    for row, line in _entities_of(path):
        try:
            first = json_value(line)
        except Refused as error:
            raise CorruptFile(f"{path}, row {row}", error.reason, _REMEDY) from error
        if not is_entity(first):
            problem = "a record that is no entity of Wikidata"
            raise CorruptFile(f"{path}, row {row}", problem, _REMEDY)
        return
    raise CorruptFile(path, "no record in it", _REMEDY)


def _entities_of(path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield row and text of each line that is a record, without the list's signs.

    Raises:
        TruncatedFile: a list without its end.
        CorruptFile: as `intake.texts.records`.
    """
    is_list, last = False, b""
    for row, line in enumerate(records(path), 1):
        text = line.strip()
        if text and text not in _LISTS:
            yield row, text.removesuffix(b",")
        is_list, last = is_list or text == b"[", text or last
    if is_list and last != b"]":
        raise TruncatedFile(path, "a list of JSON without its end", _AGAIN)


def _tasks(files: Sequence[Path], wiki: str, folder: Path, progress: Progress) -> Iterator[_Lines]:
    """Yield what no earlier run has written: lines that name the wiki, and an end a block."""
    named = f'"{wiki}"'.encode()
    for number, path in enumerate(files):
        name, block = f"{number:03d}", 0
        rows, lines, size, is_done = list[int](), list[bytes](), 0, _is_done(folder, name, 0)
        for nth, (row, line) in enumerate(_entities_of(path)):
            if nth // BLOCK > block:
                if not is_done:
                    yield _Lines((name, block), tuple(rows), tuple(lines))
                rows, lines, size, block = [], [], 0, nth // BLOCK
                is_done = _is_done(folder, name, block)
                progress.add(BLOCK)
            if is_done or named not in line:
                continue
            rows.append(row)
            lines.append(line)
            size += len(line)
            if size >= _BATCH_BYTES:
                yield _Lines((name, block), tuple(rows), tuple(lines))
                rows, lines, size = [], [], 0
        if not is_done:
            yield _Lines((name, block), tuple(rows), tuple(lines))


def _is_done(folder: Path, name: str, block: int) -> bool:
    return (folder / f"{name}-{block:05d}.parquet").exists()


_Piece = tuple[tuple[str, int], list[dict[str, Any]], list[dict[str, Any]]]


def _parsed(wiki: tuple[str, str], task: _Lines) -> _Piece:
    """Return the block, its entities, and the records that can't be read."""
    good, bad = list[dict[str, Any]](), list[dict[str, Any]]()
    for row, line in zip(task.rows, task.lines, strict=True):
        try:
            entity = entity_row(json_value(line), *wiki)
        except Refused as error:
            raw = line.decode("utf-8", "backslashreplace")
            bad.append({"row": row, "reason": "bad_record", "detail": error.reason, "raw": raw})
        else:
            good += [{**entity, "nth": row}] if entity else []
    return task.block, good, bad


def _write(block: Path, file: str, pieces: Iterator[_Piece]) -> None:
    """Write the tables of a block; that of its entities says that both are there."""
    good, bad = list[dict[str, Any]](), list[dict[str, Any]]()
    for _, entities, rejected in pieces:
        good += entities
        bad += [{**row, "file": file} for row in rejected]
    store.write_rows(bad, block.with_suffix(".rejected"), REJECTED)
    rows = [{**row, "file": file} for row in good]
    store.write_rows(rows, block.with_suffix(".parquet"), _ROWS)


def _gather(folder: Path, entities: Path, rejected: Path) -> None:
    """Write both tables from the blocks, each page once."""
    blocks = {
        "blocks": [str(path) for path in sorted(folder.glob("*.parquet"))],
        "bad": [str(path) for path in sorted(folder.glob("*.rejected"))],
    }
    sql.query(_STEPS / "rejected.sql", blocks, {}, out=rejected, schema=REJECTED)
    sql.query(_STEPS / "entities.sql", blocks, {}, out=entities, schema=ENTITIES)


def _digest(files: Sequence[Path], wiki: tuple[str, str]) -> str:
    """Return what tells apart runs whose blocks must not be mixed: inputs, wiki and code."""
    code = [located(file) for file in provenance.closure(_CALL)]
    stats = [(str(f), f.stat().st_size, f.stat().st_mtime_ns) for f in files]
    described = json.dumps([BLOCK, stats, wiki], default=str).encode()
    return hashlib.sha256(b"".join([described, *(f.read_bytes() for f in code)])).hexdigest()
