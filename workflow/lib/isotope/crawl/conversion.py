"""img2dataset's own conversion of a picture's bytes to WebP."""

import io
import os
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

from isotope.core.errors import ToolFailed

# Pillow's own limit for a picture that may be a decompression bomb, doubled as Pillow does.
IMAGE_LIMIT_PIXELS = 178_956_970
_WEBP_QUALITY = 100
_MODULE = "img2dataset_resizer"


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


def _module() -> ModuleType:
    """Load the file with img2dataset's Resizer; the package imports its trainers' tools as well."""
    package = find_spec("img2dataset")
    if package is None or package.origin is None:
        raise ToolFailed("img2dataset", "is not installed", "install the locked requirements")
    found = spec_from_file_location(_MODULE, Path(package.origin).with_name("resizer.py"))
    if found is None or found.loader is None:
        raise ToolFailed("img2dataset", "has no resizer.py", "install the locked requirements")
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


def _resizer() -> Callable[..., tuple[Any, ...]]:
    os.environ["NO_ALBUMENTATIONS_UPDATE"] = "1"
    return _module().Resizer(
        image_size=0,
        resize_mode="no",
        resize_only_if_bigger=False,
        encode_quality=_WEBP_QUALITY,
        encode_format="webp",
        max_image_area=IMAGE_LIMIT_PIXELS,
    )
