"""Texts of users and publishers, plain or packed, by line, by item or by member.

Visual Genome's files are JSON lists of up to 700 MB on one line: their items are read one by one.
"""

import codecs
import json
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from pathlib import Path
from typing import IO, Any, TypeVar

import pyarrow as pa

from isotope.core import store
from isotope.core.errors import CorruptFile
from isotope.intake.archives import is_archive
from isotope.intake.archives import members as archived
from isotope.intake.limits import Refused, limits
from isotope.intake.packed import MACOS, PACKED, opened
from isotope.intake.records import json_end, json_value

_CHARACTERS = 1 << 20
_ROWS = 65_536
_Item = TypeVar("_Item")
_SPACE = " \t\r\n"
_MEND = "replace it upstream, delete the manifest, and run again"
_OTHER_MARKS = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}
# Where a line or an item stands: its file below the part, and its row from 1.
LINES = pa.schema([("file", pa.string()), ("row", pa.int64()), ("line", pa.string())])


def suffix_of(name: str) -> str:
    """Return the suffix of a file's name below its packing: `.json` of `objects.json.zip`."""
    path = Path(name)
    return Path(path.stem).suffix if path.suffix.lower() in PACKED else path.suffix


def lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text, ends included, without a byte order mark; `\\n` ends a line.

    Raises:
        CorruptFile: bytes that are not UTF-8, or a line beyond the limit, with the row; a packed
            file that is not whole.
    """
    with opened(path) as file:
        for row, line in enumerate(_bounded(path, file), 1):
            if row == 1:
                _refuse_others(path, line)
            text = line.removeprefix(codecs.BOM_UTF8) if row == 1 else line
            try:
                yield text.decode("utf-8")
            except UnicodeDecodeError as error:
                problem = f"not UTF-8: {error.reason}"
                raise CorruptFile(f"{path}, row {row}", problem, _recoded(path)) from error


def records(path: Path) -> Iterator[bytes]:
    """Yield the lines of a file, plain or packed, or of each file in a tar or zip, ends included.

    What macOS adds to a zip is left out.

    Raises:
        CorruptFile: a packed file or archive that is not whole, or a line beyond the limit.
    """
    if not is_archive(path):
        with opened(path) as file:
            yield from _bounded(path, file)
    else:
        for member in archived(path):
            if not member.name.startswith(MACOS):
                yield from _bounded(path, member.stream())


def _bounded(path: Path, file: IO[bytes]) -> Iterator[bytes]:
    most = limits().member_bytes
    for row, line in enumerate(iter(partial(file.readline, most + 1), b""), 1):
        if len(line) > most:
            problem = f"a line of more than {most:,} bytes (params intake.scale)"
            raise CorruptFile(f"{path}, row {row}", problem, _MEND)
        yield line


def document(path: Path) -> Any:  # noqa: ANN401 (any JSON)
    """Return what a file of JSON says, such as the config of a published model.

    Raises:
        CorruptFile: no JSON, or JSON beyond the limits.
    """
    try:
        return json_value(path.read_bytes())
    except Refused as error:
        raise CorruptFile(path, error.reason, "fetch it again") from error


def head(path: Path, size: int = 65_536) -> bytes:
    """Return the first bytes of a file, unpacked.

    Raises:
        CorruptFile: a packed file whose first bytes are none.
    """
    with opened(path) as file:
        return file.read(size)


def _refuse_others(path: Path, line: bytes) -> None:
    for mark, name in _OTHER_MARKS.items():
        if line.startswith(mark):
            raise CorruptFile(f"{path}, row 1", f"{name}, not UTF-8", _recoded(path, name))


def _recoded(path: Path, encoding: str = "") -> str:
    """Return a command that works for a file; most tables that are not UTF-8 are from Windows."""
    plain = path.with_suffix("") if path.suffix.lower() in PACKED else path
    new = plain.with_name(f"{plain.stem}-utf8{plain.suffix}")
    command = f"iconv -f {encoding or 'WINDOWS-1252'} -t UTF-8 {shlex.quote(str(plain))}"
    unpack = "unpack it, then " if plain != path else ""
    other = "" if encoding else "; `iconv -l` lists other encodings"
    return f"save it as UTF-8: {unpack}`{command} > {shlex.quote(str(new))}`{other}"


def is_list(path: Path) -> bool:
    """Return whether a JSON text is a list.

    Raises:
        As `lines`.
    """
    with opened(path) as file:
        begun = next((text for text in _pieces(path, file) if text.strip(_SPACE)), "")
    return begun.lstrip(_SPACE).startswith("[")


def items(path: Path) -> Iterator[str]:
    """Yield the items of a JSON list as they are written there, a few in memory.

    Raises:
        CorruptFile: an item that is no JSON, or a list that does not end, with the item's number
            from 1; as `lines`.
    """
    with opened(path) as file:
        yield from _Items(path, _pieces(path, file))


def members(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the members of a JSON object, name and value as it is written there, a few in memory.

    Raises:
        CorruptFile: a value that is no JSON, or an object that does not end, with the member's
            number from 1; as `lines`.
    """
    with opened(path) as file:
        yield from _Items(path, _pieces(path, file)).members()


