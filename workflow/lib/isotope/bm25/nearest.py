"""The document that scores best by BM25, found without scoring the others.

The answer is that of `search.search` with one hit, for every query. A term can add no more to a
score than its largest gain in the index (`bounds`). A first best comes from the documents that hold
the query's rarest terms. Only documents that hold one of the terms which a better one must have are
added up, as many of the rarest as it takes (MaxScore: Turtle and Flood, 1995); the other terms are
looked up for documents that can still win. Where that would be most of the postings, blocks are
added up as in a search. Sums are exact and rounding is monotone, so a bound that is rounded is no
less than any score below it.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from typing import Any, NamedTuple

import numba as nb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.bm25.format import BLOCK, Index
from isotope.bm25.search import QueryTerms, add, factors_of, gain, in_terms, table_of
from isotope.bm25.words import counted
from isotope.core import lucene
from isotope.core.progress import Progress

# Postings of the rarest terms among which a first best is looked for; how many times as many are
# looked at next, as long as what is left to do is as many times that.
_FIRST, _MORE = 256, 8
_CHUNK = 64
# Looking a term up for a document takes as long as going over so many postings.
_LOOKUP = 16
# All postings are gone over where this share of them would be anyway.
_FEW = 3
_PARTS_PER_THREAD = 8
_QUERIES = 20_000


class Best(NamedTuple):
    """For each query the number of the best document, -1 without a hit, and its score."""

    documents: NDArray[np.int64]
    scores: NDArray[np.float32]


def find_nearest(  # noqa: PLR0913
    index: Index,
    queries: Iterable[tuple[str, str]],
    *,
    k1: float,
    b: float,
    threads: int,
    memory_mb: int,
) -> pl.DataFrame:
    """Return query_id, doc_id and score of the best document for each (id, text) pair.

    A query without a word of the index has no row. Scores are rounded as Anserini does.

    Raises:
        ToolFailed: Java could not analyse the queries.
    """
    rows = ((key, lucene.topic(text)) for key, text in queries)
    factors = factors_of(index, k1, b)
    most = bounds(index, factors)
    progress = Progress("queries")
    parts = [pl.DataFrame(schema=lucene.HITS)]
    while some := list(islice(rows, _QUERIES)):
        limits: dict[str, Any] = {"threads": threads, "memory_mb": memory_mb}
        texts = [text for _, text in some]
        with counted(texts, index.folder, words=index.analyzer, **limits) as counts:
            terms = in_terms(index, counts)
        best = nearest(index, terms, factors, most, threads)
        parts.append(_table([key for key, _ in some], index, best))
        progress.add(len(some))
    progress.finish()
    return pl.concat(parts)


def _table(ids: list[str], index: Index, best: Best) -> pl.DataFrame:
    has = best.documents >= 0
    named = pl.Series("query_id", ids, pl.String).filter(pl.Series(has))
    hits = (best.scores[has, None], best.documents[has, None], np.ones(has.sum(), np.int64))
    return table_of(named, index, *hits)


def bounds(index: Index, factors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the largest factor of each term's postings, from `search.factors_of`."""
    start = np.append(index.terms["start"].to_numpy(), len(index.list_block))
    lists = (index.list_block, index.list_at, index.list_size)
    return _bounds(start, *lists, index.block_pair, index.code, factors)


def nearest(
    index: Index,
    queries: QueryTerms,
    factors: NDArray[np.float32],
    most: NDArray[np.float32],
    threads: int,
) -> Best:
    """Return the best document of each query; `most` are the `bounds` of the same factors."""
    count = len(queries.starts) - 1
    documents, scores = np.full(count, -1, np.int64), np.zeros(count, np.float32)
    start = np.append(index.terms["start"].to_numpy(), len(index.list_block))
    held = index.terms["documents"].to_numpy()
    lists = (index.list_block, index.list_at, index.list_size)
    blocks = (index.block_document, index.block_pair, index.document, index.code)
    cuts = np.linspace(0, count, threads * _PARTS_PER_THREAD + 1).astype(np.int64)

    def work(part: int) -> None:
        low, high = cuts[part], cuts[part + 1]
        known = (start, held, most)
        _nearest(low, high, *queries, *known, *lists, *blocks, factors, documents, scores)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(len(cuts) - 1)))
    return Best(documents, scores)


