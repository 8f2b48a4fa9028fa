"""How many weights files of safetensors hold, by their heads: nothing else is read.

A file begins with the length of its head in eight bytes, then the head, JSON, with the shape of
each tensor (https://huggingface.co/docs/safetensors, section Format).
"""

import json
import math
from functools import cache
from pathlib import Path

from isotope.core.errors import CorruptFile

_LENGTH_BYTES = 8


def count(file: Path) -> int:
    """Return the weights in a file.

    Raises:
        CorruptFile: no such head.
    """
    return _count(file, file.stat().st_mtime_ns)


@cache
def _count(file: Path, changed: int) -> int:
    try:
        with file.open("rb") as opened:
            length = int.from_bytes(opened.read(_LENGTH_BYTES), "little")
            if length > file.stat().st_size:
                raise ValueError(length)
            head = json.loads(opened.read(length))
        shapes = [entry["shape"] for name, entry in head.items() if name != "__metadata__"]
        return sum(math.prod(shape) for shape in shapes)
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise CorruptFile(file, "no head of safetensors", "fetch it again") from error
