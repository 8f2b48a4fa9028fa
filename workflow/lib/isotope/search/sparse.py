"""Learned sparse systems: impacts of a query's terms against those of documents.

The score is the inner product of weights, rounded to hundredths (`core.vectors.SCALE`).
Every document of a pool that has a term of the query is scored, so the ranking is exact.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from isotope.bm25.format import open_index
from isotope.bm25.impacts import ANALYZER, ImpactHits, asked, best
from isotope.core.errors import MissingFile
from isotope.core.grid import RunKey, query_ids
from isotope.core.progress import Progress, log
from isotope.core.runs import empty, ranked, write_pieces, write_run
from isotope.core.vectors import SCALE

# Hits of a batch of queries.
_MOST_HITS = 500_000


def search_sparse(  # noqa: PLR0913
    *,
    qrels: Path,
    encoded: Mapping[str, Sequence[Path]],
    indexes: Sequence[Path],
    runs: Sequence[Path],
    depth: int,
    threads: int,
) -> None:
    """Search the indexes of `index.sparse.index_sparse` with the impacts of the other side.

    `encoded` holds the shards of terms of texts and of images. A query without a term of the index
    has no hits.

    Raises:
        CorruptFile, MissingFile: an index or a shard that can't be read.
        IntegrityError: impacts whose products exceed 32 bits.
        DiskFull: no room for a run.
    """
    folders = {folder.parts[-2]: folder for folder in indexes}
    for path in runs:
        cell = RunKey.from_path(path)
        index_folder = folders[cell.setting] / cell.pool / cell.document_side
        if not index_folder.exists():
            write_run(empty(), path)
            continue
        queries = queries_of(encoded[cell.query_side], query_ids(qrels, cell))
        written = write_pieces(_answers(index_folder, queries, depth, threads), path)
        log.info("%s %s %s: %d hits", cell.setting, cell.split, cell.task, written)


def queries_of(shards: Sequence[Path], ids: Sequence[str]) -> pl.DataFrame:
    """Return id, terms and impacts of queries, by id.

    Raises:
        MissingFile: no such shards.
    """
    missing = [path for path in shards if not path.is_file()]
    if missing:
        raise MissingFile(missing[0], "no such shard of terms", "run the encode phase")
    chosen = [pl.coalesce(f"query_{name}", name).alias(name) for name in ("terms", "impacts")]
    rows = pl.scan_parquet(list(shards), glob=False)
    asked_rows = rows.filter(pl.col("id").is_in(pl.Series(ids, dtype=pl.String).implode()))
    return asked_rows.select("id", *chosen).collect().sort("id")


def _answers(
    index_folder: Path, queries: pl.DataFrame, depth: int, threads: int
) -> Iterator[pl.DataFrame]:
    index = open_index(index_folder, analyzer=ANALYZER)
    depth = min(depth, index.documents)
    progress = Progress("queries", queries.height)
    for some in queries.iter_slices(max(1, _MOST_HITS // depth)):
        weighted = asked(index, some["terms"], some["impacts"])
        yield ranked(_table(some["id"], index.ids, best(index, weighted, depth, threads)))
        progress.add(some.height)
    progress.finish()


def _table(queries: pl.Series, documents: pl.Series, hits: ImpactHits) -> pl.DataFrame:
    chosen = np.arange(hits.documents.shape[1]) < hits.counts[:, None]
    return pl.DataFrame(
        {
            "query_id": queries.gather(np.repeat(np.arange(len(queries)), hits.counts)),
            "doc_id": documents.gather(hits.documents[chosen]),
            "score": hits.scores[chosen] / SCALE**2,
        }
    )
