"""Exact inner-product search over memory-mapped vector shards, in bounded memory."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import faiss
import numpy as np
from numpy.typing import NDArray

from isotope.progress import Progress

Vectors = NDArray[np.float32]
Rows = NDArray[np.int64]
_MB = 1 << 20
_QUERIES = 4_096


class Shards:
    """Vector shards seen as one array; only the rows asked for are read."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Map the files; every shard is float32 [rows, dim] with the same dim."""
        self.parts: list[Vectors] = [np.load(p, mmap_mode="r") for p in paths]
        self.starts = np.cumsum([0, *(len(p) for p in self.parts)])
        self.dim = int(self.parts[0].shape[1])

    def take(self, rows: Rows) -> Vectors:
        """Return float32 [len(rows), dim] in the order of `rows`."""
        out = np.empty((len(rows), self.dim), np.float32)
        part = np.searchsorted(self.starts, rows, side="right") - 1
        for n in np.unique(part):
            here = part == n
            out[here] = self.parts[n][rows[here] - self.starts[n]]
        return out


def top_k(
    queries: Vectors, shards: Shards, rows: Rows, k: int, memory_mb: int
) -> tuple[NDArray[np.float32], Rows]:
    """Return scores and rows, both [queries, k'], of the k' = min(k, len(rows)) best documents.

    Documents pass through in blocks and queries in groups, so that neither vectors nor candidates
    hold more than about `memory_mb` MiB.
    """
    k = min(k, len(rows))
    progress = Progress("query-document pairs", len(queries) * len(rows))
    found = [
        _group(q, shards, rows, (k, memory_mb), progress) for q in _groups(queries, k, memory_mb)
    ]
    progress.finish()
    scores, places = zip(*found, strict=True)
    return np.concatenate(scores), np.concatenate(places)


def _groups(queries: Vectors, k: int, memory_mb: int) -> Iterator[Vectors]:
    bytes_per_query = 4 * 12 * max(k, 1)
    size = int(np.clip(memory_mb * _MB // 2 // bytes_per_query, 1, _QUERIES))
    for start in range(0, max(len(queries), 1), size):
        yield queries[start : start + size]


def _group(
    queries: Vectors, shards: Shards, rows: Rows, limits: tuple[int, int], progress: Progress
) -> tuple[NDArray[np.float32], Rows]:
    k, memory_mb = limits
    best = np.empty((len(queries), 0), np.float32)
    where = np.empty((len(queries), 0), np.int64)
    size = max(memory_mb * _MB // 2 // (4 * shards.dim), k, 1)
    for start in range(0, len(rows), size):
        block = rows[start : start + size]
        nearest = min(k, len(block))
        scores, local = faiss.knn(
            queries, shards.take(block), nearest, metric=faiss.METRIC_INNER_PRODUCT
        )
        best, where = _merge(np.hstack([best, scores]), np.hstack([where, block[local]]), k)
        progress.add(len(queries) * len(block))
    return best, where


def _merge(scores: NDArray[np.float32], rows: Rows, k: int) -> tuple[NDArray[np.float32], Rows]:
    """Keep the k best; of equals the later row: ids are sorted, trec_eval prefers the last."""
    order = np.lexsort((-rows, -scores))[:, :k]
    return np.take_along_axis(scores, order, 1), np.take_along_axis(rows, order, 1)
