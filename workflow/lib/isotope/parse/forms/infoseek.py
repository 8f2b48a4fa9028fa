"""The knowledge base of InfoSeek: OVEN's Wiki6M, a JSON record an entity, with one picture.

Chen et al., EMNLP 2023.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from isotope.core.errors import BadParams
from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.intake.texts import head
from isotope.parse.forms.base import FILE, ROW, WHERE, Form, Rejection, refuse
from isotope.parse.forms.columns import chunks
from isotope.parse.forms.json_lines import records
from isotope.parse.forms.texts import files_of, named, suffix

_ENTITIES = pa.schema(
    [
        *WHERE,
        *((name, pa.string()) for name in ("wikidata_id", "wikipedia_title", "text")),
        *((name, pa.string()) for name in ("wikipedia_image_url", "page_url")),
    ]
)
Row = dict[str, object]


class InfoSeek(Form):
    """JSON lines of entities, each with the address of its picture, or without one."""

    name = "infoseek"
    roles: ClassVar[Mapping[str, str]] = {
        "image": "wikipedia_image_url",
        "text": "text",
        "text_id": "wikidata_id",
        "title": "wikipedia_title",
        "page_url": "page_url",
    }
    options: ClassVar[Mapping[str, str]] = {
        "text": "`summary` or `content`: what of an article is its text; by default summary.",
        "pictures_only": "true: entities without a picture are left out; by default false.",
    }
    _texts = ("summary", "content")

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by the first record, which has `wikidata_id` and `wikipedia_title`."""
        files = files_of(paths)
        return bool(files) and all(
            suffix(path) == ".jsonl" and _is_entity(head(path)) for path in files
        )

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield a row an entity; one without an id or a title is rejected.

        Raises:
            BadParams: the option `text` is neither.
            CorruptFile: bytes that are not UTF-8; a packed file that is not whole.
        """
        part = options.get("text", "summary")
        if part not in self._texts:
            choices = " or ".join(self._texts)
            raise BadParams("options.text", f"{part!r} is no part of an article", f"say {choices}")
        is_pictures_only = bool(options.get("pictures_only", False))
        rows = (
            row
            for path, name in named(files_of(paths))
            for located in records(path, name, rejected)
            for row in _entity_rows(*located, part, rejected)
            if row["wikipedia_image_url"] is not None or not is_pictures_only
        )
        for some in chunks(rows):
            yield pa.RecordBatch.from_pylist(some, schema=_ENTITIES)


def _is_entity(begin: bytes) -> bool:
    try:
        record: object = json_value(begin.partition(b"\n")[0])
    except Refused:
        # A record that is longer than what was looked at.
        return b'"wikidata_id"' in begin and b'"wikipedia_title"' in begin
    return isinstance(record, dict) and {"wikidata_id", "wikipedia_title"} <= {*record}


def _entity_rows(
    name: str, number: int, record: Mapping[str, Any], part: str, rejected: list[Rejection] | None
) -> Iterator[Row]:
    absent = [key for key in ("wikidata_id", "wikipedia_title") if not record.get(key)]
    if absent:
        problem = f"no {' and no '.join(absent)}"
        refuse(rejected, (name, number), problem, json.dumps(record, ensure_ascii=False))
        return
    title = str(record["wikipedia_title"])
    yield {
        FILE: name,
        ROW: number,
        "wikidata_id": record["wikidata_id"],
        "wikipedia_title": title,
        "text": record.get(f"wikipedia_{part}") or "",
        "wikipedia_image_url": record.get("wikipedia_image_url") or None,
        "page_url": f"https://en.wikipedia.org/wiki/{title.replace(' ', '_')}",
    }
