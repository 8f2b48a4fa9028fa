"""Files of a form: which there are, and the lines of those that are texts, plain or packed."""

import bz2
import codecs
import gzip
import io
import os
import shlex
import zlib
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import pyarrow as pa

from isotope.core.errors import CorruptFile, MissingFile
from isotope.core.files import labels

PICTURES = (".jpg", ".jpeg", ".png", ".webp", ".gif", ".bmp", ".tif", ".tiff")
_PACKED = (".gz", ".bz2", ".zst")
_BROKEN = (EOFError, gzip.BadGzipFile, zlib.error)
_OTHERS = {codecs.BOM_UTF16_LE: "UTF-16", codecs.BOM_UTF16_BE: "UTF-16"}


def files_of(paths: Sequence[Path]) -> list[Path]:
    """Return the files among `paths` and below the folders among them, those of a folder sorted.

    What begins with a dot is left out.

    Raises:
        MissingFile: a path that is not there.
    """
    found: list[Path] = []
    for path in paths:
        if path.is_dir():
            found += sorted(_below(path))
        elif path.is_file():
            found.append(path)
        else:
            raise MissingFile(path, "no such file or folder", "check the path")
    return found


def _below(folder: Path) -> Iterator[Path]:
    for top, folders, names in os.walk(folder, followlinks=True):
        folders[:] = [each for each in folders if not each.startswith(".")]
        yield from (Path(top) / name for name in names if not name.startswith("."))


def named(files: Sequence[Path]) -> list[tuple[Path, str]]:
    """Return each file with the name that rows give it."""
    names = labels(files)
    return [(path, names[path]) for path in files]


def suffix(path: Path) -> str:
    """Return the suffix in lower case, below its packing: `.csv` of `A.CSV.gz`."""
    own = path.suffix.lower()
    return Path(path.stem).suffix.lower() if own in _PACKED else own


def is_picture(name: str) -> bool:
    """Tell whether a name ends as a picture's does."""
    return name.lower().endswith(PICTURES)


def lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text with their ends, without a byte order mark; `\\n` ends a line.

    Raises:
        CorruptFile: bytes that are not UTF-8, with the line; a packed file that is not whole.
    """
    with opened(path) as file:
        for row, line in enumerate(file, 1):
            if row == 1:
                _refuse_others(path, line)
            text = line.removeprefix(codecs.BOM_UTF8) if row == 1 else line
            try:
                yield text.decode("utf-8")
            except UnicodeDecodeError as error:
                found = f"not UTF-8: {error.reason}"
                raise CorruptFile(f"{path}, row {row}", found, _recoded(path)) from error


def head(path: Path, size: int = 65_536) -> bytes:
    """Return the first bytes of a file, unpacked; fewer where it is damaged.

    Raises:
        CorruptFile: a packed file whose first bytes are none.
    """
    with opened(path) as file:
        return file.read(size)


def _refuse_others(path: Path, line: bytes) -> None:
    for mark, name in _OTHERS.items():
        if line.startswith(mark):
            raise CorruptFile(f"{path}, row 1", f"{name}, not UTF-8", _recoded(path, name))


def _recoded(path: Path, encoding: str = "") -> str:
    """Return a command that works for a file; most tables that are not UTF-8 are from Windows."""
    plain = path.with_suffix("") if path.suffix.lower() in _PACKED else path
    new = plain.with_name(f"{plain.stem}-utf8{plain.suffix}")
    command = f"iconv -f {encoding or 'WINDOWS-1252'} -t UTF-8 {shlex.quote(str(plain))}"
    unpack = "unpack it, then " if plain != path else ""
    other = "" if encoding else "; `iconv -l` lists other encodings"
    return f"save it as UTF-8: {unpack}`{command} > {shlex.quote(str(new))}`{other}"


@contextmanager
def opened(path: Path) -> Generator[IO[bytes]]:
    """Open a file for reading, unpacked: gzip, bzip2 and Zstandard, by its suffix.

    Raises:
        CorruptFile: a packed file that is not whole, whenever that is found.
    """
    try:
        with _unpacked(path) as file:
            yield file
    except _BROKEN as error:
        raise _damaged(path, error) from error
    except OSError as error:
        if path.suffix.lower() not in _PACKED or error.errno is not None:
            raise
        raise _damaged(path, error) from error


def _damaged(path: Path, error: Exception) -> CorruptFile:
    return CorruptFile(path, f"not a whole {path.suffix} file: {error}", "fetch it again")


def _unpacked(path: Path) -> IO[bytes]:
    packing = path.suffix.lower()
    if packing == ".gz":
        return cast(IO[bytes], gzip.open(path))
    if packing == ".bz2":
        return cast(IO[bytes], bz2.open(path))
    if packing == ".zst":
        return io.BufferedReader(pa.input_stream(str(path), compression="zstd"))
    return path.open("rb")


def root_of(paths: Sequence[Path]) -> Path:
    """Return the folder below which pictures are named: the one that is given, or that of all."""
    if len(paths) == 1 and paths[0].is_dir():
        return paths[0]
    return Path(os.path.commonpath([path if path.is_dir() else path.parent for path in paths]))
