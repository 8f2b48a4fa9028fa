"""Judgements that came with a data set, in Parquet or as TREC qrels, and the split of each file."""

import re
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import store, trec
from isotope.core.errors import BadParams, CorruptFile, MissingColumn

JUDGEMENTS = pa.schema(
    [
        *(("file", pa.string()), ("row", pa.int64()), ("split", pa.string())),
        *((name, pa.string()) for name in ("query_id", "doc_id")),
        ("relevance", pa.int32()),
    ]
)
_COLUMNS = ("text_id", "image_id", "rel")
_SPLITS = {"train": "train", "test": "test"} | dict.fromkeys(
    ("validation", "valid", "val", "dev"), "validation"
)
_SPLIT = re.compile(rf"(?<![a-z])(?:{'|'.join(_SPLITS)})(?![a-z])")
_ROWS = 65_536


def write_judgements(files: Sequence[Path], out: Path) -> Path:
    """Write JUDGEMENTS, the rows of all files in their order; return `out`.

    A Parquet file has AToMiC's columns text_id, image_id and rel; its query is the text. Anything
    else is TREC qrels, plain or gzipped, whose query may be the text or the image. `row` counts
    from 1.

    Raises:
        BadParams: a file whose name, or whose folder's name, tells no split.
        MissingColumn: a Parquet file without one of the columns.
        CorruptFile: what is neither Parquet nor TREC qrels, with the line.
    """
    splits = {path: split_of(path) for path in files}
    with store.writer(out, JUDGEMENTS) as table:
        for path, split in splits.items():
            row = 1
            for told in _read(path):
                named = [f"{path.parent.name}/{path.name}", split]
                file, own = (pa.repeat(pa.scalar(n, pa.string()), told.num_rows) for n in named)
                rows = pa.array(range(row, row + told.num_rows), pa.int64())
                columns = [file, rows, own, *(told.column(n) for n in told.schema.names)]
                table.write_table(pa.table(columns, names=JUDGEMENTS.names).cast(JUDGEMENTS))
                row += told.num_rows
    return out


def split_of(path: Path) -> str:
    """Return the split that a file's name tells, such as `qrels.atomic.validation.t2i.trec.gz`.

    Raises:
        BadParams: neither the name nor that of the folder tells one.
    """
    for name in (path.name, path.parent.name):
        found = _SPLIT.search(name.lower())
        if found:
            return _SPLITS[found[0]]
    remedy = "put train, validation or test into its name, such as validation.parquet"
    raise BadParams(path, "judgements of a split that the name does not tell", remedy)


def _read(path: Path) -> Iterator[pa.Table]:
    """Yield query_id, doc_id and relevance."""
    if path.suffix != ".parquet":
        told = trec.read_qrels(path).to_arrow()
        yield told.select(JUDGEMENTS.names[3:])
        return
    try:
        with pq.ParquetFile(path) as file:
            lacking = [name for name in _COLUMNS if name not in file.schema_arrow.names]
            if lacking:
                found = f"no column {', '.join(lacking)} among {', '.join(file.schema_arrow.names)}"
                raise MissingColumn(path, found, "give qrels with text_id, image_id and rel")
            for batch in file.iter_batches(_ROWS, columns=list(_COLUMNS)):
                told = pa.Table.from_batches([batch]).select(list(_COLUMNS))
                yield told.rename_columns(JUDGEMENTS.names[3:])
    except pa.ArrowInvalid as error:
        raise CorruptFile(path, f"can't be read: {error}", "fetch it again") from error
