"""Bytes of a WIT shard: decompress in big blocks and cut them where records start."""

import re
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from isal import igzip, isal_zlib

from isotope.core.errors import CorruptFile, MissingColumn, MissingFile, TruncatedFile
from isotope.core.parallel import AHEAD, ahead
from isotope.parse.tables import WIT_COLUMNS

# A block in use, those ahead of it, and the beginning of the next.
_ROOMS = 1 + AHEAD + 1


class Rooms:
    """Rooms filled in turn: a block stays as it is while `parallel.ahead` makes others."""

    def __init__(self, most: int) -> None:
        """Start with nothing gathered; a block of more than `most` bytes makes room for itself."""
        self._rooms = deque(np.empty(most, np.uint8) for _ in range(_ROOMS))
        self.size = 0

    def add(self, piece: bytes | memoryview) -> None:
        """Put bytes behind those gathered."""
        end = self.size + len(piece)
        if end > len(self._rooms[0]):
            more = np.empty(2 * end, np.uint8)
            more[: self.size] = self._rooms[0][: self.size]
            self._rooms[0] = more
        self._rooms[0].data[self.size : end] = piece
        self.size = end

    def gathered(self) -> memoryview:
        """Return the bytes gathered."""
        return self._rooms[0].data[: self.size]

    def take(self, cut: int) -> memoryview:
        """Return the first `cut` bytes; the next block begins with the others."""
        block = self.gathered()
        self._rooms.rotate(-1)
        self.size = 0
        self.add(block[cut:])
        return block[:cut]


# Small enough that memory just freed is used again: touching new pages costs as much as parsing.
READ_BYTES = 1 << 18
BLOCK_BYTES = 4 << 20
_TAIL_BYTES = 1 << 14
HEADER_LIMIT_BYTES = 1 << 20
RECORD_LIMIT_BYTES = 256 << 20
_AGAIN = "download the file again and compare its size with the published one"
# ASSUME a language code and a web address at these columns mark the start of a record; WIT's
# description does not say how quoted lines go on.
_ANY = rb"[^\t\n]*"
_ANCHORS = {
    "language": rb"[a-z][A-Za-z-]{1,19}",
    "page_url": rb"https?://[^\t\n]*",
    "image_url": rb"https?://[^\t\n]*",
}


class _Damage(Exception):
    """What is wrong with a shard, found while it is read ahead: kind of error, words, byte."""


@dataclass
class Shard:
    """One shard being read: its header, the pattern that starts a record, how far we got."""

    path: Path
    at_byte: int = 0
    rows: int = 0
    columns: list[str] = field(default_factory=list[str])
    start: re.Pattern[bytes] = re.compile(b"")
    label: str = ""

    def __post_init__(self) -> None:
        """Call the shard by its file's name unless another shard has the same."""
        self.label = self.label or self.path.name

    def damage(self, kind: type[CorruptFile] | type[TruncatedFile], what: str) -> Exception:
        """Return the error that says how far the shard could be read."""
        found = f"{what} at byte {self.at_byte:,} after {self.rows:,} records"
        return kind(self.path, found, _AGAIN)

    def blocks(self) -> Iterator[memoryview]:
        """Yield pieces of about 4 MiB, each one or more whole records, header left out.

        A thread unzips and cuts the next ones while one is in use.

        Raises:
            MissingFile: no such file.
            MissingColumn: the header lacks one of WIT's 17 columns.
            TruncatedFile, CorruptFile: the gzip stream ends early or is damaged.
        """
        try:
            for at, block in ahead(self._cut()):
                self.at_byte = at
                yield block
        except _Damage as damage:
            kind, what, self.at_byte = damage.args
            raise self.damage(kind, what) from damage

    def _cut(self) -> Iterator[tuple[int, memoryview]]:
        source = self._plain()
        at, rest = self._read_header(source)
        held, wanted = Rooms(BLOCK_BYTES + READ_BYTES), BLOCK_BYTES
        held.add(rest)
        for at, piece in source:
            held.add(piece)
            if held.size >= wanted:
                cut = self._last_start(held.gathered(), at)
                if cut:
                    yield at, held.take(cut)
                wanted = BLOCK_BYTES if cut else 2 * held.size
        if bytes(held.gathered()).strip(b"\r\n"):
            yield at, held.take(held.size)

    def _last_start(self, block: memoryview, at: int) -> int:
        reach = _TAIL_BYTES
        while reach < 4 * len(block):
            starts = list(self.start.finditer(block, max(len(block) - reach, 0)))
            if starts:
                return starts[-1].start() + 1
            reach *= 4
        if len(block) > RECORD_LIMIT_BYTES:
            raise _Damage(CorruptFile, f"no record start in {len(block):,} bytes", at)
        return 0

    def _read_header(self, source: Iterator[tuple[int, bytes]]) -> tuple[int, bytes]:
        at, head = 0, b""
        while b"\n" not in head and len(head) < HEADER_LIMIT_BYTES:
            at, piece = next(source, (at, None))
            if piece is None:
                break
            head += piece
        if not head:
            raise _Damage(TruncatedFile, "no header: the file is empty", at)
        line, _, rest = head.partition(b"\n")
        text = line.decode("utf-8-sig", "backslashreplace").rstrip("\r")
        self.columns = [name.strip('"') for name in text.split("\t")]
        self._check_columns()
        self.start = _start_pattern(self.columns)
        return at, rest

    def _check_columns(self) -> None:
        missing = [name for name in WIT_COLUMNS if name not in self.columns]
        if missing:
            found = f"no column {', '.join(missing)} among {', '.join(self.columns)[:500]}"
            remedy = "give a WIT shard with a header and all 17 columns"
            raise MissingColumn(self.path, found, remedy)
        if len(set(self.columns)) < len(self.columns):
            found = f"a column twice in {', '.join(self.columns)[:500]}"
            raise CorruptFile(self.path, found, "give a shard whose header names each column once")

    def _plain(self) -> Iterator[tuple[int, bytes]]:
        if not self.path.is_file():
            raise MissingFile(self.path, "no such file", "check the path, or run `acquire` first")
        with self.path.open("rb") as file:
            zipped = file.peek(2)[:2] == b"\x1f\x8b"
            if not zipped and self.path.suffix == ".gz" and file.peek(1):
                raise _Damage(CorruptFile, "not a gzip file", 0)
            source = igzip.IGzipFile(fileobj=file, mode="rb") if zipped else file
            try:
                while piece := source.read(READ_BYTES):
                    yield file.tell(), piece
            except EOFError as error:
                what = "the gzip stream ends before its end mark"
                raise _Damage(TruncatedFile, what, file.tell()) from error
            except (igzip.BadGzipFile, isal_zlib.error) as error:  # pyright: ignore[reportGeneralTypeIssues]
                what = f"damaged gzip data ({error})"
                raise _Damage(CorruptFile, what, file.tell()) from error


def _start_pattern(columns: list[str]) -> re.Pattern[bytes]:
    """Match a newline before the columns up to and including the second of the anchors."""
    last = sorted(columns.index(name) for name in _ANCHORS)[1]
    cells = [_ANCHORS.get(name, _ANY) for name in columns[: last + 1]]
    return re.compile(rb"\n(?=" + rb"\t".join(cells) + rb"(?:\t|\r?\n|$))")
