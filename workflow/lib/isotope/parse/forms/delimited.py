"""Tables of a user: CSV, TSV, JSON lines and Parquet; what a column means, the user says.

CSV: RFC 4180, also with `;`, `|` or tabs; TSV: the registration of text/tab-separated-values, which
has no quotes, unless `quote` says so. JSON lines: https://jsonlines.org, or a JSON list of records.
"""

import csv
import re
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, cast

import pyarrow as pa

from isotope.core.errors import CorruptFile, EmptyTable
from isotope.intake.limits import Refused
from isotope.intake.records import json_value
from isotope.intake.texts import head, items, lines
from isotope.parse.forms import embedded
from isotope.parse.forms.base import FILE, Form, Picture, Rejection, refuse
from isotope.parse.forms.columns import Located, typed_texts, typed_values, with_splits
from isotope.parse.forms.texts import files_of, named, root_of, suffix

_DELIMITERS = ",;\t|"
_NAMES = re.compile(r"[^\W\d]\w*([,;\t|] ?[^\W\d]\w*)+")
_LONGEST_FIELD = 1 << 24
_HEADER = "Names of the columns, where the first line is a row; false: they have none."
_STRINGS = "Columns that stay texts whatever they look like."


class Delimited(Form):
    """Fields between commas or tabs, the first line their names."""

    options: ClassVar[Mapping[str, str]] = {
        "delimiter": "Between fields; found in the first line unless given.",
        "quote": "Around fields that hold delimiters or lines; empty: none. TSV has none.",
        "header": _HEADER,
        "strings": _STRINGS,
    }

    def __init__(self, name: str) -> None:
        """Be `csv` or `tsv`."""
        self.name = name

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by the suffix and two fields or more in the first line; a .txt by their names."""
        files = files_of(paths)
        return bool(files) and all(map(self._is_own, files))

    def _is_own(self, path: Path) -> bool:
        if suffix(path) == f".{self.name}":
            return any(each in _first_line(path) for each in _DELIMITERS)
        is_text = self.name == "csv" and suffix(path) == ".txt"
        return is_text and _NAMES.fullmatch(_first_line(path).strip()) is not None

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
        files = named(files_of(paths))
        dialects = {path: _Dialect(self.name, path, options) for path, _ in files}
        names = list(dict.fromkeys(n for dialect in dialects.values() for n in dialect.names))
        passes = iter([rejected, []])  # what is rejected is told once

        def rows() -> Iterator[Located]:
            aside = next(passes)
            for path, name in files:
                yield from dialects[path].rows(name, aside)

        batches = typed_texts(rows, names, options.get("strings", ()))
        yield from with_splits(batches, FILE, _places(files, paths))


def _places(files: Sequence[tuple[Path, str]], paths: Sequence[Path]) -> dict[str, str]:
    """Return the path of each file below the folder of all, by its name."""
    root = root_of(paths)
    return {name: path.relative_to(root).as_posix() for path, name in files}


def _first_line(path: Path) -> str:
    return head(path).decode("utf-8", "replace").partition("\n")[0]


class _Dialect:
    """How one file is written."""

    def __init__(self, form: str, path: Path, options: Mapping[str, Any]) -> None:
        first = next(lines(path), "")
        if not first.strip():
            raise EmptyTable(path, "no first line", "give a file with the names of its columns")
        found = "\t" if form == "tsv" else max(_DELIMITERS, key=first.count)
        self._path, self._delimiter = path, options.get("delimiter", found)
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
            found = f"two columns are called {twice!r}"
            raise CorruptFile(f"{self._path}, row 1", found, "rename one of them")
        return names

    def rows(self, name: str, rejected: list[Rejection] | None) -> Iterator[Located]:
        """Yield the rows behind the header."""
        raw: deque[str] = deque()
        for row, fields in islice(self._parsed(raw, name, rejected), self._skipped, None):
            if len(fields) == len(self.names):
                yield name, row, dict(zip(self.names, fields, strict=True))
            elif fields:
                found = f"{len(fields)} fields, the header has {len(self.names)}"
                refuse(rejected, (name, row), found, "".join(raw).rstrip("\r\n"))

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


class JsonLines(Form):
    """A JSON record a line, or a list of them."""

    name = "jsonl"
    _suffixes = (".jsonl", ".ndjson", ".json")

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell by the suffix, and that the first line is a record or begins a list of records."""
        files = files_of(paths)
        return bool(files) and all(
            suffix(path) in self._suffixes and _begins(path) for path in files
        )

    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield rows, of a list by the number of the item; what is no record is rejected.

        `split` as in `Delimited`.

        Raises:
            CorruptFile: bytes that are not UTF-8; a list that is not whole.
        """
        files = named(files_of(paths))
        passes = iter([rejected, []])

        def rows() -> Iterator[Located]:
            aside = next(passes)
            for path, name in files:
                yield from records(path, name, aside)

        yield from with_splits(typed_values(rows), FILE, _places(files, paths))


def records(path: Path, name: str, rejected: list[Rejection] | None) -> Iterator[Located]:
    """Yield the records of JSON lines or of a list.

    Raises:
        CorruptFile: as `JsonLines.read`.
    """
    is_list = head(path, 256).removeprefix(b"\xef\xbb\xbf").lstrip().startswith(b"[")
    for row, text in enumerate(items(path) if is_list else lines(path), 1):
        if text.strip():
            record = _record(text)
            if isinstance(record, dict):
                yield name, row, record
            else:
                refuse(rejected, (name, row), record, text.rstrip("\r\n"))


def _record(text: str) -> dict[str, Any] | str:
    """Return a record, or why there is none."""
    try:
        value = json_value(text)
    except Refused as error:
        return error.reason
    if isinstance(value, dict):
        return cast(dict[str, Any], value)
    return f"no record of JSON, but {type(cast(object, value)).__name__}"


def _begins(path: Path) -> bool:
    text = head(path).decode("utf-8", "replace").lstrip("\ufeff \t\r\n")
    if text.startswith("["):
        return text[1:].lstrip().startswith("{")
    return isinstance(_record(text.partition("\n")[0]), dict)


class Parquet(Form):
    """Columns with types of their own; a column of pictures' bytes has the pictures."""

    name = "parquet"

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
        """Yield rows of all files, with the columns of any of them; `split` as in `Delimited`.

        Raises:
            CorruptFile: a file that is no Parquet, or whose columns have other types than before.
        """
        files = named(files_of(paths))
        batches = embedded.read([embedded.parquet(*each) for each in files])
        yield from with_splits(batches, FILE, _places(files, paths))

    def pictures(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Iterator[Picture]:
        """Yield the pictures of every column of bytes."""
        yield from embedded.pictures([embedded.parquet(*each) for each in named(files_of(paths))])
