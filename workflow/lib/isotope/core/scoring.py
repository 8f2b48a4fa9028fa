"""Scores of runs by judgements, column by column: only judged hits survive the first step.

`isotope.core.measures` says what a measure is; here it is computed for every judged query of a run,
in memory or where the run lies, piece by piece.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import NamedTuple

import polars as pl

from isotope.core.errors import BrokenPromise, EmptyTable
from isotope.core.grid import Cell, id_columns, run_order
from isotope.core.measures import Ratio, parse_all
from isotope.core.progress import Progress
from isotope.core.runs import KEY, batches, empty


class Judgements(NamedTuple):
    """The judgements by which a run is scored.

    `queries`: query_id, every judged query once, sorted. `relevant`: query_id, doc_id, relevance
    (above 0 only) and `rank`, the document's place in the best possible ranking of its query.
    `judged`: query_id, doc_id, relevance, all of them.
    """

    queries: pl.DataFrame
    relevant: pl.DataFrame
    judged: pl.DataFrame


def score_run(run: pl.DataFrame, qrels: pl.DataFrame, measures: Sequence[str]) -> pl.DataFrame:
    """Score a run (tables.RUN) on qrels (query_id, doc_id, relevance): query_id, measure, value.

    Every judged query has every measure, sorted by measure, then query_id. A judged query without
    hits, or without a relevant document, counts 0 (trec_eval -c; ranx); hits of unjudged queries do
    not count. The run's `rank` is believed: `runs.read_run` has checked it, `runs.ranked` makes it.

    Raises:
        BadParams: an unknown measure.
        BrokenPromise: a pair judged twice.
    """
    judged = judgements(qrels)
    return _values(judged_hits(run, judged), judged, parse_all(measures))


def score_file(path: Path, qrels: pl.DataFrame, measures: Sequence[str]) -> pl.DataFrame:
    """Score a run where it lies, piece by piece, as `score_run` scores one in memory.

    Raises:
        As `score_run` and `runs.batches`.
    """
    return _of_pieces(batches(path), judgements(qrels), parse_all(measures))


def score_cells(
    runs: Sequence[Path],
    qrels: Path,
    measures: Mapping[str, Ratio],
    read: Callable[[Cell, pl.DataFrame], pl.DataFrame] = lambda _, piece: piece,
) -> Iterator[tuple[Path, pl.DataFrame]]:
    """Yield each run, in `run_order`, and its values as `score_run` returns them.

    A run is read in pieces; `read` may name its documents as the judgements do. A document that is
    not judged keeps its rank.

    Raises:
        BadParams, EmptyTable: as `score_collection`.
        As `runs.batches`.
    """
    judged, progress = pl.read_parquet(qrels), Progress("runs", total=len(runs))
    for path in sorted(runs, key=run_order):
        cell = Cell.of(path)
        pieces = (read(cell, piece) for piece in batches(path))
        yield path, _of_pieces(pieces, _directed(judged, cell, qrels), measures)
        progress.add()
    progress.finish()


def judgements(qrels: pl.DataFrame) -> Judgements:
    """Split qrels (query_id, doc_id, relevance) into judged queries and relevant documents.

    Raises:
        BrokenPromise: a pair judged twice.
    """
    twice = qrels.filter(pl.struct(KEY).is_duplicated())
    if twice.height:
        query, doc = twice.select(KEY).row(0)
        found = f"query {query!r} judges document {doc!r} more than once"
        raise BrokenPromise("qrels", found, "keep one judgement for each pair")
    # A relevance of zero or less is "judged, not relevant", as for trec_eval, by which AToMiC is
    # measured (section 4.4).
    relevant = qrels.filter(pl.col("relevance") > 0).sort("relevance", descending=True)
    place = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("query_id")
    queries = qrels.select(pl.col("query_id").unique().sort())
    every = qrels.select(*KEY, "relevance")
    return Judgements(queries, relevant.with_columns(rank=place), every)


def judged_hits(run: pl.DataFrame, judged: Judgements) -> pl.DataFrame:
    """Keep the judged hits of a run, or of a piece of one: query_id, rank, relevance."""
    documents = judged.judged["doc_id"].unique().implode()
    candidates = run.filter(pl.col("doc_id").is_in(documents)).select(*KEY, "rank")
    hits = candidates.join(judged.judged, on=KEY, maintain_order="left")
    return hits.select("query_id", "rank", "relevance")


def _directed(qrels: pl.DataFrame, cell: Cell, path: Path) -> Judgements:
    query, doc = id_columns(cell.task)
    own = qrels.filter(pl.col("split") == cell.split)
    if own.is_empty():
        have = ", ".join(sorted(set(qrels["split"]))) or "none"
        remedy = f"set search.splits to splits that have judgements: {have}"
        raise EmptyTable(path, f"no judgement in split {cell.split!r}", remedy)
    return judgements(own.select(query_id=query, doc_id=doc, relevance="relevance"))


def _of_pieces(
    pieces: Iterable[pl.DataFrame], judged: Judgements, measures: Mapping[str, Ratio]
) -> pl.DataFrame:
    hits = [judged_hits(piece, judged) for piece in chain([empty()], pieces)]
    return _values(pl.concat(hits), judged, measures)


def _values(hits: pl.DataFrame, judged: Judgements, measures: Mapping[str, Ratio]) -> pl.DataFrame:
    both = judged.queries
    for over, rows, best in _sides(hits, judged):
        chosen = {name: ratio for name, ratio in measures.items() if ratio.over == over}
        gains = _aggregate(rows, {f"{name} gain": ratio.gain for name, ratio in chosen.items()})
        ideals = _aggregate(best, {name: ratio.ideal for name, ratio in chosen.items()})
        both = both.join(ideals, on="query_id", how="left").join(gains, on="query_id", how="left")
    ratios = {name: pl.col(f"{name} gain") / pl.col(name) for name in measures}
    wide = both.select("query_id", **{name: r.fill_null(0.0) for name, r in ratios.items()})
    long = wide.unpivot(index="query_id", variable_name="measure", value_name="value")
    return long.sort("measure", "query_id")


def _sides(hits: pl.DataFrame, judged: Judgements) -> list[tuple[str, pl.DataFrame, pl.DataFrame]]:
    """Return what a ratio is over, the hits that its gain sees, and what its ideal sees."""
    is_right, is_wrong = pl.col("relevance") > 0, pl.col("relevance") == 0
    # trec_eval takes a relevance below zero for no judgement at all here.
    numbers = judged.judged.group_by("query_id").agg(right=is_right.sum(), wrong=is_wrong.sum())
    counted = hits.with_columns(above=is_wrong.cum_sum().over("query_id"))
    right = counted.filter(is_right).join(numbers, on="query_id", maintain_order="left")
    counted = right.with_columns(found=pl.int_range(1, pl.len() + 1).over("query_id"))
    return [("relevant", counted, judged.relevant), ("judged", hits, judged.judged)]


def _aggregate(rows: pl.DataFrame, by_name: dict[str, pl.Expr]) -> pl.DataFrame:
    columns = [expression.cast(pl.Float64).alias(name) for name, expression in by_name.items()]
    return rows.group_by("query_id").agg(columns)
