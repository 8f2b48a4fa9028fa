"""Acquired files by their names, and Kiwix ZIM archives.

A ZIM file is whole or in pieces, and is opened once a process. Its format:
https://wiki.openzim.org/wiki/ZIM_file_format, and .../wiki/ZIM_split_files for `x.zimaa`, `x.zimab`
and so on, which libzim reads as one file where they lie side by side.
"""

import os
import re
from collections.abc import Collection, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from isotope.core.errors import CorruptFile, MissingFile
from isotope.core.extras import named

# libzim is under the GPL: what reads no ZIM file does without (docs/dependencies.md).
if TYPE_CHECKING:
    from libzim.reader import Archive, Entry


def labels(paths: Sequence[Path]) -> dict[Path, str]:
    """Return the name of each file; where two share one, all have their path below the folder that
    holds them all."""
    if len({path.name for path in paths}) == len(set(paths)):
        return {path: path.name for path in paths}
    root = os.path.commonpath([path.parent for path in paths])
    return {path: path.relative_to(root).as_posix() for path in paths}


_NAME = re.compile(r"(?P<whole>.+\.zim)(?P<piece>[a-z]{2})?")
_COMPLETE = "give a whole ZIM file of a wiki, such as wikipedia_en_all_maxi_2024-01.zim"
_REFETCH = "fetch the file again, and compare its checksum with the published one"
_DAMAGES = (RuntimeError, LookupError, UnicodeDecodeError, OverflowError, MemoryError, SystemError)
_LONGEST_CHAIN = 50


@dataclass(frozen=True)
class EntryContent:
    """What an entry holds: a page, a picture or anything else of this MIME type.

    `address` is its path in the file; `is_redirected` if a redirect was followed.
    """

    entry: "Entry"
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
def open_zim(path: Path) -> "Archive":
    """Open a file by its name or that of any of its pieces, once a process.

    Raises:
        MissingFile: a piece that is not there.
        CorruptFile: no ZIM file, or not all of it.
        MissingExtra: an installation without libzim.
    """
    parts = zim_pieces(path)
    with named():
        from libzim.reader import Archive  # noqa: PLC0415 (as above)
    try:
        return Archive(parts[0])
    except _DAMAGES as error:
        split = f"add the pieces that come after {parts[-1].name}, or join them to a .zim file"
        remedy = split if parts[0].suffix != ".zim" else _COMPLETE
        raise CorruptFile(path, f"it can't be opened ({error})", remedy) from error


@contextmanager
def _naming_damage(path: Path, part: str) -> Generator[None, None, None]:
    """Turn what libzim says of broken pointers, types and clusters into one named error.

    Raises:
        CorruptFile: with the file, and `part` was read.
    """
    try:
        yield
    except _DAMAGES as error:
        raise CorruptFile(path, f"{part} can't be read ({error})", _REFETCH) from error


def page_at(path: Path, number: int) -> tuple[str, EntryContent | None]:
    """Return the title of an entry, by its number in the order of paths, and its page.

    A redirect has the page that it leads to, or none where redirects form a circle.

    Raises:
        CorruptFile: a pointer, name or type that can't be read.
    """
    with _naming_damage(path, f"entry {number}"):
        entry = open_zim(path)._get_entry_by_id(number)
        return _title(entry), _page(entry)


def page_by(path: Path, address: str) -> tuple[str, EntryContent | None] | None:
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


def content_of(path: Path, page: EntryContent) -> bytes:
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
        present = {*archive.metadata_keys} & {*names}
        return {name: archive.get_metadata(name).decode() for name in present}


def _page(entry: "Entry") -> EntryContent | None:
    is_redirect = entry.is_redirect
    for _ in range(_LONGEST_CHAIN):
        if not entry.is_redirect:
            kind = entry.get_item().mimetype
            return EntryContent(entry, entry.path, _title(entry), kind, is_redirect)
        entry = entry.get_redirect_entry()
    return None


def _title(entry: "Entry") -> str:
    title = entry.title
    # An entry without a title of its own is called by its address.
    if entry.path == f"A/{title}":
        title = title.removesuffix(".html")
    return title.replace("_", " ")


def _is_piece(path: Path, name: str) -> bool:
    named = _NAME.fullmatch(path.name)
    return named is not None and named["whole"] == name and named["piece"] is not None


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + n) for n in divmod(number, 26))
