"""What the shards of a phase wrote becomes one table, the same whatever their number was."""

from collections.abc import Callable, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

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
