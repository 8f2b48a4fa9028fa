"""The document that scores best by BM25, found without scoring the others.

The answer is that of `search.search` with one hit, for every query. A first best comes from the
documents that hold the query's rarest terms. Only documents that hold one of the terms which a
better one must have are added up, as many of the rarest as it takes (MaxScore: Turtle and Flood,
1995); the other terms are looked up for documents that can still win. Where that would be most of
the postings, blocks are added up as in a search.

What m terms can add is bounded in two ways (`Bounds`). Each adds no more than by its largest factor
in the index. And a document's length is shared by all that it holds: with factors f that sum up
to z, terms of weights w add the sum of w - w / (1 + f), which is at most the sum of w less the
square of the sum of their roots, divided by m + z (Cauchy and Schwarz). Sums are exact and rounding
is monotone, so a bound that is rounded is no less than any score below it.
"""

from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numba as nb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.bm25.format import BLOCK, CODE, IS_CODE, Index
from isotope.bm25.search import Postings, QueryTerms, add, gain, in_terms, postings_of, table_of
from isotope.bm25.words import counted
from isotope.core import lucene
from isotope.core.progress import Progress

# Postings of the rarest terms among which a first best is looked for; how many times as many are
# looked at next, as long as what is left to do is as many times that.
_FIRST, _MORE = 256, 8
# So many times the postings that must be gone over leave fewer documents to look terms up for.
_SPARE = 2
# Looking a term up for a document takes as long as going over so many postings.
_LOOKUP = 16
# All postings are gone over where this share of them would be anyway.
_FEW = 3
_PARTS_PER_THREAD = 8
# Queries whose words one Java counts, and of which progress is told.
_QUERIES, _STEP = 20_000, 2_000
# Numbers of terms for which sums of factors are bounded; more terms have the last bound.
_NUMBERS = np.unique(np.round(2 ** (np.arange(41) / 4))).astype(np.int64)
# By how much a weight's part in single precision can exceed the exact, and a sum its rounding.
_ROUNDED, _BELOW = 1e-6, 1 - 2.0**-22


class Best(NamedTuple):
    """For each query the number of the best document, -1 without a hit, and its score."""

    documents: NDArray[np.int64]
    scores: NDArray[np.float32]


class Bounds(NamedTuple):
    """The largest factor of each term; and the largest sum that factors have in a document.

    `together[n]` is the sum of the factors of any `_NUMBERS[n]` terms, the last of any number.
    """

    factors: NDArray[np.float32]
    together: NDArray[np.float64]


def find_nearest(  # noqa: PLR0913
    index: Index,
    queries: Iterable[tuple[str, str]],
    *,
    k1: float,
    b: float,
    threads: int,
    memory_mb: int,
    total: int | None = None,
    beside: Path | None = None,
) -> pl.DataFrame:
    """Return query_id, doc_id and score of the best document for each (id, text) pair.

    A query without a word of the index has no row. Scores are rounded as Anserini does. `total` is
    the number of pairs, for the progress; words are counted beside `beside`, or else the index.

    Raises:
        ToolFailed: Java could not analyse the queries.
    """
    rows = ((key, lucene.topic(text)) for key, text in queries)
    postings = postings_of(index, k1, b)
    most = bounds(index, postings, threads)
    progress = Progress("queries", total)
    parts = [pl.DataFrame(schema=lucene.HITS)]
    while some := list(islice(rows, _QUERIES)):
        limits: dict[str, Any] = {"threads": threads, "memory_mb": memory_mb}
        texts = [text for _, text in some]
        with counted(texts, beside or index.folder, words=index.analyzer, **limits) as counts:
            terms = in_terms(index, counts)
        for first in range(0, len(some), _STEP):
            own = some[first : first + _STEP]
            starts = terms.starts[first : first + len(own) + 1]
            best = nearest(index, postings, terms._replace(starts=starts), most, threads)
            parts.append(_table([key for key, _ in own], index, best))
            progress.add(len(own))
    progress.finish()
    return pl.concat(parts)


def _table(ids: list[str], index: Index, best: Best) -> pl.DataFrame:
    has = best.documents >= 0
    named = pl.Series("query_id", ids, pl.String).filter(pl.Series(has))
    hits = (best.scores[has, None], best.documents[has, None], np.ones(has.sum(), np.int64))
    return table_of(named, index, *hits)


