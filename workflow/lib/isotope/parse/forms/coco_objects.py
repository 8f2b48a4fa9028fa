"""Objects of COCO's pictures: boxes of instances_*.json, and the synset of each category.

Formats: https://cocodataset.org/#format-data (3, object detection), and a record of categories by
name, each with its synset, as coco_to_synset.json of LVIS.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import accumulate
from math import copysign
from operator import itemgetter
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow as pa

from isotope.intake.texts import head
from isotope.parse.forms import lists
from isotope.parse.forms.base import Rejection, refuse, set_aside
from isotope.parse.pair_rows import OBJECTS

_CORNERS = ("x_min", "y_min", "x_max", "y_max")


class _Box(NamedTuple):
    """What is asked of an annotation, and where it stands."""

    number: int
    file: str
    row: int
    image: object
    category: str
    is_crowd: bool
    corners: Any


def has_any(path: Path) -> bool:
    """Tell whether a file has boxes or synsets, by its name or its first bytes."""
    return path.name.startswith("instances") or b'"synset"' in head(path)


class Objects(NamedTuple):
    """Lists of objects, and which of them a picture has, by its id."""

    lists: pa.Array
    row_of: Mapping[object, int]

    def of_pictures(self, pictures: Iterable[object]) -> pa.Array:
        """Return the objects of each picture (OBJECTS); NULL for one that has none."""
        return self.lists.take(
            pa.array([self.row_of.get(picture) for picture in pictures], pa.int64())
        )


def read(files: Sequence[tuple[Path, str]], rejected: list[Rejection] | None) -> Objects:
    """Return the objects by the id of the picture: a synset, and corners in whole px.

    A box of a crowd, of a category without a synset, and one without four numbers is set aside.
    """
    synsets, names, boxes = dict[str, Any](), dict[str, str](), list[_Box]()
    for path, label in files:
        for key, row, item in lists.items(path):
            fields = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
            if not row:
                synsets[key] = fields.get("synset")
            elif key == "categories":
                names[str(fields.get("id"))] = str(fields.get("name"))
            elif key == "annotations" and isinstance(fields.get("id"), int):
                described = (
                    str(fields.get("category_id")),
                    fields.get("iscrowd") == 1,
                    fields.get("bbox"),
                )
                boxes.append(_Box(fields["id"], label, row, fields.get("image_id"), *described))
            elif key == "annotations":
                refuse(rejected, (label, row), "no box with a number as its id", str(item))
    of_category = {number: (name, synsets.get(name)) for number, name in names.items()}
    return _objects(sorted(boxes, key=itemgetter(0)), of_category, rejected)


def _objects(
    boxes: Sequence[_Box],
    of_category: Mapping[str, tuple[str, Any]],
    rejected: list[Rejection] | None,
) -> Objects:
    # ASSUME a crowd's box holds no countable object, as COCO says; corners are rounded to whole px.
    # The paper that explains failures speaks of neither.
    of_image, usable = dict[object, list[int]](), list[tuple[Any, ...]]()
    for box in boxes:
        name, synset = of_category.get(box.category, ("", None))
        corners = _corners(box.corners)
        why = "crowd" if box.is_crowd else "category_without_synset" if synset is None else ""
        if why or corners is None:
            set_aside(rejected, (box.file, box.row), (why or "no_box", name, str(box.corners)))
        else:
            of_image.setdefault(box.image, []).append(len(usable))
            usable.append((synset, *corners))
    names = [field.name for field in OBJECTS.value_type]
    columns = zip(*usable, strict=True) if usable else ([] for _ in names)
    typed = zip(columns, OBJECTS.value_type, strict=True)
    items = pa.StructArray.from_arrays([pa.array(c, f.type) for c, f in typed], names=names)
    order = pa.array([n for numbers in of_image.values() for n in numbers], pa.int64())
    ends = [0, *accumulate(len(numbers) for numbers in of_image.values())]
    lists_of = pa.ListArray.from_arrays(pa.array(ends, pa.int32()), items.take(order))
    return Objects(lists_of.cast(OBJECTS), {image: n for n, image in enumerate(of_image)})


def _corners(box: Any) -> list[int] | None:  # noqa: ANN401 (any JSON)
    """Return the corners in whole px of x, y, width and height; None for anything else."""
    try:
        x, y, width, height = map(float, box)
    except (TypeError, ValueError):
        return None
    return [int(v + copysign(0.5, v)) for v in (x, y, x + width, y + height)]
