"""Which questions each system has answered: one may leave some out."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pyarrow as pa

from isotope.core import sql, store
from isotope.core.grid import Cell, run_order
from isotope.core.progress import Progress
from isotope.core.runs import batches
from isotope.tabulate.table import tabulate
from isotope.tabulate.tables import ANSWERED_BY, TOPS

_SQL = sql.SQL / "tabulate"
_SECTIONS = 25


def tabulate_agreement(
    associations: Path, rejected: Path, sections: Path, *, language: str, stems: Sequence[Path]
) -> None:
    """Write two tables (csv, md, tex): agreement over all and by section, and each picture missed.

    Only articles that both have count. A picture is its page, its section's title and the name of
    its file; precision and recall are those of the snapshot, if WIT were right.

    Raises:
        MissingFile: a table that was not parsed.
    """
    both = {"associations": associations, "sections": sections}
    tabulate(
        _SQL / "associations.sql", both, {"language": language, "sections": _SECTIONS}, stems[0]
    )
    told = {**both, "rejected": rejected}
    tabulate(_SQL / "associations_missed.sql", told, {"language": language}, stems[1])


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


def tops_table(runs: Sequence[Path], *, depth: int, out: Path) -> None:
    """Write tables.TOPS: the first `depth` hits of every query of every run.

    Runs lie at `.../<setting>/<split>/<task>/<system>.parquet` and are read in pieces.

    Raises:
        As `runs.batches` and `Cell.of`.
    """
    progress = Progress("runs", len(runs))
    with store.writer(out, TOPS) as writer:
        for path in sorted(runs, key=run_order):
            named = {"task": pl.lit(Cell.of(path).task), "system": pl.lit(path.stem)}
            for piece in batches(path):
                first = piece.filter(pl.col("rank") <= depth).with_columns(**named)
                rows = first.select(TOPS.names).to_arrow().cast(TOPS)
                writer.write_table(rows, row_group_size=store.ROWS_PER_GROUP)
            progress.add()
    progress.finish()


def write_answered(runs: Sequence[Path], answered: Mapping[str, Path], out: Path) -> None:
    """Write tables.ANSWERED_BY: for each run, in their order, the queries that have an answer.

    A query is answered when it has a hit, or when a file of answers has a line on it, though the
    entity is not found: `answered` has tables.ANSWERED of such systems, by name.
    """
    with store.writer(out, ANSWERED_BY) as writer:
        for path in runs:
            cell, system = Cell.of(path), path.stem
            parts = [pl.scan_parquet(p, glob=False) for p in (path, answered.get(system)) if p]
            ids = pl.concat([part.select("query_id") for part in parts]).unique().sort("query_id")
            rows = ids.select(
                pl.lit(cell.setting).alias("setting"),
                pl.lit(cell.split).alias("split"),
                pl.lit(system).alias("system"),
                "query_id",
            ).collect()
            writer.write_table(rows.to_arrow().cast(ANSWERED_BY))