def bounds(index: Index, postings: Postings, threads: int) -> Bounds:
    """Return what terms can add, by all postings of an index."""
    terms, blocks = len(postings.start) - 1, len(index.block_document) - 1
    factors = np.zeros(terms, np.float32)
    alone = postings.factors / index.pairs[:, 0]
    cuts = np.linspace(0, terms, threads * _PARTS_PER_THREAD + 1).astype(np.int64)
    with ThreadPoolExecutor(threads) as pool:
        for _ in pool.map(lambda low, high: _largest(low, high, postings, factors), cuts, cuts[1:]):
            pass
        together = list(pool.map(lambda b: _together(b, postings, alone, _NUMBERS), range(blocks)))
    return Bounds(factors, np.max(together, axis=0))


def nearest(
    index: Index, postings: Postings, queries: QueryTerms, most: Bounds, threads: int
) -> Best:
    """Return the best document of each query; `most` are the `bounds` of the same postings."""
    count = len(queries.starts) - 1
    best = Best(np.full(count, -1, np.int64), np.zeros(count, np.float32))
    held = index.terms["documents"].to_numpy()
    cuts = np.linspace(0, count, threads * _PARTS_PER_THREAD + 1).astype(np.int64)

    def work(part: int) -> None:
        _nearest(cuts[part], cuts[part + 1], queries, postings, held, most, _NUMBERS, best)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, range(len(cuts) - 1)))
    return best


@nb.njit(cache=True, nogil=True)
def _largest(low: int, high: int, postings: Postings, most: NDArray[np.float32]) -> None:
    """Fill in the largest factor of each of the terms [low, high)."""
    start, list_block, list_at, list_size = postings[:4]
    for term in range(low, high):
        for one in range(start[term], start[term + 1]):
            first = postings.block_pair[list_block[one]]
            for posting in postings.postings[list_at[one] : list_at[one] + list_size[one]]:
                most[term] = max(most[term], postings.factors[first + (posting & IS_CODE)])


