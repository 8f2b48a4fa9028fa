"""Tables written piece by piece, in row groups that do not tell the pieces."""

from collections.abc import Generator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import store
from isotope.core.columns import Group


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
