"""A folder of pictures with what is said of them beside: a.jpg, a.txt and a.json.

So does img2dataset write its files, and so do trainers of picture generators read them.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar, cast

import pyarrow as pa

from isotope.intake.archives import file_content
from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.intake.texts import lines
from isotope.parse.forms.base import Form, Picture, Rejection, refuse
from isotope.parse.forms.columns import Located, renamed, typed_values, with_splits
from isotope.parse.forms.texts import files_of, is_picture, root_of

_COLUMNS = ("image", "name", "folder", "text")


class Folder(Form):
    """Pictures with captions beside them; a line is a caption."""

    name = "folder"
    roles: ClassVar[Mapping[str, str]] = {"image": "image", "image_id": "name", "text": "text"}
    has_files: ClassVar[bool] = True
    turn: ClassVar[int] = 3
    options: ClassVar[Mapping[str, str]] = {
        "lines": "false: all of a text file is one caption; by default each line is."
    }

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by a picture that has a text file or a JSON file of its name beside it."""
        files = [*files_of(paths)] if any(path.is_dir() for path in paths) else [*paths]
        stems = {path.with_suffix("") for path in files if path.suffix in (".txt", ".json")}
        return any(is_picture(path.name) and path.with_suffix("") in stems for path in files)

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield a row for each caption; a picture without one has a row with no text.

        Columns are `image` (its path below the folder), `name` (without suffix), `folder` (where it
        is not in the first), `text`, those of the JSON, and `split` where folders are of several;
        one of the JSON's that bears a name of ours becomes `json.name`. A text or JSON without its
        picture is rejected.

        Raises:
            CorruptFile: a text that is not UTF-8.
        """
        files, root = files_of(paths), root_of(paths)
        by_stem = _by_stem(files)
        passes = iter([rejected, []])

        def rows() -> Iterator[Located]:
            aside = next(passes)
            for stem, beside in by_stem.items():
                yield from _Item(root, stem, beside).rows(options.get("lines", True), aside)

        pictures = {name: name for name, _ in self.pictures(paths, {})}
        yield from with_splits(typed_values(rows), "image", pictures)

    def pictures(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Iterator[Picture]:
        """Yield the picture files."""
        root = root_of(paths)
        for path in filter(lambda file: is_picture(file.name), files_of(paths)):
            yield path.relative_to(root).as_posix(), partial(file_content, path)


def _by_stem(files: Sequence[Path]) -> dict[Path, list[Path]]:
    by_stem: dict[Path, list[Path]] = {}
    for path in files:
        if is_picture(path.name) or path.suffix in (".txt", ".json"):
            by_stem.setdefault(path.with_suffix(""), []).append(path)
    return by_stem


class _Item:
    """The files of one name."""

    def __init__(self, root: Path, stem: Path, files: Sequence[Path]) -> None:
        self._root, self._stem = root, stem
        self._pictures = [path for path in files if is_picture(path.name)]
        self._beside = {path.suffix: path for path in files if not is_picture(path.name)}

    def _relative(self, path: Path) -> str:
        return path.relative_to(self._root).as_posix()

    def rows(self, by_line: bool, rejected: list[Rejection] | None) -> Iterator[Located]:
        """Yield a row for each picture and caption."""
        if not self._pictures:
            for path in self._beside.values():
                refuse(rejected, (self._relative(path), 1), "no picture of this name beside it", "")
            return
        fields = self._fields(rejected)
        for picture in self._pictures:
            folder = self._relative(picture.parent)
            columns = {
                "image": self._relative(picture),
                "name": self._relative(self._stem),
                "folder": None if folder == "." else folder,
            }
            for file, row, text in self._captions(picture, by_line=by_line):
                yield file, row, columns | {"text": text} | fields

    def _captions(self, picture: Path, *, by_line: bool) -> Iterator[tuple[str, int, str | None]]:
        path = self._beside.get(".txt")
        captions = [line.rstrip("\r\n") for line in lines(path)] if path else []
        if not by_line:
            captions = ["\n".join(captions).strip()]
        rows = [(row, text) for row, text in enumerate(captions, 1) if text.strip()]
        if path is None or not rows:
            yield self._relative(picture), 1, None
        else:
            yield from ((self._relative(path), row, text) for row, text in rows)

    def _fields(self, rejected: list[Rejection] | None) -> dict[str, object]:
        path = self._beside.get(".json")
        if path is None:
            return {}
        text = "".join(lines(path))
        try:
            fields = json_value(text)
        except Refused as error:
            refuse(rejected, (self._relative(path), 1), error.reason, text)
            return {}
        if not isinstance(fields, dict):
            refuse(rejected, (self._relative(path), 1), "no record of JSON", text)
            return {}
        return renamed(cast(dict[str, object], fields), _COLUMNS)
