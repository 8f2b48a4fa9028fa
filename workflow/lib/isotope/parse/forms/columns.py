"""Types of columns: what the values of texts and of JSON are, and batches of rows that have them.

All rows are looked at before the first is written, so that a column has one type from the first
batch to the last. An integer, number or date that text spells is read as such only where the same
text can be written again (`007` stays text); a number may lose zeros at its end.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.compute as pc

from isotope.core.errors import CorruptFile
from isotope.core.faults import named_after
from isotope.parse.forms.base import FILE, ROW, WHERE
from isotope.parse.forms.texts import SPLIT_NAMES, split_in

ROWS = 4096
Record = Mapping[str, object]
# A file's name, the row, and what stands there.
Located = tuple[str, int, Record]
_Item = TypeVar("_Item")
_INT32 = range(-(2**31), 2**31)
_INT64 = range(-(2**63), 2**63)
# The first that fits all texts of a column is its type.
_SPELLED = {
    "bool": (pa.bool_(), r"^(true|false|True|False)$"),
    "int": (pa.int64(), r"^(0|-?[1-9][0-9]{0,17})$"),
    "float": (pa.float64(), r"^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]{1,2})?$"),
    "date": (pa.date32(), r"^[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])$"),
}


def chunks(items: Iterable[_Item], size: int = ROWS) -> Iterator[list[_Item]]:
    """Yield items in lists of `size`, the last one shorter."""
    source = iter(items)
    while chunk := list(islice(source, size)):
        yield chunk


def typed_texts(
    read: Callable[[], Iterator[Located]], names: Sequence[str], strings: Collection[str] = ()
) -> Iterator[pa.RecordBatch]:
    """Yield rows of texts as batches; an empty text is null.

    `read` is called twice and yields the same rows; the columns `strings` stay texts.

    Raises:
        CorruptFile: a column that bears the name of one of `base.WHERE`.
    """
    _check(names)
    possible = {name: dict(_SPELLED) for name in names if name not in strings}
    for chunk in chunks(_located(read())):
        for name, kinds in possible.items():
            _narrow(kinds, _texts(chunk, name))
    types = {name: _first(possible.get(name, {})) for name in names}
    schema = pa.schema([*WHERE, *types.items()])
    for chunk in chunks(_located(read())):
        columns = [_cast(_texts(chunk, name), kind) for name, kind in types.items()]
        yield pa.record_batch([*_where(chunk), *columns], schema=schema)


def typed_values(read: Callable[[], Iterator[Located]]) -> Iterator[pa.RecordBatch]:
    """Yield rows of JSON values as batches, columns in the order in which they first come.

    Values of several types in one column, records and lists of anything but scalars become JSON's
    text. `read` is called twice and yields the same rows.

    Raises:
        CorruptFile: as `typed_texts`.
    """
    kinds: dict[str, _Values] = {}
    for _, _, record in _located(read()):
        for name, value in record.items():
            kinds.setdefault(name, _Values()).see(value)
    _check([*kinds])
    types = {name: kind.type() for name, kind in kinds.items()}
    schema = pa.schema([*WHERE, *types.items()])
    for chunk in chunks(_located(read())):
        columns = [
            pa.array([_value(record.get(name), kind) for _, _, record in chunk], kind)
            for name, kind in types.items()
        ]
        yield pa.record_batch([*_where(chunk), *columns], schema=schema)


def batches(rows: Iterable[Located], columns: pa.Schema) -> Iterator[pa.RecordBatch]:
    """Yield rows as batches of these columns of texts and integers, behind those of `base.WHERE`.

    What is no text becomes one in a column of texts, and what is no integer null in one of those.
    """
    schema = pa.schema([*WHERE, *columns])
    for chunk in chunks(_located(rows)):
        arrays = [
            fitted([record.get(name) for _, _, record in chunk], kind)
            for name, kind in zip(columns.names, columns.types, strict=True)
        ]
        yield pa.record_batch([*_where(chunk), *arrays], schema=schema)


def fitted(values: Sequence[object], kind: pa.DataType) -> pa.Array:
    """Return values of JSON as a column of texts, integers or lists, as `batches` has them.

    Values that all have the type, or are whole numbers, are taken without a look at each.
    """
    try:
        column = pa.array(values)
    except (pa.ArrowException, OverflowError):
        column = None
    if column is not None and _is_plain(column, kind):
        return column.cast(kind)
    return pa.array([_fitted(value, kind) for value in values], kind)


def _is_plain(column: pa.Array, kind: pa.DataType) -> bool:
    """Tell whether a cast to a type gives what `_fitted` makes of each value."""
    if pa.types.is_integer(column.type) and pa.types.is_integer(kind):
        ends = pc.call_function("min_max", [column]).as_py()
        return ends["min"] in _INT32 and ends["max"] in _INT32
    if pa.types.is_integer(column.type):
        return pa.types.is_string(kind)
    return pa.types.is_null(column.type) or (pa.types.is_string(kind) and column.type == kind)


def renamed(fields: Mapping[str, object], columns: Sequence[str]) -> dict[str, object]:
    """Return the fields of a JSON file, those called as a column of ours as `json.name`."""
    return {f"json.{name}" if name in columns else name: value for name, value in fields.items()}


def with_splits(
    batches: Iterable[pa.RecordBatch], column: str, paths: Mapping[str, str]
) -> Iterator[pa.RecordBatch]:
    """Yield batches with a column `split`, that of the path of what `column` names.

    Where all `paths`, by name, are not of two splits or more, or where rows have a column of this
    name, batches stay as they are. A name without a path is one.
    """
    splits = {SPLIT_NAMES.get(split_in(path) or "") for path in paths.values()} - {None}
    for batch in batches:
        if len(splits) > 1 and "split" not in batch.schema.names:
            names = batch[column].to_pylist()
            splits_of_rows = [split_in(paths.get(name, name)) if name else None for name in names]
            yield batch.append_column("split", pa.array(splits_of_rows, pa.string()))
        else:
            yield batch


def _located(rows: Iterable[Located]) -> Iterator[Located]:
    return named_after(rows, lambda row: f"{row[0]}, row {row[1]}")


def _check(names: Sequence[str]) -> None:
    taken = [name for name in names if name in (FILE, ROW)]
    if taken:
        raise CorruptFile(taken[0], "a column of this name", "rename it: rows are located by it")


def _where(chunk: Sequence[Located]) -> list[pa.Array]:
    return [
        pa.array([file for file, _, _ in chunk], pa.string()),
        pa.array([row for _, row, _ in chunk], pa.int64()),
    ]


def _texts(chunk: Sequence[Located], name: str) -> pa.Array:
    return pa.array([record.get(name) or None for _, _, record in chunk], pa.string())


def _narrow(kinds: dict[str, Any], texts: pa.Array) -> None:
    for kind, (arrow, pattern) in list(kinds.items()):
        fits = _all(
            pc.call_function("match_substring_regex", [texts], pc.MatchSubstringOptions(pattern))
        )
        if fits is False or (fits and not _casts(texts, arrow)):
            del kinds[kind]


def _all(truths: pa.Array) -> bool | None:
    return pc.call_function("all", [truths]).as_py()


def _casts(texts: pa.Array, kind: pa.DataType) -> bool:
    """Tell what a pattern can't: 2023-02-30 is no date, 99e99 is a number and 1e999 none."""
    try:
        cast = _cast(texts, kind)
    except pa.ArrowInvalid:
        return False
    return (
        not pa.types.is_floating(kind) or _all(pc.call_function("is_finite", [cast])) is not False
    )


