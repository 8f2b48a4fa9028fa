"""Take in a foreign TREC run: everything is checked before it stands beside our own runs."""

from collections.abc import Collection
from pathlib import Path

import polars as pl

from isotope.core import trec
from isotope.core.errors import EmptyTable
from isotope.core.grid import Cell, document_ids, query_ids
from isotope.core.progress import log
from isotope.core.runs import write_run


def take_run(*, submission: Path, documents: Path, qrels: Path, run: Path, depth: int) -> None:
    """Check the TREC run `submission` and write it as the run of the cell that `run` names.

    `documents` is the table of the documents of the task: images for t2m, texts for m2t. Queries
    without a hit are allowed, counted in the log, and score 0. The file's name names the system,
    whatever its tag.

    Raises:
        As `checked`.
    """
    cell = Cell.of(run)
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

    Raises:
        MissingFile, TruncatedFile: it can't be read.
        CorruptFile: with the first line that breaks the format, repeats a document, bears another
            tag than the first line, names an unknown query or document, goes deeper than `depth`,
            or whose rank contradicts the scores.
        EmptyTable: no line at all.
    """
    read = trec.read_lines(path, trec.RUN)
    lines = read.with_columns(pl.col("score").cast(pl.Float64), pl.col("rank").cast(pl.Int32))
    if lines.is_empty():
        raise EmptyTable(path, "a run without a line", "remove it, or put the run there")
    bad = {
        f"the tag {lines['tag'][0]!r} of the first line": pl.col("tag") != lines["tag"][0],
        "a judged query of the split": ~pl.col("query_id").is_in(pl.Series(queries).implode()),
        "a document of the candidate pool": ~pl.col("doc_id").is_in(pl.Series(documents).implode()),
        f"at most {depth} hits a query": pl.int_range(pl.len()).over("query_id") >= depth,
    }
    for expected, condition in bad.items():
        trec.refuse(path, lines.filter(condition), expected)
    # Equal scores may stand in any order: trec_eval orders them anew, and so do we.
    placed = lines.sort("query_id", "rank", maintain_order=True)
    above = pl.col("score").shift().over("query_id"), pl.col("rank").shift().over("query_id")
    wrong = placed.filter((pl.col("score") > above[0]) | (pl.col("rank") == above[1]))
    trec.refuse(path, wrong.sort("number"), "ranks that follow the scores, each once for a query")
    return lines.select("query_id", "doc_id", "score")
