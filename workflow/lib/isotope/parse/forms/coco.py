"""Captions of COCO in its own captions_*.json.

Format: https://cocodataset.org/#format-data (5, image captioning).
"""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from isotope.core.errors import EmptyTable
from isotope.intake.texts import head
from isotope.parse.forms import coco_objects, lists
from isotope.parse.forms.base import FILE, ROW, WHERE, Form, Rejection, refuse
from isotope.parse.forms.columns import chunks, fitted
from isotope.parse.forms.texts import files_of, named, one_line, suffix
from isotope.parse.pair_rows import OBJECTS

_NAMES = {"info", "images", "annotations", "licenses", "type"}
_SPLIT = re.compile(r"(?<![a-z])(train|val|test|dev)(?![a-z])")
_WIDTHS = ("width", "height")
_ROWS = 65_536
_URLS = ("coco_url", "flickr_url", "date_captured")
_CAPTIONS = pa.schema(
    [
        *(("image_id", pa.string()), ("file_name", pa.string())),
        *((name, pa.int32()) for name in _WIDTHS),
        *((name, pa.string()) for name in _URLS),
        *(("license", pa.string()), ("license_url", pa.string())),
        *((name, pa.string()) for name in ("caption_id", "query_id", "source_text_id")),
        *(("number", pa.int64()), ("caption", pa.string()), ("split", pa.string())),
        ("objects", OBJECTS),
    ]
)


class Coco(Form):
    """COCO's own files: lists of images, annotations and licences; pictures lie apart.

    Files of instances, and one with the synset of each category, tell the objects of pictures.
    """

    name = "coco"
    roles: ClassVar[Mapping[str, str]] = {
        **{"image": "file_name", "image_id": "image_id", "text": "caption"},
        **{"text_id": "caption_id", "split": "split", "licence": "license"},
        **{"number": "number", "width": "width", "height": "height"},
    }
    keeps: ClassVar[Mapping[str, Sequence[str]]] = {"text": ("source_text_id",)}

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by a record of JSON whose first names are among those of COCO."""
        return _all_begin(paths, _NAMES, lists.SENTENCES)

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield a row for each annotation, then one for each image that has none.

        `split` is what the file's name says, as `val` in captions_val2017.json. The records of a
        file's images, and all objects, are in memory. An annotation without caption, or of an
        image that the file lacks, is rejected. `query_id` names the data set, too: `coco-10`.

        Raises:
            CorruptFile: a file that is no JSON record, or not all of it.
            EmptyTable: a file without images.
        """
        files = named(files_of(paths))
        boxes = [file for file in files if coco_objects.has_any(file[0])]
        objects = coco_objects.read(boxes, rejected)
        for file in files:
            if file not in boxes:
                yield from _captions(file, objects, rejected)


def _all_begin(paths: Sequence[Path], allowed: set[str], unlike: Sequence[str]) -> bool:
    files = files_of(paths)
    for path in files:
        if suffix(path) != ".json":
            return False
        begin = head(path).decode("utf-8", "replace").lstrip("\ufeff")
        names = lists.keys(begin)
        if not names or not {*names} & {"images", "annotations"} or not {*names} <= allowed:
            return False
        if any(f'"{name}"' in begin for name in unlike):
            return False
    return bool(files)