@nb.njit(cache=True, nogil=True)
def _bounds(  # noqa: PLR0913, PLR0917
    start: NDArray[np.int64],
    list_block: NDArray[np.int32],
    list_at: NDArray[np.int64],
    list_size: NDArray[np.int32],
    block_pair: NDArray[np.int64],
    code: NDArray[np.uint16],
    factors: NDArray[np.float32],
) -> NDArray[np.float32]:
    most = np.zeros(len(start) - 1, np.float32)
    for term in range(len(most)):
        for one in range(start[term], start[term + 1]):
            first = block_pair[list_block[one]]
            for at in range(list_at[one], list_at[one] + list_size[one]):
                most[term] = max(most[term], factors[first + code[at]])
    return most


@nb.njit(cache=True, nogil=True, inline="always")
def _place(document: NDArray[np.uint16], at: int, size: int, wanted: int) -> int:
    """Return where a document stands in a list, or -1."""
    low, high = at, at + size
    while low < high:
        middle = (low + high) // 2
        if document[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < at + size and document[low] == wanted else -1


@nb.njit(cache=True, nogil=True, inline="always")
def _list_in(list_block: NDArray[np.int32], low: int, high: int, block: int) -> int:
    """Return the list of a term, among [low, high), that is in a block, or -1."""
    end = high
    # Most terms of a query are in every block: then the list is where it would be by number.
    if high - low > block and list_block[low + block] == block:
        return low + block
    while low < high:
        middle = (low + high) // 2
        if list_block[middle] < block:
            low = middle + 1
        else:
            high = middle
    return low if low < end and list_block[low] == block else -1


@nb.njit(cache=True, nogil=True)
def _left(gains: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what the terms from each on can add together."""
    left = np.zeros(len(gains) + 1, np.float64)
    for n in range(len(gains) - 1, -1, -1):
        left[n] = left[n + 1] + gains[n]
    return left


@nb.njit(cache=True, nogil=True)
def _nearest(  # noqa: PLR0912, PLR0913, PLR0915, PLR0917
    low: int,
    high: int,
    starts: NDArray[np.int64],
    query_terms: NDArray[np.int64],
    query_weights: NDArray[np.float32],
    start: NDArray[np.int64],
    holders: NDArray[np.int64],
    most: NDArray[np.float32],
    list_block: NDArray[np.int32],
    list_at: NDArray[np.int64],
    list_size: NDArray[np.int32],
    block_document: NDArray[np.int64],
    block_pair: NDArray[np.int64],
    document: NDArray[np.uint16],
    code: NDArray[np.uint16],
    factors: NDArray[np.float32],
    documents: NDArray[np.int64],
    scores: NDArray[np.float32],
) -> None:
    sums, gain_of = np.zeros(BLOCK, np.float64), np.empty(BLOCK, np.float64)
    touched = np.empty(BLOCK + 1, np.int64)
    for query in range(low, high):
        first, last = starts[query], starts[query + 1]
        n = last - first
        if n == 0:
            continue
        terms, weights = query_terms[first:last], query_weights[first:last]
        gains = np.empty(n, np.float64)
        for i in range(n):
            gains[i] = gain(weights[i], most[terms[i]])
        # First the terms that can add most for a posting: the last, which are not added up for all
        # documents, then have as many of the postings as can be.
        order = np.argsort(holders[terms] / gains)
        best, best_document = np.float32(0), np.int64(-1)
        budget, is_last = _FIRST // _MORE, False
        while not is_last:
            # Among documents of the rarest terms, then of more of them, for a good score soon; at
            # last among all documents that can have a better one.
            budget *= _MORE
            most_so_far = 0.0
            left = _left(gains[order])
            postings, needed = 0, 0
            while needed < n and np.float32(left[needed]) >= best:
                postings += holders[terms[order[needed]]]
                needed += 1
            is_last = postings <= _MORE * budget
            if not is_last:
                postings, needed = holders[terms[order[0]]], 1
                while needed < n and postings + holders[terms[order[needed]]] <= budget:
                    postings += holders[terms[order[needed]]]
                    needed += 1
            elif postings * _FEW > holders[terms].sum():
                needed = n
            # Of the others first those that can add most: a document without them is soon out.
            rest = order[needed:]
            final = np.concatenate((order[:needed], rest[np.argsort(-gains[rest])]))
            left = _left(gains[final])
            lists, ends = start[terms[final]], start[terms[final] + 1]
            weight_of = weights[final]
            cursors = lists[:needed].copy()
            while True:
                block, here = len(block_document), 0
                for i in range(needed):
                    if cursors[i] < ends[i]:
                        if list_block[cursors[i]] < block:
                            block, here = list_block[cursors[i]], 0
                        if list_block[cursors[i]] == block:
                            here += list_size[cursors[i]]
                if block == len(block_document):
                    break
                base, factor = block_document[block], factors[block_pair[block] :]
                factor = factor[: block_pair[block + 1] - block_pair[block]]
                size = block_document[block + 1] - base
                # Few documents are noted as they are touched.
                dense = here > size
                held, limit = 0, np.inf if dense else 0.0
                for i in range(needed):
                    cursor = cursors[i]
                    if cursor == ends[i] or list_block[cursor] != block:
                        continue
                    cursors[i] += 1
                    own = slice(list_at[cursor], list_at[cursor] + list_size[cursor])
                    rows, codes = document[own], code[own]
                    held = add(
                        sums, rows, codes, weight_of[i], factor, gain_of, limit, touched, held
                    )
                # What is a little below may be rounded up to the best.
                floor = np.float64(best) * (1 - 2.0**-23) - left[needed]
                if not is_last:
                    # Only one that has more of the rarest terms than those of the blocks before.
                    for t in range(held):
                        most_so_far = max(most_so_far, sums[touched[t]])
                    for d in range(size if dense else 0):
                        most_so_far = max(most_so_far, sums[d])
                    floor = most_so_far
                for chunk in range(0, size if dense else 0, _CHUNK):
                    above = 0
                    for d in range(chunk, chunk + _CHUNK):
                        above += sums[d] >= floor
                    for d in range(chunk, min(chunk + _CHUNK, size) if above else chunk):
                        if sums[d] >= floor and sums[d] > 0:
                            touched[held] = d
                            held += 1
                        else:
                            sums[d] = 0
                    if above == 0:
                        sums[chunk : chunk + _CHUNK] = 0
                i = needed
                while i < n and held:
                    # Those that can't be the best any more are dropped.
                    kept = 0
                    for t in range(held):
                        d = touched[t]
                        if sums[d] >= floor and np.float32(sums[d] + left[i]) >= best:
                            touched[kept] = d
                            kept += 1
                        else:
                            sums[d] = 0
                    held, floor = kept, 0.0
                    found = _list_in(list_block, lists[i], ends[i], block)
                    weight = weight_of[i]
                    i += 1
                    if found < 0:
                        continue
                    at, end = list_at[found], list_at[found] + list_size[found]
                    if held * _LOOKUP > end - at:
                        for p in range(at, end):
                            d = document[p]
                            if sums[d] > 0:
                                sums[d] += gain(weight, factor[code[p]])
                    else:
                        for t in range(held):
                            d = touched[t]
                            p = _place(document, at, end - at, d)
                            if p >= 0:
                                sums[d] += gain(weight, factor[code[p]])
                for t in range(held):
                    d = touched[t]
                    score = np.float32(sums[d])
                    if sums[d] >= floor and (
                        score > best or (score == best and base + d < best_document)
                    ):
                        best, best_document = score, base + d
                for t in range(held):
                    sums[touched[t]] = 0
        documents[query], scores[query] = best_document, best
