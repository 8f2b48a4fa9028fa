"""Late fusion of runs: reciprocal rank fusion, and the weighted sum of normalised scores.

Both equal `ranx.fuse(norm="min-max", method=...)` in their scores, and differ in two ways: ties are
ranked by doc_id, descending, and a query that only some of the runs answer stays.

Sums of reciprocal ranks are the doubles nearest to the exact ones, whatever the order of the runs:
documents with the same sum tie, such as two with ranks 1, 2, 3 and 3, 1, 2 of three runs.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.core.errors import BadParams
from isotope.core.runs import aligned, by_query, empty
from isotope.search.kinds._fusion import Fusion

_BITS = 63
_SPLITTER = 2.0**27 + 1
Codes = NDArray[np.int64]
Scores = NDArray[np.float64]


class Coded(NamedTuple):
    """Strings and their places in `values`, which is sorted bytewise and holds each once."""

    values: pl.Series
    codes: Codes


class FusedHits(NamedTuple):
    """Distinct pairs of a query and a document, as places in two sorted lists, and their score."""

    queries: Codes
    documents: Codes
    scores: NDArray[np.float64]


def coded(strings: pl.Series) -> Coded:
    """Number strings by their order; by their hashes first, as few of them are distinct."""
    if strings.is_empty():
        return Coded(strings, np.empty(0, np.int64))
    first, inverse = _distinct(strings.hash().to_numpy())
    values = strings.gather(first)
    order = values.arg_sort().to_numpy()
    rank_of = np.empty(len(order), np.int64)
    rank_of[order] = np.arange(len(order))
    by_hash = Coded(values.gather(order), rank_of[inverse])
    if by_hash.values.gather(by_hash.codes).eq(strings).all():
        return by_hash
    values = strings.unique().sort()
    return Coded(values, strings.cast(pl.Enum(values)).to_physical().cast(pl.Int64).to_numpy())


class Double(NamedTuple):
    """Numbers with twice a double's digits: `high` is the nearest double, `low` what is left.

    Source: Dekker, A floating-point technique for extending the available precision, Numerische
    Mathematik 18, 1971.
    """

    high: NDArray[np.float64]
    low: NDArray[np.float64]

    def plus(self, other: "Double") -> "Double":
        """Return the sums, whose rounding errors are in `low`."""
        high = self.high + other.high
        added = high - self.high
        error = (self.high - (high - added)) + (other.high - added)
        return Double(high, self.low + other.low + error)

    def nearest(self) -> NDArray[np.float64]:
        """Return the nearest doubles."""
        return self.high + self.low


def reciprocals(numbers: NDArray[Any]) -> Double:
    """Return 1 / numbers; 0 of infinity."""
    numbers = numbers.astype(np.float64)
    high = 1 / numbers
    finite = np.isfinite(numbers)
    divisors = np.where(finite, numbers, 1.0)
    (a, b), (c, d) = _halves(high), _halves(divisors)
    product = high * divisors
    error = ((a * c - product) + a * d + b * c) + b * d
    return Double(high, np.where(finite, ((1 - product) - error) / divisors, 0.0))


def _halves(numbers: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return two parts of 26 bits each that add up to the numbers."""
    wide = numbers * _SPLITTER
    high = wide - (wide - numbers)
    return high, numbers - high


def summed(pairs: Sequence[tuple[Codes, Codes]], parts: Sequence[Double | Scores]) -> FusedHits:
    """Add up what each run gives a pair of query and document, in the order of the runs."""
    width = 1 + max((int(documents.max(initial=0)) for _, documents in pairs), default=0)
    keys = [queries * width + documents for queries, documents in pairs]
    all_keys = np.concatenate(keys)
    first, inverse = _distinct(all_keys)
    total, start = Double(np.zeros(len(first)), np.zeros(len(first))), 0
    for (answered, _), part in zip(pairs, parts, strict=True):
        at = inverse[start : start + len(answered)]
        start += len(answered)
        # A document occurs once in the answers of a run to a query, so no sum is lost.
        if isinstance(part, Double):
            total.high[at], total.low[at] = Double(total.high[at], total.low[at]).plus(part)
        else:
            total.high[at] += part
    queries, documents = np.divmod(all_keys[first], width)
    return FusedHits(queries, documents, total.nearest())


