"""Strings as numbers, and hits packed into one number each, so that sorting them is one sort."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

_BITS = 63
Codes = NDArray[np.int64]


class Coded(NamedTuple):
    """Strings and their places in `values`, which is sorted bytewise and holds each once."""

    values: pl.Series
    codes: Codes


class Hits(NamedTuple):
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
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    found = Coded(values.gather(order), place[inverse])
    if found.values.gather(found.codes).eq(strings).all():
        return found
    values = strings.unique().sort()
    return Coded(values, strings.cast(pl.Enum(values)).to_physical().cast(pl.Int64).to_numpy())


def summed(pairs: Sequence[tuple[Codes, Codes]], parts: Sequence[NDArray[np.float64]]) -> Hits:
    """Add up what each run gives a pair of query and document, in the order of the runs."""
    width = 1 + max((int(documents.max(initial=0)) for _, documents in pairs), default=0)
    keys = [queries * width + documents for queries, documents in pairs]
    every = np.concatenate(keys)
    first, inverse = _distinct(every)
    total, start = np.zeros(len(first)), 0
    for part in parts:
        # A document occurs once in the answers of a run to a query, so no sum is lost.
        total[inverse[start : start + len(part)]] += part
        start += len(part)
    queries, documents = np.divmod(every[first], width)
    return Hits(queries, documents, total)


def in_order(hits: Hits) -> Hits:
    """Sort by query, then score from above, then document from above: the order of a run."""
    scores, place = _levels(hits.scores)
    columns = hits.queries, len(scores) - 1 - place, hits.documents.max(initial=0) - hits.documents
    widths = [int(column.max(initial=0)).bit_length() for column in columns]
    if sum(widths) > _BITS:
        order = np.lexsort(columns[::-1])
        return Hits(hits.queries[order], hits.documents[order], hits.scores[order])
    packed = (columns[0] << (widths[1] + widths[2])) | (columns[1] << widths[2]) | columns[2]
    packed.sort()
    documents = hits.documents.max(initial=0) - (packed & ((1 << widths[2]) - 1))
    level = len(scores) - 1 - ((packed >> widths[2]) & ((1 << widths[1]) - 1))
    return Hits(packed >> (widths[1] + widths[2]), documents, scores[level])


def _levels(scores: NDArray[np.float64]) -> tuple[NDArray[np.float64], Codes]:
    first, inverse = _distinct(scores)
    return scores[first], inverse


def _distinct(values: NDArray[Any]) -> tuple[Codes, Codes]:
    """Return where each distinct value is found, by value, and which of them each value is."""
    order = np.argsort(values)
    ordered = values[order]
    new = np.ones(len(values), np.bool_)
    np.not_equal(ordered[1:], ordered[:-1], out=new[1:])
    inverse = np.empty(len(values), np.int64)
    inverse[order] = np.cumsum(new) - 1
    return order[new], inverse
