"""Exact search by inner product that reads a quarter of the bytes: codes first, then vectors.

Each component of a vector, less its mean over all vectors, is rounded to one of 255 steps, so that
a million vectors of 512 components are half a gigabyte of codes. A query is multiplied with all
codes in whole numbers. By Cauchy and Schwarz the rounded score is off by at most the query's length
times that of the longest rounding error of a vector, so only what comes that near to the k-th best
can be among the k best: these, some hundreds, are scored from the vectors themselves, as
`core.exact` scores. The answer is that of `core.exact.top_k`.
"""

import hashlib
import json
import shutil
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import faiss
import numba as nb
import numpy as np
from numpy.typing import NDArray

from isotope.core import store
from isotope.core.crc import seal
from isotope.core.errors import IsotopeError
from isotope.core.exact import Rows, Vectors, VectorShards, decoded, keys_of, largest
from isotope.core.progress import Progress, log
from isotope.core.vectors import created, load_vectors, opened, read_sealed

Floats = NDArray[np.float64]
Nearest = tuple[NDArray[np.float32], Rows]
_FAISS: Any = faiss
_STEPS = 127
# A query is in whole numbers of at most so much; with 127 steps a sum of 1,024 components fits.
_QUERY = 8_191
_LARGEST = (1 << 31) - 1
_ROWS = 65_536
_CHUNK = 512
_STREAMS = 4
# Codes of fewer bytes are made anew each time.
_SMALL_BYTES = 1 << 25
# Raise it when what is written changes.
_VERSION = 2
_FILES = ("codes.npy", "scales.npy")
_DESCRIBED, _CRC = "codes.json", "crc32"
_ROUNDING = 2.0**-24
# No score is so low.
_LOWEST = -(1 << 31)