def in_order(hits: FusedHits) -> FusedHits:
    """Sort by query, then score from above, then document from above: the order of a run."""
    scores, levels = _levels(hits.scores)
    columns = hits.queries, len(scores) - 1 - levels, hits.documents.max(initial=0) - hits.documents
    widths = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(widths) > _BITS:
        order = np.lexsort(columns[::-1])
        return FusedHits(hits.queries[order], hits.documents[order], hits.scores[order])
    packed = (columns[0] << (widths[1] + widths[2])) | (columns[1] << widths[2]) | columns[2]
    packed.sort()
    documents = hits.documents.max(initial=0) - (packed & ((1 << widths[2]) - 1))
    level = len(scores) - 1 - ((packed >> widths[2]) & ((1 << widths[1]) - 1))
    return FusedHits(packed >> (widths[1] + widths[2]), documents, scores[level])


def _levels(scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], Codes]:
    first, inverse = _distinct(scores)
    return scores[first], inverse


def _distinct(values: NDArray[Any]) -> tuple[Codes, Codes]:
    """Return the first place of each distinct value, by value, and which of them each value is."""
    order = np.argsort(values)
    ordered = values[order]
    new = np.ones(len(values), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    inverse = np.empty(len(values), np.int64)
    inverse[order] = np.cumsum(new) - 1
    return order[new], inverse


_QUERIES_PER_PIECE = 1024
_HITS_PER_PIECE = 1 << 20
_LEAST_RUNS = 2
_LEAST_RANGE = 1e-9
# What a run gives each of its hits, from its rows and from where its queries begin.
Part = Callable[[pl.DataFrame, Codes], Scores]
Parts = Sequence[Callable[[pl.DataFrame, Codes], Double | Scores]]


def _min_max(run: pl.DataFrame, starts: Codes) -> Scores:
    scores = run["score"].to_numpy()
    sizes = np.diff(starts, append=len(scores))
    low, high = (np.repeat(f.reduceat(scores, starts), sizes) for f in (np.minimum, np.maximum))
    return (scores - low) / np.maximum(high - low, _LEAST_RANGE)


def _as_it_is(run: pl.DataFrame, starts: Codes) -> Scores:
    return run["score"].to_numpy()


NORMS: Mapping[str, Part] = {"min-max": _min_max, "none": _as_it_is}


def rrf(runs: Sequence[pl.DataFrame], k: float, depth: int | None = None) -> pl.DataFrame:
    """Fuse by the sum of 1 / (k + rank): robust when the scores of the runs are not comparable.

    Source: Cormack, Clarke and Buettcher, SIGIR 2009, where k = 60.

    Raises:
        BadParams: fewer than two runs, or a negative k.
    """
    return _fused_all(runs, rrf_parts(k, len(runs)), depth)


def wsum(
    runs: Sequence[pl.DataFrame],
    weights: Sequence[float],
    norm: str = "min-max",
    depth: int | None = None,
) -> pl.DataFrame:
    """Fuse by the weighted sum of scores, each query's first brought to 0..1 by min-max.

    A document that a run lacks adds nothing for it. A query whose hits all score the same becomes
    zeros, because its range is replaced by 1e-9, as in ranx. `norm="none"` adds scores as they are.

    Raises:
        BadParams: fewer than two runs, not one weight for each, or an unknown norm.
    """
    return _fused_all(runs, wsum_parts(weights, len(runs), norm), depth)


def fused(paths: Sequence[Path], spec: Fusion[Any], depth: int) -> Iterator[pl.DataFrame]:
    """Fuse runs where they lie, as `systems.<name>` says, a piece after the other, in order.

    Memory follows the number of runs and not their length: some million hits of each are in memory.

    Raises:
        BadParams: as `rrf` and `wsum`.
        As `runs.batches`.
    """
    parts_of = rrf_parts if spec.kind_name() == "rrf" else wsum_parts
    parts = parts_of(vars(spec)[spec.fixed], len(paths))
    for piece in aligned(paths, _HITS_PER_PIECE // len(paths)):
        yield _merged(piece, parts, depth)


def rrf_parts(k: float, runs: int) -> Parts:
    """Return what `rrf` adds up, one part for each run."""
    if k < 0:
        raise BadParams("systems", f"rrf with k = {k}", "use k of 0 or more; 60 is usual")
    return [lambda run, _: reciprocals(k + run["rank"].to_numpy())] * _enough(runs)


def wsum_parts(weights: Sequence[float], runs: int, norm: str = "min-max") -> Parts:
    """Return what `wsum` adds up, one part for each run."""
    if len(weights) != runs:
        problem = f"wsum of {runs} runs with {len(weights)} weights"
        raise BadParams("systems", problem, "give one weight for each run")
    if norm not in NORMS:
        raise BadParams("systems", f"no norm {norm!r}", f"use one of {', '.join(NORMS)}")
    _enough(runs)
    scores = NORMS[norm]
    return [lambda run, starts, w=w: scores(run, starts) * w for w in weights]


def _enough(runs: int) -> int:
    if runs < _LEAST_RUNS:
        raise BadParams("systems", f"fusion of {runs} runs", "name two or more runs to fuse")
    return runs


def _fused_all(runs: Sequence[pl.DataFrame], parts: Parts, depth: int | None) -> pl.DataFrame:
    pieces: Iterable[list[pl.DataFrame]] = by_query(runs, _QUERIES_PER_PIECE)
    return pl.concat([empty(), *(_merged(piece, parts, depth) for piece in pieces)])


def normalised(run: pl.DataFrame, norm: str = "min-max") -> Scores:
    """Return the scores of a run (sorted by query_id), each query's brought to 0..1 by itself."""
    return NORMS[norm](run, _starts(run))


def _merged(runs: Sequence[pl.DataFrame], parts: Parts, depth: int | None) -> pl.DataFrame:
    """Fuse runs that are small enough to sort at once."""
    documents = coded(pl.concat([run["doc_id"] for run in runs]))
    begun = [_starts(run) for run in runs]
    ids = pl.concat([run["query_id"].gather(at) for run, at in zip(runs, begun, strict=True)])
    queries, sizes = coded(ids), [len(at) for at in begun]
    codes_of_runs = np.split(queries.codes, np.cumsum(sizes)[:-1])
    answered = [
        np.repeat(codes, np.diff(at, append=run.height))
        for codes, at, run in zip(codes_of_runs, begun, runs, strict=True)
    ]
    ranked = np.split(documents.codes, np.cumsum([run.height for run in runs])[:-1])
    scored = [part(run, at) for part, run, at in zip(parts, runs, begun, strict=True)]
    hits = in_order(summed(list(zip(answered, ranked, strict=True)), scored))
    first = np.flatnonzero(np.diff(hits.queries, prepend=-1))
    rank = np.arange(len(hits.queries)) - np.repeat(first, np.diff(first, append=len(hits.queries)))
    keep = slice(None) if depth is None else np.flatnonzero(rank < depth)
    columns = {
        "query_id": queries.values.gather(hits.queries[keep]),
        "doc_id": documents.values.gather(hits.documents[keep]),
        "rank": (rank[keep] + 1).astype(np.int32),
        "score": hits.scores[keep],
    }
    return pl.DataFrame(columns)


def _starts(run: pl.DataFrame) -> Codes:
    """Return the rows where a query's answers begin."""
    return np.flatnonzero(np.diff(run["query_id"].rle_id().to_numpy().astype(np.int64), prepend=-1))
