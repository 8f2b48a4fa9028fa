"""Many vectors an item on disk: components of one byte, and one scale a vector.

A vector v is stored as its scale s = max|v| / 127, float32, and its codes, the components of v / s
rounded to whole numbers, int8: `dim` + 4 bytes. No component is off by more than s / 2, a 254th of
the largest one. The codes need no training, so a vector depends on nothing but itself, which the
residuals of ColBERTv2 (Santhanam et al., NAACL 2022, section 3.3: 20 or 36 bytes where `dim` is
128) do not offer; half precision takes 2 x `dim` bytes.

Sums of products of codes are whole numbers below 2**24 for up to 1,040 components. Single precision
holds them exactly, so a matrix product gives the same bits in blocks of any shape, with any number
of threads.

A shard has two files: `.npy`, uint8 [vectors, 4 + dim], scale before codes, in the order in which
they were made; and a table ITEMS, a row for each item in the order of the ids.
"""

import mmap
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from isotope.core import crc, store
from isotope.core.errors import CorruptFile, MissingFile, TruncatedFile
from isotope.core.schemas import schema
from isotope.core.vectors import FloatArray, data_at, opened

LEVELS = 127
SCALE_BYTES = 4
# Where an item's vectors lie as those of a document, and as those of a query where they differ.
ITEMS = schema(
    id=pa.string(),
    first=pa.int64(),
    count=pa.int32(),
    query_first=pa.int64(),
    query_count=pa.int32(),
)
Records = npt.NDArray[np.uint8]
_AGAIN = "remove the shard and run the encode phase again"


def quantised(vectors: FloatArray) -> Records:
    """Return vectors [n, dim] as records [n, 4 + dim]; a vector of zeros stays one."""
    scales = (np.abs(vectors).max(axis=1, initial=0) / LEVELS).astype(np.float32)
    divisors = np.where(scales == 0, np.float32(1), scales)[:, None]
    codes = np.clip(np.rint(vectors / divisors), -LEVELS, LEVELS).astype(np.int8)
    return np.hstack([scales[:, None].view(np.uint8), codes.view(np.uint8)])


class ScaledCodes(NamedTuple):
    """Vectors as codes [n, dim], whole numbers in float32, and scales float32 [n]."""

    codes: FloatArray
    scales: FloatArray

    def vectors(self) -> FloatArray:
        """Return the vectors, float32 [n, dim]."""
        return self.codes * self.scales[:, None]


def codes_of(records: Records) -> ScaledCodes:
    """Return what records [n, 4 + dim] hold.

    Raises:
        CorruptFile: a scale that is no finite number.
    """
    scales = np.ascontiguousarray(records[:, :SCALE_BYTES]).view(np.float32).ravel()
    if not np.isfinite(scales).all():
        bad = int((~np.isfinite(scales)).sum())
        raise CorruptFile("vectors of late interaction", f"{bad:,} are NaN or infinite", _AGAIN)
    return ScaledCodes(records[:, SCALE_BYTES:].view(np.int8).astype(np.float32), scales)


def pooled(vectors: FloatArray) -> FloatArray:
    """Return the mean of an item's vectors [n, dim], L2-normalised float32 [dim]."""
    mean = vectors.astype(np.float64).sum(axis=0)
    return (mean / (np.linalg.norm(mean) or 1.0)).astype(np.float32)


class VectorSpan(NamedTuple):
    """Where the vectors of an item lie in a file: the first, and how many."""

    first: int
    size: int


class Writer:
    """Appends the vectors of items to a file, in any order."""

    def __init__(self, file: IO[bytes], dim: int) -> None:
        """Append to `file`, behind a header that says nothing yet."""
        self._file, self._dim, self.size = file, dim, 0
        self._header()

    def add(self, vectors: FloatArray) -> VectorSpan:
        """Append the vectors [n, dim] of an item; return where they are."""
        self._file.write(np.ascontiguousarray(quantised(vectors)).data)
        span = VectorSpan(self.size, len(vectors))
        self.size += len(vectors)
        return span

    def finish(self) -> None:
        """Say in the header how many vectors there are."""
        self._file.seek(0)
        self._header()

    def _header(self) -> None:
        """Write the header, which numpy pads so that more rows need no more bytes."""
        form: dict[str, Any] = {"descr": "|u1", "fortran_order": False}
        form["shape"] = (self.size, SCALE_BYTES + self._dim)
        np.lib.format.write_array_header_1_0(self._file, form)


@contextmanager
def written(path: Path, dim: int) -> Generator[Writer]:
    """Yield what fills a file of vectors; it gets its name when it is complete.

    Raises:
        DiskFull, Unwritable: as `store.aside`.
    """
    with store.aside(path) as part, part.open("w+b") as file:
        writer = Writer(file, dim)
        yield writer
        writer.finish()
        file.flush()
        crc.seal(part)


