"""Tables written piece by piece, in row groups that do not tell the pieces."""

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from isotope import store


class Grouped:
    """Collect small tables and write them as row groups of one size."""

    def __init__(self, out: pq.ParquetWriter) -> None:
        """Write to `out`, which the caller opens and closes."""
        self._out, self._held, self._rows = out, list[pa.Table](), 0

    def add(self, table: pa.Table) -> None:
        """Take the table, columns in the schema's order; write whenever a row group is full."""
        self._held.append(table)
        self._rows += len(table)
        if self._rows >= store.ROWS_PER_GROUP:
            self._write(self._rows - self._rows % store.ROWS_PER_GROUP)

    def finish(self) -> None:
        """Write what is left."""
        if self._rows:
            self._write(self._rows)

    def _write(self, rows: int) -> None:
        # Pages are cut where pieces of a column end, so pieces must leave no trace.
        table = pa.concat_tables(self._held).combine_chunks()
        self._out.write_table(table.slice(0, rows), row_group_size=store.ROWS_PER_GROUP)
        self._held, self._rows = [table.slice(rows)], self._rows - rows


@contextmanager
def grouped(path: Path, schema: pa.Schema) -> Generator[Grouped, None, None]:
    """Open a table for writing small pieces; it appears under its name only when complete."""
    with store.writer(path, schema) as out:
        pieces = Grouped(out)
        yield pieces
        pieces.finish()
