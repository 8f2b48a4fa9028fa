"""The documents that score best by BM25, with Lucene's scores and Anserini's order.

A batch of queries goes over the index block by block, so that a block's postings are read once for
all of them. Each query adds its terms' weights up, document by document, and keeps the best.
Weights are Lucene's (BM25Similarity of Lucene 9.9): `w - w / (1 + tf * n)` in single
precision, `w` the times that the query has the term by its idf, `n` the inverse of the length's
norm. Their sum, in double precision and exact, is rounded once. Of equal scores the smaller id is
the better, as Anserini breaks ties.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import numba as nb
import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.bm25.format import BLOCK, CODE, IS_CODE, LENGTHS, Index
from isotope.bm25.words import HEAP_MB, TermCounts, counted
from isotope.core import lucene
from isotope.core.progress import Progress

# Hits of a batch of queries, of which two are held at once.
_MOST_HITS = 500_000
_PARTS_PER_THREAD = 4
# From this share of a block's documents on, all of them are looked at for the best.
_DENSE = 8
# Documents of a block that are looked through together, at most, and how many such chunks there are
# for one that is wanted.
_CHUNK, _SPARSE = 64, 4
# A hit's key: the bits of its score, which is positive, above those of its document, inverted. The
# greater key is the better hit. Keys have a document's number in their lower half.
_LAST = np.uint64((1 << 32) - 1)
# Of a score in single precision: what is less can't be rounded to it.
BELOW = 1 - 2.0**-22


class Hits(NamedTuple):
    """Scores and numbers of documents [queries, depth], best first; how many each query has."""

    scores: NDArray[np.float32]
    documents: NDArray[np.int64]
    counts: NDArray[np.int64]


class Postings(NamedTuple):
    """What loops over an index need of it; see `format`.

    Term t has the lists [start[t], start[t + 1]), each in a block, with its first posting and how
    many it has; `shifts` lead from internal numbers to documents; `factors` are those of
    `factors_of`.
    """

    start: NDArray[np.int64]
    list_block: NDArray[np.int32]
    list_at: NDArray[np.int64]
    list_size: NDArray[np.int32]
    block_document: NDArray[np.int64]
    block_pair: NDArray[np.int64]
    postings: NDArray[np.uint32]
    shifts: NDArray[np.int32]
    factors: NDArray[np.float32]


class QueryTerms(NamedTuple):
    """Queries in the terms of an index.

    Query n has the terms `terms[starts[n]:starts[n + 1]]`, each of a weight in single precision.
    """

    starts: NDArray[np.int64]
    terms: NDArray[np.int64]
    weights: NDArray[np.float32]


def search(  # noqa: PLR0913
    index: Index,
    queries: Iterable[tuple[str, str]],
    *,
    k1: float,
    b: float,
    hits: int,
    threads: int,
    memory_mb: int = HEAP_MB,
) -> Iterator[pl.DataFrame]:
    """Yield query_id, doc_id and score of the best documents of (id, text) pairs, batch by batch.

    Scores are rounded as Anserini does, ties lowered by a millionth each. A query without a word
    of the index has no hits.

    Raises:
        ToolFailed: Java could not analyse the queries.
    """
    keys = list[str]()

    def texts() -> Iterator[str]:
        for key, text in queries:
            keys.append(key)
            yield lucene.topic(text)

    limits: dict[str, Any] = {"threads": threads, "memory_mb": memory_mb}
    with counted(texts(), index.folder, words=index.analyzer, **limits) as counts:
        named = pl.Series("query_id", keys, pl.String)
        yield from search_counted(index, named, counts, k1=k1, b=b, hits=hits, threads=threads)


def search_counted(  # noqa: PLR0913
    index: Index,
    ids: pl.Series,
    counts: TermCounts,
    *,
    k1: float,
    b: float,
    hits: int,
    threads: int,
) -> Iterator[pl.DataFrame]:
    """Yield what `search` does for queries whose words are counted; `ids` are theirs."""
    depth = min(hits, index.documents)
    postings, numbered = postings_of(index, k1, b), _numbered(index, counts.terms)
    size, progress = max(1, _MOST_HITS // depth), Progress("queries", len(ids))
    # A table is made while the next queries are answered.
    with ThreadPoolExecutor(1) as maker:
        table: Future[pl.DataFrame] | None = None
        for first in range(0, len(ids), size):
            rows = np.arange(first, min(first + size, len(ids)))
            chosen = QueryTerms(*_weighted(counts.numbers, counts.starts[rows], *numbered))
            best = answers(postings, chosen, depth, threads)
            if table:
                yield table.result()
            table = maker.submit(table_of, ids.gather(rows), index, *best)
            progress.add(len(rows))
        if table:
            yield table.result()
    progress.finish()


def in_terms(index: Index, counts: TermCounts) -> QueryTerms:
    """Return counted queries in the terms of an index, without those that it does not have."""
    return QueryTerms(*_weighted(counts.numbers, counts.starts, *_numbered(index, counts.terms)))


def _numbered(index: Index, terms: pl.Series) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
    """Return the number of each term in an index, -1 for none, and its idf in single precision.

    Anserini does not ask for an empty term, which some stemmers make of a word.
    """
    vocabulary = index.terms["term"]
    if vocabulary.is_empty():
        return np.full(len(terms), -1), np.zeros(len(terms), np.float32)
    asked = terms.cast(pl.String)
    position = np.minimum(
        vocabulary.search_sorted(asked).to_numpy().astype(np.int64), len(vocabulary) - 1
    )
    is_known = ((vocabulary.gather(position) == asked) & (asked != "")).to_numpy()
    number = np.where(is_known, position, -1)
    held = np.where(is_known, index.terms["documents"].gather(position).to_numpy(), 1.0)
    inverse = np.log(1 + (index.with_terms - held + 0.5) / (held + 0.5)).astype(np.float32)
    return number, inverse


@nb.njit(cache=True, nogil=True)
def _weighted(
    numbers: NDArray[np.int32],
    starts: NDArray[np.int64],
    number_of: NDArray[np.int64],
    inverse: NDArray[np.float32],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    queries = len(starts)
    first = np.zeros(queries + 1, np.int64)
    pairs = 0
    for start in starts:
        pairs += numbers[start - 1]
    terms, weights = np.empty(pairs, np.int64), np.empty(pairs, np.float32)
    size = 0
    for query in range(queries):
        for at in range(starts[query], starts[query] + 2 * numbers[starts[query] - 1], 2):
            if number_of[numbers[at]] >= 0:
                terms[size] = number_of[numbers[at]]
                weights[size] = np.float32(numbers[at + 1]) * inverse[numbers[at]]
                size += 1
        first[query + 1] = size
    return first, terms[:size], weights[:size]


def factors_of(index: Index, k1: float, b: float) -> NDArray[np.float32]:
    """Return `tf * n` of each pair of term frequency and length byte, as Lucene computes it."""
    unit, tune, share = np.float32(1), np.float32(k1), np.float32(b)
    average = np.float32(max(1, index.length) / max(1, index.with_terms))
    lengths = LENGTHS.astype(np.float32)
    # A text without words, of length 0, has no norm where b is 1; nothing finds it.
    with np.errstate(divide="ignore"):
        norms = unit / (tune * ((unit - share) + share * lengths / average))
    return (index.pairs[:, 0].astype(np.float32) * norms[index.pairs[:, 1]]).astype(np.float32)


def postings_of(index: Index, k1: float, b: float) -> Postings:
    """Return an index's postings with the factors of k1 and b."""
    start = np.append(index.terms["start"].to_numpy(), len(index.list_block))
    same = {name: getattr(index, name) for name in Postings._fields[1:-1]}
    return Postings(start, factors=factors_of(index, k1, b), **same)


