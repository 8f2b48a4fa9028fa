"""Tables of a user in Parquet."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from isotope.parse.forms import embedded
from isotope.parse.forms.base import Form, Picture, Rejection
from isotope.parse.forms.texts import files_of, named, suffix


class Parquet(Form):
    """Columns with types of their own; a column of pictures' bytes has the pictures."""

    name = "parquet"
    turn: ClassVar[int] = 2

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by the suffix."""
        files = files_of(paths)
        return bool(files) and all(suffix(path) == ".parquet" for path in files)

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield rows as `embedded.read_files`.

        Raises:
            CorruptFile: a file that is no Parquet, or whose columns have other types than before.
        """
        yield from embedded.read_files(paths)

    def pictures(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Iterator[Picture]:
        """Yield the pictures of every column of bytes."""
        yield from embedded.pictures([embedded.parquet(*file) for file in named(files_of(paths))])
