"""Packed files as streams of bytes: what unpacks is counted, and what breaks names the file.

Packing is told by the suffix: gzip, bzip2, xz, Zstandard, and a zip of one file. Checksums of these
formats stand at their ends and are compared when a stream is read to its end.
"""

import bz2
import gzip
import io
import lzma
import zipfile
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Protocol, cast

import pyarrow as pa

from isotope.core.errors import CorruptFile
from isotope.intake.limits import is_of_the_system, limits, reason_of

PACKED = (".gz", ".bz2", ".xz", ".zst", ".zip")
_MAGIC = (
    *((b"\x1f\x8b", ".gz"), (b"BZh", ".bz2"), (b"\xfd7zXZ\x00", ".xz")),
    (b"\x28\xb5\x2f\xfd", ".zst"),
)
MEND = "fetch the file again, or take it out of params acquire"
# The folder of what macOS adds to a zip.
MACOS = "__MACOSX"
_BLOCK = 1 << 20


class ByteStream(Protocol):
    """Bytes of a library's stream."""

    def read(self, size: int, /) -> bytes:
        """Return at most so many bytes, none at the end."""
        ...


class GuardedStream(io.RawIOBase):
    """A library's stream: what it raises is a CorruptFile, and what it gives is counted."""

    def __init__(self, where: str | Path, source: ByteStream, packed: int) -> None:
        """Read `source`, which unpacks `packed` bytes of the file `where`."""
        super().__init__()
        self._where, self._source, self._packed = where, source, packed
        self._limits, self.count = limits(), 0

    def readable(self) -> bool:
        """Yes."""
        return True

    def readinto(self, buffer: "memoryview", /) -> int:  # pyright: ignore[reportIncompatibleMethodOverride]
        """Fill as much of a buffer as there is.

        Raises:
            CorruptFile: what can't be unpacked, has another checksum, or is a bomb.
        """
        try:
            data = self._source.read(len(buffer))
        except Exception as error:
            if is_of_the_system(error):
                raise
            raise damaged(self._where, error) from error
        self.count += len(data)
        bomb = self._limits.bomb(self.count, self._packed)
        if bomb:
            raise CorruptFile(self._where, bomb, "take it out, or raise params intake.scale")
        buffer[: len(data)] = data
        return len(data)


def damaged(where: str | Path, error: BaseException) -> CorruptFile:
    """Return the named error for what a library said of a packed file."""
    return CorruptFile(where, f"not a whole {Path(where).suffix} file: {reason_of(error)}", MEND)


def packing_of(path: Path) -> str:
    """Return the suffix of a stream's packing by its first bytes; nothing for what has none."""
    with path.open("rb") as file:
        begun = file.read(6)
    return next((suffix for magic, suffix in _MAGIC if begun.startswith(magic)), "")


@contextmanager
def opened(path: Path, packing: str | None = None) -> Generator[IO[bytes]]:
    """Open a file for reading, unpacked as its suffix says, or `packing`, one of `PACKED` or none.

    Raises:
        CorruptFile: a packed file that is not whole or is a bomb, whenever that is found; a zip of
            more files than one, but for what macOS adds.
    """
    packing = path.suffix.lower() if packing is None else packing
    if packing not in PACKED:
        with path.open("rb") as file:
            yield file
        return
    with ExitStack() as stack:
        source, packed = _unpacked(path, packing, stack)
        yield cast(IO[bytes], io.BufferedReader(GuardedStream(path, source, packed), _BLOCK))


def _unpacked(path: Path, packing: str, stack: ExitStack) -> tuple[ByteStream, int]:
    size = path.stat().st_size
    if packing == ".zip":
        archive = stack.enter_context(zip_of(path))
        return _only(path, archive, stack)
    file = stack.enter_context(path.open("rb"))
    if packing == ".gz":
        return stack.enter_context(gzip.GzipFile(fileobj=file)), size
    if packing == ".bz2":
        return stack.enter_context(bz2.BZ2File(file)), size
    if packing == ".xz":
        return stack.enter_context(lzma.LZMAFile(file)), size
    try:
        return pa.input_stream(file, compression="zstd"), size
    except Exception as error:
        raise damaged(path, error) from error


@contextmanager
def zip_of(path: Path) -> Generator[zipfile.ZipFile]:
    """Open a zip's list of members.

    Raises:
        CorruptFile: none that can be read; more members than the limit.
    """
    with path.open("rb") as file:
        try:
            archive = zipfile.ZipFile(file)
        except Exception as error:
            if is_of_the_system(error):
                raise
            raise damaged(path, error) from error
        most = limits().members
        if len(archive.filelist) > most:
            problem = f"{len(archive.filelist):,} members, more than {most:,}"
            raise CorruptFile(path, problem, "split it, or raise params intake.scale")
        yield archive


def _only(path: Path, archive: zipfile.ZipFile, stack: ExitStack) -> tuple[ByteStream, int]:
    """Open the one file of an archive; macOS adds entries that are none."""
    files = [
        e
        for e in archive.infolist()
        if not (e.filename.endswith("/") or e.filename.startswith(MACOS))
    ]
    if len(files) != 1:
        problem = f"a zip of {len(files)} files"
        raise CorruptFile(path, problem, "unpack it, and name the file that is meant in acquire")
    try:
        return stack.enter_context(archive.open(files[0])), files[0].compress_size
    except Exception as error:
        raise damaged(path, error) from error
