"""img2dataset's own resizer, which decides how large a picture is stored and by what bytes.

The file of its class is loaded without the start of its package, which imports torch and clients of
sites: 2.7 s of a core and 746 MB become 0.6 s and 109 MB. It takes a picture as the bytes of a
file, so it gets an uncompressed one.
"""

import importlib.util
import os
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from isotope.core import extras
from isotope.intake.limits import Refused

Pixels = npt.NDArray[np.uint8]
QUALITY = 100
# A status of the crawl's ledger.
NOT_RESIZED = "not_resized"


class _Stream:
    """A file in memory, read whole and without a copy."""

    def __init__(self, content: npt.NDArray[np.uint8]) -> None:
        self._content = content

    def seek(self, _: int) -> None: ...

    def read(self) -> memoryview:
        return self._content.data


@cache
def _resizer(side_px: int) -> Callable[[_Stream], tuple[Any, ...]]:
    """Return img2dataset's Resizer as AToMiC's authors used it."""
    # albumentations asks a site for its newest version otherwise.
    os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"
    file = extras.folder("img2dataset") / "resizer.py"
    spec = importlib.util.spec_from_file_location("img2dataset.resizer", file)
    assert spec  # noqa: S101 (so it is of a file that ends in .py)
    assert spec.loader  # noqa: S101
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    way = {"resize_mode": "keep_ratio", "resize_only_if_bigger": True}
    return module.Resizer(side_px, **way, encode_quality=QUALITY, encode_format="webp")


def load(side_px: int) -> None:
    """Load what resizing needs before the first picture is there."""
    resized(np.zeros((side_px + 1, side_px + 1, 3), np.uint8), side_px)


def resized(image: Pixels, side_px: int) -> tuple[bytes, int, int]:
    """Return a picture, uint8 [height, width] or [height, width, 3], as (WebP, width, height).

    Its shorter side has at most `side_px` pixels: a larger one is averaged over areas with its
    aspect kept, a smaller one stays as it is (img2dataset 1.47, resizer.py: keep_ratio with
    resize_only_if_bigger).

    Raises:
        Refused: the resizer or its encoder fails, with what it says; its status is NOT_RESIZED.
        MemoryError: no memory within the process's limit.
    """
    import cv2  # noqa: PLC0415 (the process that crawls does not decode)

    done, file = cv2.imencode(".bmp", image)
    webp, width, height, *_, error = _resizer(side_px)(_Stream(np.asarray(file, np.uint8).ravel()))
    if not done or not webp:
        raise _refusal(f"{image.shape[1]} x {image.shape[0]} pixels", error)
    return webp, width, height


def resized_file(data: bytes, side_px: int) -> tuple[bytes, tuple[int, int], tuple[int, int]]:
    """Return the bytes of a picture as (WebP, its width and height, those of the picture), in px.

    The Resizer decodes them itself: 16 bits are clipped to 8, and EXIF's orientation is ignored.

    Raises:
        As `resized`.
    """
    resize = _resizer(side_px)
    webp, width, height, own_width, own_height, error = resize(
        _Stream(np.frombuffer(data, np.uint8))
    )
    if not webp:
        raise _refusal(f"{len(data):,} bytes", error)
    return webp, (width, height), (own_width, own_height)


def _refusal(name: str, error: str | None) -> Refused:
    reason = " ".join((error or "no WebP came of it").split())
    return Refused(f"{name}: {reason}", NOT_RESIZED)