def answers(postings: Postings, queries: QueryTerms, depth: int, threads: int) -> Hits:
    """Return the best `depth` documents of each query."""
    count = len(queries.starts) - 1
    keys = np.empty((count, 2 * depth + 1), np.uint64)
    counts, guesses = np.zeros(count, np.int64), np.zeros(count, np.float32)
    cuts = np.linspace(0, count, threads * _PARTS_PER_THREAD + 1).astype(np.int64)

    def work(low: int, high: int, guess: bool = True) -> None:
        _search(low, high, queries, postings, depth, guess, keys, counts, guesses)
        keys[low:high].sort(axis=1)

    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(work, cuts[:-1], cuts[1:]))
        # What scores as the last hit does may have been passed over, rounded the other way.
        last = _unpacked(keys[:, -depth])[0]
        too_high = np.flatnonzero((guesses > 0) & ((counts < depth) | (last <= guesses)))
        list(pool.map(lambda query: work(query, query + 1, guess=False), too_high))
    return Hits(*_unpacked(keys[:, : -depth - 1 : -1]), np.minimum(counts, depth))


@nb.njit(cache=True, nogil=True, inline="always", error_model="numpy")
def gain(weight: Any, factor: Any) -> float:  # noqa: ANN401
    """Return what a term adds to a score, by its weight and a factor of `factors_of`."""
    return np.float64(weight - weight / (np.float32(1) + factor))


