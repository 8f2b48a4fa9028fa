"""How the work of a phase is cut into shards: slices that follow each other."""

from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import store
from isotope.core.errors import BadParams
from isotope.core.progress import Progress

_MOST_BYTES = 2**31 - 1
_FIRST_BYTES = 1 << 16
_LEAP_BYTES = 1 << 28


class Group:
    """Rows gathered column by column, whatever pieces they come in."""

    def __init__(self, schema: pa.Schema, most: int) -> None:
        """Start with no rows; there is room for `most`."""
        self._schema, self.rows = schema, 0
        texts = (pa.types.is_string(kind) for kind in schema.types)
        self._columns = [_Texts(most) if is_text else _Others() for is_text in texts]

    def add(self, table: pa.Table) -> None:
        """Take the rows of a table that has the schema's columns.

        Raises:
            KeyError: a column that the table lacks.
        """
        for column, own in zip(
            table.select(self._schema.names).columns, self._columns, strict=True
        ):
            for piece in column.chunks:
                own.add(piece)
        self.rows += len(table)

    def table(self) -> pa.Table:
        """Return the rows, each column one piece; they are there until `clear` is called.

        Raises:
            pyarrow.ArrowInvalid, TypeError: values that are not of the schema's types.
        """
        columns = zip(self._columns, self._schema.types, strict=True)
        whole = [own.whole(kind) for own, kind in columns]
        return pa.Table.from_arrays(whole, schema=self._schema)

    def clear(self) -> None:
        """Forget the rows, and keep the memory."""
        for own in self._columns:
            own.clear()
        self.rows = 0


class _Others:
    """Values of any kind, held in their pieces."""

    def __init__(self) -> None:
        self._pieces: list[pa.Array] = []

    def add(self, piece: pa.Array) -> None:
        self._pieces.append(piece)

    def whole(self, kind: pa.DataType) -> pa.Array | pa.ChunkedArray:
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
        self._there = np.ones(self._most, np.bool_)
        self._bytes = np.empty(_FIRST_BYTES, np.uint8)
        self._rows = self._size = 0

    def add(self, piece: pa.Array) -> None:
        if not len(piece):
            return
        there, ends, text = piece.buffers()
        bounds = np.frombuffer(ends, np.int32, len(piece) + 1, piece.offset * 4)
        first, last = int(bounds[0]), int(bounds[-1])
        if self._size + last - first > _MOST_BYTES:
            self._full.append(self._sealed())
            self._make()
        rows = slice(self._rows, self._rows + len(piece))
        self._ends[rows.start + 1 : rows.stop + 1] = bounds[1:] - first + self._size
        self._there[rows] = piece.is_valid().to_numpy(zero_copy_only=False) if there else True
        if last > first:
            self._grow(self._size + last - first, rows.stop)
            self._bytes[self._size : self._size + last - first] = np.frombuffer(
                text, np.uint8, last - first, first
            )
        self._rows, self._size = rows.stop, self._size + last - first

    def _grow(self, wanted: int, rows: int) -> None:
        if wanted > len(self._bytes):
            before = self._bytes
            # Room that is never used costs nothing, and every move costs what is used anew.
            whole = min(5 * wanted * self._most // (4 * rows), _LEAP_BYTES)
            self._bytes = np.empty(min(max(2 * wanted, whole), _MOST_BYTES), np.uint8)
            self._bytes[: self._size] = before[: self._size]

    def _sealed(self) -> pa.Array:
        there = self._there[: self._rows]
        bits = None if there.all() else pa.py_buffer(np.packbits(there, bitorder="little"))
        held = [bits, pa.py_buffer(self._ends), pa.py_buffer(self._bytes)]
        return pa.Array.from_buffers(pa.string(), self._rows, held)

    def whole(self, kind: pa.DataType) -> pa.ChunkedArray:
        return pa.chunked_array([*self._full, self._sealed()], kind)

    def clear(self) -> None:
        self._full, self._rows, self._size = [], 0, 0


class Grouped:
    """Collect small tables and write them as row groups of one size."""

    def __init__(self, out: pq.ParquetWriter, thread: ThreadPoolExecutor) -> None:
        """Write to `out` in `thread`, both of which the caller ends."""
        self._out, self._thread = out, thread
        self._most = store.rows_per_group(out.schema)
        self._filling, self._other = (Group(out.schema, self._most) for _ in range(2))
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
        """Go on in the memory of a row group that was written: what it takes is there already."""
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


@contextmanager
def grouped(path: Path, schema: pa.Schema) -> Generator[Grouped, None, None]:
    """Open a table for writing small pieces; it appears under its name only when complete."""
    with store.writer(path, schema) as out, ThreadPoolExecutor(1) as thread:
        pieces = Grouped(out, thread)
        yield pieces
        pieces.finish()


_ROWS = 65_536


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


Part = tuple[int, int]
WHOLE: Part = (0, 1)
_Item = TypeVar("_Item")


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
    seen = 0
    with pq.ParquetFile(table) as file, pq.ParquetWriter(out, file.schema_arrow) as rows:
        for group in range(file.num_row_groups):
            size = file.metadata.row_group(group).num_rows
            first, last = max(start - seen, 0), min(stop - seen, size)
            if first < last:
                rows.write_table(file.read_row_group(group).slice(first, last - first))
            seen += size
    return stop - start
