"""Vectors on disk: a `.npy` block opened by mmap, and the ids of its rows beside it.

A CRC-32 a block of bytes follows the vectors (`core.crc`).
"""

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from isotope.core import crc, store
from isotope.core.errors import CorruptFile, IntegrityError, MissingFile, TruncatedFile
from isotope.core.progress import log
from isotope.core.system import reserve

IDS = pa.schema([pa.field("id", pa.string())])
FloatArray = npt.NDArray[np.float32]
# An impact is a weight of 0.01, as in Anserini's collections of SPLADE vectors.
SCALE = 100
PRECISIONS = {"float32": np.float32, "float16": np.float16}
_ROWS_LOOKED_AT = 4_096
AGAIN = "remove the shard and run the encode phase again"


@dataclass(frozen=True)
class Vectors:
    """The shards of one encoded table: row i of their concatenation belongs to `ids[i]`."""

    ids: pl.Series
    blocks: list[FloatArray]

    @property
    def dim(self) -> int:
        """Components of a vector."""
        return int(self.blocks[0].shape[1])

    def __len__(self) -> int:
        return len(self.ids)


def load_vectors(vectors: Sequence[Path], ids: Sequence[Path], *, checked: bool = True) -> Vectors:
    """Map shards into memory, read only; both lists in the order of the shards.

    All bytes are compared with their sums, unless they are not `checked`, which
    `core.exact.VectorShards` does as rows are read.

    Raises:
        MissingFile: no shards, or one that is not there.
        TruncatedFile: a block shorter than its header says, or cut off in its sums.
        CorruptFile: a block that is no float32 or float16 matrix, that has not one id per row, or
            whose bytes are not those that were written.
    """
    if not vectors:
        raise MissingFile("vectors", "no shards", "run the encode phase")
    blocks = [_map(Path(path), checked=checked) for path in vectors]
    columns = [_read_ids(Path(path)) for path in ids]
    for path, block, column in zip(vectors, blocks, columns, strict=True):
        if len(block) != len(column) or block.shape[1] != blocks[0].shape[1]:
            problem = f"vectors {block.shape}, {len(column)} ids, first shard {blocks[0].shape}"
            raise CorruptFile(path, problem, AGAIN)
    return Vectors(pl.concat(columns), blocks)


def _map(path: Path, *, checked: bool) -> FloatArray:
    if not path.is_file():
        raise MissingFile(path, "no such shard of vectors", "run the encode phase")
    try:
        block, sums = opened(path)
    except (ValueError, EOFError) as error:
        raise TruncatedFile(path, f"not a whole .npy file ({error})", AGAIN) from error
    if block.ndim != 2 or block.dtype not in PRECISIONS.values():  # noqa: PLR2004
        raise CorruptFile(path, f"{block.dtype} {block.shape}, not a matrix of floats", AGAIN)
    if checked:
        sums.demand_all()
    return block


def opened(path: Path) -> tuple[npt.NDArray[Any], crc.Sums]:
    """Map a `.npy` file, and return its sums too, of which only the header's was compared.

    Raises:
        TruncatedFile: a file that is cut off in its sums.
        CorruptFile: a header or sums that are not as they were written.
        OSError, ValueError, EOFError: a file that is not there, or no whole `.npy` file.
    """
    sums = crc.Sums(path, AGAIN)
    block: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    sums.demand_none_after(data_at(block) + block.nbytes)
    return block, sums


def data_at(block: npt.NDArray[Any]) -> int:
    """Return at which byte of its file the data of a mapped block begin."""
    return int(getattr(block, "offset", 0))


def read_sealed(path: Path) -> npt.NDArray[Any]:
    """Return the array of a whole `.npy` file.

    Raises:
        TruncatedFile: a file that is cut off in its sums.
        CorruptFile: bytes that are not those that were written.
        OSError, ValueError: a file that is not there, or no `.npy` file.
    """
    array, sums = opened(path)
    sums.demand_all()
    return np.array(array)


def _read_ids(path: Path) -> pl.Series:
    if not path.is_file():
        raise MissingFile(path, "no ids beside the vectors", "run the encode phase")
    try:
        return pl.read_parquet(path, columns=["id"], glob=False).to_series()
    except pl.exceptions.PolarsError as error:
        raise TruncatedFile(path, f"not a readable Parquet file ({error})", AGAIN) from error


@contextmanager
def created(
    vectors: Path,
    shape: tuple[int, int],
    precision: str = "float32",
    ids: Sequence[str] | pl.Series | None = None,
) -> Generator[FloatArray]:
    """Yield a block of a key of PRECISIONS to fill row by row; it gets its name when complete.

    `ids` are those of the rows; how many of them have a vector of zeros, the log says.

    Raises:
        IntegrityError: as `demand_finite`.
    """
    kind = PRECISIONS[precision]
    with store.aside(vectors) as part:
        if 0 in shape:
            with part.open("wb") as file:
                np.save(file, np.zeros(shape, kind))
            yield np.zeros(shape, np.float32)
        else:
            block = mapped(part, shape, kind)
            yield block
            demand_finite(block, vectors, ids)
            block.flush()
        crc.seal(part)


def demand_finite(
    block: npt.NDArray[np.floating], where: Path | str, ids: Sequence[str] | pl.Series | None = None
) -> None:
    """Refuse vectors [n, dim] of which a component is NaN or infinite, as none can be searched.

    Raises:
        IntegrityError: with the first such item, by its id or row, and their number.
    """
    bad, zeros = list[int](), list[int]()
    for first in range(0, len(block), _ROWS_LOOKED_AT):
        some = np.asarray(block[first : first + _ROWS_LOOKED_AT])
        bad += (np.flatnonzero(~np.isfinite(some).all(axis=1)) + first).tolist()
        zeros += (np.flatnonzero(~some.any(axis=1)) + first).tolist()
    named = (lambda n: f"row {n}") if ids is None else (lambda n: f"item {ids[n]!r}")
    if bad:
        share = int((~np.isfinite(np.asarray(block[bad[0]]))).sum())
        problem = f"{share} of {block.shape[1]} components are NaN or infinite"
        more = f", so for {len(bad):,} of {len(block):,} items" if bad[1:] else ""
        remedy = "look at the item and the model; float16 ends at 65,504, float32 does not"
        raise IntegrityError(f"{where}, {named(bad[0])}", problem + more, remedy)
    if zeros:
        log.info("%s: %d vectors of zeros, such as %s", where, len(zeros), named(zeros[0]))


def mapped(path: Path, shape: tuple[int, ...], kind: type[np.generic]) -> np.memmap[Any, Any]:
    """Create a `.npy` file to fill through memory.

    Raises:
        OSError: no room for all of it; a sparse map that met a full disk later would die of SIGBUS.
    """
    block = np.lib.format.open_memmap(path, mode="w+", dtype=kind, shape=shape)
    with path.open("r+b") as file:
        reserve(file, block.offset, path.stat().st_size)
    return block


def contents_of(vectors: Path) -> Path:
    """Return the table beside a shard of vectors that tells what each row was made of."""
    return vectors.with_suffix(".contents.parquet")


def write_ids(ids: pl.Series, path: Path) -> None:
    """Write the ids of a block's rows, in their order."""
    store.write(ids.rename("id").to_frame().to_arrow(), path, IDS)
