"""What macOS does otherwise than Linux.

Its libraries fail in a process that was forked after they were used, so processes start anew there;
and it has no call by which a file takes room.
"""

import os
import sys
from typing import BinaryIO

FORKS = sys.platform == "linux"
_ZEROS = bytes(1 << 20)


def reserve(file: BinaryIO, begin: int, end: int) -> None:
    """Make the bytes of a file from `begin` to `end` zeros that have room on the disk.

    A map of a file without room would end the process that fills it (SIGBUS).

    Raises:
        OSError: no room for all of it.
    """
    allocate = getattr(os, "posix_fallocate", None)
    if allocate:
        if end > begin:
            allocate(file.fileno(), begin, end - begin)
        return
    file.flush()
    # Past the file's buffer, which would fail again when it is closed.
    at = begin
    while at < end:
        at += os.pwrite(file.fileno(), _ZEROS[: end - at], at)
