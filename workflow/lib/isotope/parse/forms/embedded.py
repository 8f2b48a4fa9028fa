"""Tables of Arrow with pictures in them: columns of bytes, or of records of bytes and path.

A picture within a table is called by its content, the first 32 hexadecimal digits of the SHA-256 of
its bytes and the suffix of its format, so that rows with equal pictures have one. The records are
those of the feature `Image` of Hugging Face's `datasets`; one without bytes is called by its path.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

import pyarrow as pa

from isotope.core.errors import CorruptFile
from isotope.intake.tables import parquet_batches, parquet_file
from isotope.parse.forms.base import FILE, ROW, WHERE, Picture
from isotope.parse.forms.columns import with_splits
from isotope.parse.forms.texts import files_of, named, places

_ROWS, _PICTURES = 4096, 64
_FORMATS = (
    *((b"\xff\xd8\xff", "jpg"), (b"\x89PNG\r\n\x1a\n", "png"), (b"GIF8", "gif"), (b"BM", "bmp")),
    *((b"II*\x00", "tif"), (b"MM\x00*", "tif")),
)


@dataclass(frozen=True)
class RowFile:
    """A file of rows: its name, its columns, and batches of some of them, of so many rows."""

    path: Path
    name: str
    schema: pa.Schema
    batches: Callable[[Sequence[str], int], Iterator[pa.RecordBatch]]


def parquet(path: Path, name: str) -> RowFile:
    """Open a Parquet file.

    Raises:
        CorruptFile: it is none.
    """
    with parquet_file(path) as file:
        schema = file.schema_arrow
    return RowFile(path, name, schema.remove_metadata(), partial(parquet_batches, path))


def read(tables: Sequence[RowFile]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of all tables, with the columns that any of them has.

    Raises:
        CorruptFile: a table whose columns have other types than those before; a damaged one; a
            column that bears the name of one of `base.WHERE`.
    """
    schema = _joint(tables)
    for table in tables:
        pictures = picture_columns(table)
        row = 0
        for batch in table.batches(table.schema.names, _PICTURES if pictures else _ROWS):
            columns = {field.name: batch[field.name] for field in batch.schema}
            for name in pictures:
                columns |= _named(name, batch[name])
            where = [
                pa.array([table.name] * len(batch)),
                pa.array(range(row + 1, row + 1 + len(batch))),
            ]
            arrays = [
                _column(columns.get(f.name), f.type, len(batch)) for f in islice(schema, 2, None)
            ]
            yield pa.record_batch([*where, *arrays], schema=schema)
            row += len(batch)


def read_files(paths: Sequence[Path]) -> Iterator[pa.RecordBatch]:
    """Yield rows of all files, with the columns of any of them; `split` as in `delimited`.

    Raises:
        CorruptFile: a file that is no Parquet, or whose columns have other types than before.
    """
    files = named(files_of(paths))
    batches = read([parquet(*file) for file in files])
    yield from with_splits(batches, FILE, places(files, paths))


def pictures(tables: Sequence[RowFile]) -> Iterator[Picture]:
    """Yield the pictures of all tables, row by row.

    Raises:
        CorruptFile: a damaged table.
    """
    for table in tables:
        names = picture_columns(table)
        for batch in table.batches(names, _PICTURES) if names else ():
            for name in names:
                for value in batch[name]:
                    data = _bytes(value.as_py())
                    if data:
                        yield name_of(data), partial(bytes, data)


def name_of(data: bytes) -> str:
    """Return what a picture of these bytes is called."""
    return f"{hashlib.sha256(data).hexdigest()[:32]}.{_format(data) or 'bin'}"


def picture_columns(table: RowFile) -> list[str]:
    """Return the columns of pictures: records of bytes and path, and bytes that begin as pictures.

    Raises:
        CorruptFile: a damaged table.
    """
    records = [field.name for field in table.schema if _is_record(field.type)]
    binary = [field.name for field in table.schema if _is_binary(field.type)]
    batch = next(table.batches(binary, _PICTURES), None) if binary else None
    begun = [
        name
        for name in binary
        if batch is not None and any(v and _format(v) for v in batch[name].to_pylist())
    ]
    return [name for name in table.schema.names if name in (*records, *begun)]


def _format(data: bytes) -> str | None:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    return next((name for magic, name in _FORMATS if data.startswith(magic)), None)


def _is_binary(kind: pa.DataType) -> bool:
    return pa.types.is_binary(kind) or pa.types.is_large_binary(kind)


def _is_record(kind: pa.DataType) -> bool:
    if not pa.types.is_struct(kind):
        return False
    fields = {field.name: field.type for field in kind}
    return {*fields} == {"bytes", "path"} and _is_binary(fields["bytes"])


def _bytes(value: object) -> bytes | None:
    return value.get("bytes") if isinstance(value, dict) else value  # pyright: ignore


def _named(name: str, column: pa.Array) -> dict[str, pa.Array]:
    """Return the names of a column's pictures, and their paths where it has paths."""
    values = column.to_pylist()
    paths = [value and value.get("path") if isinstance(value, dict) else None for value in values]
    names = [
        name_of(data) if data else path
        for data, path in zip(map(_bytes, values), paths, strict=True)
    ]
    columns = {name: pa.array(names, pa.string())}
    return (
        columns | {f"{name}.path": pa.array(paths, pa.string())}
        if _is_record(column.type)
        else columns
    )


def _columns(table: RowFile) -> pa.Schema:
    """Return the columns that rows of a table have."""
    pictures, fields = picture_columns(table), list[pa.Field]()
    for field in table.schema:
        if field.name in pictures:
            fields.append(pa.field(field.name, pa.string()))
            if _is_record(field.type):
                fields.append(pa.field(f"{field.name}.path", pa.string()))
        elif pa.types.is_dictionary(field.type):
            fields.append(pa.field(field.name, field.type.value_type))
        else:
            fields.append(pa.field(field.name, field.type))
    return pa.schema(fields)


def _joint(tables: Sequence[RowFile]) -> pa.Schema:
    joint = pa.schema([])
    for table in tables:
        taken = [name for name in (FILE, ROW) if name in table.schema.names]
        if taken:
            problem = f"a column called {taken[0]}"
            raise CorruptFile(table.path, problem, "rename it: rows are located by it")
        try:
            joint = pa.unify_schemas([joint, _columns(table)], promote_options="permissive")
        except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
            problem = f"columns of other types than in the files before it: {error}"
            raise CorruptFile(table.path, problem, "write all files with the same types") from error
    return pa.schema([*WHERE, *joint])


def _column(column: pa.Array | None, kind: pa.DataType, rows: int) -> pa.Array:
    return pa.nulls(rows, kind) if column is None else column.cast(kind)
