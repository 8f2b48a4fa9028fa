"""img2dataset's own conversion of a picture's bytes to WebP."""

import io
import os
from collections.abc import Callable
from typing import Any

# Pillow's own limit for a picture that may be a decompression bomb, doubled as Pillow does.
IMAGE_LIMIT_PIXELS = 178_956_970
_WEBP_QUALITY = 100


def webp_encoder() -> Callable[[bytes], tuple[bytes, int, int]]:
    """Return img2dataset's conversion of a picture's bytes to (WebP, width, height in pixels).

    Original size, no resizing. It raises ValueError for bytes that are no picture or too many
    pixels.
    """
    resizer: list[Callable[..., tuple[Any, ...]]] = []

    def encode(data: bytes) -> tuple[bytes, int, int]:
        if not resizer:
            resizer.append(_resizer())
        webp, width, height, _, _, error = resizer[0](io.BytesIO(data))
        if error is not None:
            raise ValueError(error)
        return webp, width, height

    return encode


def _resizer() -> Callable[..., tuple[Any, ...]]:
    os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"
    from img2dataset.resizer import Resizer  # noqa: PLC0415 (seconds of imports)

    return Resizer(
        image_size=0,
        resize_mode="no",
        resize_only_if_bigger=False,
        encode_quality=_WEBP_QUALITY,
        encode_format="webp",
        max_image_area=IMAGE_LIMIT_PIXELS,
    )
