"""What an untrusted picture becomes: judged, decoded, upright, in eight bits, on white, resized.

It is called in a process with limits (`isotope.intake.decode`). Whatever a library raises on the
bytes of a picture is a `Refused`.
"""

import io
import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
from PIL import Image

from isotope.intake.formats import WEBP_SIDE, FormatFinding, ends_as_webp, judge
from isotope.intake.limits import Refused, reason_of
from isotope.intake.parts import is_no_animation, only_pixels
from isotope.intake.resize import NOT_RESIZED, QUALITY, resized, resized_file

# A word of the ledger's trait: something beside the pixels was broken, and left out.
MENDED = "mended"

_NO_MEMORY = ("insufficient memory", "bad_alloc", "cannot allocate", "unable to allocate")
# Rows are mixed and scaled in strips of about so many pixels, so that floats take 24 MB at most.
_STRIP_PIXELS = 1 << 20
_ALPHA = 4
_DEEP = 65_535
# EXIF's orientation (its version 2.32, 4.6.4 A): what turns the picture upright.
_TURNS: Mapping[int, Callable[[Any], Any]] = {
    2: lambda image: image[:, ::-1],
    3: lambda image: image[::-1, ::-1],
    4: lambda image: image[::-1],
    5: lambda image: image.swapaxes(0, 1),
    6: lambda image: image.swapaxes(0, 1)[:, ::-1],
    7: lambda image: image.swapaxes(0, 1)[::-1, ::-1],
    8: lambda image: image.swapaxes(0, 1)[::-1],
}
_T = TypeVar("_T")
Size = tuple[int, int]


def answer(
    data: bytes, content_type: str | None, limits: Mapping[str, Any]
) -> tuple[dict[str, Any], bytes]:
    """Return what became of a picture (columns of the ledger), and its WebP bytes.

    `limits` has max_pixels; with `side_px`, the shorter side gets at most so many pixels; with
    `keep_webp`, WebP that is nothing else, upright and not larger stays as it is. `width` and
    `height` are those of the picture, upright, before it is resized. What is broken beside the
    pixels is left out (trait MENDED). With `as_img2dataset`, img2dataset alone decides.
    """
    row, webp = _answer(data, content_type, limits)
    kind = row["format"]
    is_shown = row["status"] == "success" and not is_no_animation(data, kind)
    if is_shown or row["status"] not in ("success", "not_an_image") or not kind:
        return row, webp
    pixels = None if limits.get("as_img2dataset") else only_pixels(data, kind)
    if pixels is None:
        return row, webp
    again, mended = _answer(pixels, content_type, {**limits, "keep_webp": False})
    if again["status"] != "success":
        return row, webp
    words = " ".join(filter(None, [row["trait"], again["trait"], MENDED])).split()
    return {**again, "trait": " ".join(dict.fromkeys(words))}, mended


def _answer(
    data: bytes, content_type: str | None, limits: Mapping[str, Any]
) -> tuple[dict[str, Any], bytes]:
    finding = judge(data, content_type, limits["max_pixels"], limits.get("side_px"))
    outcome = {"status": finding.status, "format": finding.format, "trait": finding.trait}
    if finding.status is not None:
        return {**outcome, "error": finding.error}, b""
    try:
        webp, stored, size, outcome["trait"] = _converted(data, finding, limits)
    except MemoryError:
        return {**outcome, "status": "decoder_died", "error": "out of memory"}, b""
    except Refused as error:
        full = any(words in error.reason.lower() for words in _NO_MEMORY)
        kind = NOT_RESIZED if error.status == NOT_RESIZED else "not_an_image"
        status, reason = ("decoder_died", "out of memory") if full else (kind, error)
        return {**outcome, "status": status, "error": str(reason)}, b""
    sizes = zip(("width", "height", "stored_width", "stored_height"), (*size, *stored), strict=True)
    return {**outcome, "status": "success", **dict(sizes)}, webp


def _converted(
    data: bytes, finding: FormatFinding, limits: Mapping[str, Any]
) -> tuple[bytes, Size, Size, str | None]:
    """Return WebP, its width and height, those of the picture, and its traits."""
    side_px = limits.get("side_px")
    size = _webp_size(data) if limits.get("keep_webp") and _may_stay(data, finding) else None
    if size and (side_px is None or min(size) <= side_px):
        return data, size, size, finding.trait
    words = (finding.trait or "").split()
    if limits.get("as_img2dataset"):
        trait = " ".join(word for word in words if word != "turned")
        return *_by_img2dataset(data, side_px), trait or None
    image, is_deep = decoded(data)
    image = _upright(image, finding.orientation)
    webp, width, height = _encoded(image, side_px)
    trait = " ".join([*words, *(["deep"] if is_deep else [])])
    return webp, (width, height), (image.shape[1], image.shape[0]), trait or None


def _by_img2dataset(data: bytes, side_px: int | None) -> tuple[bytes, Size, Size]:
    """Return WebP, its size and the picture's, of img2dataset's Resizer on the bytes themselves."""
    with _silence():
        return _library(lambda: resized_file(data, side_px or WEBP_SIDE))


def _may_stay(data: bytes, finding: FormatFinding) -> bool:
    return finding.format == "webp" and ends_as_webp(data) and finding.orientation == 1


