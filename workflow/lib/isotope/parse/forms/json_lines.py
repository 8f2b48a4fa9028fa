"""Records of JSON, one a line or as the items of a list; https://jsonlines.org."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, cast

import pyarrow as pa

from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.intake.texts import head, items, lines
from isotope.parse.forms.base import FILE, Rejection, refuse
from isotope.parse.forms.columns import Located, typed_values, with_splits
from isotope.parse.forms.texts import files_of, named, places


def read(paths: Sequence[Path], rejected: list[Rejection] | None) -> Iterator[pa.RecordBatch]:
    """Yield rows, of a list by the number of the item; what is no record is rejected.

    `split` as in `delimited.Delimited.read`.

    Raises:
        CorruptFile: bytes that are not UTF-8; a list that is not whole.
    """
    files = named(files_of(paths))
    passes = iter([rejected, []])

    def rows() -> Iterator[Located]:
        aside = next(passes)
        for path, name in files:
            yield from records(path, name, aside)

    yield from with_splits(typed_values(rows), FILE, places(files, paths))


def records(path: Path, name: str, rejected: list[Rejection] | None) -> Iterator[Located]:
    """Yield the records of JSON lines or of a list.

    Raises:
        CorruptFile: as `read`.
    """
    is_list = head(path, 256).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    for row, text in enumerate(items(path) if is_list else lines(path), 1):
        if text.strip():
            record = _record(text)
            if isinstance(record, dict):
                yield name, row, record
            else:
                refuse(rejected, (name, row), record, text.rstrip("\r\n"))


def _record(text: str) -> dict[str, Any] | str:
    """Return a record, or why there is none."""
    try:
        value = json_value(text)
    except Refused as error:
        return error.reason
    if isinstance(value, dict):
        return cast(dict[str, Any], value)
    return f"no record of JSON, but {type(cast(object, value)).__name__}"


def begins(path: Path) -> bool:
    """Tell whether the first line of a file is a record, or begins a list of records."""
    text = head(path).decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text.startswith("["):
        return text[1:].lstrip().startswith("{")
    return isinstance(_record(text.partition("\n")[0]), dict)
