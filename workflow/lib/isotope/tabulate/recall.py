"""Approximate systems side by side: what they find of the exact answer, and what they hold."""

from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pyarrow as pa

from isotope.core import sql, store
from isotope.tabulate.table import tabulate

RECALL = pa.schema(
    [
        *(pa.field(n, pa.string()) for n in ("collection", "system", "setting", "split", "task")),
        *(pa.field(n, pa.int64()) for n in ("documents", "bytes", "flat_bytes", "queries", "k")),
        pa.field("recall", pa.float64()),
    ]
)


def recall_table(measured: Sequence[Path], out: Path, systems: Sequence[str] = ()) -> None:
    """Write `out`.{csv,md,tex} from the recall that search measured, one file a system.

    `systems` is their order; others follow by name.

    Raises:
        MissingFile, CorruptFile: a table that is not there or not readable.
    """
    with TemporaryDirectory() as folder:
        together = Path(folder) / "recall.parquet"
        read = pl.concat([pl.read_csv(path, infer_schema_length=None) for path in measured])
        store.write(read.to_arrow(), together, RECALL)
        tabulate(sql.SQL / "tabulate/recall.sql", {"recall": together}, {"systems": systems}, out)