def _webp_size(data: bytes) -> tuple[int, int]:
    """Decode a WebP picture that stays as it is, by the library that later reads it."""

    def load() -> tuple[int, int]:
        with Image.open(io.BytesIO(data), formats=["WEBP"]) as image:
            image.load()
            return image.size

    return _library(load)


def to_webp(
    data: bytes, orientation: int = 1, side_px: int | None = None
) -> tuple[bytes, int, int]:
    """Convert a picture to (WebP, width, height in pixels), upright, on white.

    `side_px`: as `resize.resized`, by img2dataset's own Resizer; None is the picture's own size, by
    the calls of OpenCV that the Resizer makes when it resizes nothing. Tests hold the bytes equal
    to img2dataset's. It differs where img2dataset loses a picture: 16 bits a sample are scaled to
    8, which it clips, and EXIF's orientation, which it ignores, is followed.

    Raises:
        Refused: bytes that are no picture, or no WebP of them.
    """
    return _encoded(_upright(decoded(data)[0], orientation), side_px)


def decoded(data: bytes) -> tuple[Any, bool]:
    """Return a picture as uint8 [height, width] or [height, width, 3], blue first, and whether it
    had more than eight bits a sample.

    Raises:
        Refused: bytes that are no picture; samples of no known range.
    """
    import cv2  # noqa: PLC0415 (the process that crawls reads this module for its protocol alone)

    with _silence():
        cv2.setNumThreads(1)
        image: Any = _library(
            lambda: cv2.imdecode(np.frombuffer(data, np.uint8), cv2.IMREAD_UNCHANGED)
        )
    if image is None:
        raise Refused("Image decoding error")
    is_deep = image.dtype != np.uint8
    if is_deep:
        _demand_range(image)
    has_alpha = image.ndim > 2 and image.shape[-1] == _ALPHA  # noqa: PLR2004 (rows and columns)
    return (_in_strips(image) if is_deep or has_alpha else image), is_deep


def _demand_range(image: Any) -> None:  # noqa: ANN401 (an array of OpenCV's)
    """Check that a picture's samples have a range: 16 bits without sign, or floats from 0 to 1.

    Raises:
        Refused: they have none.
    """
    kind = image.dtype
    if kind == np.uint16:
        return
    low, high = float(image.min()), float(image.max())
    if kind.kind != "f" or not 0 <= low <= high <= 1:
        raise Refused(f"samples of {kind} from {low:g} to {high:g}, whose white is not known")


def _in_strips(image: Any) -> Any:  # noqa: ANN401 (arrays of OpenCV's)
    """Return a picture of any samples in 8 bits, and one with transparency on white."""
    height, width = image.shape[:2]
    channels = () if image.ndim == 2 else (min(image.shape[2], 3),)  # noqa: PLR2004 (no colours)
    converted = np.empty((height, width, *channels), np.uint8)
    rows = max(1, _STRIP_PIXELS // width)
    for top in range(0, height, rows):
        strip = _eight_bits(image[top : top + rows])
        converted[top : top + rows] = _on_white(strip)
    return converted


def _eight_bits(strip: Any) -> Any:  # noqa: ANN401 (arrays of OpenCV's)
    if strip.dtype == np.uint16:
        # Rounded, as 65,535 = 257 * 255.
        return ((strip.astype(np.uint32) * 255 + _DEEP // 2) // _DEEP).astype(np.uint8)
    if strip.dtype != np.uint8:
        return np.rint(strip * 255.0).astype(np.uint8)
    return strip


def _on_white(strip: Any) -> Any:  # noqa: ANN401 (arrays of OpenCV's)
    if strip.ndim < 3 or strip.shape[-1] != _ALPHA:  # noqa: PLR2004 (blue, green, red, alpha)
        return strip
    alpha = strip[..., 3:]
    mixed = alpha / 255 * strip[..., :3] + 255 - alpha
    return np.rint(mixed.clip(min=0, max=255)).astype(np.uint8)


def _upright(image: Any, orientation: int) -> Any:  # noqa: ANN401 (arrays)
    return np.ascontiguousarray(_TURNS[orientation](image)) if orientation in _TURNS else image


def _encoded(image: Any, side_px: int | None) -> tuple[bytes, int, int]:  # noqa: ANN401 (an array)
    import cv2  # noqa: PLC0415 (as above)

    if side_px is not None:
        with _silence():
            return _library(lambda: resized(image, side_px))
    height, width = image.shape[:2]
    if max(height, width) > WEBP_SIDE:
        raise Refused(f"{width} x {height} pixels, WebP has {WEBP_SIDE:,} a side")
    quality = [cv2.IMWRITE_WEBP_QUALITY, QUALITY]
    with _silence():
        done, webp = _library(lambda: cv2.imencode(".webp", image, quality))
    if not done:
        raise Refused(f"no WebP of {width} x {height} pixels")
    return webp.tobytes(), width, height


def _library(call: Callable[[], _T]) -> _T:
    """Call a library; what it raises on these bytes is a reason.

    Raises:
        Refused: what it says.
        MemoryError: no memory within the process's limit.
    """
    try:
        return call()
    except (MemoryError, Refused):
        raise
    except Exception as error:
        raise Refused(reason_of(error)) from error


@contextmanager
def _silence() -> Generator[None]:
    """Drop what a decoder written in C prints about a damaged picture."""
    saved = os.dup(1), os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(null, 1)
        os.dup2(null, 2)
        yield
    finally:
        for number, file in enumerate(saved, 1):
            os.dup2(file, number)
            os.close(file)
        os.close(null)
