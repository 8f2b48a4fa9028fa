"""Members of zip and tar archives, one after the other, none of them beyond the limits.

A tar is read to its end mark and, where it is packed, to the end of its last checksum: Python's
reader takes a tar that is cut short, or one with a damaged header, for a shorter one.
"""

import io
import math
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Protocol, TypeVar, cast

from isotope.core.errors import CorruptFile
from isotope.intake.limits import Refused, is_of_the_system, limits, reason_of
from isotope.intake.packed import MEND, GuardedStream, damaged, opened, packing_of, zip_of

_TARS = (".tar", ".tgz", ".tbz2", ".txz", *(f".tar.{end}" for end in ("gz", "bz2", "xz", "zst")))
PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff", ".jp2")
_BLOCK, _PIECE = tarfile.BLOCKSIZE, 1 << 20
# What says more of a member than this is no header; so much is kept to step back in a stream.
_LONGEST_HEADER, _TAIL = 4 << 20, 2 * _BLOCK
_ENCRYPTED = 0x1
_T = TypeVar("_T")


@dataclass(frozen=True)
class Member:
    """A file in an archive; `read` and `stream` are good until the next one is asked for.

    `read` raises Refused for what is encrypted, packed in an unknown way, damaged, or larger than
    `Limits.member_bytes`. `stream` has a member of any size, and raises CorruptFile, now or later.
    """

    name: str
    read: Callable[[], bytes]
    stream: Callable[[], IO[bytes]]


def is_zip(path: Path) -> bool:
    """Tell by the name."""
    return path.suffix.lower() == ".zip"


def is_tar(path: Path) -> bool:
    """Tell by the name, packed or plain."""
    return path.name.lower().endswith(_TARS)


def is_archive(path: Path) -> bool:
    """Tell by the name whether a file holds others."""
    return is_zip(path) or is_tar(path)


def members(path: Path) -> Iterator[Member]:
    """Yield the files in an archive, in its order; names that are no UTF-8 have `\\\\xNN` in them.

    Raises:
        CorruptFile: an archive that can't be read to its end, has more behind it, or goes beyond
            the limits as a whole.
    """
    return _zipped(path) if is_zip(path) else _tarred(path)


def is_picture(name: str) -> bool:
    """Tell whether a name ends as a picture's does."""
    return name.lower().endswith(PICTURES)


def file_content(path: Path) -> bytes:
    """Return a file's bytes.

    Raises:
        Refused: more of them than a member of an archive may have.
    """
    most = limits().member_bytes
    if path.stat().st_size > most:
        raise Refused(f"more than {most:,} bytes (params intake.scale)", "too_large")
    return path.read_bytes()