def write_items(
    ids: Sequence[str],
    spans: Sequence[VectorSpan],
    queries: Sequence[VectorSpan | None],
    path: Path,
) -> None:
    """Write where the vectors of items lie: as documents', and as queries' where they differ."""
    columns = {
        "id": ids,
        "first": [span.first for span in spans],
        "count": [span.size for span in spans],
        "query_first": [span and span.first for span in queries],
        "query_count": [span and span.size for span in queries],
    }
    arrays = {name: pa.array(rows, ITEMS.field(name).type) for name, rows in columns.items()}
    store.write(pa.table(arrays), path, ITEMS)


class MultiVectors:
    """The shards of one side; row i of their concatenated tables is an item.

    Memory: 24 bytes an item.
    """

    def __init__(self, files: Sequence[Path], tables: Sequence[Path]) -> None:
        """Map the vectors and read where those of each item are; both in the order of the shards.

        Raises:
            MissingFile: a file that is not there.
            CorruptFile: a file that holds no records, or fewer than its table says.
        """
        mapped = [_mapped(path) for path in files]
        self._parts, self._sums = [part for part, _ in mapped], [sums for _, sums in mapped]
        rows = [_items(path) for path in tables]
        for path, part, items in zip(files, self._parts, rows, strict=True):
            _demand_all(path, part, items)
        self._starts = np.cumsum([0, *map(len, rows)])
        table = pl.concat(rows)
        self._as_document = _spans(table, "first", "count")
        asked = [pl.coalesce(f"query_{name}", name).alias(name) for name in ("first", "count")]
        self._as_query = _spans(table.select(asked), "first", "count")
        self.dim = self._parts[0].shape[1] - SCALE_BYTES if self._parts else 0

    def __len__(self) -> int:
        return len(self._as_document)

    def counts(
        self, rows: npt.NDArray[np.int64], *, queries: bool = False
    ) -> npt.NDArray[np.int64]:
        """Return how many vectors the items of rows have."""
        return (self._as_query if queries else self._as_document)[rows, 1]

    def take(self, rows: npt.NDArray[np.int64], *, queries: bool = False) -> Records:
        """Return the records of the items of rows, one item after the other."""
        spans = (self._as_query if queries else self._as_document)[rows]
        out = np.empty((int(spans[:, 1].sum()), SCALE_BYTES + self.dim), np.uint8)
        shards = np.searchsorted(self._starts, rows, side="right") - 1
        at = 0
        for shard, (first, count) in zip(shards, spans, strict=True):
            part = self._parts[shard]
            begun = np.array([data_at(part) + first * part.shape[1]])
            self._sums[shard].demand(begun, max(1, int(count) * part.shape[1]))
            out[at : at + count] = self._parts[shard][first : first + count]
            at += count
        for shard in np.unique(shards):
            _forget(self._parts[shard])
        return out


def _forget(part: Records) -> None:
    """Give mapped pages back: they would count as this process's memory until it ends."""
    if isinstance(part.base, mmap.mmap):
        part.base.madvise(mmap.MADV_DONTNEED)


def _mapped(path: Path) -> tuple[Records, crc.Sums]:
    if not path.is_file():
        raise MissingFile(path, "no such shard of vectors", "run the encode phase")
    try:
        part, sums = opened(path)
    except (ValueError, EOFError) as error:
        raise TruncatedFile(path, f"not a whole .npy file ({error})", _AGAIN) from error
    if part.dtype != np.uint8 or part.ndim != 2 or part.shape[1] <= SCALE_BYTES:  # noqa: PLR2004
        raise CorruptFile(path, f"{part.dtype} {part.shape}, not records of vectors", _AGAIN)
    return part, sums


def _items(path: Path) -> pl.DataFrame:
    if not path.is_file():
        raise MissingFile(path, "no table beside the vectors", "run the encode phase")
    try:
        return pl.read_parquet(path, columns=ITEMS.names, glob=False)
    except pl.exceptions.PolarsError as error:
        raise TruncatedFile(path, f"not a readable table of items ({error})", _AGAIN) from error


def _demand_all(path: Path, part: Records, items: pl.DataFrame) -> None:
    ends = [items["first"] + items["count"], items["query_first"] + items["query_count"]]
    most = max((int(str(end.max())) for end in ends if end.max() is not None), default=0)
    if most > len(part):
        problem = f"{len(part):,} vectors, where its table has {most:,}"
        raise CorruptFile(path, problem, _AGAIN)


def _spans(table: pl.DataFrame, *columns: str) -> npt.NDArray[np.int64]:
    return table.select(pl.col(columns).cast(pl.Int64)).to_numpy()
