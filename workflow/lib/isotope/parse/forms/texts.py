"""Files of a form: which there are, what rows call them, and what their suffixes say."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

from isotope.core.errors import MissingFile
from isotope.core.files import labels
from isotope.core.patterns import of_runs_below
from isotope.intake.archives import PICTURES, is_picture
from isotope.intake.packed import PACKED

__all__ = ["PICTURES", "files_of", "is_picture", "named", "places", "root_of", "suffix"]

_SPACE = re.compile(r"[ \t\r\n\f]+")
# As workflow/sql/parse/pairs/20_divided.sql reads them.
SPLIT_NAMES: Mapping[str, str] = {
    **dict.fromkeys(("train", "training", "restval"), "train"),
    **dict.fromkeys(("validation", "valid", "val", "dev", "development"), "validation"),
    **dict.fromkeys(("test", "testing"), "test"),
}


def files_of(paths: Sequence[Path]) -> list[Path]:
    """Return the files among `paths` and below the folders among them, those of a folder sorted.

    What begins with a dot is left out, and what an experiment and its runs keep in the current
    folder, where that is below one of them.

    Raises:
        MissingFile: a path that is not there.
    """
    files: list[Path] = []
    for path in paths:
        if path.is_dir():
            files += sorted(_below(path))
        elif path.is_file():
            files.append(path)
        else:
            raise MissingFile(path, "no such file or folder", "check the path")
    return files


def _below(folder: Path) -> Iterator[Path]:
    apart = {os.fspath(path) for path in of_runs_below(folder)}

    def is_data(top: str, name: str) -> bool:
        return not (name.startswith(".") or (apart and _absolute(top, name) in apart))

    for top, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [name for name in folders if is_data(top, name)]
        yield from (Path(top) / name for name in names if is_data(top, name))


def _absolute(top: str, name: str) -> str:
    return os.path.abspath(os.path.join(top, name))  # noqa: PTH100, PTH118 (links are not followed)


def named(files: Sequence[Path]) -> list[tuple[Path, str]]:
    """Return each file with the name that rows give it."""
    names = labels(files)
    return [(path, names[path]) for path in files]


def suffix(path: Path) -> str:
    """Return the suffix in lower case, below its packing: `.csv` of `A.CSV.gz`."""
    outer = path.suffix.lower()
    return Path(path.stem).suffix.lower() if outer in PACKED else outer


def root_of(paths: Sequence[Path]) -> Path:
    """Return the folder below which pictures are named: the one that is given, or that of all."""
    if len(paths) == 1 and paths[0].is_dir():
        return paths[0]
    return Path(os.path.commonpath([path if path.is_dir() else path.parent for path in paths]))


def places(files: Sequence[tuple[Path, str]], paths: Sequence[Path]) -> dict[str, str]:
    """Return the path of each file below the folder of all, by its name."""
    root = root_of(paths)
    return {name: path.relative_to(root).as_posix() for path, name in files}


def one_line(text: str) -> str:
    """Return a text without breaks of lines, and with one space where several stand."""
    return _SPACE.sub(" ", text).strip(" ")


def split_of(name: object) -> str | None:
    """Return the split that a name means; a name that is none as it is."""
    return SPLIT_NAMES.get(name.lower(), name) if isinstance(name, str) else None


def split_in(path: str) -> str | None:
    """Return what of a path names a split: `val` of `val/a.csv` or `val.csv`, not of `val.jpg`."""
    parts = PurePosixPath(path).parts[: -1 if is_picture(path) else None]
    names = (part.partition(".")[0].lower() for part in reversed(parts))
    return next((name for name in names if name in SPLIT_NAMES), None)
