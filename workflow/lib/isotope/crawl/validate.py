"""What untrusted bytes are, from their beginning and end and the picture's header, undecoded."""

import io
import re
import zipfile
from dataclasses import dataclass

from PIL import Image

_SIGNATURES = (
    (b"\xff\xd8\xff", "jpeg"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
    (b"BM", "bmp"),
    (b"%PDF-", "pdf"),
)
_PICTURES = {"jpeg", "png", "gif", "webp", "tiff", "bmp"}
NO_PIXELS = ("svg", "pdf")
_MAY_MOVE = {"gif", "png", "webp"}
_LOOKED_AT = 1024
_SVG = re.compile(rb"\s*(?:<\?xml|<!DOCTYPE svg|<!--|<svg)", re.IGNORECASE)
# What browsers and readers of PDF run or open wherever they find it in the first 1,024 bytes.
_OTHER_HEADS = re.compile(rb"%PDF-|<script|<html|<!doctype html|<\?php|<svg", re.IGNORECASE)
_TYPES = ("image/", "application/octet-stream", "binary/octet-stream")
# A side of a WebP picture has 14 bits (RFC 9649, 2.6).
WEBP_SIDE = 16_383


@dataclass(frozen=True)
class Finding:
    """A status if the bytes shall not be decoded; `form` and `trait` (animated, cmyk) if known."""

    status: str | None = None
    form: str | None = None
    trait: str | None = None
    error: str | None = None


def form(data: bytes) -> str | None:
    """Return the format that the first bytes tell, None for what is no picture or document."""
    for signature, name in _SIGNATURES:
        if data.startswith(signature):
            return name
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    head = data[:_LOOKED_AT].removeprefix(b"\xef\xbb\xbf")
    if data[:2] == b"\x1f\x8b" or (_SVG.match(head) and b"<svg" in data[: 8 * _LOOKED_AT].lower()):
        return "svg"
    return None


def sift(data: bytes, content_type: str | None, max_pixels: int) -> Finding:
    """Judge bytes before anything decodes them."""
    kind = form(data)
    if kind in NO_PIXELS:
        return Finding(kind, kind, error="no picture of pixels")
    if kind is None:
        return Finding("not_an_image", error="no format that is known")
    if content_type and not content_type.strip().lower().startswith(_TYPES):
        return Finding("wrong_type", kind, error=f"sent as {content_type.partition(';')[0]}")
    if is_polyglot(data):
        return Finding("polyglot", kind, error="a picture and something else")
    return _header(data, kind, max_pixels)


def is_polyglot(data: bytes) -> bool:
    """Tell whether a picture is also a document, a page, a script or an archive."""
    # ASSUME a photograph has no ZIP archive behind it (those of some cameras end with a film, MP4);
    # no paper says.
    return bool(_OTHER_HEADS.search(data[:_LOOKED_AT])) or zipfile.is_zipfile(io.BytesIO(data))


def _header(data: bytes, kind: str, max_pixels: int) -> Finding:
    Image.MAX_IMAGE_PIXELS = None
    try:
        with Image.open(io.BytesIO(data), formats=[kind.upper()]) as image:
            width, height = image.size
            moves = kind in _MAY_MOVE and getattr(image, "is_animated", False)
            trait = "animated" if moves else "cmyk" if image.mode == "CMYK" else None
    except (OSError, ValueError, SyntaxError, EOFError, OverflowError) as error:
        return Finding(
            "not_an_image", kind, error=f"no header of a {kind} ({type(error).__name__})"
        )
    if width * height > max_pixels or max(width, height) > WEBP_SIDE:
        return Finding("too_many_pixels", kind, trait, f"{width} x {height} pixels")
    return Finding(None, kind, trait)
