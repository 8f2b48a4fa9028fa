"""Rows of any form by the roles of their columns: one a text, with typed values.

A grade that is no number leaves a flaw with its row, for the queries of workflow/sql/parse/pairs to
set aside. An attribute of the picture that means nothing in its role, such as a day that is none,
is NULL and noted; the pair stays.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import date, datetime
from types import MappingProxyType
from typing import Any, NamedTuple, cast

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from isotope.core.faults import naming
from isotope.core.schemas import list_of, structure
from isotope.parse.forms.base import FILE, ROW

# Roles of one text each, roles of several, and those of other types.
NAMES = (
    *("image", "image_id", "text_id", "title", "section", "page_url"),
    *("split", "language", "credit"),
)
# Whole numbers: the size of a picture in px, and a text's place among those of its picture.
SIZES = ("width", "height", "number")
SEVERAL = ("text", "caption")
OBJECTS = list_of(
    structure(
        synset=pa.string(), x_min=pa.int32(), y_min=pa.int32(), x_max=pa.int32(), y_max=pa.int32()
    )
)
# Values that could not be read, each with its reason.
UNREAD = pa.list_(structure(reason=pa.string(), value=pa.string()))
_DAY = re.compile(r"(\d{4})(?:-?(\d{2})(?:-?(\d{2})(?:[T ].*)?)?)?")
# Between words of a list that is one text.
WORDS = re.compile(r"[;,|]")
_MOST_GRADE = 2**31
_NOTHING = pa.scalar(None, pa.string())


class Roles(NamedTuple):
    """The columns of each role, and those that travel along with the picture and with the text.

    `languages` are the languages of single columns of texts or captions.
    """

    columns: Mapping[str, Sequence[str]]
    image: Sequence[str] = ()
    text: Sequence[str] = ()
    languages: Mapping[str, str] = MappingProxyType({})

    def names(self) -> list[tuple[str, str]]:
        """Return every column with the key of the params that names it."""
        columns = [(f"columns.{role}", n) for role, names in self.columns.items() for n in names]
        columns += [("languages", n) for n in self.languages]
        return columns + [(f"keep.{k}", n) for k in ("image", "text") for n in getattr(self, k)]

    def spoken(self, role: str) -> list[tuple[str, str]]:
        """Return the columns of a role with their languages, empty where none is said."""
        return [(n, self.languages.get(n, "")) for n in self.columns.get(role, ())]


def staged(batch: pa.RecordBatch, roles: Roles) -> pa.Table:
    """Return the rows of a batch, one a text; a row without a text is one, too.

    Columns are file, row, `nth` (the text's number in its row, from 0), `several` (whether rows may
    have more than one), the roles of NAMES, text, title, relevance, caption, `caption_language`,
    flaw, `unread` (UNREAD), and two records of what travels along: `image_own` and `text_own`.
    """
    flaws, declared = _Flaws(batch.num_rows), _name(batch, roles, "language")
    several = len(roles.spoken("text")) > 1 or any(map(_is_list, _arrays_of(batch, roles, "text")))
    spoken = _spoken(batch, roles, "text").with_silent_rows()
    records = _records(batch, roles, flaws)
    columns = {
        "file": batch[FILE],
        "row": batch[ROW],
        **{role: _name(batch, roles, role) for role in NAMES},
        **{name: _typed(batch, roles, name, flaws) for name in ("relevance", *SIZES)},
        **_captions(batch, roles),
        "flaw": pa.array(flaws.reasons, pa.string()),
        "unread": flaws.unread_values(),
    }
    placed = {name: spoken.placed(column) for name, column in columns.items()}
    placed["nth"] = pa.array(spoken.numbers(), pa.int32())
    placed["several"] = pa.repeat(pa.scalar(several), len(spoken.rows))
    placed["text"] = spoken.texts
    placed["language"] = _first_of(_full(spoken.languages), spoken.placed(declared))
    for name, fields in records.items():
        placed[name] = pa.StructArray.from_arrays(
            [spoken.placed(column) for column in fields.values()], names=[*fields]
        )
    return pa.table(placed)


class _Spoken(NamedTuple):
    """Texts of the rows of a batch in their order, each with its row and its column's language."""

    size: int
    rows: NDArray[np.int64]
    texts: pa.Array
    languages: pa.Array

    def ordered(self) -> "_Spoken":
        """Return the texts by their rows, those of one row in the order in which they stand."""
        order = np.argsort(self.rows, kind="stable")
        texts, languages = (array.take(pa.array(order)) for array in (self.texts, self.languages))
        return self._replace(rows=self.rows[order], texts=texts, languages=languages)

    def with_silent_rows(self) -> "_Spoken":
        """Return the texts and a NULL for each row that has none."""
        silent = np.flatnonzero(np.bincount(self.rows, minlength=self.size) == 0)
        if not len(silent):
            return self
        nulls = pa.nulls(len(silent), pa.string())
        texts, languages = (pa.concat_arrays([e, nulls]) for e in (self.texts, self.languages))
        return _Spoken(self.size, np.concatenate([self.rows, silent]), texts, languages).ordered()

    def placed(self, column: pa.Array) -> pa.Array:
        """Return the value that each text's row has in a column."""
        if len(self.rows) == self.size and (self.rows == np.arange(self.size)).all():
            return column
        return column.take(pa.array(self.rows))

    def ends(self) -> NDArray[np.int64]:
        """Return how many texts stand before each row, and at last how many there are."""
        counts = np.bincount(self.rows, minlength=self.size)
        return np.concatenate([[0], np.cumsum(counts)])

    def numbers(self) -> NDArray[np.int64]:
        """Return the number of each text in its row, from 0."""
        return np.arange(len(self.rows)) - self.ends()[self.rows]

    def lists(self, values: pa.Array) -> pa.Array:
        """Return values of the texts as a list a row."""
        return pa.ListArray.from_arrays(pa.array(self.ends(), pa.int32()), values)


