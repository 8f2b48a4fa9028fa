"""A slice of a table's rows as a table of its own, for a shard that reads no more than its part."""

from pathlib import Path

import pyarrow.parquet as pq

from isotope.core.shards import Part, bounds


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
