"""Records of JSON of a user, one a line or in a list."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from isotope.parse.forms import json_lines
from isotope.parse.forms.base import Form, Rejection
from isotope.parse.forms.texts import files_of, suffix

_SUFFIXES = (".jsonl", ".ndjson", ".json")


class JsonLines(Form):
    """A JSON record a line, or a list of them."""

    name = "jsonl"
    turn: ClassVar[int] = 2

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by the suffix, and that the first line is a record or begins a list of records."""
        files = files_of(paths)
        return bool(files) and all(
            suffix(path) in _SUFFIXES and json_lines.begins(path) for path in files
        )

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield rows as `json_lines.read`.

        Raises:
            CorruptFile: bytes that are not UTF-8; a list that is not whole.
        """
        yield from json_lines.read(paths, rejected)
