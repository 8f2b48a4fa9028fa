"""Small pictures inside the page itself."""

import base64
import io

from PIL import Image

SIDE_PX = 160
_QUALITY = 72


def thumbnail(encoded: bytes, side_px: int = SIDE_PX) -> str | None:
    """Return the picture as a data: URI of WebP within side_px squared; None if unreadable."""
    small = io.BytesIO()
    try:
        with Image.open(io.BytesIO(encoded)) as picture:
            picture.thumbnail((side_px, side_px))
            picture.convert("RGB").save(small, "WEBP", quality=_QUALITY, method=4)
    except (OSError, Image.DecompressionBombError):
        return None
    return "data:image/webp;base64," + base64.b64encode(small.getvalue()).decode("ascii")
