"""Acquired files, read as they are: texts, plain or packed, by line or item, and ZIM archives.

A text is plain, gzipped, or the one file of a zip. Visual Genome's files are JSON lists of up to
700 MB on one line: their items are read one by one.

A Kiwix ZIM file is whole or in pieces, and is opened once a process. Its format:
https://wiki.openzim.org/wiki/ZIM_file_format, and .../wiki/ZIM_split_files for `x.zimaa`, `x.zimab`
and so on, which libzim reads as one file where they lie side by side.
"""

import codecs
import gzip
import json
import os
import re
import zipfile
import zlib
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from pathlib import Path
from typing import IO, TypeVar, cast

import pyarrow as pa
from libzim.reader import Archive, Entry

from isotope.core import store
from isotope.core.errors import CorruptFile, MissingFile

_CHARACTERS = 1 << 20
_ROWS = 65_536
_Item = TypeVar("_Item")
_SPACE = " \t\r\n"
_MEND = "replace it upstream, delete the manifest, and run again"
_PACKED = (".gz", ".zip")
_BROKEN = (EOFError, gzip.BadGzipFile, zipfile.BadZipFile, zlib.error)
# Where a line or an item stands: its file below the part, and its row from 1.
LINES = pa.schema([("file", pa.string()), ("row", pa.int64()), ("line", pa.string())])


def labels(paths: Sequence[Path]) -> dict[Path, str]:
    """Return the name of each file; where two share one, all have their path below the folder that
    holds them all."""
    if len({path.name for path in paths}) == len(set(paths)):
        return {path: path.name for path in paths}
    root = os.path.commonpath([path.parent for path in paths])
    return {path: path.relative_to(root).as_posix() for path in paths}


def suffix_of(name: str) -> str:
    """Return the suffix of a file's name below its packing: `.json` of `objects.json.zip`."""
    path = Path(name)
    return Path(path.stem).suffix if path.suffix in _PACKED else path.suffix


def lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text, ends included; only a newline ends a line.

    Raises:
        CorruptFile: bytes that are not UTF-8, with their row; a gzip or zip that is not whole.
    """
    with _opened(path) as file:
        for row, line in enumerate(file, 1):
            try:
                yield line.decode("utf-8")
            except UnicodeDecodeError as error:
                found = f"not UTF-8: {error.reason}"
                raise CorruptFile(f"{path}, row {row}", found, _MEND) from error


def is_list(path: Path) -> bool:
    """Return whether a JSON text is a list.

    Raises:
        As `lines`.
    """
    with _opened(path) as file:
        begun = next((text for text in _pieces(path, file) if text.strip(_SPACE)), "")
    return begun.lstrip(_SPACE).startswith("[")


def items(path: Path) -> Iterator[str]:
    """Yield the items of a JSON list as they are written there, a few in memory.

    Raises:
        CorruptFile: an item that is no JSON, or a list that does not end, with the item's number
            from 1; as `lines`.
    """
    with _opened(path) as file:
        yield from _Items(path, _pieces(path, file))


def members(path: Path) -> Iterator[tuple[str, str]]:
    """Yield the members of a JSON object, name and value as it is written there, a few in memory.

    Raises:
        CorruptFile: a value that is no JSON, or an object that does not end, with the member's
            number from 1; as `lines`.
    """
    with _opened(path) as file:
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


_NAME = re.compile(r"(?P<whole>.+\.zim)(?P<piece>[a-z]{2})?")
_WHOLE = "give a whole ZIM file of a wiki, such as wikipedia_en_all_maxi_2024-01.zim"
_REFETCH = "fetch the file again, and compare its checksum with the published one"
_DAMAGES = (RuntimeError, LookupError, UnicodeDecodeError, OverflowError, MemoryError, SystemError)
_LONGEST_CHAIN = 50


@dataclass(frozen=True)
class Page:
    """What an entry holds: a page, a picture or anything else of this MIME type.

    `address` is its path in the file; `is_redirected` if a redirect was followed.
    """

    entry: Entry
    address: str
    title: str
    kind: str
    is_redirected: bool


def is_zim(path: Path) -> bool:
    """Tell whether a file is a ZIM file, or a piece of one, by its name."""
    return _NAME.fullmatch(path.name) is not None


def zim_pieces(path: Path) -> list[Path]:
    """Return the files that a ZIM file is split into, in order; the file itself if it is whole.

    Raises:
        MissingFile: a piece before another one that is there.
    """
    named = _NAME.fullmatch(path.name)
    if named is None or named["piece"] is None:
        return [path]
    pieces = sorted(p for p in path.parent.iterdir() if _is_piece(p, named["whole"]))
    for number, piece in enumerate(pieces):
        expected = path.with_name(f"{named['whole']}{_letters(number)}")
        if piece != expected:
            remedy = "name all pieces of the file, x.zimaa, x.zimab and so on, in one part"
            raise MissingFile(expected, f"no such piece, but there is {piece.name}", remedy)
    return pieces


@cache
def open_zim(path: Path) -> Archive:
    """Open a file by its name or that of any of its pieces, once a process.

    Raises:
        MissingFile: a piece that is not there.
        CorruptFile: no ZIM file, or not all of it.
    """
    parts = zim_pieces(path)
    try:
        return Archive(parts[0])
    except _DAMAGES as error:
        split = f"add the pieces that come after {parts[-1].name}, or join them to a .zim file"
        remedy = split if parts[0].suffix != ".zim" else _WHOLE
        raise CorruptFile(path, f"it can't be open_zim ({error})", remedy) from error


@contextmanager
def _naming_damage(path: Path, what: str) -> Generator[None, None, None]:
    """Turn what libzim says of broken pointers, types and clusters into one named error.

    Raises:
        CorruptFile: with the file, and `what` was read.
    """
    try:
        yield
    except _DAMAGES as error:
        raise CorruptFile(path, f"{what} can't be read ({error})", _REFETCH) from error


def page_at(path: Path, number: int) -> tuple[str, Page | None]:
    """Return the title of an entry, by its number in the order of paths, and its page.

    A redirect has the page that it leads to, or none where redirects form a circle.

    Raises:
        CorruptFile: a pointer, name or type that can't be read.
    """
    with _naming_damage(path, f"entry {number}"):
        entry = open_zim(path)._get_entry_by_id(number)
        return _title(entry), _page(entry)


def page_by(path: Path, address: str) -> tuple[str, Page | None] | None:
    """Return the title of an entry and its page, by its path; None if there is no such entry.

    Raises:
        CorruptFile: as `page_at`.
    """
    archive = open_zim(path)
    with _naming_damage(path, f"entry {address!r}"):
        if not archive.has_entry_by_path(address):
            return None
        entry = archive.get_entry_by_path(address)
        return _title(entry), _page(entry)


def content_of(path: Path, page: Page) -> bytes:
    """Return the bytes of a page or picture.

    Raises:
        CorruptFile: a cluster that is not where its pointer leads, or can't be unpacked.
    """
    with _naming_damage(path, f"entry {page.address!r}"):
        return bytes(page.entry.get_item().content)


def zim_metadata(path: Path, names: Collection[str]) -> dict[str, str]:
    """Return those of some metadata that a file has.

    Raises:
        MissingFile, CorruptFile: as `open_zim`; metadata that can't be read.
    """
    archive = open_zim(path)
    with _naming_damage(path, "its metadata"):
        there = {*archive.metadata_keys} & {*names}
        return {name: archive.get_metadata(name).decode() for name in there}


class _Items:
    """Takes a list's items, or an object's members, from pieces of its text."""

    def __init__(self, path: Path, pieces: Iterator[str]) -> None:
        self._path, self._pieces = path, pieces
        self._text, self._place, self._item = "", 0, 0
        self._holder = "list"
        self._parser = json.JSONDecoder()

    def __iter__(self) -> Iterator[str]:
        yield from self._each("[", "]", self._take)

    def members(self) -> Iterator[tuple[str, str]]:
        self._holder = "object"
        yield from self._each("{", "}", self._member)

    def _each(self, opening: str, closing: str, take: Callable[[], _Item]) -> Iterator[_Item]:
        self._expect(opening)
        more = self._next() != closing
        self._place += not more
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
            while self._place < len(self._text) and self._text[self._place] in _SPACE:
                self._place += 1
            if self._place < len(self._text):
                return self._text[self._place]
            if not self._more():
                return ""

    def _expect(self, characters: str) -> str:
        character = self._next()
        if not character or character not in characters:
            self._refuse("no JSON" if character else "ends early")
        self._place += 1
        return character

    def _take(self) -> str:
        """Return an item; what ends where the text so far ends may go on in the next piece."""
        self._next()
        while True:
            try:
                end = self._parser.raw_decode(self._text, self._place)[1]
            except (ValueError, RecursionError) as error:
                if not self._more():
                    self._refuse(f"no JSON: {error}")
                continue
            if end < len(self._text) or not self._more():
                item = self._text[self._place : end]
                self._place = end
                return item

    def _more(self) -> bool:
        """Add as much text as there is, so that a long item is parsed a few times, not many."""
        rest = self._text[self._place :]
        added: list[str] = []
        while sum(map(len, added)) <= len(rest) and (piece := next(self._pieces, "")):
            added.append(piece)
        self._text, self._place = rest + "".join(added), 0
        return bool(added)

    def _refuse(self, found: str) -> None:
        raise CorruptFile(
            f"{self._path}, item {max(1, self._item)} of the {self._holder}", found, _MEND
        )


def _pieces(path: Path, file: IO[bytes]) -> Iterator[str]:
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        while block := file.read(_CHARACTERS):
            if text := decoder.decode(block):
                yield text
        decoder.decode(b"", final=True)
    except UnicodeDecodeError as error:
        raise CorruptFile(path, f"not UTF-8: {error.reason}", _MEND) from error


@contextmanager
def _opened(path: Path) -> Generator[IO[bytes]]:
    try:
        if path.suffix == ".zip":
            with zipfile.ZipFile(path) as archive, _only(path, archive) as file:
                yield file
        else:
            with _unpacked(path) as file:
                yield file
    except _BROKEN as error:
        kind = path.suffix.removeprefix(".")
        raise CorruptFile(path, f"{kind} ends early or is broken: {error}", _MEND) from error


def _unpacked(path: Path) -> IO[bytes]:
    return cast(IO[bytes], gzip.open(path)) if path.suffix == ".gz" else path.open("rb")


def _only(path: Path, archive: zipfile.ZipFile) -> IO[bytes]:
    """Open the one file of an archive; macOS adds entries that are none."""
    files = [e for e in archive.infolist() if not (e.is_dir() or e.filename.startswith("__MACOSX"))]
    if len(files) != 1:
        found = f"a zip of {len(files)} files"
        raise CorruptFile(path, found, "unpack it, and name the file that is meant in acquire")
    try:
        return archive.open(files[0])
    except (RuntimeError, NotImplementedError) as error:
        raise CorruptFile(path, f"a zip that can't be read: {error}", _MEND) from error


def _write(rows: Iterable[tuple[str, int, str]], out: Path) -> Path:
    with store.writer(out, LINES) as table:
        for some in _batched(iter(rows)):
            columns = [pa.array(c) for c in zip(*some, strict=True)]
            table.write_batch(pa.RecordBatch.from_arrays(columns, schema=LINES))
    return out


def _batched(rows: Iterator[_Item]) -> Iterator[list[_Item]]:
    while some := list(islice(rows, _ROWS)):
        yield some


def _page(entry: Entry) -> Page | None:
    is_redirect = entry.is_redirect
    for _ in range(_LONGEST_CHAIN):
        if not entry.is_redirect:
            kind = entry.get_item().mimetype
            return Page(entry, entry.path, _title(entry), kind, is_redirect)
        entry = entry.get_redirect_entry()
    return None


def _title(entry: Entry) -> str:
    title = entry.title
    # An entry without a title of its own is called by its address.
    if entry.path == f"A/{title}":
        title = title.removesuffix(".html")
    return title.replace("_", " ")


def _is_piece(path: Path, whole: str) -> bool:
    named = _NAME.fullmatch(path.name)
    return named is not None and named["whole"] == whole and named["piece"] is not None


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + n) for n in divmod(number, 26))
