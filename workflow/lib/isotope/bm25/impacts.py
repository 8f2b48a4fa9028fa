"""The documents that score best by the impacts that an index stores: all of them are looked at.

A document's score is the sum, over the terms that it has in common with the query, of the product
of both impacts: a whole number, so no order of sums changes it. A batch of queries goes over the
index block by block, as in `bm25.search`. Of equal scores the greater id is the better, as runs
have it.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numba as nb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.bm25.format import BLOCK, CODE, IS_CODE, Index
from isotope.bm25.search import keep
from isotope.core.errors import IntegrityError

# What an index of impacts has in place of an analyzer's name.
ANALYZER = "impacts"
_PARTS_PER_THREAD = 4
_LIMIT = 1 << 32
_LAST = np.uint64(_LIMIT - 1)


class ImpactQueries(NamedTuple):
    """Queries in the terms of an index: those of query n are [starts[n], starts[n + 1])."""

    starts: NDArray[np.int64]
    terms: NDArray[np.int64]
    impacts: NDArray[np.int64]


class ImpactHits(NamedTuple):
    """Scores and numbers of documents [queries, depth], best first; how many each query has."""

    scores: NDArray[np.int64]
    documents: NDArray[np.int64]
    counts: NDArray[np.int64]


def asked(index: Index, terms: pl.Series, impacts: pl.Series) -> ImpactQueries:
    """Return queries, lists of terms and of impacts, without the terms that an index lacks.

    Raises:
        IntegrityError: impacts so large that a score could exceed 32 bits.
    """
    vocabulary = index.terms["term"]
    rows = pl.DataFrame({"term": terms, "impact": impacts}).with_row_index("query")
    pairs = rows.explode("term", "impact", empty_as_null=False).drop_nulls()
    numbered = pl.DataFrame({"term": vocabulary}).with_row_index("number")
    numbered_pairs = pairs.join(numbered, on="term", how="inner", maintain_order="left")
    weights = numbered_pairs["impact"].cast(pl.Int64).to_numpy()
    sizes = np.bincount(numbered_pairs["query"].to_numpy(), minlength=len(terms))
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    _demand_room(index, np.add.reduceat(np.append(weights, 0), starts[:-1]) * (sizes > 0))
    return ImpactQueries(starts, numbered_pairs["number"].cast(pl.Int64).to_numpy(), weights)


def _demand_room(index: Index, sums: NDArray[np.int64]) -> None:
    most = int(sums.max(initial=0)) * int(index.pairs[:, 0].max(initial=0))
    if most >= _LIMIT:
        problem = f"impacts with which a document could score {most:,}"
        raise IntegrityError(index.folder, problem, "use a model with smaller weights")


def best(index: Index, queries: ImpactQueries, depth: int, threads: int) -> ImpactHits:
    """Return the best `depth` documents of each query, of those that share a term with it."""
    count = len(queries.starts) - 1
    keys = np.zeros((count, 2 * depth + 1), np.uint64)
    counts = np.zeros(count, np.int64)
    cuts = np.linspace(0, count, threads * _PARTS_PER_THREAD + 1).astype(np.int64)
    start = np.append(index.terms["start"].to_numpy(), len(index.list_block)).astype(np.int64)
    lists = (start, index.list_block, index.list_at, index.list_size)
    blocks = (index.block_document, index.block_pair)
    weights = np.ascontiguousarray(index.pairs[:, 0])

    def work(low: int, high: int) -> None:
        arrays = (*lists, *blocks, index.postings, weights)
        _search(low, high, *queries, *arrays, depth, keys, counts)
        keys[low:high].sort(axis=1)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, cuts[:-1], cuts[1:]))
    top = keys[:, : -depth - 1 : -1]
    scores, documents = (top >> np.uint64(32)), (top & _LAST)
    return ImpactHits(
        scores.astype(np.int64), documents.astype(np.int64), np.minimum(counts, depth)
    )


@nb.njit(cache=True, nogil=True)
def _search(  # noqa: PLR0913, PLR0917
    low: int,
    high: int,
    starts: NDArray[np.int64],
    terms: NDArray[np.int64],
    impacts: NDArray[np.int64],
    start: NDArray[np.int64],
    list_block: NDArray[np.int32],
    list_at: NDArray[np.int64],
    list_size: NDArray[np.int32],
    block_document: NDArray[np.int64],
    block_pair: NDArray[np.int64],
    postings: NDArray[np.uint32],
    weights: NDArray[np.int32],
    depth: int,
    keys: NDArray[np.uint64],
    counts: NDArray[np.int64],
) -> None:
    """Fill keys, in any order, and their numbers, of the queries [low, high)."""
    sums = np.zeros(BLOCK, np.int64)
    cursors = start[terms[starts[low] : starts[high]]]
    worst = np.zeros(high - low, np.uint64)
    for block in range(len(block_document) - 1):
        first, size = block_document[block], block_document[block + 1] - block_document[block]
        block_weights = weights[block_pair[block] : block_pair[block + 1]]
        for query in range(low, high):
            added = 0
            for n in range(starts[query], starts[query + 1]):
                cursor = cursors[n - starts[low]]
                if cursor < start[terms[n] + 1] and list_block[cursor] == block:
                    cursors[n - starts[low]] += 1
                    begin = list_at[cursor]
                    added += list_size[cursor]
                    _add(
                        sums, postings[begin : begin + list_size[cursor]], block_weights, impacts[n]
                    )
            if added:
                held, least = counts[query], worst[query - low]
                held, least = _keep_best(sums[:size], first, keys[query], held, depth, least)
                counts[query], worst[query - low] = held, least
    for query in range(low, high):
        keys[query, counts[query] :] = 0


@nb.njit(cache=True, nogil=True)
def _add(
    sums: NDArray[np.int64],
    postings: NDArray[np.uint32],
    weights: NDArray[np.int32],
    impact: int,
) -> None:
    """Add to the sums of a block's documents what a list of its postings gives them."""
    for posting in postings:
        sums[posting >> CODE] += impact * weights[posting & IS_CODE]


@nb.njit(cache=True, nogil=True)
def _keep_best(  # noqa: PLR0913, PLR0917
    sums: NDArray[np.int64],
    first: int,
    keys: NDArray[np.uint64],
    held: int,
    depth: int,
    worst: np.uint64,
) -> tuple[int, np.uint64]:
    """Offer the documents of a block with a sum; return how many keys there are, and the worst.

    The sums are left as zeros.
    """
    for d in range(len(sums)):
        if sums[d]:
            key = np.uint64(sums[d]) << np.uint64(32) | np.uint64(first + d)
            sums[d] = 0
            if key > worst:
                held, worst = keep(keys, held, depth, worst, key)
    return held, worst
