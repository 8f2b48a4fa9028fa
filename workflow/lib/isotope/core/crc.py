"""A CRC-32 a block at the end of a file, so that a part of it can be checked when it is read.

Readers of `.npy` and of FAISS stop where their data end, so what follows is in nobody's way: the
sums of the blocks (uint32, of BLOCK bytes each, the last one shorter), then their number of bytes,
of the blocks and of a block, the CRC-32 of all of these, and a mark. A file without it was written
before there were sums, or by another program, and is read as it is.
"""

import os
import struct
from pathlib import Path

import numpy as np
import numpy.typing as npt
from isal import isal_zlib

from isotope.core.errors import CorruptFile, TruncatedFile

# A vector that is looked up costs the reading of one block, once.
BLOCK = 1 << 16
_MARK = b"\x93CRC-32\n"
# Bytes of data, bytes of a block, CRC-32 of sums and these two, mark.
_END = struct.Struct("<QII8s")
_READ = 1 << 22


class Sums:
    """The sums of a file, and which of its blocks were found right."""

    def __init__(self, path: Path, remedy: str) -> None:
        """Read the sums of a file, and check its first block, in which a header is.

        Raises:
            CorruptFile: sums that are not as they were written, with `remedy`.
            OSError: a file that can't be read.
        """
        self._path, self._remedy = path, remedy
        self._file = os.open(path, os.O_RDONLY)
        self._sums = self._read(os.fstat(self._file).st_size)
        self._right = np.zeros(len(self._sums), np.bool_)
        self._demand(np.arange(min(1, len(self._sums))))

    def __del__(self) -> None:
        """Close the file."""
        if hasattr(self, "_file"):
            os.close(self._file)

    @property
    def are_there(self) -> bool:
        """Whether the file has sums."""
        return self._size > 0

    def demand_none_after(self, data: int) -> None:
        """Check that a file without sums ends with its data, which are `data` bytes.

        Raises:
            TruncatedFile: more bytes, which are the begin of its sums.
            CorruptFile: more bytes, which are sums that are damaged.
        """
        more = os.fstat(self._file).st_size - data
        if self.are_there or more <= 0:
            return
        expected = 4 * -(-data // BLOCK) + _END.size
        if more < expected:
            problem = f"its sums end after {more:,} of {expected:,} bytes"
            raise TruncatedFile(self._path, problem, self._remedy)
        self._refuse(f"{more:,} bytes follow its data, which are no sums")

    def _read(self, size: int) -> npt.NDArray[np.uint32]:
        self._size, self._block = 0, BLOCK
        end = os.pread(self._file, _END.size, max(0, size - _END.size))
        if len(end) == _END.size and end.endswith(_MARK):
            self._size, self._block, crc, _ = _END.unpack(end)
            count = -(-self._size // max(self._block, 1))
            begun = size - _END.size - 4 * count
            sums = os.pread(self._file, 4 * count, max(0, begun))
            if begun != self._size or isal_zlib.crc32(sums + end[:12]) != crc:
                self._refuse("its sums are not those that were written")
            return np.frombuffer(sums, "<u4")
        return np.zeros(0, np.uint32)

    def demand_all(self) -> None:
        """Check the blocks that were not checked yet.

        Raises:
            CorruptFile: bytes of a block that are not those that were written.
        """
        self._demand(np.flatnonzero(~self._right))

    def demand(self, starts: npt.NDArray[np.int64], size: int) -> None:
        """Check the blocks that hold pieces of `size` bytes from `starts` on.

        Raises:
            CorruptFile: as `demand_all`.
        """
        if not self.are_there or not len(starts) or self._right.all():
            return
        first, last = starts // self._block, (starts + (size - 1)) // self._block
        wanted = np.zeros(len(self._right), np.bool_)
        for step in range(int((last - first).max()) + 1):
            wanted[np.minimum(first + step, last)] = True
        self._demand(np.flatnonzero(wanted & ~self._right))

    def _demand(self, blocks: npt.NDArray[np.int64]) -> None:
        for block in blocks.tolist():
            at = block * self._block
            content = os.pread(self._file, min(self._block, self._size - at), at)
            if isal_zlib.crc32(content) != self._sums[block]:
                problem = (
                    f"bytes {at:,} to {at + self._block - 1:,} are not those that were written"
                )
                self._refuse(f"{problem} (CRC-32)")
            self._right[block] = True

    def _refuse(self, problem: str) -> None:
        raise CorruptFile(self._path, problem, self._remedy)


def seal(path: Path) -> None:
    """Add the sums of its blocks to a file that is complete.

    Raises:
        OSError: no room for them.
    """
    with path.open("r+b") as file:
        sums = bytearray()
        while part := file.read(_READ):
            blocks = (part[at : at + BLOCK] for at in range(0, len(part), BLOCK))
            sums += b"".join(struct.pack("<I", isal_zlib.crc32(block)) for block in blocks)
        end = _END.pack(file.tell(), BLOCK, 0, _MARK)
        crc = isal_zlib.crc32(bytes(sums) + end[:12])
        file.write(sums + end[:12] + struct.pack("<I", crc) + _MARK)


def demand(path: Path, remedy: str) -> None:
    """Check all of a file that has sums.

    Raises:
        CorruptFile: bytes that are not those that were written.
        OSError: a file that can't be read.
    """
    Sums(path, remedy).demand_all()
