"""Systems answer queries: a call fills all cells (setting, split, task) of one system with runs.

Here are random answers, exact search over vectors, fusion with parameters that are set, runs of
others, and the gathering of runs from slices of the queries. `isotope.search.kinds` declare what
the params of each kind may say.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.core import runs as trec
from isotope.core.errors import EmptyTable
from isotope.core.exact import Encoded, top_k
from isotope.core.grid import RunKey, document_ids, query_ids
from isotope.core.progress import log
from isotope.core.runs import empty, write_pieces, write_run
from isotope.core.schemas import RUN
from isotope.core.store import UNDIVIDED, gather
from isotope.core.vectors import read_sealed
from isotope.search import fuse
from isotope.search.kinds._fusion import Fusion
from isotope.search.kinds.random import Random

Answer = Callable[[RunKey], pl.DataFrame]


def fill(runs: Sequence[Path], answer: Answer) -> None:
    """Write each run, whose path names its cell, from what `answer` returns for that cell."""
    for path in runs:
        cell = RunKey.from_path(path)
        hits = answer(cell)
        write_run(hits, path)
        log.info("%s %s %s: %d hits", cell.setting, cell.split, cell.task, hits.height)


def by_index(runs: Sequence[Path]) -> list[list[Path]]:
    """Group the runs whose cells search the same index: a program is started once for each."""
    groups: dict[tuple[str, str, str], list[Path]] = {}
    for path in runs:
        cell = RunKey.from_path(path)
        groups.setdefault((cell.setting, cell.pool, cell.task), []).append(path)
    return list(groups.values())


def share(
    hits: pl.DataFrame, queries: Mapping[RunKey, Sequence[str]], runs: Sequence[Path]
) -> None:
    """Write to each run the hits of its cell's queries, which have been searched together."""
    fill(runs, lambda cell: hits.filter(pl.col("query_id").is_in(list(queries[cell]))))


def search_random(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    runs: Sequence[Path],
    spec: Random,
    depth: int,
) -> None:
    """Rank each pool at random, by the `seed` of `spec`: the floor under every other system."""
    tables = {"texts": texts, "images": images}

    def answer(cell: RunKey) -> pl.DataFrame:
        documents = document_ids(tables[cell.document_side], cell)
        queries = query_ids(qrels, cell)
        return random_run(queries, documents, depth=depth, seed=spec.seed)

    fill(runs, answer)


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


def search_dense(  # noqa: PLR0913
    *,
    qrels: Path,
    encoded: Mapping[str, Sequence[Path]],
    indexes: Sequence[Path],
    runs: Sequence[Path],
    depth: int,
    memory_mb: int,
    device: str = "auto",
) -> None:
    """Search the vectors exactly by inner product, in the rows of `index.dense.index_dense` only.

    `encoded` holds the shards of vectors (texts, images) and of ids (texts_ids, images_ids).
    """
    vectors = Encoded(encoded)
    folders = {folder.parts[-2]: folder for folder in indexes}

    def answer(cell: RunKey) -> pl.DataFrame:
        rows = read_sealed(folders[cell.setting] / cell.pool / f"{cell.document_side}.npy")
        ids, queries = vectors.queries(qrels, cell)
        if not len(ids) or not len(rows):
            return empty()
        documents = vectors.shards[cell.document_side]
        scores, hits = top_k(queries, documents, rows, depth, memory_mb, device=device)
        return vectors.hits(cell, ids, scores, hits)

    fill(runs, answer)


def search_fused(
    *, parts: Sequence[Path], runs: Sequence[Path], spec: Fusion[Any], depth: int
) -> None:
    """Fuse the runs of `spec.of` cell by cell: rrf (k) or wsum (weights over min-max scores)."""
    by_cell = {(path.stem, RunKey.from_path(path)): path for path in parts}
    for path in runs:
        cell = RunKey.from_path(path)
        runs_of_cell = [by_cell[name, cell] for name in spec.of]
        hits = write_pieces(fuse.fused(runs_of_cell, spec, depth), path)
        log.info("%s %s %s: %d hits", cell.setting, cell.split, cell.task, hits)


