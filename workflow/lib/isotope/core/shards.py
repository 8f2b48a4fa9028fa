"""How the work of a phase is cut into shards: slices that follow each other."""

from collections.abc import Sequence
from typing import TypeVar

from isotope.core.errors import BadParams

Part = tuple[int, int]
WHOLE: Part = (0, 1)
_Item = TypeVar("_Item")


def bounds(size: int, part: Part) -> tuple[int, int]:
    """Return where part (i, n) of `size` things begins and ends; parts are counted from 0.

    Raises:
        BadParams: no such part.
    """
    i, n = part
    if not 0 <= i < n:
        raise BadParams("shards", f"shard {i} of {n}", "count shards from 0")
    return size * i // n, size * (i + 1) // n


def part_of(items: Sequence[_Item], part: Part) -> Sequence[_Item]:
    """Return the items of a part.

    Raises:
        BadParams: no such part.
    """
    start, stop = bounds(len(items), part)
    return items[start:stop]
