"""Parts of a picture's bytes: those that are pixels, and those that are another document.

Sources: PNG (third edition, 5.3 and 13.2: what to do with a damaged ancillary chunk), GIF89a, JPEG
(ITU-T T.81, annex B), WebP (RFC 9649), ZIP's APPNOTE (4.3), PDF (ISO 32000, 7.5) and HTML.
"""

import io
import re
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping
from itertools import takewhile

_PNG_HEAD = b"\x89PNG\r\n\x1a\n"
_PNG_END = b"\0\0\0\0IEND\xaeB`\x82"
# Of the chunks that a reader may leave out: transparency is of the pixels, and EXIF turns them.
_PNG_KEPT = frozenset({b"tRNS", b"eXIf"})
_JPEG_SCAN, _JPEG_COMMENT, _ADOBE = 0xDA, 0xFE, 0xEE
# What a segment of an application begins with, by its marker, and the least length of its content.
_JPEG_KEPT: Mapping[int, tuple[bytes, int]] = {
    0xE0: (b"JFIF\0", 14),
    0xE1: (b"Exif\0\0", 6),
    _ADOBE: (b"Adobe", 12),
}
_APPLICATION = range(0xE0, 0xF0)
_WEBP_KEPT = frozenset({b"VP8 ", b"VP8L", b"VP8X", b"ALPH", b"ANIM", b"ANMF", b"EXIF"})
_WEBP_PIXELS = frozenset({b"VP8 ", b"VP8L", b"ANMF"})
# Bits of VP8X: a colour profile, EXIF and XMP are there.
_WEBP_ICC, _WEBP_EXIF, _WEBP_XMP = 0x20, 0x08, 0x04
# Where readers of PDF look for its head, and browsers for what a file is.
_HEAD_BYTES = 1024
_PDF = re.compile(rb"%PDF-\d")
_PDF_TAIL = re.compile(rb"startxref|%%EOF")
_TAG = re.compile(rb"<(html|head|body|script|svg|iframe)(?=[\s>/])", re.IGNORECASE)
_DOCUMENT = re.compile(rb"<!doctype\s+html|<\?php\s", re.IGNORECASE)
_LOCAL_FILE = b"PK\x03\x04"


def only_pixels(data: bytes, kind: str) -> bytes | None:
    """Return a picture without what is broken beside its pixels; None if nothing can be left out.

    A PNG loses damaged chunks that a reader may leave out, a GIF what follows its first frame, a
    JPEG the segments of applications, a WebP chunks that are no pixels or are cut off. Whether the
    pixels that remain are whole, their decoder says.
    """
    find = _ONLY_PIXELS.get(kind)
    try:
        reduced = find(data) if find else None
    except (IndexError, ValueError):
        return None
    return reduced if reduced != data else None


def is_no_animation(data: bytes, kind: str) -> bool:
    """Tell whether a PNG calls itself animated and is not, so that decoders show another picture.

    The first frame, if it is the picture of the chunks IDAT, has the size of the whole (PNG, third
    edition, 11.3.6.2).
    """
    if kind != "png" or b"acTL" not in data:
        return False
    size_of_picture, before, frames = data[16:24], True, 0
    for name, at, _ in _png_chunks(data):
        before &= name != b"IDAT"
        frames += name == b"fcTL"
        if before and name == b"fcTL" and data[at + 12 : at + 28] != size_of_picture + bytes(8):
            return True
    return not frames


def other_document(data: bytes, kind: str) -> str | None:
    """Name what a picture is besides, by the rules of that format; None if it is a picture alone.

    A ZIP archive has a directory that leads to its members, a PDF document its head where readers
    look for it and its end, a page an element with its end tag at the picture's begin or behind it.
    """
    # ASSUME a photograph has no ZIP archive behind it (those of some cameras end with a film, MP4);
    # no paper says.
    if _is_zip(data):
        return "a ZIP archive"
    sides = data[:_HEAD_BYTES] + b"\n" + data[_end(data, kind) :][:_HEAD_BYTES]
    if _PDF.search(sides) and _PDF_TAIL.search(data):
        return "a PDF document"
    if _DOCUMENT.search(sides):
        return "a page or a script"
    low = data.lower() if _TAG.search(sides) else b""
    names = (match[1].lower() for match in _TAG.finditer(sides))
    return "a page or a script" if any(b"</" + name in low for name in names) else None


def _is_zip(data: bytes) -> bool:
    """Tell whether there is a directory, and a member where its first entry says."""
    file = io.BytesIO(data)
    try:
        # The quick look alone raises on some directories, too.
        if not zipfile.is_zipfile(file):
            return False
        with zipfile.ZipFile(file) as archive:
            first = next(iter(archive.infolist()), None)
    except Exception:
        return False
    return first is not None and data.startswith(_LOCAL_FILE, first.header_offset)