def _first(kinds: Mapping[str, Any]) -> pa.DataType:
    """Return the narrowest type; a column without any text is one of texts."""
    if not kinds or len(kinds) == len(_SPELLED):
        return pa.string()
    return next(iter(kinds.values()))[0]


def _cast(texts: pa.Array, kind: pa.DataType) -> pa.Array:
    return texts if pa.types.is_string(kind) else pc.cast(texts, kind)


@dataclass
class _Values:
    """The types of a column's values, and of the items of its lists."""

    scalars: set[str] = field(default_factory=set)
    items: set[str] = field(default_factory=set)

    def see(self, value: object) -> None:
        """Take note of a value."""
        if isinstance(value, list):
            self.scalars.add("list")
            self.items |= {_kind(item) for item in value}  # pyright: ignore[reportUnknownVariableType]
        else:
            self.scalars.add(_kind(value))

    def type(self) -> pa.DataType:
        """Return the one type of all."""
        if self.scalars - {"null"} == {"list"} and not self.items & {"list", "record"}:
            return pa.list_(_joint(self.items))
        return _joint(self.scalars)


def _value(value: object, kind: pa.DataType) -> object:
    """Return a value of JSON as a type has it."""
    if value is None:
        return None
    if pa.types.is_list(kind):
        return [_value(item, kind.value_type) for item in value]  # pyright: ignore
    if pa.types.is_string(kind):
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return float(value) if pa.types.is_floating(kind) else value  # pyright: ignore


def _fitted(value: object, kind: pa.DataType) -> object:
    if pa.types.is_integer(kind) and not (_kind(value) == "int" and value in _INT32):
        return None
    return _value(value, kind)


def _kind(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "bool"
    if isinstance(value, int):
        return "int" if value in _INT64 else "long"
    if isinstance(value, list):
        return "list"
    return "float" if isinstance(value, float) else "string" if isinstance(value, str) else "record"


def _joint(kinds: Collection[str]) -> pa.DataType:
    typed = set(kinds) - {"null"}
    if typed == {"bool"}:
        return pa.bool_()
    if typed == {"int"}:
        return pa.int64()
    if typed and typed <= {"int", "float"}:
        return pa.float64()
    return pa.string()
