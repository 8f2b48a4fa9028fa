"""Rows of any form by the roles of their columns: one a text, with typed values.

A value that means nothing in its role (a grade that is no number, a day that is none) leaves a
flaw with its row, for the queries of workflow/sql/parse/pairs to set aside.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from typing import Any, NamedTuple, cast

import pyarrow as pa

from isotope.core.schemas import structure
from isotope.parse.forms.base import FILE, ROW

# Roles of one text each, roles of several, and those of other types.
NAMES = (
    *("image", "image_id", "text_id", "title", "section", "page_url"),
    *("split", "language"),
)
SEVERAL = ("text", "caption")
OBJECTS = pa.list_(
    structure(
        synset=pa.string(), x_min=pa.int32(), y_min=pa.int32(), x_max=pa.int32(), y_max=pa.int32()
    )
)
_DAY = re.compile(r"(\d{4})(?:-?(\d{2})(?:-?(\d{2})(?:[T ].*)?)?)?")
_WORDS = re.compile(r"[;,|]")
_MOST_GRADE = 2**31


class Roles(NamedTuple):
    """The columns of each role, and those that travel along with the picture and with the text."""

    columns: Mapping[str, Sequence[str]]
    image: Sequence[str] = ()
    text: Sequence[str] = ()

    def names(self) -> list[tuple[str, str]]:
        """Return every column with the key of the params that names it."""
        own = [(f"columns.{role}", n) for role, names in self.columns.items() for n in names]
        return own + [(f"keep.{k}", n) for k in ("image", "text") for n in getattr(self, k)]


def staged(batch: pa.RecordBatch, roles: Roles) -> pa.Table:
    """Return the rows of a batch, one a text; a row without a text is one, too.

    Columns are file, row, `nth` (the text's number in its row, from 0), `several` (whether rows may
    have more than one), the roles of NAMES, text, title, relevance, caption, flaw, and two records
    of what travels along: `image_own` and `text_own`.
    """
    flaws = _Flaws(batch.num_rows)
    texts = [_texts(batch[name]) for name in roles.columns.get("text", ())]
    several = len(texts) > 1 or any(map(_is_list, _of(batch, roles, "text")))
    places = [
        (row, nth, text)
        for row in range(batch.num_rows)
        for nth, text in enumerate(_filled(column[row] for column in texts) or [None])
    ]
    at = pa.array([row for row, _, _ in places], pa.int64())
    own = _records(batch, roles, flaws)
    columns = {
        "file": batch[FILE],
        "row": batch[ROW],
        **{role: pa.array(_names(batch, roles, role), pa.string()) for role in NAMES},
        "relevance": _typed(batch, roles, "relevance", flaws),
        "caption": _captions(batch, roles),
        "flaw": pa.array(flaws.found, pa.string()),
    }
    placed = {name: column.take(at) for name, column in columns.items()}
    placed["nth"] = pa.array([nth for _, nth, _ in places], pa.int32())
    placed["several"] = pa.array([several] * len(places), pa.bool_())
    placed["text"] = pa.array([text for _, _, text in places], pa.string())
    for name, fields in own.items():
        placed[name] = pa.StructArray.from_arrays(
            [column.take(at) for column in fields.values()], names=[*fields]
        )
    return pa.table(placed)


class _Flaws:
    """The first flaw of each row."""

    def __init__(self, rows: int) -> None:
        self.found: list[str | None] = [None] * rows

    def note(self, row: int, reason: str) -> None:
        self.found[row] = self.found[row] or reason


def _of(batch: pa.RecordBatch, roles: Roles, role: str) -> list[pa.Array]:
    return [batch[name] for name in roles.columns.get(role, ())]


def _is_list(column: pa.Array) -> bool:
    return pa.types.is_list(column.type) or pa.types.is_large_list(column.type)


def _texts(column: pa.Array) -> list[list[str | None]]:
    """Return the texts of each row: one, or those of its list."""
    values = cast("list[Any]", column.to_pylist())
    if _is_list(column):
        return [[_text(each) for each in value or ()] for value in values]
    return [[_text(value)] for value in values]


def _filled(lists: Any) -> list[str | None]:  # noqa: ANN401
    return [text for texts in lists for text in texts if text is not None]


def _text(value: object) -> str | None:
    """Return a value as text without spaces around it; None for nothing."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = "" if value is None else str(value).strip()
    return text or None