@nb.njit(cache=True, nogil=True)
def _together(
    block: int, postings: Postings, alone: NDArray[np.float64], numbers: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Return the `Bounds.together` of a block.

    `alone` are the factors of terms that come once. So many terms have that each, and between them
    no more beyond it than all terms of the document have; nor more than all have in all.
    """
    size = postings.block_document[block + 1] - postings.block_document[block]
    each, beyond, all_ = np.zeros(size), np.zeros(size), np.zeros(size)
    first = postings.block_pair[block]
    own = slice(postings.block_posting[block], postings.block_posting[block + 1])
    for posting in postings.postings[own]:
        d, pair = posting >> CODE, first + (posting & IS_CODE)
        each[d] = alone[pair]
        beyond[d] += postings.factors[pair] - alone[pair]
        all_[d] += postings.factors[pair]
    found = np.zeros(len(numbers))
    for d in range(size):
        for n in range(len(numbers) - 1):
            found[n] = max(found[n], min(all_[d], numbers[n] * each[d] + beyond[d]))
        found[-1] = max(found[-1], all_[d])
    return found


@nb.njit(cache=True, nogil=True, inline="always")
def _first_from(numbers: Any, low: int, high: int, wanted: int) -> int:  # noqa: ANN401
    """Return the first place among [low, high) whose number is no less, or `high`."""
    while low < high:
        middle = (low + high) // 2
        if numbers[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low


@nb.njit(cache=True, nogil=True, inline="always")
def _list_in(list_block: NDArray[np.int32], low: int, high: int, block: int) -> int:
    """Return the list of a term, among [low, high), that is in a block, or -1."""
    # Most terms of a query are in every block: then the list is where it would be by number.
    if high - low > block and list_block[low + block] == block:
        return low + block
    place = _first_from(list_block, low, high, block)
    return place if place < high and list_block[place] == block else -1


@nb.njit(cache=True, nogil=True)
def _left(
    gains: NDArray[np.float64],
    weights: NDArray[np.float32],
    together: NDArray[np.float64],
    numbers: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return what the terms from each on can add to a score together."""
    count = len(gains)
    left = np.zeros(count + 1, np.float64)
    alone, all_, roots = 0.0, 0.0, 0.0
    place = 0
    for n in range(count - 1, -1, -1):
        alone += gains[n]
        all_ += weights[n]
        roots += np.sqrt(np.float64(weights[n]))
        while place < len(numbers) - 1 and numbers[place] < count - n:
            place += 1
        shared = all_ * (1 + _ROUNDED) - roots * roots / (count - n + together[place])
        left[n] = min(alone, shared)
    return left


@nb.njit(cache=True, nogil=True)
def _nearest(  # noqa: PLR0912, PLR0913, PLR0915, PLR0917
    low: int,
    high: int,
    queries: QueryTerms,
    postings: Postings,
    holders: NDArray[np.int64],
    most: Bounds,
    numbers: NDArray[np.int64],
    found: Best,
) -> None:
    start, list_block, list_at, list_size = postings[:4]
    block_document, block_pair = postings.block_document, postings.block_pair
    every, factors = postings.postings, postings.factors
    sums, gain_of = np.zeros(BLOCK, np.float64), np.empty(BLOCK, np.float64)
    above = np.empty(BLOCK + 1, np.int64)
    for query in range(low, high):
        own = slice(queries.starts[query], queries.starts[query + 1])
        terms, weights = queries.terms[own], queries.weights[own]
        n = len(terms)
        gains = np.empty(n, np.float64)
        ats, tos, whose = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
        for i in range(n):
            gains[i] = gain(weights[i], most.factors[terms[i]])
        # First the terms that can add most for a posting: the last, which are not added up for all
        # documents, then have as many of the postings as can be.
        order = np.argsort(holders[terms] / gains)
        best, best_document = np.float32(0), np.int64(-1)
        budget, is_last = _FIRST // _MORE, n == 0
        while not is_last:
            # Among documents of the rarest terms, then of more of them, for a good score soon; at
            # last among all documents that can have a better one.
            budget *= _MORE
            highest = 0.0
            left = _left(gains[order], weights[order], most.together, numbers)
            size_of_lists, needed = 0, 0
            while needed < n and np.float32(left[needed]) >= best:
                size_of_lists += holders[terms[order[needed]]]
                needed += 1
            is_last = size_of_lists <= _MORE * budget
            room = _SPARE * size_of_lists if is_last else budget
            if is_last and size_of_lists * _FEW > holders[terms].sum():
                needed = n
            if not is_last:
                size_of_lists, needed = holders[terms[order[0]]], 1
            while needed < n and size_of_lists + holders[terms[order[needed]]] <= room:
                size_of_lists += holders[terms[order[needed]]]
                needed += 1
            # Of the others first those that can add most: a document without them is soon out.
            rest = order[needed:]
            final = np.concatenate((order[:needed], rest[np.argsort(-gains[rest])]))
            weight_of = weights[final]
            left = _left(gains[final], weight_of, most.together, numbers)
            lists, ends = start[terms[final]], start[terms[final] + 1]
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
                # Before the last round only documents that have more of the rarest terms.
                floor = max(0.0, np.float64(best) * _BELOW - left[needed]) if is_last else highest
                held, count = 0, 0
                for i in range(needed):
                    cursor = cursors[i]
                    if cursor < ends[i] and list_block[cursor] == block:
                        cursors[i] += 1
                        at = list_at[cursor]
                        ats[count], tos[count], whose[count] = at, at + list_size[cursor], i
                        # All lists are fetched before the first is gone over.
                        gain_of[0] += every[at]
                        count += 1
                for c in range(count):
                    own_list, weight = every[ats[c] : tos[c]], weight_of[whose[c]]
                    held = add(sums, own_list, weight, factor, gain_of, floor, above, held)
                for c in range(0 if is_last else held):
                    highest = max(highest, sums[above[c]])
                for i in range(needed, n + 1):
                    # Those that can't be the best any more are dropped.
                    kept = 0
                    for c in range(held):
                        total = sums[above[c]]
                        if total >= highest and np.float32(total + left[i]) >= best:
                            above[kept] = above[c]
                            kept += 1
                    held = kept
                    if held == 0 or i == n:
                        break
                    one = _list_in(list_block, lists[i], ends[i], int(block))
                    if one < 0:
                        continue
                    at, end = list_at[one], list_at[one] + list_size[one]
                    if held * _LOOKUP > end - at:
                        for posting in every[at:end]:
                            if sums[posting >> CODE] > 0:
                                more = gain(weight_of[i], factor[posting & IS_CODE])
                                sums[posting >> CODE] += more
                    else:
                        for c in range(held):
                            d = above[c]
                            p = _first_from(every, at, end, int(d << CODE))
                            if p < end and every[p] >> CODE == d:
                                sums[d] += gain(weight_of[i], factor[every[p] & IS_CODE])
                for c in range(held):
                    score = np.float32(sums[above[c]])
                    if score > best or (score == best and base + above[c] < best_document):
                        best, best_document = score, base + above[c]
                if here > block_document[block + 1] - base:
                    sums[: block_document[block + 1] - base] = 0
                else:
                    for c in range(count):
                        for posting in every[ats[c] : tos[c]]:
                            sums[posting >> CODE] = 0
        found.documents[query], found.scores[query] = best_document, best
