"""What the heads of weights files of safetensors tell: how many weights, and notes.

A file begins with the length of its head in eight bytes, then the head, JSON, with the shape of
each tensor (https://huggingface.co/docs/safetensors, section Format).
"""

import json
import math
from functools import cache
from pathlib import Path
from typing import Any

from isotope.core.errors import CorruptFile

_LENGTH_BYTES = 8


def count(file: Path) -> int:
    """Return the weights in a file.

    Raises:
        CorruptFile: no such head.
    """
    return _count(file, file.stat().st_mtime_ns)


def head(file: Path) -> dict[str, Any]:
    """Return the head of a file: each tensor by its name, and under `__metadata__` strings.

    Raises:
        CorruptFile: no such head.
    """
    try:
        with file.open("rb") as opened:
            length = int.from_bytes(opened.read(_LENGTH_BYTES), "little")
            if length > file.stat().st_size:
                raise ValueError(length)
            tensors = json.loads(opened.read(length))
    except ValueError as error:
        raise _headless(file) from error
    if not isinstance(tensors, dict):
        raise _headless(file)
    return tensors


@cache
def _count(file: Path, changed: int) -> int:
    tensors = (tensor for name, tensor in head(file).items() if name != "__metadata__")
    try:
        return sum(math.prod(tensor["shape"]) for tensor in tensors)
    except (KeyError, TypeError) as error:
        raise _headless(file) from error


def _headless(file: Path) -> CorruptFile:
    return CorruptFile(file, "no head of safetensors", "fetch it again")
