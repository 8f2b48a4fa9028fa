"""How files and tables reach the disk, and how tables are cut into parts and gathered again.

A file is written aside and renamed when it is complete (`aside`, `folder_aside`). A table is
written whole (`write`), batch by batch (`writer`) or in small pieces (`grouped`), in row groups of
one size, so that its bytes do not depend on how it came. `bounds` cuts rows into parts that follow
each other; `gather` writes the tables of all parts as one.
"""

import errno
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core.errors import BadParams, IntegrityError, as_disk_full, as_unwritable
from isotope.core.progress import Progress

ROWS_PER_GROUP = 65_536
_ROWS_LOOKED_UP = 16_384
# A row that is looked up costs the decoding of a page, and of a dictionary, for each column.
_PAGE_BYTES = 65_536
_LOOKED_UP: set[tuple[str, ...]] = set()
_FILTERED: dict[tuple[str, ...], tuple[str, ...]] = {}
_MOST_BYTES = 2**31 - 1
_FIRST_BYTES = 1 << 16
_LEAP_BYTES = 1 << 28
_ROWS = 65_536
# A name for what is not complete, which DVC and git leave out.
_NEAR, _PROBE = ".scratch.part", "probe.part"
Part = tuple[int, int]
UNDIVIDED: Part = (0, 1)
_Item = TypeVar("_Item")


@contextmanager
def aside(path: Path | str) -> Iterator[Path]:
    """Yield a sibling path to write to; rename it onto `path` on success, remove it on failure.

    Raises:
        DiskFull: no room for it; what `path` held before is untouched.
        Unwritable: a place that the system does not let be written.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        part.replace(path)
    except BaseException as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        _raise_named(error, path)
        raise


@contextmanager
def folder_aside(path: Path | str) -> Iterator[Path]:
    """Yield an empty sibling folder to fill; it takes the name `path` on success only.

    Raises:
        DiskFull: no room for it.
        Unwritable: a place that the system does not let be written.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(parents=True)
        yield part
        shutil.rmtree(path, ignore_errors=True)
        part.replace(path)
    except BaseException as error:
        shutil.rmtree(part, ignore_errors=True)
        _raise_named(error, path)
        raise


@contextmanager
def scratch(path: Path | str) -> Iterator[Path]:
    """Yield an empty folder beside `path`, for what is made on the way to it and then removed.

    It has one name for a path: what a killed process left in it is removed by the next one.

    Raises:
        DiskFull: no room for it.
        Unwritable: a place that the system does not let be written.
    """
    path = Path(path)
    folder = path.with_name(f".{path.name}.scratch")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        folder.mkdir(parents=True)
        yield folder
    except BaseException as error:
        _raise_named(error, path)
        raise
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def near(goal: Path, scratch: Path) -> Path:
    """Return a folder from which files can be renamed into the folder `goal`: `scratch` if it can.

    On another file system, or another mount of the same one, it is `.scratch.part` in `goal`, so
    that what is on its way takes room where it will lie.

    Raises:
        Unwritable, DiskFull: a folder that can't be made or written in.
    """
    for folder in (goal, scratch):
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            _raise_named(error, folder)
            raise
    probe = goal / f".{_PROBE}"
    try:
        (scratch / _PROBE).touch()
        (scratch / _PROBE).replace(probe)
    except OSError as error:
        if error.errno != errno.EXDEV:
            _raise_named(error, probe)
            raise
        (scratch / _PROBE).unlink(missing_ok=True)
        return goal / _NEAR
    probe.unlink()
    return scratch


