"""Pictures that others publish whole, row by row: Parquet, TSV, archives, folders, earlier crawls.

A file is read once and in order. The reader asks which rows of some addresses are wanted, and
reads no picture of the others. What is damaged is told, by its row, and the rest goes on.
"""

import base64
import binascii
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar
from urllib.parse import quote

import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core.errors import AccessDenied, CorruptFile, MissingColumn
from isotope.crawl.sides import UNSIZED, with_all_columns
from isotope.intake.archives import file_content, is_archive, is_picture, members, plain
from isotope.intake.limits import Refused, reason_of
from isotope.intake.tables import parquet_batches, parquet_file, undamaged
from isotope.intake.texts import records
from isotope.params.crawl import Bulk

ADDRESS = "image_url"
_ROWS, _LISTED_ROWS, _BATCH_BYTES = 64, 1_024, 16 << 20
_AT_ROW = re.compile(r", row (\d+)$")
_T = TypeVar("_T")


class BulkPicture(NamedTuple):
    """A wanted row: its number from 1, its address, its bytes, and what its source says of it.

    `read` raises Refused. `width` and `height` are of the original, in pixels, or None.
    """

    number: int
    address: str
    read: Callable[[], bytes]
    width: int | None = None
    height: int | None = None
    licence: str | None = None


class BulkReader(Protocol):
    """What reads a file: it is asked which rows are wanted, and told which are damaged."""

    def choose(self, first: int, addresses: Sequence[str | None]) -> list[int]:
        """Return the places of the wanted ones among the addresses of rows from `first` on."""
        ...

    def damage(self, row: int | None, address: str | None, status: str, reason: str) -> None:
        """Note a row, or the rest of a file from a row on, that can't be read."""
        ...


class BulkFile(NamedTuple):
    """A file of a bulk source: where it is, and how the ledger names it."""

    path: Path
    name: str


def rows(file: BulkFile, spec: Bulk, reader: BulkReader) -> Iterator[BulkPicture]:
    """Yield the wanted rows of a file of a bulk source, in order.

    `spec` is an item of `crawl.<source>.bulk`. A folder is read file by file, sorted.

    Raises:
        MissingColumn: a table without the columns that `spec` names, or without one of pictures.
        AccessDenied: a folder that may not be listed.
    """
    path = file.path
    try:
        if path.is_dir():
            yield from _folder(path, spec, reader)
        elif path.suffix == ".parquet":
            yield from _parquet(path, spec, reader)
        elif is_archive(path):
            yield from _archive(path, spec, reader)
        else:
            yield from _table(path, spec, reader)
    except CorruptFile as error:
        row = _AT_ROW.search(error.where)
        reader.damage(int(row[1]) if row else None, None, "unreadable", error.problem)


def _parquet(path: Path, spec: Bulk, reader: BulkReader) -> Iterator[BulkPicture]:
    """Read the addresses of a row group, and its pictures only if some are wanted."""
    with parquet_file(path, buffered=True) as file:
        columns = _columns(path, spec, file.schema_arrow)
        earlier = _ledger(path) if spec.crawl else {}
        first = 1
        for group in range(file.metadata.num_row_groups):
            try:
                batches = undamaged(
                    path, file.iter_batches(_LISTED_ROWS, [group], columns=[columns[0]])
                )
                addresses = [
                    address for batch in batches for address in batch[columns[0]].to_pylist()
                ]
                if places := reader.choose(first, addresses):
                    pictures = _group(
                        (path, file, group), columns, spec, (first, places, addresses)
                    )
                    yield from (_as_crawled(picture, earlier) for picture in pictures)
            except CorruptFile as error:
                reader.damage(first, None, "unreadable", f"row group {group}: {error.problem}")
            first += file.metadata.row_group(group).num_rows


def _columns(path: Path, spec: Bulk, schema: pa.Schema) -> list[str]:
    """Return the columns to read: address, picture, and what else the params name."""
    image = spec.image or _picture_column(path, schema)
    named = [spec.address, image, *_facts(spec).values()]
    for name in named:
        if name not in schema.names:
            problem = f"no column {name!r} among {', '.join(schema.names)}"
            raise MissingColumn(path, problem, "name the columns in params crawl.<source>.bulk")
    for name, holds in ((spec.address, _is_text), (image, _is_picture)):
        kind = schema.field(name).type
        if not holds(kind):
            expected = (
                "addresses" if holds is _is_text else "bytes, base64, or structs with `bytes`"
            )
            raise MissingColumn(path, f"{name!r} is {kind}", f"name a column of {expected}")
    return list(dict.fromkeys(named))


def _is_text(kind: pa.DataType) -> bool:
    plain = kind.value_type if pa.types.is_dictionary(kind) else kind
    return any(is_kind(plain) for is_kind in (pa.types.is_string, pa.types.is_large_string))