class _Flaws:
    """What makes a row unusable, and the attributes of each row that could not be read."""

    def __init__(self, rows: int) -> None:
        self.reasons: list[str | None] = [None] * rows
        self._unread: dict[int, list[dict[str, str]]] = {}

    def note(self, row: int, reason: str, value: object) -> None:
        if reason in FATAL:
            self.reasons[row] = reason
        else:
            self._unread.setdefault(row, []).append({"reason": reason, "value": str(value)})

    def unread_values(self) -> pa.Array:
        """Return the attributes of each row, a list."""
        rows, none = range(len(self.reasons)), list[dict[str, str]]()
        return pa.array([self._unread.get(row, none) for row in rows], UNREAD)


def _arrays_of(batch: pa.RecordBatch, roles: Roles, role: str) -> list[pa.Array]:
    return [batch[name] for name in roles.columns.get(role, ())]


def _is_list(column: pa.Array) -> bool:
    return pa.types.is_list(column.type) or pa.types.is_large_list(column.type)


def _called(name: str, *values: pa.Array | pa.Scalar) -> pa.Array:
    return pc.call_function(name, [*values])


def _full(texts: pa.Array) -> pa.Array:
    """Return texts, of which empty ones are NULL."""
    return _called("if_else", _called("equal", texts, pa.scalar("")), _NOTHING, texts)


def _first_of(first: pa.Array, other: pa.Array) -> pa.Array:
    """Return the first value of two that is there."""
    return _called("coalesce", first, other)


def _trimmed(column: pa.Array) -> pa.Array:
    """Return values as texts without spaces around them, as `text`; NULL for nothing."""
    kind = column.type
    if pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return _full(_called("utf8_trim_whitespace", pc.cast(column, pa.string())))
    if pa.types.is_integer(kind):
        return pc.cast(column, pa.string())
    return pa.array(map(text, column.to_pylist()), pa.string())


