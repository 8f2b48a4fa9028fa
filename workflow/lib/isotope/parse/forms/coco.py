"""Captions of COCO in its own captions_*.json.

Format: https://cocodataset.org/#format-data (5, image captioning).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from isotope.core.errors import EmptyTable
from isotope.intake.texts import head
from isotope.parse.forms import lists
from isotope.parse.forms.base import Form, Rejection, refuse
from isotope.parse.forms.columns import Located, batches
from isotope.parse.forms.texts import files_of, named, suffix

_NAMES = {"info", "images", "annotations", "licenses", "type"}
_SPLIT = re.compile(r"(?<![a-z])(train|val|test|dev)(?![a-z])")
_WIDTHS = ("width", "height")
_URLS = ("coco_url", "flickr_url", "date_captured")
_CAPTIONS = pa.schema(
    [
        *(("image_id", pa.string()), ("file_name", pa.string())),
        *((name, pa.int32()) for name in _WIDTHS),
        *((name, pa.string()) for name in _URLS),
        *(("license", pa.string()), ("license_url", pa.string())),
        *(("caption_id", pa.string()), ("caption", pa.string()), ("split", pa.string())),
    ]
)


class Coco(Form):
    """COCO's own files: lists of images, annotations and licences; pictures lie apart."""

    name = "coco"
    roles: ClassVar[Mapping[str, str]] = {
        **{"image": "file_name", "image_id": "image_id", "text": "caption"},
        **{"text_id": "caption_id", "split": "split", "licence": "license"},
    }

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
        file's images are in memory. An annotation without caption, or of an image that the file
        lacks, is rejected.

        Raises:
            CorruptFile: a file that is no JSON record, or not all of it.
            EmptyTable: a file without images.
        """
        rows = (row for file in named(files_of(paths)) for row in _captions(*file, rejected))
        yield from batches(rows, _CAPTIONS)


def _all_begin(paths: Sequence[Path], known: set[str], unlike: Sequence[str]) -> bool:
    files = files_of(paths)
    for path in files:
        if suffix(path) != ".json":
            return False
        begin = head(path).decode("utf-8", "replace").lstrip("\ufeff")
        names = lists.keys(begin)
        if not names or not {*names} & {"images", "annotations"} or not {*names} <= known:
            return False
        if any(f'"{name}"' in begin for name in unlike):
            return False
    return bool(files)


def _captions(path: Path, name: str, rejected: list[Rejection] | None) -> Iterator[Located]:
    images, licences = _images(path, name, rejected)
    found = _SPLIT.search(Path(name).name.lower())
    split, described = found[1] if found else None, set[object]()
    for _, row, note in lists.records((path, name), rejected, "annotations"):
        why = _fault(note, images)
        if why:
            refuse(rejected, (name, row), why, str(note))
            continue
        described.add(note["image_id"])
        own = {"caption_id": note.get("id"), "caption": note["caption"], "split": split}
        yield name, row, _image(images[note["image_id"]][1], licences) | own
    for number, (row, image) in images.items():
        if number not in described:
            yield name, row, _image(image, licences) | {"split": split}


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
            images[item["id"]] = row, {each: item.get(each) for each in wanted}
    if not images:
        raise EmptyTable(path, "no images in it", "give a captions_*.json of COCO")
    return images, licences


def _fault(note: object, images: Mapping[object, Any]) -> str:
    """Return why an annotation can't be read, or nothing."""
    if not isinstance(note, dict) or not isinstance(note.get("caption"), str):
        return "an annotation without caption"
    if not isinstance(note.get("image_id"), int | str) or note["image_id"] not in images:
        return f"no image {note.get('image_id')!r} in this file"
    return ""


def _image(image: Mapping[str, Any], licences: Mapping[object, Any]) -> dict[str, object]:
    number = image["license"]
    licence: Mapping[str, Any] = licences.get(number, {}) if isinstance(number, int | str) else {}
    own = {key: value for key, value in image.items() if key not in ("id", "license")}
    named = {"license": licence.get("name"), "license_url": licence.get("url")}
    return {"image_id": image["id"], **own, **named}