def _captions(
    file: tuple[Path, str], objects: coco_objects.Objects, rejected: list[Rejection] | None
) -> Iterator[pa.RecordBatch]:
    """Yield rows of annotations, then of images without any: what an image has is made once."""
    (path, name), described = file, set[int]()
    images, licences = _images(path, name, rejected)
    split = _SPLIT.search(Path(name).name.lower())
    drawn = objects.of_pictures([image["id"] for _, image in images.values()])
    table = _table(images.values(), licences, split[1] if split else None, drawn)
    row_of = {key: n for n, key in enumerate(images)}

    def notes() -> Iterator[tuple[int, int, object, str]]:
        for _, row, note in lists.records((path, name), rejected, "annotations"):
            why = _fault(note, images)
            if why:
                refuse(rejected, (name, row), why, str(note))
            else:
                caption = one_line(note["caption"])
                yield row, row_of[note["image_id"]], note.get("id"), caption

    for chunk in chunks(notes(), _ROWS):
        rows, at, numbers, captions = zip(*chunk, strict=True)
        described |= {*at}
        texts = {"number": fitted(numbers, pa.int64()), "caption": pa.array(captions)}
        ids = fitted(numbers, pa.string())
        texts |= dict.fromkeys(("caption_id", "source_text_id"), ids)
        texts["query_id"] = pa.array([f"coco-{number}" for number in numbers])
        yield _batch(name, rows, table.take(pa.array(at)), texts)
    silent = [n for n in range(len(table)) if n not in described]
    for at in chunks(silent, _ROWS):
        alone = table.take(pa.array(at))
        yield _batch(name, alone[ROW].to_pylist(), alone, {})


def _table(
    images: Collection[tuple[int, Mapping[str, Any]]],
    licences: Mapping[object, Any],
    split: str | None,
    objects: pa.Array,
) -> pa.Table:
    """Return what rows say of images, an image a row."""
    rows = [_image(image, licences) | {"split": split} for _, image in images]
    names = [name for name in _CAPTIONS.names if rows[0].keys() & {name}]
    columns = {n: fitted([row[n] for row in rows], _CAPTIONS.field(n).type) for n in names}
    return pa.table({ROW: [row for row, _ in images], **columns, "objects": objects})


def _batch(
    name: str, rows: Sequence[int], images: pa.Table, texts: Mapping[str, pa.Array]
) -> pa.RecordBatch:
    columns = {FILE: pa.repeat(pa.scalar(name), len(rows)), ROW: pa.array(rows, pa.int64())}
    columns |= {
        column: images[column].combine_chunks() for column in images.column_names if column != ROW
    }
    columns |= texts
    schema = pa.schema([*WHERE, *_CAPTIONS])
    nulls = {f.name: pa.nulls(len(rows), f.type) for f in schema if f.name not in columns}
    return pa.record_batch([{**nulls, **columns}[column] for column in schema.names], schema=schema)


def _images(
    path: Path, name: str, rejected: list[Rejection] | None
) -> tuple[dict[object, tuple[int, dict[str, Any]]], dict[object, Any]]:
    """Return the records of images, with their rows, and of licences, both by id."""
    images, licences = dict[object, tuple[int, dict[str, Any]]](), dict[object, Any]()
    for key, row, item in lists.records((path, name), rejected, "images", "licenses"):
        if not isinstance(item, dict) or not isinstance(item.get("id"), int | str):
            refuse(rejected, (name, row), f"no id in this item of {key!r}", str(item))
        elif key == "licenses":
            licences[item["id"]] = item
        elif not isinstance(item.get("file_name"), str):
            refuse(rejected, (name, row), "an image without file_name", str(item))
        else:
            wanted = ("id", "file_name", "license", *_WIDTHS, *_URLS)
            images[item["id"]] = row, {field: item.get(field) for field in wanted}
    if not images:
        raise EmptyTable(path, "no images in it", "give a captions_*.json of COCO")
    return images, licences


def _fault(note: object, images: Mapping[object, Any]) -> str:
    """Return why an annotation can't be read, or nothing."""
    caption: object = note.get("caption") if isinstance(note, dict) else None
    if not isinstance(note, dict) or not isinstance(caption, str) or not caption.strip():
        return "an annotation without caption"
    if not isinstance(note.get("image_id"), int | str) or note["image_id"] not in images:
        return f"no image {note.get('image_id')!r} in this file"
    return ""


def _image(image: Mapping[str, Any], licences: Mapping[object, Any]) -> dict[str, object]:
    number = image["license"]
    licence: Mapping[str, Any] = licences.get(number, {}) if isinstance(number, int | str) else {}
    fields = {key: value for key, value in image.items() if key not in ("id", "license")}
    named = {"license": licence.get("name"), "license_url": licence.get("url")}
    return {"image_id": image["id"], **fields, **named}
