"""What models said of pictures: any jsonl of predictions, a line each."""

import gzip
import json
from collections.abc import Container, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, TextIO, cast

import polars as pl

from isotope.errors import MissingFile
from isotope.progress import log

_SCHEMA = {"query_id": pl.String, "text": pl.String}


class Read(NamedTuple):
    """Answers by the image they are on, query_id and text; and rows of tables.REJECTED."""

    answers: pl.DataFrame
    rejected: list[dict[str, object]]


def read_answers(files: Sequence[Path], images: pl.DataFrame) -> Read:
    """Read objects with `data_id` and `prediction`, one a line, plain or gzip, for `images`.

    `data_id` is the `source_image_id` of an image, where the collection has that column, or its
    `image_id`. Put aside are: lines that are no such object (bad_json), answers without a word
    (empty_answer), on no image of the collection (unknown_query), or on one that has an answer
    already (answered_before).

    Raises:
        MissingFile: a file that is not there.
    """
    known = dict(_known(images))
    answers: dict[str, str] = {}
    rejected: list[dict[str, object]] = []
    for path, row, line in _lines(files):
        found = _parsed(line)
        image_id = known.get(found[0]) if found else None
        reason = _reason(found, image_id, answers)
        if reason:
            detail = found[0] if found else ""
            place = {"file": path.name, "row": row, "reason": reason, "detail": detail}
            rejected.append({**place, "raw": line})
        elif found and image_id:
            answers[image_id] = found[1]
    rows = {"query_id": list(answers), "text": list(answers.values())}
    log.info("%d answers, %d put aside", len(answers), len(rejected))
    return Read(pl.DataFrame(rows, schema=_SCHEMA).sort("query_id"), rejected)


def _known(images: pl.DataFrame) -> Iterator[tuple[str, str]]:
    yield from ((i, i) for i in images["image_id"])
    if "source_image_id" in images.columns:
        rows = images.drop_nulls("source_image_id").select("source_image_id", "image_id")
        yield from rows.iter_rows()


def _lines(files: Sequence[Path]) -> Iterator[tuple[Path, int, str]]:
    for path in files:
        if not path.is_file():
            raise MissingFile(path, "no such file of answers", "correct `systems.<system>.files`")
        with _opened(path) as file:
            yield from ((path, n, line.rstrip("\r\n")) for n, line in enumerate(file, 1))


def _opened(path: Path) -> TextIO:
    read = gzip.open if path.suffix == ".gz" else open
    return cast(TextIO, read(path, "rt", encoding="utf-8", errors="replace"))


def _parsed(line: str) -> tuple[str, str] | None:
    try:
        row = json.loads(line)
    except ValueError:
        return None
    if not isinstance(row, dict):
        return None
    given = cast(dict[str, object], row)
    key, text = given.get("data_id"), given.get("prediction")
    return (key, text) if isinstance(key, str) and isinstance(text, str) else None


def _reason(
    found: tuple[str, str] | None, image_id: str | None, answers: Container[str]
) -> str | None:
    if found is None:
        return "bad_json"
    if not found[1].strip():
        return "empty_answer"
    if image_id is None:
        return "unknown_query"
    return "answered_before" if image_id in answers else None
