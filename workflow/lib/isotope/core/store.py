"""How files and tables reach the disk: aside first, then renamed, in groups of rows."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core.errors import as_disk_full, as_unwritable

ROWS_PER_GROUP = 65_536
_ROWS_LOOKED_UP = 16_384
# A row that is looked up costs the decoding of a page, and of a dictionary, for each column.
_PAGE_BYTES = 65_536
_LOOKED_UP: set[tuple[str, ...]] = set()
_FILTERED: dict[tuple[str, ...], tuple[str, ...]] = {}


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
    if is_looked_up(schema):
        options |= {"data_page_size": _PAGE_BYTES, "dictionary_pagesize_limit": _PAGE_BYTES}
    if filtered := _FILTERED.get(tuple(schema.names)):
        options["bloom_filter_options"] = {name: {"ndv": _ROWS_LOOKED_UP} for name in filtered}
    with (
        aside(path) as part,
        pq.ParquetWriter(part, schema, compression="zstd", **options) as out,
    ):
        yield out


def rows_per_group(schema: pa.Schema) -> int:
    """Return how many rows go together: few in the tables that `isotope show` looks ids up in."""
    return _ROWS_LOOKED_UP if is_looked_up(schema) else ROWS_PER_GROUP


def look_up(schema: pa.Schema, *filtered: str) -> pa.Schema:
    """Return the schema; rows of tables that begin with its columns are found one by one, by id.

    Such tables have small row groups and pages, and a Bloom filter for each column in `filtered`.
    """
    _LOOKED_UP.add(tuple(schema.names))
    _FILTERED[tuple(schema.names)] = filtered
    return schema


def is_looked_up(schema: pa.Schema) -> bool:
    """Tell whether rows of tables with this schema are found one by one."""
    return any(tuple(schema.names[: len(names)]) == names for names in _LOOKED_UP)


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