def _is_bytes(kind: pa.DataType) -> bool:
    """Tell whether cells are bytes, or structs with `bytes` as the hub's data sets have them."""
    is_struct = pa.types.is_struct(kind) and kind.get_field_index("bytes") >= 0
    inner = kind.field("bytes").type if is_struct else kind
    return pa.types.is_binary(inner) or pa.types.is_large_binary(inner)


def _is_picture(kind: pa.DataType) -> bool:
    return _is_bytes(kind) or _is_text(kind)


_FACTS = ("width", "height", "licence")


def _facts(spec: Bulk) -> dict[str, str]:
    """Return the columns that say something of a picture, by what they say."""
    named = {key: getattr(spec, key) for key in _FACTS}
    return {key: name for key, name in named.items() if name}


def _picture_column(path: Path, schema: pa.Schema) -> str:
    """Return the first column of bytes."""
    name = next((field.name for field in schema if _is_bytes(field.type)), None)
    if name is None:
        problem = f"no column of pictures among {', '.join(schema.names)}"
        raise MissingColumn(path, problem, "name it: `image` of the item of crawl.<source>.bulk")
    return name


def _group(
    source: tuple[Path, pq.ParquetFile, int],
    columns: Sequence[str],
    spec: Bulk,
    chosen: tuple[int, Sequence[int], Sequence[str | None]],
) -> Iterator[BulkPicture]:
    path, file, group = source
    first, places, addresses = chosen
    wanted, start = iter(places), 0
    at = next(wanted, None)
    for batch in undamaged(path, file.iter_batches(_ROWS, [group], columns=list(columns))):
        while at is not None and at < start + batch.num_rows:
            row = {name: batch[name][at - start] for name in columns}
            read = partial(_bytes, row[columns[1]].as_py())
            facts = {key: row[name].as_py() for key, name in _facts(spec).items()}
            yield _picture(first + at, str(addresses[at]), read, facts)
            at = next(wanted, None)
        start += batch.num_rows


def _bytes(value: bytes | str | Mapping[str, Any] | None) -> bytes:
    """Return a picture of a cell: bytes, base64, or a struct with `bytes`.

    Raises:
        Refused: no bytes, or no base64.
    """
    content = value.get("bytes") if isinstance(value, Mapping) else value
    if content is None:
        raise Refused("no bytes: the picture is NULL", "not_an_image")
    return _decoded(content) if isinstance(content, str) else content