def gather_runs(*, pieces: Sequence[Path], runs: Sequence[Path]) -> None:
    """Write each run from the pieces of its cell; slices of sorted queries follow each other."""
    cells = {path: RunKey.from_path(path) for path in pieces}
    for out in runs:
        pieces_of_cell = [
            p for p, cell in cells.items() if replace(cell, part=UNDIVIDED) == RunKey.from_path(out)
        ]
        gather(sorted(pieces_of_cell, key=lambda path: cells[path].part), out, RUN)


def take_run(*, submission: Path, documents: Path, qrels: Path, run: Path, depth: int) -> None:
    """Check the TREC run `submission` and write it as the run of the cell that `run` names.

    `documents` is the table of the documents of the task: images for t2m, texts for m2t. Queries
    without a hit are allowed, counted in the log, and score 0; hits of queries that are not judged
    are left out, and counted there, too. The file's name names the system,
    whatever its tag.

    Raises:
        As `checked`.
    """
    cell = RunKey.from_path(run)
    queries, pool = query_ids(qrels, cell), document_ids(documents, cell)
    hits = checked(submission, queries=queries, documents=pool, depth=depth)
    without = len(queries) - hits["query_id"].n_unique()
    log.info(
        "%s: %d hits; %d of %d queries without", submission, hits.height, without, len(queries)
    )
    write_run(hits, run)


def checked(
    path: Path, *, queries: Collection[str], documents: Collection[str], depth: int
) -> pl.DataFrame:
    """Read a TREC run and hold it against what it may contain: query_id, doc_id, score.

    A run may answer queries that are not judged; these hits are left out.

    Raises:
        MissingFile, TruncatedFile: it can't be read.
        CorruptFile: with the first line that breaks the format, repeats a document, bears another
            tag than the first line, names a document outside of `documents`, goes deeper than
            `depth`, or whose rank contradicts the scores.
        EmptyTable: no line at all, or none that answers a query of `queries`.
    """
    read = trec.read_trec_lines(path, trec.TREC_RUN)
    lines = read.with_columns(pl.col("score").cast(pl.Float64), pl.col("rank").cast(pl.Int32))
    if lines.is_empty():
        raise EmptyTable(path, "a run without a line", "remove it, or put the run there")
    retagged = lines.filter(pl.col("tag") != lines["tag"][0])
    trec.refuse_lines(path, retagged, f"the tag {lines['tag'][0]!r} of the first line")
    lines = _judged(path, lines, queries)
    bad = {
        "a document of the candidate pool": ~pl.col("doc_id").is_in(pl.Series(documents).implode()),
        f"at most {depth} hits a query": pl.int_range(pl.len()).over("query_id") >= depth,
    }
    for expected, condition in bad.items():
        trec.refuse_lines(path, lines.filter(condition), expected)
    # Equal scores may stand in any order: trec_eval orders them anew, and so do we.
    placed = lines.sort("query_id", "rank", maintain_order=True)
    above = pl.col("score").shift().over("query_id"), pl.col("rank").shift().over("query_id")
    wrong = placed.filter((pl.col("score") > above[0]) | (pl.col("rank") == above[1]))
    trec.refuse_lines(
        path, wrong.sort("number"), "ranks that follow the scores, each once for a query"
    )
    return lines.select("query_id", "doc_id", "score")


def _judged(path: Path, lines: pl.DataFrame, queries: Collection[str]) -> pl.DataFrame:
    """Return the lines that answer judged queries; the log counts the others."""
    judged = lines.filter(pl.col("query_id").is_in(pl.Series(queries).implode()))
    answered, all_queries = judged["query_id"].n_unique(), lines["query_id"].n_unique()
    if not answered:
        problem = f"none of its {all_queries:,} queries is judged, such as {lines['query_id'][0]!r}"
        raise EmptyTable(path, problem, f"use the ids of the topics, such as {min(queries)!r}")
    if answered < all_queries:
        left = lines.height - judged.height
        log.info(
            "%s: %d hits of %d queries not judged left out", path, left, all_queries - answered
        )
    return judged
