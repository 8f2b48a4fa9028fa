"""Where the pictures lie that a table names: a folder, a zip or a tar."""

import os
from collections.abc import Mapping, Sequence
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Literal, NamedTuple
from unicodedata import normalize

from isotope.core.errors import MissingFile
from isotope.intake.archives import is_archive, members
from isotope.intake.formats import NO_PIXELS, image_format
from isotope.parse.forms.texts import PICTURES, files_of, is_picture

# Folders beside a table in which its pictures lie likeliest, before those of any other name.
_LIKELIEST = ("", "images", "pictures", "photos", "img", "data")
_ENOUGH = 20
_SHARE = 0.5
_FORMS: Sequence[Literal["NFC", "NFD"]] = ("NFC", "NFD")
# By which the format of a file is told.
_HEAD_BYTES = 8192


class PictureNames(NamedTuple):
    """Pictures by their names without folder and suffix, by which a collection finds them.

    `stems` are of names that end as a picture's, `files` all files of a folder, whatever they are.
    """

    stems: frozenset[str]
    files: Mapping[str, Sequence[Path]]

    def has_picture(self, name: str) -> bool:
        """Tell whether there is a picture of this name, with or without folder and suffix."""
        return stem(name) in self.stems

    def problem(self, name: str) -> str:
        """Return why a run will have no picture of this name; empty if it will have one.

        Of files of a folder the first bytes tell, of members of an archive their names.
        """
        near: dict[tuple[bool, bool], list[Path]] = {}
        for path in self.files.get(stem(name), ()):
            full, asked = normalize("NFC", f"/{path.as_posix()}"), f"/{_posix(name)}"
            is_other = full.rpartition("/")[2] != asked.rpartition("/")[2]
            near.setdefault((not full.endswith(asked), is_other), []).append(path)
        if not near:
            return "" if self.has_picture(name) else "missing_picture"
        return min(map(_status, near[min(near)]))


def _status(path: Path) -> str:
    """Return what the ledger will say of a file that no decoder gets; empty for a picture."""
    with path.open("rb") as file:
        kind = image_format(file.read(_HEAD_BYTES))
    return "not_an_image" if kind is None else kind if kind in NO_PIXELS else ""


def stem(name: str) -> str:
    """Return a name without folder and a picture's suffix, composed (NFC).

    Tools of macOS write letters with accents in two parts, and those of Windows `\\` for `/`.
    """
    last = PurePosixPath(_posix(name)).name
    suffix = next((ending for ending in PICTURES if last.lower().endswith(ending)), "")
    return last[: len(last) - len(suffix)] if suffix else last


def _posix(name: str) -> str:
    return normalize("NFC", name).replace("\\", "/")


def pictures_in(root: Path) -> PictureNames:
    """Return the pictures in a folder, a zip or a tar.

    Raises:
        MissingFile: nothing is there, or no picture in it.
        CorruptFile: an archive that can't be read.
    """
    if not root.exists():
        raise MissingFile(root, "no such folder or archive", "check --pictures")
    files: dict[str, list[Path]] = {}
    for path in files_of([root]) if not is_archive(root) else ():
        files.setdefault(stem(path.name), []).append(path)
    names = [path.name for paths in files.values() for path in paths]
    names += [member.name for member in members(root)] if is_archive(root) else []
    stems = frozenset(stem(name) for name in names if is_picture(name))
    if not stems:
        raise MissingFile(
            root, "no picture in it", f"its names end in none of {', '.join(PICTURES)}"
        )
    return PictureNames(stems, files)


def beside(table: Path, values: Sequence[str]) -> Path | None:
    """Return the folder near a table with the pictures that its values name, if there is one."""
    named = list(dict.fromkeys(islice((v for v in values if is_picture(v)), _ENOUGH)))
    if named and all(map(os.path.isabs, named)):
        near = [Path(value).parent for value in named if Path(value).is_file()]
        return Path(os.path.commonpath(near)) if len(near) >= _SHARE * len(named) else None
    parent = table if table.is_dir() else table.parent
    folders = (path.name for path in parent.glob("*") if path.is_dir()) if named else ()
    visible = sorted(name for name in folders if not name.startswith("."))
    for name in dict.fromkeys((*_LIKELIEST, *visible)) if named else ():
        folder = parent / name
        if sum(_is_in(folder, value) for value in named) >= _SHARE * len(named):
            return folder
    return None


def _is_in(folder: Path, name: str) -> bool:
    return any((folder / form).is_file() for form in {name, *(normalize(f, name) for f in _FORMS)})
