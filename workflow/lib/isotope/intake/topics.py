"""Topics of a track as records of the published tables: a JSON list, or a record a line.

TREC's AToMiC track of 2023 has its topics in JSON files at NIST and, with the columns of the
collection, on a hub (https://trec.nist.gov/data/atomic.html). What stands in NIST's files was not
at hand: the two forms that such tables are written in are read, and others are refused.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from isotope.core import sql, store
from isotope.core.errors import CorruptFile
from isotope.core.schemas import CAPTION_FIELDS, PUBLISHED_IMAGES, PUBLISHED_TEXTS
from isotope.intake import texts
from isotope.intake.limits import Refused
from isotope.intake.records import json_value

_LOCATION = (("file", pa.string()), ("row", pa.int64()))
ASKED_TEXTS = pa.schema([*_LOCATION, *PUBLISHED_TEXTS])
ASKED_IMAGES = pa.schema(
    [*_LOCATION, *(field for field in PUBLISHED_IMAGES if field.name != "image")]
)
# The topics of each side: relation, columns, and the column of the id.
_SIDES = {
    "asked_texts": (ASKED_TEXTS, "text_id"),
    "asked_images": (ASKED_IMAGES, "image_id"),
}
_FORM = (
    "give a JSON list of records, or a record a line, with text_id or image_id and the columns of "
    "the published tables"
)


class _Topic(NamedTuple):
    relation: str
    row: dict[str, Any]


def write_topics(files: Mapping[Path, str], folder: Path) -> dict[str, sql.Files]:
    """Write ASKED_TEXTS and ASKED_IMAGES, the topics of all files; return their relations.

    Columns that a record lacks are empty; keys that the tables lack are left out.

    Raises:
        CorruptFile: with the row, what is no record with the id of a text or of an image, a topic
            that comes twice, or a value of another type than the tables'; a file without a topic.
    """
    topics = [topic for path, file in files.items() for topic in _topics(path, file)]
    written: dict[str, sql.Files] = {}
    for relation, (schema, _) in _SIDES.items():
        rows = [topic.row for topic in topics if topic.relation == relation]
        written[relation] = folder / f"{relation}.parquet"
        store.write_rows(rows, folder / f"{relation}.parquet", schema)
    return written


def _topics(path: Path, file: str) -> Iterator[_Topic]:
    records = texts.items(path) if texts.is_list(path) else texts.lines(path)
    ids = set[str]()
    for row, line in enumerate(records, 1):
        if line.strip():
            where = f"{path}, row {row}"
            topic = _topic(where, line)
            ident = str(topic.row[_SIDES[topic.relation][1]])
            if ident in ids:
                raise CorruptFile(where, f"the topic {ident!r} again", "give each topic once")
            ids.add(ident)
            yield topic._replace(row={"file": file, "row": row, **topic.row})
    if not ids:
        raise CorruptFile(path, "no topic", _FORM)


def _topic(where: str, line: str) -> _Topic:
    try:
        record: Any = json_value(line)
    except Refused as error:
        raise CorruptFile(where, str(error)[:200], _FORM) from error
    if not isinstance(record, dict):
        raise CorruptFile(where, f"{json.dumps(record)[:60]}, which is no record", _FORM)
    sides = [relation for relation, (_, key) in _SIDES.items() if _is_id(record.get(key))]
    if len(sides) != 1:
        problem = f"the keys {_some(list(record))}, and not the id of one text or image"
        raise CorruptFile(where, problem, _FORM)
    schema = _SIDES[sides[0]][0]
    columns = {field.name: field.type for field in schema if field.name not in dict(_LOCATION)}
    for key, kind in columns.items():
        if not _fits(record.get(key), kind):
            problem = f"{key} {json.dumps(record[key])[:60]}, where the tables have {kind}"
            raise CorruptFile(where, problem, _FORM)
    blank = {key: [] if pa.types.is_list(kind) else "" for key, kind in columns.items()}
    fields = {key: _filled(key, record[key]) for key in columns if record.get(key) is not None}
    return _Topic(sides[0], {**blank, **fields})


def _filled(key: str, value: str | list[str | None]) -> object:
    """Return a value without nulls: a caption keeps its place beside its language's."""
    if isinstance(value, str):
        return value
    aligned = key == "language" or key in CAPTION_FIELDS
    return [item or "" for item in value if aligned or item is not None]


def _is_id(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _fits(value: object, kind: pa.DataType) -> bool:
    if value is None or not pa.types.is_list(kind):
        return value is None or isinstance(value, str)
    # A caption that a language lacks is null.
    return isinstance(value, list) and all(v is None or isinstance(v, str) for v in value)


def _some(keys: Sequence[object]) -> str:
    return ", ".join(map(str, keys[:6])) + (", ..." if len(keys) > 6 else "")  # noqa: PLR2004