def _names(batch: pa.RecordBatch, roles: Roles, role: str) -> list[str | None]:
    columns = _of(batch, roles, role)
    return [_text(value) for value in columns[0].to_pylist()] if columns else [None] * len(batch)


def _captions(batch: pa.RecordBatch, roles: Roles) -> pa.Array:
    columns = [_texts(column) for column in _of(batch, roles, "caption")]
    own = [_filled(column[row] for column in columns) for row in range(batch.num_rows)]
    return pa.array(own, pa.list_(pa.string()))


def _records(batch: pa.RecordBatch, roles: Roles, flaws: _Flaws) -> dict[str, dict[str, pa.Array]]:
    """Return what travels along with the picture and with the text, by name."""
    ids = zip(_names(batch, roles, "image_id"), _names(batch, roles, "image"), strict=True)
    image = {"source_image_id": pa.array([a or b for a, b in ids], pa.string())}
    for role in ("licence", "date", "objects"):
        if roles.columns.get(role):
            image[role] = _typed(batch, roles, role, flaws)
    text = {"source_text_id": pa.array(_names(batch, roles, "text_id"), pa.string())}
    image |= {name: _plain(batch[name]) for name in roles.image}
    text |= {name: _plain(batch[name]) for name in roles.text}
    return {"image_own": image, "text_own": text}


def _plain(column: pa.Array) -> pa.Array:
    """Return a column in a type that DuckDB and Polars have as well."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        return column.cast(kind.value_type)
    if pa.types.is_null(kind) or pa.types.is_large_string(kind):
        return column.cast(pa.string())
    return column


def _typed(batch: pa.RecordBatch, roles: Roles, role: str, flaws: _Flaws) -> pa.Array:
    """Return the values of a role that is no text; what means nothing is NULL and a flaw."""
    kind, read, reason = _TYPED[role]
    columns = _of(batch, roles, role)
    values: list[object] = [None] * batch.num_rows
    for row, value in enumerate(columns[0].to_pylist() if columns else ()):
        if value is not None and value != "":
            values[row] = read(value)
            if values[row] is None:
                flaws.note(row, reason)
    return pa.array(values, kind)


def grade(value: object) -> int | None:
    """Return a grade: a whole number from 0; None for anything else."""
    try:
        number = float(cast(Any, value))
    except (TypeError, ValueError):
        return None
    return int(number) if number.is_integer() and 0 <= number < _MOST_GRADE else None


def day(value: object) -> date | None:
    """Return a day; of a month or a year without a day, its first one; None for anything else.

    Texts and numbers are as ISO 8601 has them: 1907-05-31, 19070531, 1907-05 or 1907, also with a
    time behind.
    """
    if isinstance(value, datetime):
        return value.date()
    if isinstance(value, date):
        return value
    match = _DAY.fullmatch(_text(value) or "")
    if match is None:
        return None
    try:
        return date(int(match[1]), int(match[2] or 1), int(match[3] or 1))
    except ValueError:
        return None


def objects(value: object) -> list[dict[str, object]] | None:
    """Return records of objects with a synset and a box; words have no box.

    Words are a list, or a text between `;`, `,` or `|`. None for anything else.
    """
    if isinstance(value, str):
        value = [word.strip() for word in _WORDS.split(value) if word.strip()]
    if not isinstance(value, list):
        return None
    found: list[dict[str, object]] = []
    for each in cast("list[object]", value):
        record = {"synset": each} if isinstance(each, str) else each
        if not isinstance(record, dict) or not isinstance(record.get("synset"), str):
            return None
        found.append({n: cast("dict[str, object]", record).get(n) for n in _FIELDS})
    return found


def text(value: object) -> str | None:
    """Return a value as text."""
    return _text(value)


_FIELDS = [field.name for field in OBJECTS.value_type]
_Read = Callable[[object], object]
_TYPED: Mapping[str, tuple[pa.DataType, _Read, str]] = {
    "relevance": (pa.int32(), grade, "bad_relevance"),
    "date": (pa.date32(), day, "bad_date"),
    "objects": (OBJECTS, objects, "bad_objects"),
    "licence": (pa.string(), text, "bad_licence"),
}
