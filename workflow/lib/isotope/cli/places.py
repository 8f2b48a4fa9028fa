"""Where the pictures lie that a table names: a folder, a zip or a tar."""

from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from isotope.core.errors import MissingFile
from isotope.intake.archives import is_archive, members
from isotope.parse.forms.texts import PICTURES, files_of, is_picture

# Folders beside a table in which its pictures may lie.
_BESIDE = ("", "images", "pictures", "photos", "img", "data")
_ENOUGH = 20
_SHARE = 0.5


class Pictures(NamedTuple):
    """Names of pictures without folder and suffix, by which a collection finds them."""

    stems: frozenset[str]

    def has(self, name: str) -> bool:
        """Tell whether there is a picture of this name, with or without folder and suffix."""
        return stem(name) in self.stems


def stem(name: str) -> str:
    """Return a name without folder and a picture's suffix."""
    last = PurePosixPath(name).name
    suffix = next((each for each in PICTURES if last.lower().endswith(each)), "")
    return last[: len(last) - len(suffix)] if suffix else last


def pictures_in(place: Path) -> Pictures:
    """Return the pictures in a folder, a zip or a tar.

    Raises:
        MissingFile: nothing is there, or no picture in it.
        CorruptFile: an archive that can't be read.
    """
    if not place.exists():
        raise MissingFile(place, "no such folder or archive", "check --pictures")
    stems = frozenset(stem(name) for name in _names(place) if is_picture(name))
    if not stems:
        raise MissingFile(
            place, "no picture in it", f"its names end in none of {', '.join(PICTURES)}"
        )
    return Pictures(stems)


def _names(place: Path) -> Iterable[str]:
    if place.is_dir():
        return (path.name for path in files_of([place]))
    if is_archive(place):
        return [member.name for member in members(place)]
    return [place.name]


def beside(table: Path, values: Sequence[str]) -> Path | None:
    """Return the folder near a table with the pictures that its values name, if there is one."""
    named = list(dict.fromkeys(islice((v for v in values if is_picture(v)), _ENOUGH)))
    parent = table if table.is_dir() else table.parent
    for name in _BESIDE if named else ():
        folder = parent / name
        if sum((folder / value).is_file() for value in named) >= _SHARE * len(named):
            return folder
    return None
