"""Tables of a user whose fields stand between commas or tabs; what a column means, the user says.

CSV: RFC 4180, also with `;`, `|` or tabs; TSV: the registration of text/tab-separated-values, which
has no quotes, unless `quote` says so.
"""

import csv
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from isotope.core.errors import CorruptFile, EmptyTable
from isotope.intake.texts import head, lines
from isotope.parse.forms.base import FILE, Form, Rejection, refuse
from isotope.parse.forms.columns import Located, typed_texts, with_splits
from isotope.parse.forms.texts import files_of, named, places, suffix

_DELIMITERS = ",;\t|"
_LONGEST_FIELD = 1 << 24


class Delimited(Form):
    """Fields between commas or tabs, the first line their names."""

    options: ClassVar[Mapping[str, str]] = {
        "delimiter": "Between fields; found in the first line unless given.",
        "quote": "Around fields that hold delimiters or lines; empty: none. TSV has none.",
        "header": "Names of the columns, where the first line is a row; false: they have none.",
        "strings": "Columns that stay texts whatever they look like.",
    }

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by the suffix and two fields or more in the first line."""
        files = files_of(paths)
        return bool(files) and all(map(self.is_own, files))

    def is_own(self, path: Path) -> bool:
        """Tell whether one file is of this form."""
        has_fields = any(delimiter in first_line(path) for delimiter in _DELIMITERS)
        return suffix(path) == f".{self.name}" and has_fields

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield rows; an empty field is null. One with too many or few fields is rejected.

        Files of several splits by their paths give a column `split`, unless there is one.

        Raises:
            CorruptFile: bytes that are not UTF-8, a quote that is not closed, a column named twice.
            EmptyTable: a file without a line.
        """
        yield from read(self.name, paths, options, rejected)


def read(
    form: str,
    paths: Sequence[Path],
    options: Mapping[str, Any],
    rejected: list[Rejection] | None,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of files of form csv or tsv, as `Delimited.read`.

    Raises:
        As `Delimited.read`.
    """
    files = named(files_of(paths))
    dialects = {path: _Dialect(form, path, options) for path, _ in files}
    names = list(dict.fromkeys(n for dialect in dialects.values() for n in dialect.names))
    passes = iter([rejected, []])  # what is rejected is told once

    def rows() -> Iterator[Located]:
        aside = next(passes)
        for path, name in files:
            yield from dialects[path].rows(name, aside)

    batches = typed_texts(rows, names, options.get("strings", ()))
    yield from with_splits(batches, FILE, places(files, paths))


def first_line(path: Path) -> str:
    """Return the first line of a file, as far as its head goes."""
    return head(path).decode("utf-8", "replace").partition("\n")[0]


class _Dialect:
    """How one file is written."""

    def __init__(self, form: str, path: Path, options: Mapping[str, Any]) -> None:
        first = next(lines(path), "")
        if not first.strip():
            raise EmptyTable(path, "no first line", "give a file with the names of its columns")
        detected = "\t" if form == "tsv" else max(_DELIMITERS, key=first.count)
        self._path, self._delimiter = path, options.get("delimiter", detected)
        self._quote = options.get("quote", "" if form == "tsv" else '"')
        self._spaced, self.names, self._skipped = False, list[str](), 0
        header = options.get("header", True)
        if header is True:
            begun = first.rstrip("\r\n").split(self._delimiter)
            self._spaced = len(begun) > 1 and all(field.startswith(" ") for field in begun[1:])
            self._skipped = 1
        fields = next(self._parsed(deque()))[1]
        if header is not True:
            fields = [str(name) for name in header] if header else [""] * len(fields)
        self.names = self._named([field.strip() for field in fields])

    def _named(self, fields: Sequence[str]) -> list[str]:
        names = [field or f"column_{n}" for n, field in enumerate(fields, 1)]
        twice = next((name for name in names if names.count(name) > 1), None)
        if twice is not None:
            problem = f"two columns are called {twice!r}"
            raise CorruptFile(f"{self._path}, row 1", problem, "rename one of them")
        return names

    def rows(self, name: str, rejected: list[Rejection] | None) -> Iterator[Located]:
        """Yield the rows behind the header."""
        raw: deque[str] = deque()
        for row, fields in islice(self._parsed(raw, name, rejected), self._skipped, None):
            if len(fields) == len(self.names):
                yield name, row, dict(zip(self.names, fields, strict=True))
            elif fields:
                problem = f"{len(fields)} fields, the header has {len(self.names)}"
                refuse(rejected, (name, row), problem, "".join(raw).rstrip("\r\n"))

    def _parsed(
        self, raw: deque[str], name: str = "", rejected: list[Rejection] | None = None
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield the line where each record begins and its fields; `raw` has its lines."""
        before = csv.field_size_limit(_LONGEST_FIELD)
        reader, row = csv.reader(self._lines(raw), **self._format()), 1
        try:
            while True:
                raw.clear()
                try:
                    yield row, next(reader)
                except StopIteration:
                    return
                except csv.Error as error:
                    self._refuse_rest(row, error)
                    refuse(rejected, (name, row), str(error), "".join(raw).rstrip("\r\n"))
                row = reader.line_num + 1
        finally:
            csv.field_size_limit(before)

    def _lines(self, raw: deque[str]) -> Iterator[str]:
        for line in lines(self._path):
            raw.append(line)
            yield line

    def _format(self) -> dict[str, Any]:
        if not self._quote:
            return {"delimiter": self._delimiter, "quoting": csv.QUOTE_NONE, "quotechar": None}
        return {
            "delimiter": self._delimiter,
            "quotechar": self._quote,
            "strict": True,
            "skipinitialspace": self._spaced,
        }

    def _refuse_rest(self, row: int, error: csv.Error) -> None:
        """A quote that is not closed takes along all that follows: no record, but the file."""
        if "end of data" in str(error) or "field limit" in str(error):
            raise CorruptFile(
                f"{self._path}, row {row}",
                "a quote that opens here is not closed",
                "close it, or say `quote: ''` in the options where quotes mean nothing",
            ) from error
