"""Late interaction: a query's vectors against a document's, by MaxSim.

The score is the sum, over the query's vectors, of the largest inner product with any vector of the
document (Khattab and Zaharia, ColBERT, SIGIR 2020, section 3.3, equation 3). Up to `exact_up_to`
documents all of a pool are scored; of a larger pool the `candidates` whose pooled vectors are
nearest to the query's, found exactly.

A score is a function of the two items alone: products of codes are exact (`core.multivectors`), the
rest is summed in one order. So it depends on no block, slice of the queries or number of threads,
and candidates are scored as a whole pool is.
"""

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numba as nb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.core.exact import Encoded, Keys, Rows, decoded, keys_of, largest, top_k
from isotope.core.grid import SIDES, RunKey
from isotope.core.multivectors import LEVELS, MultiVectors, ScaledCodes, codes_of, pooled
from isotope.core.progress import Progress
from isotope.core.runs import empty
from isotope.core.vectors import FloatArray, read_sealed
from isotope.search.kinds.late import LateSystem
from isotope.search.systems import fill

# Components whose products single precision adds up exactly.
EXACT_DIM = (1 << 24) // LEVELS**2
_MB = 1 << 20
# Vectors of documents that are multiplied at once, at most, and documents.
_BLOCK_VECTORS = 1 << 15
_LOWEST = np.float32(-3e38)


def search_late(  # noqa: PLR0913
    *,
    qrels: Path,
    encoded: Mapping[str, Sequence[Path]],
    vectors: Mapping[str, Sequence[Path]],
    indexes: Sequence[Path],
    runs: Sequence[Path],
    spec: LateSystem,
    depth: int,
    memory_mb: int,
    device: str = "auto",
    threads: int = 1,
) -> None:
    """Search the vectors of items by MaxSim, in the rows of `index.dense.index_dense` only.

    `encoded` holds the shards of pooled vectors and of ids, as for `search_dense`; `vectors` those
    of all vectors (texts_tokens, images_tokens) and of their tables (texts_items, images_items).
    `spec` has exact_up_to and candidates.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: as `MultiVectors`.
    """
    pooled = Encoded(encoded)
    token_vectors = {
        side: MultiVectors(vectors[f"{side}_tokens"], vectors[f"{side}_items"]) for side in SIDES
    }
    folders = {folder.parts[-2]: folder for folder in indexes}

    def answer(cell: RunKey) -> pl.DataFrame:
        rows = read_sealed(folders[cell.setting] / cell.pool / f"{cell.document_side}.npy")
        ids, asked = pooled.asked(qrels, cell)
        if not len(ids) or not len(rows):
            return empty()
        search = MaxSim(
            token_vectors[cell.query_side], token_vectors[cell.document_side], memory_mb, threads
        )
        if len(rows) <= spec.exact_up_to:
            best = search.best_of_all(asked, rows, depth)
        else:
            count = min(spec.candidates, len(rows))
            documents = pooled.shards[cell.document_side]
            near = top_k(search.pooled(asked), documents, rows, count, memory_mb, device=device)[1]
            best = search.chosen(asked, near, depth)
        return pooled.hits(cell, ids, *decoded(best))

    fill(runs, answer)


class _Items(NamedTuple):
    """The codes of some items, one after the other; item n has those [starts[n], starts[n + 1])."""

    codes: ScaledCodes
    starts: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.starts) - 1


