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
from isotope.parse.forms import coco_objects, lists
from isotope.parse.forms.base import Form, Rejection, refuse
from isotope.parse.forms.columns import Located, batches
from isotope.parse.forms.texts import files_of, named, one_line, suffix
from isotope.parse.pair_rows import OBJECTS

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
        objects = coco_objects.read([f for f in files if coco_objects.has_any(f[0])], rejected)
        told = [f for f in files if not coco_objects.has_any(f[0])]
        rows = (row for file in told for row in _captions(*file, rejected))
        drawn = (
            (at, row, {**own, "objects": objects.get(own["image_id"])}) for at, row, own in rows
        )
        yield from batches(drawn, _CAPTIONS)


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
        number = note.get("id")
        ids = {"caption_id": number, "source_text_id": number, "number": number}
        own = {**ids, "query_id": f"coco-{number}", "caption": one_line(note["caption"])}
        own["split"] = split
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
    caption: object = note.get("caption") if isinstance(note, dict) else None
    if not isinstance(note, dict) or not isinstance(caption, str) or not caption.strip():
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