@dataclass(frozen=True)
class Codes:
    """Codes int8 [vectors, dim] of shards, and what they stand for.

    Component j of vector n is about `means[j] + steps[j] * codes[n, j]`; `error` is the most that
    a vector is off by, as a length, `length` the most that one is long, and `widest` that of codes.
    """

    shards: VectorShards
    codes: NDArray[np.int8]
    means: Vectors
    steps: Vectors
    error: float
    length: float
    widest: float

    @classmethod
    def load(cls, shards: Sequence[Path], ids: Sequence[Path], cache: Path) -> "Codes":
        """Return the codes of shards, from a folder in `cache` if they were written before.

        They are written there unless they are small; what stands there of shards that have changed
        since is never read, and what is not as it was written is made anew.

        Raises:
            As `core.vectors.load_vectors`.
            DiskFull: no room for them.
        """
        load_vectors(shards, ids, checked=False)
        vectors = VectorShards(shards)
        if int(vectors.starts[-1]) * vectors.dim <= _SMALL_BYTES:
            return cls(vectors, *_quantise(vectors, None))
        folder = cache / _fingerprint(shards)
        if not (folder / _DESCRIBED).is_file():
            _write(vectors, folder)
        try:
            return cls._read(vectors, folder)
        except (IsotopeError, OSError, ValueError, KeyError, TypeError) as error:
            log.warning(
                "%s: codes that are not as they were written are made anew (%s)", folder, error
            )
        shutil.rmtree(folder)
        _write(vectors, folder)
        return cls._read(vectors, folder)

    @classmethod
    def _read(cls, vectors: VectorShards, folder: Path) -> "Codes":
        """Map what was written, all of it compared with its CRC-32."""
        codes, sums = opened(folder / _FILES[0])
        sums.demand_all()
        means, steps = read_sealed(folder / _FILES[1])
        described = json.loads((folder / _DESCRIBED).read_text("utf-8"))
        crc = described.pop(_CRC)
        if crc != _crc(described):
            raise ValueError(f"{_DESCRIBED} has another CRC-32")
        return cls(vectors, codes, means, steps, **described)

    def __len__(self) -> int:
        """Return the number of vectors."""
        return len(self.codes)

    def top_k(self, queries: Vectors, k: int, threads: int = 1) -> Nearest:
        """Return scores and rows, both [queries, min(k, vectors)], best first.

        Of equal scores the greater row comes first, as in `core.exact.top_k`.
        """
        k = min(k, len(self))
        integers, unit, off = self._rounded(queries)
        sums = self._sums(integers, threads)
        lengths = np.linalg.norm(queries.astype(np.float64), axis=1)
        # Both roundings: that of the vectors, that of the query; and that of sums of floats.
        rounded = self.error * lengths + off * self.widest
        dim = queries.shape[1]
        sloppy = 2 * dim * _ROUNDING / (1 - dim * _ROUNDING) * self.length * lengths
        margins = np.ceil(2 * (rounded + sloppy) / unit) + 1
        best = np.zeros((len(queries), k), np.uint64)
        for n, (query_sums, margin) in enumerate(zip(sums, margins, strict=True)):
            best[n] = self._best(queries[n : n + 1], query_sums, k, int(min(margin, _LARGEST)))
        return decoded(best)

    def _rounded(self, queries: Vectors) -> tuple[NDArray[np.int16], Floats, Floats]:
        """Return queries in whole numbers, what one is worth in each, and how far each is off."""
        scaled = queries.astype(np.float64) * self.steps
        most = np.abs(scaled).max(axis=1)
        # Sums have 32 bits.
        finest = min(_QUERY, _LARGEST // (_STEPS * queries.shape[1]))
        unit = np.where(most > 0, most, 1.0) / finest
        rounded = np.rint(scaled / unit[:, None])
        off = np.linalg.norm(scaled - rounded * unit[:, None], axis=1)
        return rounded.astype(np.int16), unit, off

    def _sums(self, rounded: NDArray[np.int16], threads: int) -> NDArray[np.int32]:
        """Return the scores of whole queries, [queries, vectors]."""
        sums = np.empty((len(rounded), len(self)), np.int32)
        cuts = np.linspace(0, len(self), max(1, threads) + 1).astype(np.int64)

        def work(low: int, high: int) -> None:
            _multiply(self.codes[low:high], rounded, sums[:, low:high])

        with ThreadPoolExecutor(max(1, threads)) as pool:
            list(pool.map(work, cuts[:-1], cuts[1:]))
        return sums

    def _best(self, query: Vectors, sums: NDArray[np.int32], k: int, margin: int) -> Any:  # noqa: ANN401
        highest = _highest(sums)
        # As many chunks have a sum of at least this, so the k-th best has.
        chunk = min(k, len(highest))
        enough = k <= len(highest)
        floor = int(np.partition(highest, -chunk)[-chunk]) if enough else _LOWEST
        rows = _above(sums, highest, max(_LOWEST, floor - margin))
        if len(rows) > k:
            row_sums = sums[rows].astype(np.int64)
            rows = rows[row_sums >= np.partition(row_sums, -k)[-k] - margin]
        documents, places = self.shards.take(rows), np.arange(len(rows))[None]
        scores = np.empty(places.shape, np.float32)
        pointers = map(faiss.swig_ptr, (scores, np.ascontiguousarray(query), documents, places))
        _FAISS.fvec_inner_products_by_idx(*pointers, query.shape[1], *places.shape)
        return largest(keys_of(scores, rows[None]), k)[0]


def _fingerprint(shards: Sequence[Path]) -> str:
    """Return a name for the state of shards: their places, sizes and times."""
    states = [(str(path.resolve()), path.stat()) for path in shards]
    rows = [(name, state.st_size, state.st_mtime_ns) for name, state in states]
    text = json.dumps([_VERSION, rows])
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _blocks(vectors: VectorShards) -> Iterator[tuple[slice, Vectors]]:
    total = int(vectors.starts[-1])
    for start in range(0, total, _ROWS):
        rows = np.arange(start, min(start + _ROWS, total))
        yield slice(start, start + len(rows)), vectors.take(rows)


def _write(vectors: VectorShards, target: Path) -> None:
    with store.folder_aside(target) as folder:
        shape = (int(vectors.starts[-1]), vectors.dim)
        codes = np.lib.format.open_memmap(folder / _FILES[0], "w+", np.int8, shape)
        _, means, steps, *bounds = _quantise(vectors, codes)
        codes.flush()
        seal(folder / _FILES[0])
        with created(folder / _FILES[1], (2, vectors.dim)) as scales:
            scales[:] = means, steps
        names = ("error", "length", "widest")
        described: dict[str, float] = dict(zip(names, bounds, strict=True))
        text = json.dumps({**described, _CRC: _crc(described)})
        (folder / _DESCRIBED).write_text(text, "utf-8")


def _crc(described: Mapping[str, float]) -> int:
    return zlib.crc32(json.dumps(described, sort_keys=True).encode())


def _quantise(
    vectors: VectorShards, codes: NDArray[np.int8] | None
) -> tuple[NDArray[np.int8], Vectors, Vectors, float, float, float]:
    """Fill codes; return what `Codes` has of them."""
    total, dim = int(vectors.starts[-1]), vectors.dim
    codes = np.empty((total, dim), np.int8) if codes is None else codes
    progress = Progress("vectors coded", 2 * total)
    means, steps = _scales(vectors, progress)
    error, length, widest = 0.0, 0.0, 0.0
    for rows, block in _blocks(vectors):
        block_codes = np.clip(np.rint((block - means) / steps), -_STEPS, _STEPS)
        codes[rows] = block_codes
        error = max(error, _longest(block - (means + steps * block_codes)))
        length, widest = max(length, _longest(block)), max(widest, _longest(block_codes))
        progress.add(len(block))
    progress.finish()
    # The error is itself computed in single precision.
    return codes, means, steps, error + dim * _ROUNDING * length, length, widest


def _scales(vectors: VectorShards, progress: Progress) -> tuple[Vectors, Vectors]:
    """Return the mean of each component, and the step that its codes count."""
    low, high = np.full(vectors.dim, np.inf), np.full(vectors.dim, -np.inf)
    sums = np.zeros(vectors.dim)
    for _, block in _blocks(vectors):
        low, high = np.minimum(low, block.min(axis=0)), np.maximum(high, block.max(axis=0))
        sums += block.sum(axis=0, dtype=np.float64)
        progress.add(len(block))
    means = (sums / max(1, int(vectors.starts[-1]))).astype(np.float32)
    spread = np.maximum(high - means, means - low)
    return means, np.where(spread > 0, spread / _STEPS, 1.0).astype(np.float32)


def _longest(block: NDArray[np.floating]) -> float:
    return float(np.linalg.norm(block, axis=1).max(initial=0))


@nb.njit(cache=True, nogil=True)
def _multiply(codes: NDArray[np.int8], queries: NDArray[np.int16], sums: NDArray[np.int32]) -> None:
    """Fill sums [queries, vectors]; each vector's codes are read once for all queries.

    Several parts are read by turns: a processor fetches ahead within a page of memory only, so it
    waits for one page while it reads others.
    """
    part = len(codes) // _STREAMS
    for n in range(part * _STREAMS, len(codes)):
        _multiply_row(codes, queries, sums, n)
    for n in range(part):
        for stream in range(_STREAMS):
            _multiply_row(codes, queries, sums, n + stream * part)


@nb.njit(cache=True, nogil=True, inline="always")
def _multiply_row(
    codes: NDArray[np.int8], queries: NDArray[np.int16], sums: NDArray[np.int32], n: int
) -> None:
    row = codes[n]
    for b in range(len(queries)):
        query, total = queries[b], np.int32(0)
        for j in range(len(row)):
            # Whole numbers of 32 bits, or numba would widen them and lose a factor of four.
            product = np.int32(np.int32(row[j]) * np.int32(query[j]))
            total = np.int32(total + product)
        sums[b, n] = total


@nb.njit(cache=True, nogil=True)
def _highest(sums: NDArray[np.int32]) -> NDArray[np.int32]:
    """Return the highest sum of each chunk of vectors."""
    highest = np.empty((len(sums) + _CHUNK - 1) // _CHUNK, np.int32)
    for chunk in range(len(highest)):
        highest[chunk] = sums[chunk * _CHUNK : (chunk + 1) * _CHUNK].max()
    return highest


@nb.njit(cache=True, nogil=True)
def _above(sums: NDArray[np.int32], highest: NDArray[np.int32], floor: int) -> Rows:
    """Return the rows whose sums are at least the floor."""
    count, rows = 0, np.empty(1 << 10, np.int64)
    for chunk in range(len(highest)):
        if highest[chunk] < floor:
            continue
        for n in range(chunk * _CHUNK, min((chunk + 1) * _CHUNK, len(sums))):
            if sums[n] >= floor:
                if count == len(rows):
                    wider = np.empty(2 * count, np.int64)
                    wider[:count] = rows
                    rows = wider
                rows[count] = n
                count += 1
    return rows[:count]
