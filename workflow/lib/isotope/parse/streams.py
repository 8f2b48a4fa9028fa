"""Bytes of a dump: bz2 streams for workers to unpack, or XML cut between pages."""

import bz2
import mmap
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice, pairwise
from pathlib import Path

from isotope.core.errors import CorruptFile, MissingFile, TruncatedFile

READ_BYTES = 1 << 20
SPAN_BYTES = 1 << 20
CHUNK_BYTES = 4 << 20
PAGE_LIMIT_BYTES = 256 << 20
_HEAD_BYTES = 64 << 20
# A stream header, then the magic number of a block (pi) or of an empty stream's end (sqrt pi).
_STREAM = re.compile(rb"BZh[1-9](?:1AY&SY|\x17rE8P\x90)")
_PAGE, _PAGE_END, _END = b"<page>", b"</page>", b"</mediawiki>"
_AGAIN = "download the file again and compare its checksum with the published one"


@dataclass(frozen=True)
class Span:
    """Whole bz2 streams of a multistream dump, from byte `start` to before byte `stop`."""

    path: Path
    start: int
    stop: int
    last: bool


@dataclass(frozen=True)
class Chunk:
    """Whole pages as XML, already unpacked; `start` is the byte where they begin in the XML."""

    path: Path
    start: int
    xml: bytes


def batches(path: Path, start: int = 0, stop: int | None = None) -> Iterator[Span | Chunk]:
    """Cut a dump into pieces that can be parsed apart, in order.

    Only the streams that begin from byte `start` to before byte `stop` are given; a file that is
    no multistream begins at byte 0 as a whole.

    Raises:
        MissingFile: no such file.
        CorruptFile, TruncatedFile: damage met while unpacking here; spans are unpacked later.
    """
    if is_multistream(path):
        yield from _spans(path, start, path.stat().st_size if stop is None else stop)
    elif start == 0 and stop != 0:
        yield from _chunks(path)


def unpacked(path: Path, start: int = 0, stop: int | None = None) -> Iterator[bytes]:
    """Yield the XML of a `.xml` or bz2 file, or of the streams between two bytes of it.

    Raises:
        MissingFile: no such file.
        CorruptFile, TruncatedFile: damage, with the byte where it was met.
    """
    if not path.is_file():
        raise MissingFile(path, "no such file", "check the path, or run `acquire` first")
    with path.open("rb") as file:
        zipped = file.peek(3)[:3] == b"BZh"
        if not zipped and path.suffix == ".bz2":
            kind = CorruptFile if file.peek(1) else TruncatedFile
            raise kind(path, "not a bz2 file: it does not begin with BZh at byte 0", _AGAIN)
        file.seek(start)
        stop = path.stat().st_size if stop is None else stop
        pieces = iter(lambda: file.read(min(READ_BYTES, stop - file.tell())), b"")
        yield from _unzip(path, start, pieces) if zipped else pieces


def _unzip(path: Path, at: int, pieces: Iterator[bytes]) -> Iterator[bytes]:
    unzip = bz2.BZ2Decompressor()
    for piece in pieces:
        data = piece
        while data or not (unzip.eof or unzip.needs_input):
            if unzip.eof:
                unzip = bz2.BZ2Decompressor()
            try:
                yield unzip.decompress(data, READ_BYTES)
            except OSError as error:
                found = f"damaged bz2 data between byte {at:,} and byte {at + len(piece):,}"
                raise CorruptFile(path, found, _AGAIN) from error
            data = unzip.unused_data if unzip.eof else b""
        at += len(piece)
    if not unzip.eof:
        raise TruncatedFile(path, f"the bz2 data break off at byte {at:,}", _AGAIN)


def is_multistream(path: Path) -> bool:
    """Tell whether the second bz2 stream begins with a page, as Wikimedia's multistreams do.

    Streams cut anywhere (pbzip2 writes such) have to be unpacked one after the other.
    """
    with path.open("rb") as file:
        if file.peek(3)[:3] != b"BZh":
            return False
    matches = _STREAM.finditer(_mapped(path), 0, _HEAD_BYTES)
    second = [match.start() for match in islice(matches, 2)][1:]
    if not second:
        return False
    try:
        return next(unpacked(path, second[0])).lstrip().startswith((_PAGE, _END))
    except CorruptFile:
        return False


def _spans(path: Path, first: int, end: int) -> Iterator[Span]:
    size, content = path.stat().st_size, _mapped(path)
    after = _STREAM.search(content, end)
    end = after.start() if after else size
    for start, stop in pairwise(chain(_cuts(content, first, end), [end])):
        yield Span(path, start, stop, last=stop == size)


def _mapped(path: Path) -> mmap.mmap:
    """Map a file; it is unmapped when the last match on it is gone."""
    with path.open("rb") as file:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)


def _cuts(content: mmap.mmap, first: int, end: int) -> Iterator[int]:
    cut = first - SPAN_BYTES
    for match in _STREAM.finditer(content, first, end):
        if match.start() - cut >= SPAN_BYTES:
            cut = match.start()
            yield cut


def span_xml(span: Span) -> bytes:
    """Unpack a span.

    Raises:
        CorruptFile: damage, or a page that runs over the end of its stream.
        TruncatedFile: the last stream of the file without the dump's end tag.
    """
    xml = b"".join(unpacked(span.path, span.start, span.stop))
    tail = xml[xml.rfind(_PAGE_END) + len(_PAGE_END) :] if _PAGE_END in xml else xml
    if span.last and _END not in tail:
        found = f"no {_END.decode()} after the stream at byte {span.start:,}"
        raise TruncatedFile(span.path, found, _AGAIN)
    if xml.find(_PAGE_END) < xml.find(_PAGE) or xml.rfind(_PAGE) > xml.rfind(_PAGE_END):
        found = f"a page that is cut in two in the streams from byte {span.start:,}"
        raise CorruptFile(span.path, found, _AGAIN)
    return xml


def _chunks(path: Path) -> Iterator[Chunk]:
    held, at = b"", 0
    for piece in unpacked(path):
        held += piece
        cut = held.rfind(_PAGE_END) + len(_PAGE_END) if len(held) >= CHUNK_BYTES else 0
        if cut >= len(_PAGE_END):
            yield Chunk(path, at, held[:cut])
            held, at = held[cut:], at + cut
        elif len(held) > PAGE_LIMIT_BYTES:
            found = f"no end of a page in the {len(held):,} bytes of XML from byte {at:,}"
            raise CorruptFile(path, found, "give a dump of current revisions, not of histories")
    if _END not in held:
        found = f"no {_END.decode()} at its end, byte {at + len(held):,} of the XML"
        raise TruncatedFile(path, found, _AGAIN)
    yield Chunk(path, at, held)