class MaxSim:
    """Scores queries and documents of two sides, in about `memory_mb` MiB."""

    def __init__(
        self, queries: MultiVectors, documents: MultiVectors, memory_mb: int, threads: int = 1
    ) -> None:
        """Read vectors where they lie."""
        self._queries, self._documents = queries, documents
        self._bytes, self._threads = memory_mb * _MB // 2, threads

    def pooled(self, queries: Rows) -> FloatArray:
        """Return the means of the queries' vectors, L2-normalised float32 [queries, dim]."""
        means = np.empty((len(queries), self._queries.dim), np.float32)
        for n, row in enumerate(queries):
            means[n] = pooled(codes_of(self._queries.take(row[None], queries=True)).vectors())
        return means

    def best_of_all(self, queries: Rows, rows: Rows, k: int) -> Keys:
        """Return the keys of the best k of the rows [queries, k'], k' = min(k, rows)."""
        best = np.zeros((len(queries), min(k, len(rows))), np.uint64)
        progress = Progress("query-document pairs", len(queries) * len(rows))
        for documents, rows_of_documents in self._documents_of(rows):
            for part in self._groups(queries):
                scores = scored(self._asked(queries[part]), documents, self._threads)
                keys = keys_of(scores, np.broadcast_to(rows_of_documents, scores.shape))
                best[part] = largest(np.hstack([best[part], keys]), best.shape[1])
                progress.add(scores.size)
        progress.finish()
        return best

    def chosen(self, queries: Rows, candidates: Rows, k: int) -> Keys:
        """Return the same of candidates [queries, n], other ones for each query."""
        best = np.zeros((len(queries), min(k, candidates.shape[1])), np.uint64)
        progress = Progress("query-document pairs", candidates.size)
        for n, row in enumerate(queries):
            asked = self._asked(row[None])
            for documents, rows_of_documents in self._documents_of(np.sort(candidates[n])):
                keys = keys_of(scored(asked, documents, self._threads), rows_of_documents[None])
                best[[n]] = largest(np.hstack([best[[n]], keys]), best.shape[1])
                progress.add(len(rows_of_documents))
        progress.finish()
        return best

    def _asked(self, rows: Rows) -> _Items:
        records = self._queries.take(rows, queries=True)
        return _Items(codes_of(records), _starts(self._queries.counts(rows, queries=True)))

    def _documents_of(self, rows: Rows) -> Iterator[tuple[_Items, Rows]]:
        """Yield documents, some thousand vectors at a time, or one, with their rows."""
        for part in _parts(self._documents.counts(rows), _BLOCK_VECTORS):
            rows_of_part = rows[part]
            records = self._documents.take(rows_of_part)
            yield (
                _Items(codes_of(records), _starts(self._documents.counts(rows_of_part))),
                rows_of_part,
            )

    def _groups(self, queries: Rows) -> Iterator[slice]:
        """Yield queries whose products with a block of documents fit into memory."""
        most = max(1, self._bytes // (np.dtype(np.float32).itemsize * _BLOCK_VECTORS))
        yield from _parts(self._queries.counts(queries, queries=True), most)


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(counts)])


def _parts(counts: NDArray[np.int64], most: int) -> Iterator[slice]:
    """Yield slices of items that have at most so many vectors together, or of one item."""
    ends, low = np.cumsum(counts), 0
    while low < len(counts):
        before = ends[low - 1] if low else 0
        high = max(low + 1, int(np.searchsorted(ends, before + most, side="right")))
        yield slice(low, high)
        low = high


def scored(queries: _Items, documents: _Items, threads: int = 1) -> NDArray[np.float32]:
    """Return MaxSim of each query and document, float32 [queries, documents]."""
    products = _products(queries.codes.codes, documents.codes.codes)
    scores = np.zeros((len(queries), len(documents)), np.float64)
    work = partial(_add_largest, products, queries.starts, queries.codes.scales)
    work = partial(work, documents.starts, documents.codes.scales, scores)
    cuts = np.linspace(0, len(documents), threads + 1).astype(np.int64)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, cuts[:-1], cuts[1:]))
    return scores.astype(np.float32)


def _products(queries: FloatArray, documents: FloatArray) -> NDArray[np.floating[Any]]:
    """Return the inner products of codes, exactly."""
    dim = queries.shape[1]
    if dim <= EXACT_DIM:
        return queries @ documents.T
    total = np.zeros((len(queries), len(documents)), np.float64)
    for first in range(0, dim, EXACT_DIM):
        part = slice(first, first + EXACT_DIM)
        total += queries[:, part] @ documents[:, part].T
    return total


@nb.njit(cache=True, nogil=True, fastmath={"nnan", "nsz", "reassoc"})
def _largest(products: NDArray[Any], scales: NDArray[np.float32]) -> np.float32:
    """Return the largest of the products by their scales, 0 of none, in any order."""
    most = _LOWEST if len(scales) else np.float32(0)
    for n in range(len(scales)):
        most = max(most, np.float32(products[n] * scales[n]))
    return most


@nb.njit(cache=True, nogil=True)
def _add_largest(  # noqa: PLR0913, PLR0917
    products: NDArray[Any],
    query_starts: NDArray[np.int64],
    query_scales: NDArray[np.float32],
    starts: NDArray[np.int64],
    scales: NDArray[np.float32],
    scores: NDArray[np.float64],
    low: int,
    high: int,
) -> None:
    """Add to the scores of the documents [low, high) what each vector of a query finds best."""
    for query in range(len(query_starts) - 1):
        for i in range(query_starts[query], query_starts[query + 1]):
            for d in range(low, high):
                span = slice(starts[d], starts[d + 1])
                most = _largest(products[i, span], scales[span])
                scores[query, d] += np.float64(query_scales[i]) * np.float64(most)
