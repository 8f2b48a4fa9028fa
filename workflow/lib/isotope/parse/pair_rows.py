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

import pyarrow as pa

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
        own = [(f"columns.{role}", n) for role, names in self.columns.items() for n in names]
        own += [("languages", n) for n in self.languages]
        return own + [(f"keep.{k}", n) for k in ("image", "text") for n in getattr(self, k)]

    def spoken(self, role: str) -> list[tuple[str, str]]:
        """Return the columns of a role with their languages, empty where none is said."""
        return [(n, self.languages.get(n, "")) for n in self.columns.get(role, ())]


def staged(batch: pa.RecordBatch, roles: Roles) -> pa.Table:
    """Return the rows of a batch, one a text; a row without a text is one, too.

    Columns are file, row, `nth` (the text's number in its row, from 0), `several` (whether rows may
    have more than one), the roles of NAMES, text, title, relevance, caption, `caption_language`,
    flaw, `unread` (UNREAD), and two records of what travels along: `image_own` and `text_own`.
    """
    flaws, said = _Flaws(batch.num_rows), _names(batch, roles, "language")
    several = len(roles.spoken("text")) > 1 or any(map(_is_list, _of(batch, roles, "text")))
    places = [
        (row, nth, text, language or said[row])
        for row, texts in enumerate(_spoken(batch, roles, "text"))
        for nth, (text, language) in enumerate(texts or [(None, "")])
    ]
    at = pa.array([row for row, *_ in places], pa.int64())
    own = _records(batch, roles, flaws)
    columns = {
        "file": batch[FILE],
        "row": batch[ROW],
        **{role: pa.array(_names(batch, roles, role), pa.string()) for role in NAMES},
        **{name: _typed(batch, roles, name, flaws) for name in ("relevance", *SIZES)},
        **_captions(batch, roles),
        "flaw": pa.array(flaws.found, pa.string()),
        "unread": pa.array(flaws.unread, UNREAD),
    }
    placed = {name: column.take(at) for name, column in columns.items()}
    placed["nth"] = pa.array([nth for _, nth, *_ in places], pa.int32())
    placed["several"] = pa.array([several] * len(places), pa.bool_())
    placed["text"] = pa.array([text for _, _, text, _ in places], pa.string())
    placed["language"] = pa.array([language for *_, language in places], pa.string())
    for name, fields in own.items():
        placed[name] = pa.StructArray.from_arrays(
            [column.take(at) for column in fields.values()], names=[*fields]
        )
    return pa.table(placed)


class _Flaws:
    """What makes a row unusable, and the attributes of each row that could not be read."""

    def __init__(self, rows: int) -> None:
        self.found: list[str | None] = [None] * rows
        self.unread: list[list[dict[str, str]]] = [[] for _ in range(rows)]

    def note(self, row: int, reason: str, value: object) -> None:
        if reason in FATAL:
            self.found[row] = reason
        else:
            self.unread[row].append({"reason": reason, "value": str(value)})


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


def _text(value: object) -> str | None:
    """Return a value as text without spaces around it; None for nothing."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = "" if value is None else str(value).strip()
    return text or None


def _names(batch: pa.RecordBatch, roles: Roles, role: str) -> list[str | None]:
    columns = _of(batch, roles, role)
    return [_text(value) for value in columns[0].to_pylist()] if columns else [None] * len(batch)


def _spoken(batch: pa.RecordBatch, roles: Roles, role: str) -> list[list[tuple[str, str]]]:
    """Return the texts of a role with the languages of their columns, by row."""
    columns = [(_texts(batch[name]), language) for name, language in roles.spoken(role)]
    return [
        [(text, language) for texts, language in columns for text in texts[row] if text is not None]
        for row in range(batch.num_rows)
    ]


def _captions(batch: pa.RecordBatch, roles: Roles) -> dict[str, pa.Array]:
    spoken, texts = _spoken(batch, roles, "caption"), pa.list_(pa.string())
    return {
        "caption": pa.array([[text for text, _ in own] for own in spoken], texts),
        "caption_language": pa.array([[language for _, language in own] for own in spoken], texts),
    }


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
    row = 0
    with naming(lambda: f"{batch[FILE][row]}, row {batch[ROW][row]}"):
        for row, value in enumerate(columns[0].to_pylist() if columns else ()):
            if value is not None and value != "":
                values[row] = read(value)
                if values[row] is None:
                    flaws.note(row, reason, value)
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
        value = [word.strip() for word in WORDS.split(value) if word.strip()]
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