@contextmanager
def writer(path: Path | str, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """Open a Parquet writer (zstd) whose file appears under its name only when complete.

    Raises:
        IntegrityError: a NULL among the items of a list of `schemas.list_of`, with its row.
    """
    options: dict[str, Any] = {}
    if is_looked_up(schema):
        options |= {"data_page_size": _PAGE_BYTES, "dictionary_pagesize_limit": _PAGE_BYTES}
    if filtered := _FILTERED.get(tuple(schema.names)):
        options["bloom_filter_options"] = {name: {"ndv": _ROWS_LOOKED_UP} for name in filtered}
    with (
        aside(path) as part,
        _Writer(part, schema, Path(path).name, compression="zstd", **options) as out,
    ):
        yield out


class _Writer(pq.ParquetWriter):
    """A Parquet writer that refuses NULL items; what it writes does not say that there are none."""

    def __init__(self, part: Path, schema: pa.Schema, name: str, **options: Any) -> None:  # noqa: ANN401
        self._name, self._rows = name, 0
        self._lists = [field.name for field in schema if _bans_nulls(field.type)]
        super().__init__(part, pa.schema(map(_relaxed, schema)), **options)

    def write_table(self, table: pa.Table, row_group_size: int | None = None) -> None:
        for name in self._lists:
            if name in table.column_names:
                self._refuse_nulls(name, table[name])
        columns = [_relaxed_column(column) for column in table.columns]
        relaxed = pa.table(columns, pa.schema(map(_relaxed, table.schema)))
        super().write_table(relaxed, row_group_size)
        self._rows += len(table)

    def _refuse_nulls(self, name: str, column: pa.ChunkedArray) -> None:
        row = self._rows
        for piece in column.chunks:
            if piece.flatten().null_count:
                row += next(n for n, items in enumerate(piece.to_pylist()) if None in (items or ()))
                problem = "NULL is one of the items of a list"
                remedy = "give '' for a text that is not there, or leave the item out"
                raise IntegrityError(f"{self._name}, column {name}, row {row + 1}", problem, remedy)
            row += len(piece)


def _bans_nulls(kind: pa.DataType) -> bool:
    return pa.types.is_list(kind) and not kind.value_field.nullable


def _relaxed(field: pa.Field) -> pa.Field:
    return field.with_type(pa.list_(field.type.value_type)) if _bans_nulls(field.type) else field


def _relaxed_column(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    return column.cast(pa.list_(kind.value_type)) if _bans_nulls(kind) else column


def rows_per_group(schema: pa.Schema) -> int:
    """Return how many rows go together: few in the tables that `isotope show` looks ids up in."""
    return _ROWS_LOOKED_UP if is_looked_up(schema) else ROWS_PER_GROUP


def look_up(schema: pa.Schema, *filtered: str) -> pa.Schema:
    """Return the schema; rows of tables that begin with its columns are found one by one, by id.

    Such tables have small row groups and pages, and a Bloom filter for each column in `filtered`.
    """
    _LOOKED_UP.add(tuple(schema.names))
    _FILTERED[tuple(schema.names)] = filtered
    return schema


def is_looked_up(schema: pa.Schema) -> bool:
    """Tell whether rows of tables with this schema are found one by one."""
    return any(tuple(schema.names[: len(names)]) == names for names in _LOOKED_UP)


def write(table: pa.Table, path: Path | str, schema: pa.Schema) -> None:
    """Write a whole table, columns in the schema's order and types.

    Raises:
        pyarrow.ArrowInvalid: a value that does not fit its column's type.
        KeyError: a column of the schema that the table lacks.
    """
    with writer(path, schema) as out:
        rows = table.select(schema.names).cast(out.schema)
        out.write_table(rows, row_group_size=rows_per_group(schema))


def write_rows(rows: Sequence[Mapping[str, object]], path: Path | str, schema: pa.Schema) -> None:
    """Write rows given as dictionaries; keys that the schema lacks are an error."""
    relaxed = pa.schema(map(_relaxed, schema))
    write(pa.Table.from_pylist(list(rows), schema=relaxed), path, schema)


@contextmanager
def grouped(path: Path, schema: pa.Schema) -> Generator["GroupedWriter", None, None]:
    """Open a table for writing small pieces; it appears under its name only when complete."""
    with writer(path, schema) as out, ThreadPoolExecutor(1) as thread:
        pieces = GroupedWriter(out, thread)
        yield pieces
        pieces.finish()


def gather(
    parts: Sequence[Path],
    out: Path,
    schema: pa.Schema,
    mend: Callable[[int, pa.Table], pa.Table] = lambda _, rows: rows,
) -> int:
    """Write the rows of all parts in their order; return how many. `mend` sees a part's rows first.

    Memory follows the size of a row group, not of a table.
    """
    progress = Progress(f"rows of {out.stem} gathered")
    with grouped(out, schema) as rows:
        for n, part in enumerate(parts):
            with pq.ParquetFile(part) as file:
                for batch in file.iter_batches(_ROWS, columns=schema.names):
                    rows.add(mend(n, pa.Table.from_batches([batch]).cast(schema)))
                    progress.add(len(batch))
    progress.finish()
    return progress.done


def bounds(size: int, part: Part) -> tuple[int, int]:
    """Return where part (i, n) of `size` things begins and ends; parts are counted from 0.

    Raises:
        BadParams: no such part.
    """
    i, n = part
    if not 0 <= i < n:
        raise BadParams("shards", f"shard {i} of {n}", "count shards from 0")
    return size * i // n, size * (i + 1) // n


def part_of(items: Sequence[_Item], part: Part) -> Sequence[_Item]:
    """Return the items of a part.

    Raises:
        BadParams: no such part.
    """
    start, stop = bounds(len(items), part)
    return items[start:stop]


def rows_in(table: Path) -> int:
    """Return how many rows a Parquet table has."""
    with pq.ParquetFile(table) as file:
        return file.metadata.num_rows


def write_slice(table: Path, part: Part, out: Path) -> int:
    """Write the rows of part (i, n) in their order; return how many.

    Memory follows the size of a row group, not of a table.

    Raises:
        BadParams: no such part.
    """
    start, stop = bounds(rows_in(table), part)
    passed = 0
    with pq.ParquetFile(table) as file, pq.ParquetWriter(out, file.schema_arrow) as rows:
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            first, last = max(start - passed, 0), min(stop - passed, size)
            if first < last:
                rows.write_table(file.read_row_group(group).slice(first, last - first))
            passed += size
    return stop - start


def _raise_named(error: BaseException, path: Path) -> None:
    named = as_unwritable(as_disk_full(error, path), path)
    if named is not error:
        raise named from error


class GroupedWriter:
    """Collect small tables and write them as row groups of one size."""

    def __init__(self, out: pq.ParquetWriter, thread: ThreadPoolExecutor) -> None:
        """Write to `out` in `thread`, both of which the caller ends."""
        self._out, self._thread = out, thread
        self._most = rows_per_group(out.schema)
        self._filling, self._other = (RowGroup(out.schema, self._most) for _ in range(2))
        self._writing: Future[None] | None = None

    def add(self, table: pa.Table) -> None:
        """Take the table; whenever a row group is full it is written, while the next one fills."""
        while len(table):
            self._return()
            room = self._most - self._filling.rows
            self._filling.add(table.slice(0, room))
            table = table.slice(room)
            if self._filling.rows == self._most:
                self._write()

    def finish(self) -> None:
        """Write what is left."""
        if self._filling.rows:
            self._write()
        self._written()

    def _write(self) -> None:
        self._written()
        # Pages are cut where pieces of a column end, so pieces must leave no trace.
        full = self._filling.table()
        self._writing = self._thread.submit(self._out.write_table, full, self._most)
        self._swap()

    def _return(self) -> None:
        """Reuse the memory of a row group that was written."""
        if self._writing and self._writing.done():
            self._written()
            some = self._filling.table()
            self._swap()
            self._filling.add(some)

    def _swap(self) -> None:
        self._filling, self._other = self._other, self._filling
        self._filling.clear()

    def _written(self) -> None:
        if self._writing:
            self._writing.result()
            self._writing = None


class RowGroup:
    """Rows gathered column by column, whatever pieces they come in."""

    def __init__(self, schema: pa.Schema, most: int) -> None:
        """Start with no rows; there is room for `most`."""
        self._schema, self.rows = schema, 0
        texts = (pa.types.is_string(kind) for kind in schema.types)
        self._columns = [_Texts(most) if is_text else _Other() for is_text in texts]

    def add(self, table: pa.Table) -> None:
        """Take the rows of a table that has the schema's columns.

        Raises:
            KeyError: a column that the table lacks.
        """
        for column, buffer in zip(
            table.select(self._schema.names).columns, self._columns, strict=True
        ):
            for piece in _relaxed_column(column).chunks:
                buffer.add(piece)
        self.rows += len(table)

    def table(self) -> pa.Table:
        """Return the rows, each column one piece; they are there until `clear` is called.

        Raises:
            pyarrow.ArrowInvalid, TypeError: values that are not of the schema's types.
        """
        columns = zip(self._columns, self._schema.types, strict=True)
        columns_joined = [buffer.joined(kind) for buffer, kind in columns]
        return pa.Table.from_arrays(columns_joined, schema=self._schema)

    def clear(self) -> None:
        """Remove the rows, and keep the memory."""
        for buffer in self._columns:
            buffer.clear()
        self.rows = 0


class _Other:
    """Values of any kind, held in their pieces."""

    def __init__(self) -> None:
        self._pieces: list[pa.Array] = []

    def add(self, piece: pa.Array) -> None:
        self._pieces.append(piece)

    def joined(self, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
        return pa.chunked_array(self._pieces, kind).combine_chunks()

    def clear(self) -> None:
        self._pieces = []


class _Texts:
    """Strings, copied one behind the other."""

    def __init__(self, most: int) -> None:
        self._most, self._full = most, list[pa.Array]()
        self._make()

    def _make(self) -> None:
        self._ends = np.zeros(self._most + 1, np.int32)
        self._valid = np.ones(self._most, np.bool_)
        self._bytes = np.empty(_FIRST_BYTES, np.uint8)
        self._rows = self._size = 0

    def add(self, piece: pa.Array) -> None:
        if not len(piece):
            return
        validity, ends, text = piece.buffers()
        bounds = np.frombuffer(ends, np.int32, len(piece) + 1, piece.offset * 4)
        first, last = int(bounds[0]), int(bounds[-1])
        if self._size + last - first > _MOST_BYTES:
            self._full.append(self._sealed())
            self._make()
        rows = slice(self._rows, self._rows + len(piece))
        self._ends[rows.start + 1 : rows.stop + 1] = bounds[1:] - first + self._size
        self._valid[rows] = piece.is_valid().to_numpy(zero_copy_only=False) if validity else True
        if last > first:
            self._grow(self._size + last - first, rows.stop)
            self._bytes[self._size : self._size + last - first] = np.frombuffer(
                text, np.uint8, last - first, first
            )
        self._rows, self._size = rows.stop, self._size + last - first

    def _grow(self, needed: int, rows: int) -> None:
        if needed > len(self._bytes):
            before = self._bytes
            # Unused address space costs no memory, and growing copies all that is used.
            projected = min(5 * needed * self._most // (4 * rows), _LEAP_BYTES)
            self._bytes = np.empty(min(max(2 * needed, projected), _MOST_BYTES), np.uint8)
            self._bytes[: self._size] = before[: self._size]

    def _sealed(self) -> pa.Array:
        valid = self._valid[: self._rows]
        bits = None if valid.all() else pa.py_buffer(np.packbits(valid, bitorder="little"))
        buffers = [bits, pa.py_buffer(self._ends), pa.py_buffer(self._bytes)]
        return pa.Array.from_buffers(pa.string(), self._rows, buffers)

    def joined(self, kind: pa.DataType) -> pa.ChunkedArray:
        return pa.chunked_array([*self._full, self._sealed()], kind)

    def clear(self) -> None:
        self._full, self._rows, self._size = [], 0, 0
