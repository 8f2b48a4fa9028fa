"""What bytes are, judged before anything decodes them: by their beginning, parts and header."""

import io
import re
import warnings
from dataclasses import dataclass

from PIL import Image

from isotope.intake.limits import reason_of
from isotope.intake.parts import other_document

_SIGNATURES = (
    (b"\xff\xd8\xff", "jpeg"),
    (b"\x89PNG\r\n\x1a\n", "png"),
    (b"GIF87a", "gif"),
    (b"GIF89a", "gif"),
    (b"II*\x00", "tiff"),
    (b"MM\x00*", "tiff"),
    (b"BM", "bmp"),
    (b"\x00\x00\x00\x0cjP  \r\n\x87\n", "jpeg2000"),
    (b"\xff\x4f\xff\x51", "jpeg2000"),
    (b"%PDF-", "pdf"),
)
NO_PIXELS = ("svg", "pdf")
_ANIMATED_FORMATS = {"gif", "png", "webp"}
_HEAD_BYTES = 1024
_SVG = re.compile(rb"\s*(?:<\?xml|<!DOCTYPE svg|<!--|<svg)", re.IGNORECASE)
_TYPES = ("image/", "application/octet-stream", "binary/octet-stream")
# A side of a WebP picture has 14 bits (RFC 9649, 2.6).
WEBP_SIDE = 16_383
_ORIENTATION, _UPRIGHT, _LAST_TURN = 0x0112, 1, 8
# Chunks of a WebP file (RFC 9649, 2.7) that hold pixels; a file may have one bitstream or frames.
_PIXEL_CHUNKS = (b"VP8 ", b"VP8L", b"ANMF")
_OTHER_CHUNKS = (b"VP8X", b"ANIM", b"ALPH", b"ICCP")


@dataclass(frozen=True)
class FormatFinding:
    """A status if the bytes must not be decoded.

    `trait` has words: animated, cmyk, turned; or None. `orientation` is EXIF's, 1 is upright.
    """

    status: str | None = None
    format: str | None = None
    trait: str | None = None
    error: str | None = None
    orientation: int = _UPRIGHT


def judge(
    data: bytes, content_type: str | None, max_pixels: int, side_px: int | None = None
) -> FormatFinding:
    """Check bytes before anything decodes them; `side_px` is the shorter side that is stored."""
    kind = image_format(data)
    if kind in NO_PIXELS:
        return FormatFinding(kind, kind, error="no picture of pixels")
    if kind is None:
        return FormatFinding("not_an_image", error="no format that is known")
    if content_type and not content_type.strip().lower().startswith(_TYPES):
        return FormatFinding("wrong_type", kind, error=f"sent as {content_type.partition(';')[0]}")
    if other := other_document(data, kind):
        return FormatFinding("polyglot", kind, error=f"a picture and {other}")
    return _header(data, kind, max_pixels, side_px)


def image_format(data: bytes) -> str | None:
    """Return the format by the first bytes, None for what is no picture or document."""
    for signature, name in _SIGNATURES:
        if data.startswith(signature):
            return name
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "webp"
    head = data[:_HEAD_BYTES].removeprefix(b"\xef\xbb\xbf")
    if data[:2] == b"\x1f\x8b" or (_SVG.match(head) and b"<svg" in data[: 8 * _HEAD_BYTES].lower()):
        return "svg"
    return None


def _header(data: bytes, kind: str, max_pixels: int, side_px: int | None) -> FormatFinding:
    Image.MAX_IMAGE_PIXELS = None
    try:
        with (
            warnings.catch_warnings(action="ignore"),
            Image.open(io.BytesIO(data), formats=[kind.upper()]) as image,
        ):
            width, height, mode = *image.size, image.mode
            if kind == "png" and (chunk := _late_exif(data)):
                image.info["exif"] = chunk
            orientation = _orientation(image, kind)
            is_animated = kind in _ANIMATED_FORMATS and _is_animated(image)
    except Exception as error:
        problem = f"no header of a {kind} ({type(error).__name__}: {reason_of(error)})"
        return FormatFinding("not_an_image", kind, error=problem)
    traits = {"animated": is_animated, "cmyk": mode == "CMYK", "turned": orientation != _UPRIGHT}
    trait = " ".join(name for name, holds in traits.items() if holds) or None
    shorter, longer = sorted((width, height))
    stored = longer if side_px is None else round(longer * min(1, side_px / max(shorter, 1)))
    if width * height > max_pixels or stored > WEBP_SIDE:
        return FormatFinding("too_many_pixels", kind, trait, f"{width} x {height} pixels")
    return FormatFinding(None, kind, trait, orientation=orientation)


def _is_animated(image: Image.Image) -> bool:
    """Tell whether there is a second frame; one that is cut off or damaged is none."""
    try:
        return bool(getattr(image, "is_animated", False))
    except Exception:
        return False


def _orientation(image: Image.Image, kind: str) -> int:
    """Return EXIF's orientation, 1 where there is none or it can't be read.

    TIFF's own is followed by its decoder. Of PNG the library would decode the whole picture to look
    behind it.
    """
    if kind == "tiff":
        return _UPRIGHT
    try:
        exif = Image.Exif()
        if kind == "png":
            exif.load(image.info.get("exif", b""))
        else:
            exif = image.getexif()
        value = exif.get(_ORIENTATION, _UPRIGHT)
    except Exception:
        return _UPRIGHT
    return value if isinstance(value, int) and _UPRIGHT <= value <= _LAST_TURN else _UPRIGHT


def _late_exif(data: bytes) -> bytes | None:
    """Return what a PNG's chunk eXIf holds, wherever it stands, or None."""
    at = len(b"\x89PNG\r\n\x1a\n")
    while at + 8 <= len(data):
        size, name = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8]
        if name == b"eXIf":
            return data[at + 8 : at + 8 + size]
        at += 12 + size
    return None


def ends_as_webp(data: bytes) -> bool:
    """Tell whether bytes are a WebP file from the first to the last, and hold pixels alone.

    Chunks follow each other to the end that the file's header says, and are of the kinds that
    RFC 9649 knows for pixels, transparency, animation and colour profiles; a file with anything
    else, EXIF and XMP among it, may carry what is no picture.
    """
    if len(data) < 20 or int.from_bytes(data[4:8], "little") + 8 != len(data):  # noqa: PLR2004
        return False
    at, has_pixels = 12, False
    while at + 8 <= len(data):
        name, size = data[at : at + 4], int.from_bytes(data[at + 4 : at + 8], "little")
        if name not in (*_PIXEL_CHUNKS, *_OTHER_CHUNKS):
            return False
        has_pixels |= name in _PIXEL_CHUNKS
        at += 8 + size + size % 2
    return has_pixels and at == len(data)
