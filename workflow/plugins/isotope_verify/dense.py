"""Rankings by vectors, recomputed from the vectors that are there, by numpy in double precision.

Every hit's score is the inner product of its vectors, and the scores of a query, rank by rank, are
the highest of its pool. So a hit that changed places is found, and one that was left out. The order
of hits whose scores are closer than the tolerance is not compared: single precision made it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.core.grid import RunKey, document_ids
from isotope.core.vectors import Vectors, load_vectors
from isotope.search.kinds.dense import Dense
from isotope_verify.outcome import Check, ItemSample
from isotope_verify.subject import Built, Subject

if TYPE_CHECKING:
    from isotope.plan.plan import Plan

# What single precision leaves of a sum of products of vectors of length 1.
_TOLERANCE = 1e-5
_ROWS = 65_536
Scores = NDArray[np.float64]


class _Search(NamedTuple):
    """A sampled query: its vector, the documents and scores that were published, by rank."""

    query: str
    vector: Scores
    documents: list[str]
    scores: Scores


class _Sides(NamedTuple):
    """The vectors of queries and documents, and the row of each id."""

    queries: Vectors
    documents: Vectors


def check_dense(subject: Subject, sample: ItemSample) -> list[Check]:
    """Score a sample of the queries of every dense system again, one query a run at least.

    A release has no vectors, and the vectors of a run may be gone: both are counted.

    Raises:
        TruncatedFile, CorruptFile: vectors that can't be read.
    """
    check = Check("rankings", f"numpy {np.__version__}", "hits", _TOLERANCE)
    entries, plans = subject.entries(), list["Plan"]()
    for (cell, system), path in subject.runs().items():
        entry = entries.get(system)
        if not isinstance(entry, Dense):
            continue
        if not isinstance(subject, Built):
            check.skip("runs of kind dense: a release has no vectors")
            continue
        plans = plans or [_plan(subject)]
        sides = _sides(check, subject, plans[0], cell, entry.model)
        if sides is not None:
            hits, name = subject.hits(path), f"{cell.setting} {cell.split} {cell.task} {system}"
            check.total += hits.height
            chosen = sample.choose(subject.qrels(cell)["query_id"], name)
            table = subject.table(cell.document_side)
            _compare(check, name, _searches(hits, sides, chosen), sides, document_ids(table, cell))
    return [check]


def _plan(built: Built) -> "Plan":
    from isotope.plan.plan import Plan  # noqa: PLC0415 (with Snakemake; a release needs none)

    return Plan(built.params, {})


def _sides(check: Check, built: Built, plan: "Plan", cell: RunKey, model: str) -> _Sides | None:
    if not plan.models[model].kind.is_encoder:
        check.skip(f"runs of {model}: it has no vectors of single items")
        return None
    loaded: list[Vectors] = []
    for side in (cell.query_side, cell.document_side):
        shards = (plan.models[model].vectors(built.name, side, s) for s in ("npy", "ids.parquet"))
        paths = [[built.folder / path for path in files] for files in shards]
        if not all(path.is_file() for shard_paths in paths for path in shard_paths):
            check.skip(f"runs of {model}: the run's vectors are not here ({paths[0][0].parent})")
            return None
        loaded.append(load_vectors(*paths))
    return _Sides(*loaded)


def _searches(hits: pl.DataFrame, sides: _Sides, chosen: Sequence[str]) -> list[_Search]:
    rows = _rows(sides.queries, chosen)
    vectors = _vectors(sides.queries, [row for _, row in rows])
    searches: list[_Search] = []
    for (query, _), vector in zip(rows, vectors, strict=True):
        query_hits = hits.filter(query_id=query).sort("rank")
        searches.append(
            _Search(query, vector, query_hits["doc_id"].to_list(), query_hits["score"].to_numpy())
        )
    return searches


def _rows(vectors: Vectors, ids: Sequence[str]) -> list[tuple[str, int]]:
    """Return those ids that have a vector, with its row, by row."""
    all_rows = vectors.ids.alias("id").to_frame().with_row_index("row")
    chosen_rows = all_rows.filter(pl.col("id").is_in(pl.Series(ids, dtype=pl.String).implode()))
    return [(ident, row) for row, ident in chosen_rows.iter_rows()]


def _vectors(vectors: Vectors, rows: Sequence[int]) -> Scores:
    """Return rows of the blocks' concatenation in double precision; `rows` are sorted."""
    wanted, parts, start = np.asarray(rows, np.int64), list[Scores](), 0
    for block in vectors.blocks:
        inside = wanted[(wanted >= start) & (wanted < start + len(block))] - start
        parts.append(np.asarray(block[inside], np.float64))
        start += len(block)
    return np.concatenate(parts)


def _compare(
    check: Check, name: str, searches: list[_Search], sides: _Sides, pool: Sequence[str]
) -> None:
    """Compare hit by hit, then rank by rank, with the whole pool, some documents at a time."""
    recomputed: list[dict[str, float]] = [{} for _ in searches]
    best: list[Scores] = [np.empty(0) for _ in searches]
    rows = _rows(sides.documents, pool)
    queries = np.stack([search.vector for search in searches]) if searches else np.empty((0, 0))
    for start in range(0, len(rows) if searches else 0, _ROWS):
        some = rows[start : start + _ROWS]
        products = queries @ _vectors(sides.documents, [row for _, row in some]).T
        columns = {ident: n for n, (ident, _) in enumerate(some)}
        for n, search in enumerate(searches):
            inside = [doc for doc in search.documents if doc in columns]
            recomputed[n] |= {doc: float(products[n, columns[doc]]) for doc in inside}
            joined = np.sort(np.concatenate([best[n], products[n]]))[::-1]
            best[n] = joined[: len(search.documents)]
    for n, search in enumerate(searches):
        _compare_query(check, f"{name} {search.query}", search, recomputed[n], best[n])


def _compare_query(
    check: Check, name: str, search: _Search, recomputed: dict[str, float], best: Scores
) -> None:
    for doc, score in zip(search.documents, search.scores.tolist(), strict=True):
        check.number(f"{name} {doc}", score, recomputed.get(doc))
    apart = np.abs(best - search.scores[: len(best)])
    if apart.size and apart.max() > _TOLERANCE:
        rank = int(apart.argmax())
        check.number(f"{name} rank {rank + 1}", float(search.scores[rank]), float(best[rank]))
        check.compared -= 1
