"""A slice of a table's rows as a table of its own, for a shard that reads no more than its part."""

from pathlib import Path

import polars as pl
import pyarrow.parquet as pq

from isotope.parts import Part, bounds


def rows_in(table: Path) -> int:
    """Return how many rows a Parquet table has."""
    with pq.ParquetFile(table) as file:
        return file.metadata.num_rows


def write_slice(table: Path, part: Part, out: Path) -> int:
    """Write the rows of part (i, n) in their order; return how many. Memory does not grow.

    Raises:
        BadParams: no such part.
    """
    start, stop = bounds(rows_in(table), part)
    pl.scan_parquet(table).slice(start, stop - start).sink_parquet(out)
    return stop - start
