"""Crossmodal-3600: captions in many languages, a line an image as published, or a line a caption.

Formats: https://google.github.io/crossmodal-3600/, and the flat lines of
uriberger/cross_lingual_diff_in_descs on GitHub; credits are Open Images' metadata.
"""

import csv
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, cast
from unicodedata import category

import pyarrow as pa

from isotope.core.errors import MissingColumn
from isotope.core.schemas import STRINGS
from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.intake.texts import lines
from isotope.parse.forms.base import Form, Rejection, set_aside
from isotope.parse.forms.columns import Located, batches
from isotope.parse.forms.texts import files_of, named, suffix

# The URL of a file of images.tgz.
_BASE = "https://open-images-dataset.s3.amazonaws.com/crossmodal-3600/"
_OF_IMAGE = ("image", "image_id", "locale", "credit")
_OF_TEXT = ("text", "text_id", "source_text_id", "language", "split", "translation")
_COLUMNS = pa.schema(
    [*((name, pa.string()) for name in (*_OF_IMAGE, *_OF_TEXT)), ("synsets", STRINGS)]
)
_CREDIT = ("Title", "Author", "License")


class Xm3600(Form):
    """Pictures, and texts in every language; `texts: language` takes those of the collection's."""

    name = "xm3600"
    roles: ClassVar[Mapping[str, str]] = {
        name: name
        for name in ("image", "image_id", "text", "text_id", "language", "split", "credit")
    }
    keeps: ClassVar[Mapping[str, Sequence[str]]] = {
        "image": ("locale",),
        "text": ("source_text_id", "translation", "synsets"),
    }

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield a row a caption, all of split `test`, then a row an image.

        `text_id` is image, language and number, as in `00aa-de-1`; equal captions by two people
        stay two. A translation is a caption, too, tagged as BCP 47's extension T (RFC 6497) does:
        `en-t-de` is English from German.

        Raises:
            CorruptFile: a file that is not UTF-8.
            MissingColumn: a table of credits without one of the columns.
        """
        yield from batches(_rows(named(files_of(paths)), rejected), _COLUMNS)


def _rows(files: Sequence[tuple[Path, str]], rejected: list[Rejection] | None) -> Iterator[Located]:
    tables = [path for path, _ in files if suffix(path) == ".csv"]
    credits_of = {key: credit for path in tables for key, credit in _credits(path).items()}
    images, at = dict[str, dict[str, Any]](), dict[str, tuple[str, int]]()
    numbers = Counter[str]()
    for path, name in (file for file in files if file[0] not in tables):
        for row, text in enumerate(lines(path), 1):
            line = text.rstrip("\r\n")
            record, key, reason = _record(line)
            if reason:
                set_aside(rejected, (name, row), (reason, key, line))
                continue
            at.setdefault(key, (name, row))
            image = images.setdefault(key, {"image": f"{_BASE}{key}.jpg", "image_id": key})
            image["locale"] = record.get("image/locale") or image.get("locale")
            for language, caption in _captions(record):
                if not any(category(c)[0] in "LN" for c in caption["text"]):
                    why = "empty_caption", f"{key}, {language}", line
                    set_aside(rejected, (name, row), why)
                    continue
                numbers[f"{key}-{language}"] += 1
                for text_row in _texts(language, caption):
                    ident = f"{key}-{text_row['language']}-{numbers[f'{key}-{language}']}"
                    ids = {"text_id": ident, "source_text_id": key, "split": "test"}
                    yield name, row, image | text_row | ids
    for key, image in images.items():
        yield *at[key], image | {"credit": credits_of.get(key)}


def _texts(language: str, caption: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a caption and its translation, if it has one into another language."""
    yield {**caption, "language": language}
    if caption.get("translation") and language != "en":
        yield {**caption, "language": f"en-t-{language}", "text": caption["translation"]}


def _record(line: str) -> tuple[Mapping[str, Any], str, str]:
    """Return the record of a line, its image, and why it can't be used, or nothing."""
    try:
        value: object = json_value(line)
    except Refused:
        value = None
    if not isinstance(value, dict):
        return {}, "", "not_json"
    record = cast("dict[str, Any]", value)
    key = str(record.get("image/key") or record.get("image_id") or "")
    is_flat = "image/key" not in record
    lacking = "no_language" if is_flat and not record.get("language") else ""
    return record, key, lacking if key else "no_image"


def _captions(record: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield languages and captions of a line: of an image in all languages, or the one of it."""
    if "image/key" not in record:
        texts = {"text": "caption", "translation": "caption_en"}
        single: dict[str, Any] = {n: str(record.get(c) or "").strip() for n, c in texts.items()}
        single["translation"] = single["translation"] or None
        yield str(record["language"]), single | {"synsets": record.get("synsets") or []}
        return
    for language in sorted(name for name in record if "/" not in name):
        captions = record[language].get("caption") if isinstance(record[language], dict) else ()
        for caption in captions if isinstance(captions, list) else ():
            yield language, {"text": str(caption).strip(), "synsets": []}


def _credits(path: Path) -> dict[str, str]:
    """Return the credit of each image: title, author and licence.

    Raises:
        MissingColumn: a table without one of the columns.
    """
    table = csv.DictReader(lines(path))
    lacking = sorted({"ImageID", *_CREDIT} - {*(table.fieldnames or ())})
    if lacking:
        problem = f"no column {', '.join(lacking)}"
        raise MissingColumn(path, problem, "give Open Images' metadata of the pictures")
    return {row["ImageID"]: ", ".join(filter(None, (row[n] for n in _CREDIT))) for row in table}