def write_lines(files: Mapping[Path, str], out: Path) -> Path:
    """Write LINES, the lines of texts without their ends; `files` says what each is called.

    Raises:
        CorruptFile: as `lines`.
    """
    texts = ((file, enumerate(lines(path), 1)) for path, file in files.items())
    return _write(((file, n, line.rstrip("\r\n")) for file, text in texts for n, line in text), out)


def write_items(files: Mapping[Path, str], out: Path) -> Path:
    """Write LINES, the items of JSON lists.

    Raises:
        CorruptFile: as `items`.
    """
    texts = ((file, enumerate(items(path), 1)) for path, file in files.items())
    return _write(((file, n, item) for file, text in texts for n, item in text), out)


class _Items:
    """Takes a list's items, or an object's members, from pieces of its text."""

    def __init__(self, path: Path, pieces: Iterator[str]) -> None:
        self._path, self._pieces = path, pieces
        self._text, self._at, self._item = "", 0, 0
        self._holder = "list"

    def __iter__(self) -> Iterator[str]:
        yield from self._items("[", "]", self._take)

    def members(self) -> Iterator[tuple[str, str]]:
        self._holder = "object"
        yield from self._items("{", "}", self._member)

    def _items(self, opening: str, closing: str, take: Callable[[], _Item]) -> Iterator[_Item]:
        self._expect(opening)
        more = self._next() != closing
        self._at += not more
        while more:
            self._item += 1
            yield take()
            more = self._expect(f",{closing}") == ","
        if self._next():
            self._refuse(f"text after the {self._holder}")

    def _member(self) -> tuple[str, str]:
        if self._next() != '"':
            self._refuse("no name of a member")
        name = json.loads(self._take())
        self._expect(":")
        return name, self._take()

    def _next(self) -> str:
        """Return the next character that is no space, and stop before it; "" at the end."""
        while True:
            while self._at < len(self._text) and self._text[self._at] in _SPACE:
                self._at += 1
            if self._at < len(self._text):
                return self._text[self._at]
            if not self._more():
                return ""

    def _expect(self, characters: str) -> str:
        character = self._next()
        if not character or character not in characters:
            self._refuse("no JSON" if character else "ends early")
        self._at += 1
        return character

    def _take(self) -> str:
        """Return an item; what ends where the text so far ends may go on in the next piece."""
        self._next()
        while True:
            try:
                end = json_end(self._text, self._at)
            except ValueError as error:
                if not self._more():
                    self._refuse(f"no JSON: {error}")
                continue
            if end < len(self._text) or not self._more():
                item = self._text[self._at : end]
                self._at = end
                return item

    def _more(self) -> bool:
        """Add as much text as there is, so that a long item is parsed a few times, not many."""
        unread = self._text[self._at :]
        if len(unread) > limits().member_bytes:
            self._refuse("longer than params intake.scale allows")
        added: list[str] = []
        while sum(map(len, added)) <= len(unread) and (piece := next(self._pieces, "")):
            added.append(piece)
        self._text, self._at = unread + "".join(added), 0
        return bool(added)

    def _refuse(self, problem: str) -> None:
        raise CorruptFile(
            f"{self._path}, item {max(1, self._item)} of the {self._holder}", problem, _MEND
        )


def _pieces(path: Path, file: IO[bytes]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    try:
        while block := file.read(_CHARACTERS):
            if text := decoder.decode(block):
                yield text
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise CorruptFile(path, f"not UTF-8: {error.reason}", _MEND) from error


def _write(rows: Iterable[tuple[str, int, str]], out: Path) -> Path:
    with store.writer(out, LINES) as table:
        for some in _batched(iter(rows)):
            columns = [pa.array(c) for c in zip(*some, strict=True)]
            table.write_batch(pa.RecordBatch.from_arrays(columns, schema=LINES))
    return out


def _batched(rows: Iterator[_Item]) -> Iterator[list[_Item]]:
    while some := list(islice(rows, _ROWS)):
        yield some