@nb.njit(cache=True, nogil=True, error_model="numpy")
def add(  # noqa: PLR0913, PLR0917
    sums: NDArray[np.float64],
    postings: NDArray[np.uint32],
    weight: np.float32,
    factor: NDArray[np.float32],
    gains: NDArray[np.float64],
    threshold: float,
    above: NDArray[np.int64],
    count: int,
) -> int:
    """Add to the sums of a block's documents what a list of its postings gives them.

    `gains` is room for what each code gives: it is computed once for a list that is long enough.
    The documents whose sums rise above the threshold follow the `count` in `above`; return how many
    there are then.
    """
    is_long = len(postings) > len(factor)
    for n in range(len(factor) if is_long else 0):
        gains[n] = gain(weight, factor[n])
    for posting in postings:
        d, code = posting >> CODE, posting & IS_CODE
        before = sums[d]
        after = before + (gains[code] if is_long else gain(weight, factor[code]))
        sums[d] = after
        if after > threshold and before <= threshold:
            above[count] = d
            count += 1
    return count


@nb.njit(cache=True, nogil=True)
def _search(  # noqa: PLR0912, PLR0913, PLR0915, PLR0917
    low: int,
    high: int,
    queries: QueryTerms,
    postings: Postings,
    depth: int,
    guess: bool,
    keys: NDArray[np.uint64],
    counts: NDArray[np.int64],
    guesses: NDArray[np.float32],
) -> None:
    """Fill keys, in any order, and their numbers, of the queries [low, high).

    With `guess` a query's first block tells how much its last hit is likely to score. What scores
    less is passed over. A guess may be too high.
    """
    starts, terms, weights = queries
    start, list_block, list_at, list_size = postings[:4]
    block_document, block_pair = postings.block_document, postings.block_pair
    all_postings, shifts, factors = postings.postings, postings.shifts, postings.factors
    sums, gains = np.zeros(BLOCK, np.float64), np.empty(BLOCK, np.float64)
    highest_of = np.empty(BLOCK, np.float64)
    score = np.empty(1, np.float32)
    bits = score.view(np.uint32)
    cursors = start[terms[starts[low] : starts[high]]]
    least = np.zeros(high - low, np.float64)
    counts[low:high] = 0
    documents, most = block_document[-1], 1
    for query in range(low, high):
        most = max(most, starts[query + 1] - starts[query])
    begins, ends = np.empty(most, np.int64), np.empty(most, np.int64)
    own_weights, above = np.empty(most, np.float32), np.empty(BLOCK + 1, np.int64)
    for block in range(len(block_document) - 1):
        first, size = block_document[block], block_document[block + 1] - block_document[block]
        factor = factors[block_pair[block] : block_pair[block + 1]]
        for query in range(low, high):
            size_of_lists, lists = 0, 0
            for n in range(starts[query], starts[query + 1]):
                cursor = cursors[n - starts[low]]
                if cursor < start[terms[n] + 1] and list_block[cursor] == block:
                    cursors[n - starts[low]] += 1
                    begins[lists] = list_at[cursor]
                    ends[lists] = list_at[cursor] + list_size[cursor]
                    own_weights[lists] = weights[n]
                    size_of_lists += list_size[cursor]
                    lists += 1
            keys_of_query, held, threshold = keys[query], counts[query], least[query - low]
            is_dense, candidates = size_of_lists * _DENSE >= size, 0
            is_first = guess and is_dense and threshold == 0.0
            limit = np.inf if is_first else threshold
            for i in range(lists):
                own_list, weight = all_postings[begins[i] : ends[i]], own_weights[i]
                candidates = add(sums, own_list, weight, factor, gains, limit, above, candidates)
            if is_first:
                wanted = _wanted(depth, size / documents)
                highest = highest_of[: BLOCK // _chunk(wanted)]
                _note_highest(sums, highest)
                threshold = _threshold_of(highest, wanted)
                guesses[query] = threshold
                candidates = _note_above(sums, highest, threshold, above)
            worst = np.uint64(0)
            for c in range(candidates):
                score[0] = sums[above[c]]
                document = first + above[c]
                if len(shifts):
                    document += shifts[document]
                key = np.uint64(bits[0]) << np.uint64(32) | _LAST - np.uint64(document)
                if key > worst:
                    held, worst = keep(keys_of_query, held, depth, worst, key)
            if worst:
                bits[0] = worst >> np.uint64(32)
                threshold = np.float64(score[0])
                if len(shifts):
                    # An earlier document may follow, whose sum is rounded to the same score.
                    threshold *= BELOW
            if is_dense:
                sums[:size] = 0
            else:
                for i in range(lists):
                    for posting in all_postings[begins[i] : ends[i]]:
                        sums[posting >> CODE] = 0
            counts[query], least[query - low] = held, threshold
    for query in range(low, high):
        keys[query, counts[query] :] = 0


@nb.njit(cache=True, nogil=True)
def _wanted(depth: int, share: float) -> int:
    """Return how many documents of a query's first block are looked at to tell a likely threshold.

    The block has a share of all documents: as large a share of the hits is expected in it. More are
    taken by a half, and by four deviations.
    """
    expected = depth * share
    return min(depth, int(1.5 * expected + 4 * np.sqrt(expected)) + 8)


@nb.njit(cache=True, nogil=True)
def _chunk(wanted: int) -> int:
    """Return the documents of a chunk: of more that are wanted most shall stand in one each."""
    size = _CHUNK
    while size > 1 and _SPARSE * wanted > BLOCK // size:
        size //= 2
    return size


@nb.njit(cache=True, nogil=True, fastmath=True)
def _note_highest(sums: NDArray[np.float64], highest: NDArray[np.float64]) -> None:
    """Note the highest sum of each chunk of a block."""
    size = len(sums) // len(highest)
    for chunk in range(len(highest)):
        most = 0.0
        for d in range(chunk * size, (chunk + 1) * size):
            most = sums[d] if sums[d] > most else most
        highest[chunk] = most


@nb.njit(cache=True, nogil=True)
def _threshold_of(highest: NDArray[np.float64], wanted: int) -> float:
    """Return a sum that so many chunks exceed, or equal; 0 where there are not so many."""
    position = len(highest) - 1 - wanted
    return np.partition(highest, position)[position] if position >= 0 else 0.0


@nb.njit(cache=True, nogil=True)
def _note_above(
    sums: NDArray[np.float64],
    highest: NDArray[np.float64],
    threshold: float,
    above: NDArray[np.int64],
) -> int:
    """Note the documents of a block whose sums are above a threshold; return how many."""
    count, size = 0, len(sums) // len(highest)
    for chunk in range(len(highest)):
        if highest[chunk] > threshold:
            for d in range(chunk * size, (chunk + 1) * size):
                if sums[d] > threshold:
                    above[count] = d
                    count += 1
    return count


@nb.njit(cache=True, nogil=True, inline="always")
def keep(
    keys: NDArray[np.uint64], held: int, depth: int, worst: np.uint64, key: np.uint64
) -> tuple[int, np.uint64]:
    """Append a key; when all places are taken keep the `depth` best. Return the worst of them."""
    keys[held] = key
    held += 1
    if held == len(keys):
        _select(keys, held, depth)
        worst = keys[0]
        for n in range(1, depth):
            worst = min(worst, keys[n])
        held = depth
    return held, worst


@nb.njit(cache=True, nogil=True)
def _select(keys: NDArray[np.uint64], size: int, most: int) -> None:
    """Bring the `most` greatest of the first `size` keys to the front, in any order (Hoare)."""
    low, high = 0, size - 1
    while low < high:
        pivot = keys[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while keys[i] > pivot:
                i += 1
            while keys[j] < pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                i, j = i + 1, j - 1
        if most <= j + 1:
            high = j
        elif most >= i + 1:
            low = i
        else:
            return


def _unpacked(keys: NDArray[np.uint64]) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    scores = (keys >> np.uint64(32)).astype(np.uint32).view(np.float32)
    return scores, (_LAST - (keys & _LAST)).astype(np.int64)


@nb.njit(cache=True, nogil=True)
def adjusted(scores: NDArray[np.float32], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return rounded scores, row after row, as Anserini's ScoreTiesAdjusterReranker does."""
    out = np.empty(counts.sum(), np.float64)
    at = 0
    for query in range(len(counts)):
        last, ties = np.float32(np.inf), 0
        for n in range(counts[query]):
            score = np.float32(np.floor(np.float64(scores[query, n]) * 10000.0 + 0.5) / 10000.0)
            ties = 0 if np.float32(last - score) > np.float32(1e-4) else ties + 1
            score = np.float32(score - np.float32(np.float32(1e-6) * np.float32(ties)))
            last = score
            out[at] = np.floor(np.float64(score) * 1e6 + 0.5) / 1e6
            at += 1
    return out


def table_of(
    ids: pl.Series,
    index: Index,
    scores: NDArray[np.float32],
    documents: NDArray[np.int64],
    counts: NDArray[np.int64],
) -> pl.DataFrame:
    """Return the rows of `search` for scores, documents and how many there are of each query."""
    chosen = np.arange(documents.shape[1]) < counts[:, None]
    query = ids.alias("query_id").gather(np.repeat(np.arange(len(ids)), counts))
    document = index.ids.gather(documents[chosen]).alias("doc_id")
    return pl.DataFrame([query, document, pl.Series("score", adjusted(scores, counts))])