def plain(name: str) -> str:
    """Return a file's name with what is no UTF-8 in it as `\\\\xNN`."""
    return name.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def _zipped(path: Path) -> Iterator[Member]:
    most, unpacked, packed = limits(), 0, path.stat().st_size

    def content(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
        nonlocal unpacked
        if entry.flag_bits & _ENCRYPTED:
            raise Refused("encrypted")
        data = _content(lambda: archive.open(entry), _refused)
        unpacked += len(data)
        bomb = most.bomb(unpacked, packed)
        if bomb:
            raise CorruptFile(path, bomb, "take it out, or raise params intake.scale")
        return data

    with zip_of(path) as archive:
        for entry in archive.infolist():
            if not entry.filename.endswith("/"):
                name = plain(entry.filename)
                file = partial(_stream, path, partial(archive.open, entry), entry.compress_size)
                yield Member(name, partial(content, archive, entry), file)


class _Readable(Protocol):
    def read(self, size: int, /) -> bytes: ...


def _refused(error: Exception) -> Refused:
    return Refused(f"it is damaged or not whole: {reason_of(error)}")


def _content(
    open_member: Callable[[], AbstractContextManager[_Readable]],
    broken: Callable[[Exception], Exception],
) -> bytes:
    """Read a member to its end, where its checksum is compared.

    Raises:
        Refused: more bytes than the limit.
        What `broken` makes of an error of a library.
        OSError: what the system says of the disk.
    """
    most = limits().member_bytes
    data = bytearray()
    try:
        with open_member() as file:
            while len(data) <= most and (piece := file.read(_PIECE)):
                data += piece
    except CorruptFile:
        # Of the stream that holds the member, which can't be read on.
        raise
    except Exception as error:
        if is_of_the_system(error):
            raise
        raise broken(error) from error
    if len(data) > most:
        raise Refused(f"more than {most:,} bytes (params intake.scale)", "too_large")
    return bytes(data)


def _stream(path: Path, open_member: Callable[[], _Readable], packed: int) -> IO[bytes]:
    """Return a member's bytes, guarded; where `packed` is its size, the archive is counted."""
    source = _library(path, open_member)
    return cast(IO[bytes], io.BufferedReader(GuardedStream(path, source, packed), _PIECE))


def _tarred(path: Path) -> Iterator[Member]:
    packing = packing_of(path)

    def content(entry: tarfile.TarInfo) -> bytes:
        return _content(lambda: _extract(tar, entry), partial(damaged, path))

    with opened(path, packing) as source:
        stream = _Forward(source) if packing else _Plain(source)
        opening = partial(tarfile.TarFile, fileobj=cast(IO[bytes], stream))
        tar = _library(path, partial(stream.within_a_header, opening))
        count, most = 0, limits().members
        next_header = partial(stream.within_a_header, tar.next)
        while (entry := _library(path, next_header)) is not None:
            # The library keeps every header, of millions of members.
            vars(tar)["members"] = []
            _demand_few_globals(path, tar)
            count += 1
            if count > most:
                problem = f"more than {most:,} members"
                raise CorruptFile(path, problem, "split it, or raise params intake.scale")
            if entry.isfile():
                file = partial(_stream, path, partial(_extract, tar, entry), entry.size)
                yield Member(plain(entry.name), partial(content, entry), file)
        _demand_end(path, stream, tar.offset)


def _extract(tar: tarfile.TarFile, entry: tarfile.TarInfo) -> IO[bytes]:
    file = tar.extractfile(entry)
    if file is None:
        raise tarfile.ReadError("no file")
    return file


def _library(path: Path, call: Callable[[], _T]) -> _T:
    """Call a library; what it raises on these bytes is a named error of the file."""
    try:
        return call()
    except CorruptFile:
        raise
    except Exception as error:
        if is_of_the_system(error):
            raise
        raise damaged(path, error) from error


def _demand_few_globals(path: Path, tar: tarfile.TarFile) -> None:
    """Check what holds for all members behind it, as it piles up to the end of the tar.

    Raises:
        CorruptFile: more bytes than a header has.
    """
    headers = tar.pax_headers or {}
    size = sum(map(len, (*headers, *headers.values())))
    if size > _LONGEST_HEADER:
        raise CorruptFile(path, f"global headers of {size:,} bytes", MEND)


def _demand_end(path: Path, stream: "_Plain", offset: int) -> None:
    """Check what stands where the library found no further member: zeros, to the end of the file.

    Raises:
        CorruptFile: nothing, or something else.
    """
    stream.seek(offset)
    mark = stream.read(_BLOCK)
    if len(mark) < _BLOCK:
        problem = f"it ends at byte {offset + len(mark):,}, before its end mark: cut short"
        raise CorruptFile(path, problem, MEND)
    if mark.count(0) < _BLOCK:
        raise CorruptFile(path, f"the header at byte {offset:,} is damaged", MEND)
    while block := stream.read(_PIECE):
        if block.count(0) < len(block):
            problem = "more behind its end mark, as where tars are put one behind the other"
            raise CorruptFile(path, problem, "give each as a file of its own")


class _Plain:
    """A tar's bytes for the library, which may not read more of them than headers have."""

    def __init__(self, source: IO[bytes]) -> None:
        self._source, self._left = source, math.inf

    def within_a_header(self, call: Callable[[], _T]) -> _T:
        """Call what reads all headers of one member, in pieces of whatever size.

        Raises:
            tarfile.ReadError: it asks for more bytes than they have.
        """
        self._left = _LONGEST_HEADER
        try:
            return call()
        finally:
            self._left = math.inf

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= self._left:
            raise tarfile.ReadError(f"a header of more than {_LONGEST_HEADER:,} bytes")
        self._left -= size
        return self._read(size)

    def _read(self, size: int) -> bytes:
        return self._source.read(size)

    def seek(self, offset: int) -> int:
        return self._source.seek(offset)

    def tell(self) -> int:
        return self._source.tell()


class _Forward(_Plain):
    """The same of a packed tar: forwards by reading, and a block or two back."""

    def __init__(self, source: IO[bytes]) -> None:
        super().__init__(source)
        self._offset, self._read_to, self._tail = 0, 0, b""

    def _read(self, size: int) -> bytes:
        back = self._read_to - self._offset
        data = self._tail[len(self._tail) - back :][:size] if back else b""
        if len(data) < size:
            new = self._source.read(size - len(data))
            self._read_to += len(new)
            self._tail = (self._tail + new)[-_TAIL:]
            data += new
        self._offset += len(data)
        return data

    def seek(self, offset: int) -> int:
        if offset < self._read_to - len(self._tail):
            raise tarfile.StreamError("seeking back in a packed tar")
        while self._read_to < offset:
            self._offset = self._read_to
            if not self._read(min(_PIECE, offset - self._read_to)):
                break
        self._offset = min(offset, self._read_to)
        return self._offset

    def tell(self) -> int:
        return self._offset
