"""How the work of a phase is cut into shards: slices that follow each other."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core.errors import BadParams
from isotope.core.progress import Progress
from isotope.core.row_groups import grouped

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
