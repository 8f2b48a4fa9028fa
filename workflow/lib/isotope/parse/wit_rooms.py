"""Memory in which the blocks of a shard gather, used again and again."""

from collections import deque

import numpy as np

from isotope.core.parallel import AHEAD

# A block in use, those ahead of it, and the beginning of the next.
_ROOMS = 1 + AHEAD + 1


class Rooms:
    """Rooms filled in turn: a block stays as it is while `parallel.ahead` makes others."""

    def __init__(self, most: int) -> None:
        """Start with nothing gathered; a block of more than `most` bytes makes room for itself."""
        self._rooms = deque(np.empty(most, np.uint8) for _ in range(_ROOMS))
        self.size = 0

    def add(self, piece: bytes | memoryview) -> None:
        """Put bytes behind those gathered."""
        end = self.size + len(piece)
        if end > len(self._rooms[0]):
            more = np.empty(2 * end, np.uint8)
            more[: self.size] = self._rooms[0][: self.size]
            self._rooms[0] = more
        self._rooms[0].data[self.size : end] = piece
        self.size = end

    def gathered(self) -> memoryview:
        """Return the bytes gathered."""
        return self._rooms[0].data[: self.size]

    def take(self, cut: int) -> memoryview:
        """Return the first `cut` bytes; the next block begins with the others."""
        block = self.gathered()
        self._rooms.rotate(-1)
        self.size = 0
        self.add(block[cut:])
        return block[:cut]
