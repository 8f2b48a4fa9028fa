"""Objects of COCO's pictures: boxes of instances_*.json, and the synset of each category.

Formats: https://cocodataset.org/#format-data (3, object detection), and a record of categories by
name, each with its synset, as coco_to_synset.json of LVIS.
"""

from collections.abc import Mapping, Sequence
from math import copysign
from pathlib import Path
from typing import Any, cast

from isotope.intake.texts import head
from isotope.parse.forms import lists
from isotope.parse.forms.base import Rejection, refuse, set_aside

_Box = tuple[tuple[str, int], dict[str, Any]]
_CORNERS = ("x_min", "y_min", "x_max", "y_max")


def has_any(path: Path) -> bool:
    """Tell whether a file has boxes or synsets, by its name or its first bytes."""
    return path.name.startswith("instances") or b'"synset"' in head(path)


def read(
    files: Sequence[tuple[Path, str]], rejected: list[Rejection] | None
) -> Mapping[object, list[dict[str, Any]]]:
    """Return the objects by the id of the picture: a synset, and corners in whole px.

    A box of a crowd, of a category without a synset, and one without four numbers is set aside.
    """
    synsets, names, boxes = dict[str, Any](), dict[str, str](), list[_Box]()
    for path, label in files:
        for key, row, item in lists.items(path):
            own = cast("dict[str, Any]", item) if isinstance(item, dict) else {}
            if not row:
                synsets[key] = own.get("synset")
            elif key == "categories":
                names[str(own.get("id"))] = str(own.get("name"))
            elif key == "annotations" and isinstance(own.get("id"), int):
                boxes.append(((label, row), own))
            elif key == "annotations":
                refuse(rejected, (label, row), "no box with a number as its id", str(item))
    of_category = {number: (name, synsets.get(name)) for number, name in names.items()}
    return _objects(sorted(boxes, key=lambda box: box[1]["id"]), of_category, rejected)


def _objects(
    boxes: Sequence[_Box],
    of_category: Mapping[str, tuple[str, Any]],
    rejected: list[Rejection] | None,
) -> Mapping[object, list[dict[str, Any]]]:
    # ASSUME a crowd's box holds no countable object, as COCO says; corners are rounded to whole px.
    # The paper that explains failures speaks of neither.
    objects = dict[object, list[dict[str, Any]]]()
    for at, box in boxes:
        name, synset = of_category.get(str(box.get("category_id")), ("", None))
        corners = _corners(box.get("bbox"))
        why = "crowd" if box.get("iscrowd") == 1 else ""
        why = why or ("category_without_synset" if synset is None else "")
        if why or corners is None:
            set_aside(rejected, at, (why or "no_box", name, str(box.get("bbox"))))
        else:
            own = {"synset": synset, **dict(zip(_CORNERS, corners, strict=True))}
            objects.setdefault(box.get("image_id"), []).append(own)
    return objects


def _corners(box: Any) -> list[int] | None:  # noqa: ANN401 (any JSON)
    """Return the corners in whole px of x, y, width and height; None for anything else."""
    try:
        x, y, width, height = map(float, box)
    except (TypeError, ValueError):
        return None
    return [int(v + copysign(0.5, v)) for v in (x, y, x + width, y + height)]
