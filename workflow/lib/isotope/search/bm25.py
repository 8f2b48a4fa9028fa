"""BM25 answers queries: isotope.bm25 over its indexes, or Lucene over its own, the reference.

Queries are read as the documents that they look for.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from isotope.bm25.format import open_index
from isotope.bm25.search import search_counted
from isotope.bm25.words import TermCounts, TextsToCount, analyzer, counted_all
from isotope.core import lucene, store
from isotope.core.grid import SIDES, RunKey, query_ids
from isotope.core.prepare import NONE
from isotope.core.progress import log
from isotope.core.runs import empty, ranked, write_pieces
from isotope.search.kinds.bm25 import Bm25
from isotope.search.systems import by_index, share


def search_bm25(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    indexes: Sequence[Path],
    runs: Sequence[Path],
    spec: Bm25,
    language: str,
    depth: int,
    threads: int,
    texts_language: str | None = None,
) -> None:
    """Search the indexes of `index.bm25.index_bm25` with the words of the other side.

    `spec` is the system's entry; `language` and `texts_language` are those of the index.

    Raises:
        CorruptFile, MissingFile, ToolFailed: an index that can't be read.
        DiskFull: no room for the queries' words or for a run.
    """
    tables, folders = {"texts": texts, "images": images}, {f.parts[-2]: f for f in indexes}
    queries = {RunKey.from_path(path): query_ids(qrels, RunKey.from_path(path)) for path in runs}
    reads: dict[str, Any] = {"language": language, "fields": spec.fields}
    reads |= {"prepare": spec.prepare or NONE}
    groups = {_index_of(paths[0], folders): paths for paths in by_index(runs)}
    # A pool without documents has no index.
    indexed = {index: paths for index, paths in groups.items() if index.exists()}
    with store.scratch(runs[0].with_suffix(".words")) as folder:
        asked = {side: _asked(side, queries) for side in SIDES}
        job = _Job(
            queries=queries,
            words={
                side: lucene.contents_of(side, tables[side], ids, folder, **reads)
                for side, ids in asked.items()
            },
            languages={"texts": texts_language or language, "images": language},
            depth=depth,
            threads=threads,
        )
        if spec.engine == "lucene":
            _by_lucene(job, indexed, spec)
        else:
            _by_native(job, indexed, spec, folder)
    for index in groups.keys() - indexed.keys():
        share(empty(), queries, groups[index])


@dataclass(frozen=True)
class _Job:
    """What is asked: ids of each cell's queries; id and contents of each side's, by id."""

    queries: Mapping[RunKey, Sequence[str]]
    words: Mapping[str, pl.DataFrame]
    languages: Mapping[str, str]
    depth: int
    threads: int


def _asked(side: str, queries: Mapping[RunKey, Sequence[str]]) -> pl.Series:
    query_ids_of_side = {i for cell, ids in queries.items() if cell.query_side == side for i in ids}
    return pl.Series("id", sorted(query_ids_of_side), pl.String)


def _index_of(run: Path, folders: Mapping[str, Path]) -> Path:
    cell = RunKey.from_path(run)
    return folders[cell.setting] / cell.pool / cell.document_side


def _by_native(job: _Job, groups: Mapping[Path, Sequence[Path]], spec: Bm25, folder: Path) -> None:
    """Write the runs of each index, some queries at a time."""
    cells = [RunKey.from_path(paths[0]) for paths in groups.values()]
    # One of each side, if it asks.
    asking = {cell.query_side: analyzer(job.languages[cell.document_side]) for cell in cells}
    texts = [
        TextsToCount(map(lucene.topic, job.words[side]["contents"]), words)
        for side, words in asking.items()
    ]
    with counted_all(texts, folder / "counts", threads=job.threads) as counts_of_sides:
        counts = dict(zip(asking, counts_of_sides, strict=True))
        for index_folder, paths in groups.items():
            first = RunKey.from_path(paths[0])
            index = open_index(index_folder, analyzer=analyzer(job.languages[first.document_side]))
            for path in paths:
                ids, counts_of_cell = _counted(
                    job, RunKey.from_path(path), counts[first.query_side]
                )
                limits = {"hits": job.depth, "threads": job.threads}
                hits = search_counted(index, ids, counts_of_cell, k1=spec.k1, b=spec.b, **limits)
                written = write_pieces(map(ranked, hits), path)
                log.info("%s: %d hits", "/".join(path.parts[-4:-1]), written)


def _counted(job: _Job, cell: RunKey, counts: TermCounts) -> tuple[pl.Series, TermCounts]:
    """Return the queries of a cell, and what was counted of them among those of their side."""
    numbered_words = job.words[cell.query_side].with_row_index("row").select("id", "row")
    asked = numbered_words.filter(pl.col("id").is_in(pl.Series(job.queries[cell]).implode()))
    return asked["id"], counts.take(asked["row"].cast(pl.Int64).to_numpy())


def _by_lucene(job: _Job, groups: Mapping[Path, Sequence[Path]], spec: Bm25) -> None:
    """Write the runs of each index; one Java answers for all."""

    def searches() -> Iterator[lucene.LuceneQueries]:
        for index, paths in groups.items():
            cell = RunKey.from_path(paths[0])
            query_ids_of_index = {i for path in paths for i in job.queries[RunKey.from_path(path)]}
            ids = pl.DataFrame({"id": sorted(query_ids_of_index)}, schema={"id": pl.String})
            rows = ids.join(job.words[cell.query_side], on="id").sort("id")
            language = job.languages[cell.document_side]
            model = lucene.Bm25Parameters(spec.k1, spec.b, language=language)
            yield lucene.LuceneQueries(index, rows.select("id", "contents").iter_rows(), model)

    answers = lucene.search_all(searches(), hits=job.depth, threads=job.threads)
    for paths, hits in zip(groups.values(), answers, strict=True):
        share(hits, job.queries, paths)