def _end(data: bytes, kind: str) -> int:
    """Return where a picture's own bytes end, as far as its structure tells."""
    try:
        if kind == "png":
            return max((end for *_, end in _png_chunks(data)), default=len(data))
        if kind == "gif":
            return _gif_end(data)
    except (IndexError, ValueError):
        return len(data)
    if kind == "webp":
        return int.from_bytes(data[4:8], "little") + 8
    return data.rfind(b"\xff\xd9") + 2 if kind == "jpeg" and b"\xff\xd9" in data else len(data)


def _png_chunks(data: bytes) -> Iterator[tuple[bytes, int, int]]:
    """Yield name, begin and end of each chunk, up to IEND or to where one is cut off."""
    at = len(_PNG_HEAD)
    while at + 8 <= len(data):
        size, name = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        yield name, at, at + 12 + size
        at += 12 + size
        if name == b"IEND":
            return


def _png(data: bytes) -> bytes:
    pieces = [_PNG_HEAD]
    for name, at, end in takewhile(lambda chunk: chunk[0] != b"IEND", _png_chunks(data)):
        sum_at = int.from_bytes(data[end - 4 : end], "big")
        is_sound = name in _PNG_KEPT and zlib.crc32(data[at + 4 : end - 4]) == sum_at
        # A capital first: no reader can do without it.
        if name[:1].isupper() or is_sound:
            pieces.append(data[at:end])
    return b"".join([*pieces, _PNG_END])


def _gif_blocks(data: bytes) -> Iterator[tuple[int, int]]:
    """Yield the first byte of each block and where it ends; a block that is cut off raises."""
    at = 13 + _colours(data[10])
    while (kind := data[at]) != ord(";"):
        if kind not in b"!,":
            raise ValueError("no block of a GIF")
        at += 2 if kind == ord("!") else 11 + _colours(data[at + 9])
        while size := data[at]:
            at += 1 + size
        at += 1
        yield kind, at


def _colours(flags: int) -> int:
    return 3 << ((flags & 7) + 1) if flags & 0x80 else 0


def _gif(data: bytes) -> bytes | None:
    first = next((end for kind, end in _gif_blocks(data) if kind == ord(",")), None)
    return data[:first] + b";" if first else None


def _gif_end(data: bytes) -> int:
    ends = [13 + _colours(data[10]), *(end for _, end in _gif_blocks(data))]
    return ends[-1] + 1


def _jpeg(data: bytes) -> bytes | None:
    at, pieces = 2, [data[:2]]
    while data[at] == 0xFF:  # noqa: PLR2004 (begins every marker)
        marker = data[at + 1]
        if marker == _JPEG_SCAN:
            return b"".join([*pieces, data[at:]])
        size = int.from_bytes(data[at + 2 : at + 4], "big")
        begin, least = _JPEG_KEPT.get(marker, (b"", 0))
        content = data[at + 4 : at + 2 + size]
        is_beside = marker in _APPLICATION or marker == _JPEG_COMMENT
        if not is_beside or (begin and content.startswith(begin) and len(content) >= least):
            pieces.append(data[at : at + 2 + size])
        at += 2 + size
    return None


def _webp(data: bytes) -> bytes | None:
    pieces, at, has_pixels = list[bytes](), 12, False
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        end = at + 8 + size + size % 2
        if name in _WEBP_KEPT and end <= len(data):
            pieces.append(data[at:end])
            has_pixels |= name in _WEBP_PIXELS
        at = end
    if not has_pixels:
        return None
    pieces[0] = _without_flags(pieces[0], has_exif=any(c.startswith(b"EXIF") for c in pieces))
    chunks = b"".join(pieces)
    return b"RIFF" + (4 + len(chunks)).to_bytes(4, "little") + b"WEBP" + chunks


def _without_flags(chunk: bytes, *, has_exif: bool) -> bytes:
    """Return VP8X that says what is there; any other chunk as it is."""
    if not chunk.startswith(b"VP8X"):
        return chunk
    gone = _WEBP_ICC | _WEBP_XMP | (0 if has_exif else _WEBP_EXIF)
    return chunk[:8] + bytes([chunk[8] & ~gone]) + chunk[9:]


_ONLY_PIXELS: Mapping[str, Callable[[bytes], bytes | None]] = {
    "png": _png,
    "gif": _gif,
    "jpeg": _jpeg,
    "webp": _webp,
}