def text(value: object) -> str | None:
    """Return a value as text without spaces around it; None for nothing."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    stripped = "" if value is None else str(value).strip()
    return stripped or None


def _name(batch: pa.RecordBatch, roles: Roles, role: str) -> pa.Array:
    columns = _arrays_of(batch, roles, role)
    return _trimmed(columns[0]) if columns else pa.nulls(batch.num_rows, pa.string())


def _spoken(batch: pa.RecordBatch, roles: Roles, role: str) -> _Spoken:
    """Return the texts of a role with the languages of their columns."""
    count, texts = batch.num_rows, pa.array([], pa.string())
    spoken = _Spoken(count, np.array([], np.int64), texts, texts)
    for name, language in roles.spoken(role):
        column, rows = batch[name], np.arange(count)
        if _is_list(column):
            sizes = pc.fill_null(_called("list_value_length", column), 0)
            column, rows = column.flatten(), np.repeat(rows, sizes.to_numpy(zero_copy_only=False))
        texts = _trimmed(column)
        is_valid = texts.is_valid()
        texts, rows = texts.filter(is_valid), rows[is_valid.to_numpy(zero_copy_only=False)]
        code = pa.repeat(pa.scalar(language), len(rows))
        spoken = _Spoken(
            count,
            np.concatenate([spoken.rows, rows]),
            pa.concat_arrays([spoken.texts, texts]),
            pa.concat_arrays([spoken.languages, code]),
        )
    return spoken.ordered()


def _captions(batch: pa.RecordBatch, roles: Roles) -> dict[str, pa.Array]:
    spoken = _spoken(batch, roles, "caption")
    languages = spoken.lists(spoken.languages)
    return {"caption": spoken.lists(spoken.texts), "caption_language": languages}


def _records(batch: pa.RecordBatch, roles: Roles, flaws: _Flaws) -> dict[str, dict[str, pa.Array]]:
    """Return what travels along with the picture and with the text, by name."""
    ids = (_name(batch, roles, name) for name in ("image_id", "image"))
    image = {"source_image_id": _first_of(*ids)}
    for role in ("licence", "date", "objects"):
        if roles.columns.get(role):
            image[role] = _typed(batch, roles, role, flaws)
    text_record = {"source_text_id": _name(batch, roles, "text_id")}
    image |= {name: _plain(batch[name]) for name in roles.image}
    text_record |= {name: _plain(batch[name]) for name in roles.text}
    return {"image_own": image, "text_own": text_record}


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
    columns = _arrays_of(batch, roles, role)
    if not columns:
        return pa.nulls(batch.num_rows, kind)
    if _is_read(columns[0], kind):
        return pc.cast(columns[0], kind)
    values: list[object] = [None] * batch.num_rows
    row = 0
    with naming(lambda: f"{batch[FILE][row]}, row {batch[ROW][row]}"):
        for row, value in enumerate(columns[0].to_pylist()):
            if value is not None and value != "":
                values[row] = read(value)
                if values[row] is None:
                    flaws.note(row, reason, value)
    return pa.array(values, kind)


def _is_read(column: pa.Array, kind: pa.DataType) -> bool:
    """Tell whether all values of a column have the type of their role and mean something there."""
    if pa.types.is_int32(kind) and pa.types.is_integer(column.type):
        ends = _called("min_max", column).as_py()
        return ends["min"] is None or 0 <= ends["min"] <= ends["max"] < _MOST_GRADE
    if column.type != kind or not pa.types.is_list(kind):
        return column.type == kind and pa.types.is_date32(kind)
    return not column.flatten().field("synset").null_count


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
    match = _DAY.fullmatch(text(value) or "")
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
        value = [word.strip() for word in WORDS.split(value) if word.strip()]
    if not isinstance(value, list):
        return None
    objects_read: list[dict[str, object]] = []
    for item in cast("list[object]", value):
        record = {"synset": item} if isinstance(item, str) else item
        if not isinstance(record, dict) or not isinstance(record.get("synset"), str):
            return None
        objects_read.append({n: cast("dict[str, object]", record).get(n) for n in _FIELDS})
    return objects_read


# Of the reasons below: without its grade a pair says nothing.
FATAL = ("bad_relevance",)
_FIELDS = [field.name for field in OBJECTS.value_type]
_Read = Callable[[object], object]
_TYPED: Mapping[str, tuple[pa.DataType, _Read, str]] = {
    "relevance": (pa.int32(), grade, "bad_relevance"),
    "date": (pa.date32(), day, "bad_date"),
    "objects": (OBJECTS, objects, "bad_objects"),
    "licence": (pa.string(), text, "bad_licence"),
    **dict.fromkeys(SIZES, (pa.int32(), grade, "bad_size")),
}