def _decoded(text: bytes | str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refused(f"no base64: {error}") from error


def _picture(
    number: int, address: str, read: Callable[[], bytes], facts: Mapping[str, Any]
) -> BulkPicture:
    """Return a row; a size that is none, and a licence without a word, are not known."""
    size = [_size(facts.get(side)) for side in ("width", "height")]
    width, height = size if None not in size else (None, None)
    licence = facts.get("licence")
    text = licence.strip() if isinstance(licence, str) else None
    return BulkPicture(number, address, read, width, height, text or None)


def _size(value: object) -> int | None:
    """Return a size in pixels, of a number or its digits; None for anything else."""
    try:
        size = int(value) if isinstance(value, int | float | str) else 0
    except (ValueError, OverflowError):
        return None
    return size if 0 < size < 2**31 else None


def _ledger(shard: Path) -> dict[str, dict[str, Any]]:
    """Return what an earlier crawl's ledger says of the pictures in one of its shards."""
    urls: list[str | None] = []
    # What is damaged is told where its pictures are read.
    with suppress(CorruptFile):
        for batch in parquet_batches(shard, [ADDRESS], _LISTED_ROWS):
            urls += batch[ADDRESS].to_pylist()
    listed = pl.LazyFrame({ADDRESS: urls}, {ADDRESS: pl.String})
    recorded = with_all_columns(shard.with_name("ledger.parquet")).join(
        listed, on=ADDRESS, how="semi"
    )
    named = recorded.select(ADDRESS, "width", "height", "licence", "trait").collect()
    return {row[ADDRESS]: row for row in named.rows(named=True)}


def _as_crawled(picture: BulkPicture, earlier: Mapping[str, Mapping[str, Any]]) -> BulkPicture:
    """Return a picture of an earlier crawl with what its ledger says of it."""
    recorded = earlier.get(picture.address)
    if recorded is None:
        return picture
    is_known = UNSIZED not in (recorded["trait"] or "").split()
    size = (recorded["width"], recorded["height"]) if is_known else (None, None)
    return picture._replace(width=size[0], height=size[1], licence=recorded["licence"])


def _table(path: Path, spec: Bulk, reader: BulkReader) -> Iterator[BulkPicture]:
    """Read a table of texts between tabs, whose pictures are base64."""
    lines = enumerate(records(path), 1)
    names = spec.columns
    if not names:
        _, header = next(lines, (1, b""))
        if not header.strip():
            reader.damage(None, None, "unreadable", "an empty file, or no line of names")
            return
        names = header.decode("utf-8", "replace").lstrip("\ufeff").rstrip("\r\n").split("\t")
    named = {"address": spec.address, "image": spec.image or "image", **_facts(spec)}
    for name in named.values():
        if name not in names:
            problem = f"no column {name!r} among {', '.join(names)[:200]}"
            raise MissingColumn(path, problem, "name the columns in params crawl.<source>.bulk")
    places = {key: names.index(name) for key, name in named.items()}
    for some in _batched(lines):
        yield from _lines(some, places, len(names), reader)


def _batched(lines: Iterable[tuple[int, bytes]]) -> Iterator[list[tuple[int, bytes]]]:
    """Yield lines some at a time, by their number and by their bytes.

    Lines before one that can't be read are yielded first.
    """
    some: list[tuple[int, bytes]] = []
    size = 0
    try:
        for number, line in lines:
            some.append((number, line))
            size += len(line)
            if len(some) >= _LISTED_ROWS or size >= _BATCH_BYTES:
                yield some
                some, size = [], 0
    except CorruptFile:
        yield some
        raise
    yield some


def _lines(
    lines: Sequence[tuple[int, bytes]], places: Mapping[str, int], count: int, reader: BulkReader
) -> Iterator[BulkPicture]:
    split: list[tuple[int, list[bytes]]] = []
    for number, line in lines:
        fields = line.rstrip(b"\r\n").split(b"\t")
        if len(fields) == count:
            split.append((number, fields))
        else:
            problem = f"{len(fields)} columns between tabs, {count} are named"
            reader.damage(number, None, "unreadable", problem)
    for run in _runs(split):
        addresses = [_text(fields[places["address"]]) for _, fields in run]
        for at in reader.choose(run[0][0], addresses):
            number, fields = run[at]
            facts = {key: _text(fields[places[key]]) for key in _FACTS if key in places}
            content = fields[places["image"]]
            read = partial(_decoded, content) if content else partial(_bytes, None)
            yield _picture(number, str(addresses[at]), read, facts)


def _runs(rows: Sequence[tuple[int, _T]]) -> Iterator[list[tuple[int, _T]]]:
    """Yield rows that follow each other without a gap in their numbers."""
    run: list[tuple[int, _T]] = []
    for row in rows:
        if run and row[0] != run[-1][0] + 1:
            yield run
            run = []
        run.append(row)
    if run:
        yield run


def _text(field: bytes) -> str | None:
    try:
        return field.decode("utf-8") or None
    except UnicodeDecodeError:
        return None


def _archive(path: Path, spec: Bulk, reader: BulkReader) -> Iterator[BulkPicture]:
    """Read the pictures of an archive, each asked for while it is at hand."""
    pictures = ((member.name, member.read) for member in members(path) if is_picture(member.name))
    yield from _listed(pictures, spec, reader, 1)


def _folder(path: Path, spec: Bulk, reader: BulkReader) -> Iterator[BulkPicture]:
    below = (file for file in _walk(path) if is_picture(file.name))
    files = ((plain(e.relative_to(path).as_posix()), partial(_content, e)) for e in below)
    yield from _listed(files, spec, reader)


def _content(path: Path) -> bytes:
    """Return a file's bytes.

    Raises:
        Refused: too many of them, or none that may be read.
    """
    try:
        return file_content(path)
    except OSError as error:
        raise Refused(reason_of(error)) from error


def _walk(folder: Path) -> Iterator[Path]:
    """Yield the files below a folder, sorted within each; one folder's names are held at a time.

    Links to folders are not followed.

    Raises:
        AccessDenied: a folder that may not be listed.
    """
    try:
        with os.scandir(folder) as entries:
            names = sorted((entry.name, entry.is_dir(follow_symlinks=False)) for entry in entries)
    except OSError as error:
        raise AccessDenied(
            str(folder), reason_of(error), "let it be read, or name another"
        ) from error
    for name, is_folder in names:
        if is_folder:
            yield from _walk(folder / name)
        else:
            yield folder / name


def _listed(
    pictures: Iterator[tuple[str, Callable[[], bytes]]],
    spec: Bulk,
    reader: BulkReader,
    size: int = _LISTED_ROWS,
) -> Iterator[BulkPicture]:
    """Yield the wanted ones of pictures with a name each, which follows `base` in an address."""
    first = 1
    while some := list(islice(pictures, size)):
        addresses = [spec.base + quote(name.removeprefix("./")) for name, _ in some]
        for at in reader.choose(first, addresses):
            yield BulkPicture(first + at, addresses[at], some[at][1])
        first += len(some)
