"""A system that answers at random: the floor under every other."""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
import polars as pl
from numpy.typing import NDArray


def random_run(
    query_ids: Iterable[str], doc_ids: Iterable[str], *, depth: int, seed: int
) -> pl.DataFrame:
    """Answer each query with `depth` documents (or all, if fewer), drawn without replacement.

    A query's answer depends on the seed, its id and the set of documents only: order and repetition
    of the input do not matter, and queries may come in any batches. Scores fall in even steps from
    1, distinct at single precision. Memory holds the document ids and the hits, no matrix.
    """
    documents, queries = _distinct(doc_ids), _distinct(query_ids)
    depth = min(depth, documents.len())
    places = np.empty((queries.len(), depth), dtype=np.int64)
    for row, query in enumerate(queries):
        places[row] = _draw(query, documents.len(), depth=depth, seed=seed)
    rank = np.arange(1, depth + 1, dtype=np.int32)
    return pl.DataFrame(
        {
            "query_id": queries.gather(np.repeat(np.arange(queries.len()), depth)),
            "doc_id": documents.gather(places.ravel()),
            "rank": np.tile(rank, queries.len()),
            "score": np.tile((depth + 1 - rank) / max(depth, 1), queries.len()),
        }
    )


def _draw(query: str, documents: int, *, depth: int, seed: int) -> NDArray[np.int64]:
    digest = blake2b(f"{seed}\0{query}".encode(), digest_size=16).digest()
    generator = np.random.Generator(np.random.PCG64(int.from_bytes(digest, "big")))
    return generator.choice(documents, size=depth, replace=False)


def _distinct(ids: Iterable[str]) -> pl.Series:
    series = ids if isinstance(ids, pl.Series) else pl.Series(list(ids), dtype=pl.String)
    return series.unique().sort()
