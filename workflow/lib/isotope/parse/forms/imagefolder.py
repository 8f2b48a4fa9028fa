"""Hugging Face's `imagefolder`: pictures in folders, and beside them a table of what is said.

Format: https://huggingface.co/docs/datasets/image_dataset. A `metadata.csv`, `.jsonl` or `.parquet`
names each picture below its own folder in the column `file_name`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from isotope.core.errors import CorruptFile, MissingColumn
from isotope.intake.archives import file_content
from isotope.parse.forms import delimited, embedded, json_lines
from isotope.parse.forms.base import FILE, Form, Picture, Rejection
from isotope.parse.forms.columns import with_splits
from isotope.parse.forms.texts import files_of, is_picture, named, root_of, suffix

_TABLE, _NAME = "metadata", "file_name"
_Reader = Callable[[Sequence[Path], list[Rejection] | None], Iterator[pa.RecordBatch]]
_READERS: Mapping[str, _Reader] = {
    ".csv": lambda paths, rejected: delimited.read("csv", paths, {"strings": [_NAME]}, rejected),
    ".jsonl": json_lines.read,
    ".parquet": lambda paths, rejected: embedded.read_files(paths),
}


class ImageFolder(Form):
    """Tables of pictures that lie beside them; a folder called train, validation or test is one."""

    name = "imagefolder"
    roles: ClassVar[Mapping[str, str]] = {"image": _NAME}
    has_files: ClassVar[bool] = True
    turn: ClassVar[int] = 3

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by a table of this name, and a picture."""
        files = files_of(paths)
        return any(map(self._is_table, files)) and any(is_picture(path.name) for path in files)

    def _is_table(self, path: Path) -> bool:
        return path.name.partition(".")[0] == _TABLE and suffix(path) in _READERS

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield the rows of all tables; `file_name` is the path of the picture below all folders.

        Raises:
            CorruptFile: tables of two formats; else as the reader of the format.
            MissingColumn: a table without `file_name`.
        """
        tables, root = [path for path in files_of(paths) if self._is_table(path)], root_of(paths)
        if len({suffix(path) for path in tables}) > 1:
            problem = f"tables of several formats: {', '.join(path.name for path in tables)}"
            raise CorruptFile(root, problem, "write all of them in one")
        folders = {label: path.parent.relative_to(root) for path, label in named(tables)}
        batches = _READERS[suffix(tables[0])](tables, rejected)
        pictures = {name: name for name, _ in self.pictures(paths, {})}
        yield from with_splits(_placed(batches, folders, root), _NAME, pictures)

    def pictures(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Iterator[Picture]:
        """Yield all files but tables and cards: what a table names may be called otherwise."""
        root = root_of(paths)
        for path in files_of(paths):
            if self._is_table(path) or suffix(path) == ".md":
                continue
            yield path.relative_to(root).as_posix(), partial(file_content, path)


def _placed(
    batches: Iterator[pa.RecordBatch], folders: Mapping[str, Path], root: Path
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        names = batch.schema.names
        if _NAME not in names:
            problem = f"columns {', '.join(names[2:])}, and no `{_NAME}`"
            raise MissingColumn(
                root / batch[FILE][0].as_py(), problem, f"name the pictures in `{_NAME}`"
            )
        both = zip(batch[FILE].to_pylist(), batch[_NAME].to_pylist(), strict=True)
        values = [(folders[file] / name).as_posix() if name else None for file, name in both]
        yield batch.set_column(names.index(_NAME), _NAME, pa.array(values, pa.string()))
