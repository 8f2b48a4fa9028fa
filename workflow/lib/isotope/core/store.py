"""How files and tables reach the disk: aside first, then renamed, in groups of rows."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from isotope.collect.tables import IMAGES, QRELS, TEXTS
from isotope.core.errors import as_disk_full, as_unwritable
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


ROWS_PER_GROUP = 65_536
_ROWS_LOOKED_UP = 16_384
# A row that is looked up costs the decoding of a page, and of a dictionary, for each column.
_PAGE_BYTES = 65_536


@contextmanager
def aside(path: Path | str) -> Iterator[Path]:
    """Yield a sibling path to write to; rename it onto `path` on success, remove it on failure.

    Raises:
        DiskFull: no room for it; what `path` held before is untouched.
        Unwritable: a place that the system does not let be written.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield part
        part.replace(path)
    except BaseException as error:
        with suppress(OSError):
            part.unlink(missing_ok=True)
        _raise_named(error, path)
        raise


@contextmanager
def folder_aside(path: Path | str) -> Iterator[Path]:
    """Yield an empty sibling folder to fill; it takes the name `path` on success only.

    Raises:
        DiskFull: no room for it.
        Unwritable: a place that the system does not let be written.
    """
    path = Path(path)
    part = path.with_name(f".{path.name}.part")
    shutil.rmtree(part, ignore_errors=True)
    try:
        part.mkdir(parents=True)
        yield part
        shutil.rmtree(path, ignore_errors=True)
        part.replace(path)
    except BaseException as error:
        shutil.rmtree(part, ignore_errors=True)
        _raise_named(error, path)
        raise


def _raise_named(error: BaseException, path: Path) -> None:
    named = as_unwritable(as_disk_full(error, path), path)
    if named is not error:
        raise named from error


@contextmanager
def writer(path: Path | str, schema: pa.Schema) -> Iterator[pq.ParquetWriter]:
    """Open a Parquet writer (zstd) whose file appears under its name only when complete."""
    options: dict[str, Any] = {}
    if _looked_up(schema):
        options |= {"data_page_size": _PAGE_BYTES, "dictionary_pagesize_limit": _PAGE_BYTES}
    if schema == QRELS:
        options["bloom_filter_options"] = {"image_id": {"ndv": _ROWS_LOOKED_UP}}
    with (
        aside(path) as part,
        pq.ParquetWriter(part, schema, compression="zstd", **options) as out,
    ):
        yield out


def rows_per_group(schema: pa.Schema) -> int:
    """Return how many rows go together: few in the tables that `isotope show` looks ids up in."""
    return _ROWS_LOOKED_UP if _looked_up(schema) else ROWS_PER_GROUP


def _looked_up(schema: pa.Schema) -> bool:
    return any(schema.names[: len(t)] == t.names for t in (TEXTS, IMAGES, QRELS))


def write(table: pa.Table, path: Path | str, schema: pa.Schema) -> None:
    """Write a whole table, columns in the schema's order and types.

    Raises:
        pyarrow.ArrowInvalid: a value that does not fit its column's type.
        KeyError: a column of the schema that the table lacks.
    """
    with writer(path, schema) as out:
        rows = table.select(schema.names).cast(schema)
        out.write_table(rows, row_group_size=rows_per_group(schema))


def write_rows(rows: Sequence[Mapping[str, object]], path: Path | str, schema: pa.Schema) -> None:
    """Write rows given as dictionaries; keys that the schema lacks are an error."""
    write(pa.Table.from_pylist(list(rows), schema=schema), path, schema)
