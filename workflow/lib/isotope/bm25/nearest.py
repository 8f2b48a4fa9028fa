"""The document that scores best by BM25, found without scoring the others.

The answer is that of `search.search` with one hit, for every query. A first best comes from the
documents that hold the query's rarest terms. Only documents that hold one of the terms which a
better one must have are added up, as many of the rarest as it takes (MaxScore: Turtle and Flood,
1995); the other terms are looked up for documents that can still win. Where that would be most of
the postings, blocks are added up as in a search.

What m terms can add is bounded in two ways (`ScoreBounds`). Each adds no more than by its largest
factor in the index. And a document's length is shared by all that it holds: with factors f that sum
up to z, terms of weights w add the sum of w - w / (1 + f), which is at most the sum of w less the
square of the sum of their roots, divided by m + z (Cauchy and Schwarz). That sum z is much larger
for a few documents than for most: where an index has its documents in the order of their score
bound, its blocks fall into tiers with bounds of their own. Sums are exact and rounding is monotone,
so a bound that is rounded is no less than any score below it.
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
from isotope.bm25.search import (
    BELOW,
    Postings,
    QueryTerms,
    add,
    gain,
    in_terms,
    postings_of,
    table_of,
)
from isotope.bm25.words import counted
from isotope.core import lucene
from isotope.core.faults import naming
from isotope.core.progress import Progress

# Postings of the rarest terms among which a first best is looked for; how many times as many are
# looked at next, as long as what is left to do is as many times that.
_FIRST, _MORE = 256, 8
# So many times the postings that must be gone over leave fewer documents to look terms up for.
_SPARE = 2
# Looking a term up for a document takes as long as going over so many postings.
_LOOKUP = 16
# The number of tiers, and which of the `_NUMBERS` (19) they go by.
_TIERS, _BY = 6, 12
# All postings are gone over where this share of them would be anyway.
_FEW = 3
_PARTS_PER_THREAD = 8
# Queries whose words one Java counts, and of which progress is told.
_QUERIES, _STEP = 20_000, 2_000
# Numbers of terms for which sums of factors are bounded; more terms have the last bound.
_NUMBERS = np.unique(np.round(2 ** (np.arange(41) / 4))).astype(np.int64)
# By how much a weight's part in single precision can exceed the exact.
_ROUNDED = 1e-6


class Best(NamedTuple):
    """For each query the number of the best document, -1 without a hit, and its score."""

    documents: NDArray[np.int64]
    scores: NDArray[np.float32]


class ScoreBounds(NamedTuple):
    """What terms can add in the blocks of each tier, and the tier of each block.

    A tier has blocks whose documents let terms add about as much. `factors[t, i]` is the largest
    factor of term t in tier i, `together[i, n]` the largest sum that the factors of any
    `_NUMBERS[n]` terms, the last of any number, have in a document. `shares` are those of the
    documents.
    """

    factors: NDArray[np.float32]
    together: NDArray[np.float64]
    shares: NDArray[np.float64]
    tier_of: NDArray[np.int64]


# Numba unpickles what an earlier version compiled before it looks whether that is out of date.
Bounds = ScoreBounds


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
        with (
            naming(lambda: f"queries {some[0][0]} to {some[-1][0]}"),
            counted(texts, beside or index.folder, words=index.analyzer, **limits) as counts,
        ):
            terms = in_terms(index, counts)
        for first in range(0, len(some), _STEP):
            step = some[first : first + _STEP]
            starts = terms.starts[first : first + len(step) + 1]
            with naming(lambda: f"queries {step[0][0]} to {step[-1][0]}"):  # noqa: B023
                best = nearest(index, postings, terms._replace(starts=starts), most, threads)
            parts.append(_table([key for key, _ in step], index, best))
            progress.add(len(step))
    progress.finish()
    return pl.concat(parts)


def _table(ids: list[str], index: Index, best: Best) -> pl.DataFrame:
    is_answered = best.documents >= 0
    named = pl.Series("query_id", ids, pl.String).filter(pl.Series(is_answered))
    hits = (
        best.scores[is_answered, None],
        best.documents[is_answered, None],
        np.ones(is_answered.sum(), np.int64),
    )
    return table_of(named, index, *hits)


def bounds(index: Index, postings: Postings, threads: int) -> ScoreBounds:
    """Return what terms can add, by all postings of an index."""
    terms, first = len(postings.start) - 1, index.block_document
    alone, blocks = np.zeros(256), len(first) - 1
    alone[index.pairs[:, 1]] = postings.factors / index.pairs[:, 0] * (1 + _ROUNDED)
    cuts = np.linspace(0, terms, threads * _PARTS_PER_THREAD + 1).astype(np.int64)
    with ThreadPoolExecutor(threads) as pool:
        arguments = index.words, alone, _NUMBERS
        largest = pool.map(lambda low, high: _together(low, high, *arguments), first, first[1:])
        of_blocks = np.array(list(largest))
        rank = np.argsort(np.argsort(of_blocks[:, _BY], kind="stable"))
        tiers = min(_TIERS, blocks)
        tier_of = rank * tiers // blocks
        factors = np.zeros((terms, tiers), np.float32)
        lists = postings, tier_of, factors
        list(pool.map(lambda low, high: _largest(low, high, *lists), cuts, cuts[1:]))
    together, shares = np.zeros((tiers, len(_NUMBERS))), np.zeros(tiers)
    np.maximum.at(together, tier_of, of_blocks)
    np.add.at(shares, tier_of, np.diff(first) / index.documents)
    return ScoreBounds(factors, together, shares, tier_of)


def nearest(
    index: Index, postings: Postings, queries: QueryTerms, most: ScoreBounds, threads: int
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
def _largest(
    low: int,
    high: int,
    postings: Postings,
    tier_of: NDArray[np.int64],
    most: NDArray[np.float32],
) -> None:
    """Fill in the largest factors of the terms [low, high)."""
    start, list_block, list_at, list_size = postings[:4]
    for term in range(low, high):
        for entry in range(start[term], start[term + 1]):
            first = postings.block_pair[list_block[entry]]
            largest = np.float32(0)
            for posting in postings.postings[list_at[entry] : list_at[entry] + list_size[entry]]:
                largest = max(largest, postings.factors[first + (posting & IS_CODE)])
            tier = tier_of[list_block[entry]]
            most[term, tier] = max(most[term, tier], largest)


@nb.njit(cache=True, nogil=True)
def _together(
    low: int,
    high: int,
    words: NDArray[np.int32],
    alone: NDArray[np.float64],
    numbers: NDArray[np.int64],
) -> NDArray[np.float64]:
    """Return the `ScoreBounds.together` of the documents at the places [low, high).

    `alone` are the factors of terms that come once, by the length byte of the document. So many
    terms have that each, and between them no more beyond it than all terms of the document have;
    nor more than all have in all.
    """
    largest = np.zeros(len(numbers))
    for document in range(low, high):
        all_, single = words[document, 0], alone[words[document, 2]]
        beyond = all_ - words[document, 1]
        for n in range(len(numbers) - 1):
            largest[n] = max(largest[n], single * min(all_, numbers[n] + beyond))
        largest[-1] = max(largest[-1], single * all_)
    return largest


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
    entry = _first_from(list_block, low, high, block)
    return entry if entry < high and list_block[entry] == block else -1


@nb.njit(cache=True, nogil=True)
def _fill_left(  # noqa: PLR0913, PLR0917
    left: NDArray[np.float64],
    gains: NDArray[np.float64],
    weights: NDArray[np.float32],
    roots: NDArray[np.float64],
    order: NDArray[np.int64],
    together: NDArray[np.float64],
    numbers: NDArray[np.int64],
) -> None:
    """Fill in what the terms from each on, in an order, can add to a score together.

    `roots` are those of the weights.
    """
    count = len(order)
    left[count] = 0.0
    alone, all_, all_roots = 0.0, 0.0, 0.0
    at = 0
    for n in range(count - 1, -1, -1):
        alone += gains[order[n]]
        all_ += weights[order[n]]
        all_roots += roots[order[n]]
        while at < len(numbers) - 1 and numbers[at] < count - n:
            at += 1
        shared = all_ * (1 + _ROUNDED) - all_roots * all_roots / (count - n + together[at])
        left[n] = min(alone, shared)


@nb.njit(cache=True, nogil=True)
def _nearest(  # noqa: PLR0912, PLR0913, PLR0915, PLR0917
    low: int,
    high: int,
    queries: QueryTerms,
    postings: Postings,
    holders: NDArray[np.int64],
    most: ScoreBounds,
    numbers: NDArray[np.int64],
    out: Best,
) -> None:
    start, list_block, list_at, list_size = postings[:4]
    block_document, block_pair = postings.block_document, postings.block_pair
    all_postings, shifts, factors = postings.postings, postings.shifts, postings.factors
    together, shares, tier_of = most.together, most.shares, most.tier_of
    tiers = len(shares)
    sums, gain_of = np.zeros(BLOCK, np.float64), np.empty(BLOCK, np.float64)
    above = np.empty(BLOCK + 1, np.int64)
    needs = np.empty(tiers, np.int64)
    for query in range(low, high):
        span = slice(queries.starts[query], queries.starts[query + 1])
        terms, weights = queries.terms[span], queries.weights[span]
        n, roots = len(terms), np.sqrt(weights.astype(np.float64))
        gains, highest_gains = np.empty((tiers, n), np.float64), np.zeros(n, np.float64)
        ats, tos, whose = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
        final, left = np.empty((tiers, n), np.int64), np.empty((tiers, n + 1), np.float64)
        for i in range(n):
            for tier in range(tiers):
                gains[tier, i] = gain(weights[i], most.factors[terms[i], tier])
                highest_gains[i] = max(highest_gains[i], gains[tier, i])
        # First the terms that can add most for a posting: the last, which are not added up for all
        # documents, then have as many of the postings as can be.
        order = np.argsort(holders[terms] / highest_gains)
        held_by = holders[terms[order]]
        lists, ends = start[terms[order]], start[terms[order] + 1]
        best, best_document = np.float32(0), np.int64(-1)
        budget, is_last = _FIRST // _MORE, n == 0
        while not is_last:
            # Among documents of the rarest terms, then of more of them, for a good score soon; at
            # last among all documents that can have a better one.
            budget *= _MORE
            highest, size_of_lists, all_needed = 0.0, 0.0, 0
            for tier in range(tiers):
                _fill_left(left[tier], gains[tier], weights, roots, order, together[tier], numbers)
                needed = 0
                while needed < n and np.float32(left[tier, needed]) >= best:
                    size_of_lists += shares[tier] * held_by[needed]
                    needed += 1
                needs[tier] = needed
            is_last = size_of_lists <= _MORE * budget
            for tier in range(tiers):
                size, needed = 0, needs[tier] if is_last else 1
                if needed == 0:
                    continue
                for i in range(needed):
                    size += held_by[i]
                room = _SPARE * size if is_last else budget
                if is_last and size * _FEW > held_by.sum():
                    needed = n
                while needed < n and size + held_by[needed] <= room:
                    size += held_by[needed]
                    needed += 1
                needs[tier] = needed
                all_needed = max(all_needed, needed)
                # Of the others first those that can add most: a document without them is soon out.
                optional = order[needed:]
                final[tier, :needed] = order[:needed]
                final[tier, needed:] = optional[np.argsort(-gains[tier][optional])]
                own_order, own_bounds = final[tier], together[tier]
                _fill_left(left[tier], gains[tier], weights, roots, own_order, own_bounds, numbers)
            cursors = lists[:all_needed].copy()
            for block in range(len(tier_of)):
                tier = tier_of[block]
                needed, held, count, listed = needs[tier], 0, 0, 0
                for i in range(needed):
                    cursor = cursors[i]
                    while cursor < ends[i] and list_block[cursor] < block:
                        cursor += 1
                    if cursor < ends[i] and list_block[cursor] == block:
                        at = list_at[cursor]
                        ats[count], tos[count], whose[count] = at, at + list_size[cursor], i
                        listed += list_size[cursor]
                        # All lists are fetched before the first is gone over.
                        gain_of[0] += all_postings[at]
                        count += 1
                        cursor += 1
                    cursors[i] = cursor
                if count == 0:
                    continue
                base, factor = block_document[block], factors[block_pair[block] :]
                factor = factor[: block_pair[block + 1] - block_pair[block]]
                can_add = left[tier]
                # Before the last round only documents that have more of the rarest terms.
                threshold = highest
                if is_last:
                    threshold = max(0.0, np.float64(best) * BELOW - can_add[needed])
                for c in range(count):
                    own_list, weight = all_postings[ats[c] : tos[c]], weights[order[whose[c]]]
                    held = add(sums, own_list, weight, factor, gain_of, threshold, above, held)
                for c in range(0 if is_last else held):
                    highest = max(highest, sums[above[c]])
                for i in range(needed, n + 1):
                    # Those that can't be the best any more are dropped.
                    left_over = 0
                    for c in range(held):
                        total = sums[above[c]]
                        if total >= highest and np.float32(total + can_add[i]) >= best:
                            above[left_over] = above[c]
                            left_over += 1
                    held = left_over
                    if held == 0 or i == n:
                        break
                    term, weight = terms[final[tier, i]], weights[final[tier, i]]
                    entry = _list_in(list_block, int(start[term]), int(start[term + 1]), block)
                    if entry < 0:
                        continue
                    at, end = list_at[entry], list_at[entry] + list_size[entry]
                    if held * _LOOKUP > end - at:
                        for posting in all_postings[at:end]:
                            if sums[posting >> CODE] > 0:
                                sums[posting >> CODE] += gain(weight, factor[posting & IS_CODE])
                    else:
                        for c in range(held):
                            d = above[c]
                            p = _first_from(all_postings, at, end, int(d << CODE))
                            if p < end and all_postings[p] >> CODE == d:
                                sums[d] += gain(weight, factor[all_postings[p] & IS_CODE])
                for c in range(held):
                    score, document = np.float32(sums[above[c]]), base + above[c]
                    if len(shifts):
                        document += shifts[document]
                    if score > best or (score == best and document < best_document):
                        best, best_document = score, document
                if listed > block_document[block + 1] - base:
                    sums[: block_document[block + 1] - base] = 0
                else:
                    for c in range(count):
                        for posting in all_postings[ats[c] : tos[c]]:
                            sums[posting >> CODE] = 0
        out.documents[query], out.scores[query] = best_document, best
