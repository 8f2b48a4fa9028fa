"""Tables of what runs hold: first hits, answered queries, effectiveness on subsets of the pool.

Runs lie at `.../<setting>/<split>/<task>/<system>.parquet`.
"""

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import polars as pl

from isotope.core import sql, store, sums
from isotope.core.errors import BadParams
from isotope.core.grid import RunKey, id_columns, pool_splits, run_order
from isotope.core.measures import score_run
from isotope.core.progress import Progress, log
from isotope.core.runs import batches
from isotope.schemas.tabulate import ANSWERED_BY, SUBSETS, TOPS

_SQL = sql.SQL / "tabulate"
# First hits of a query that are compared with those of other systems: the depth of AToMiC's runs
# (Fig. 6, section 5.3).
OVERLAP = 1000
_CUT = re.compile(r".*@(\d+)")


class Subsets(NamedTuple):
    """Sizes in documents, measures, and the depth of the runs.

    With `positives` every subset holds the judged documents of all splits, and one holds no other.
    """

    sizes: Sequence[int]
    measures: Sequence[str]
    depth: int
    positives: bool = False


def tops_table(runs: Sequence[Path], *, depth: int, out: Path) -> None:
    """Write schemas.TOPS: the first `depth` hits of every query of every run.

    Runs are read in pieces.

    Raises:
        As `runs.batches` and `RunKey.from_path`.
    """
    progress = Progress("runs", len(runs))
    with store.writer(out, TOPS) as writer:
        for path in sorted(runs, key=run_order):
            named = {"task": pl.lit(RunKey.from_path(path).task), "system": pl.lit(path.stem)}
            for piece in batches(path):
                first = piece.filter(pl.col("rank") <= depth).with_columns(**named)
                rows = first.select(TOPS.names).to_arrow().cast(TOPS)
                writer.write_table(rows, row_group_size=store.ROWS_PER_GROUP)
            progress.add()
    progress.finish()


def write_answered(runs: Sequence[Path], answered: Sequence[Path], out: Path) -> None:
    """Write schemas.ANSWERED_BY: for each run, in their order, the queries that have an answer.

    A query is answered when it has a hit, or when a file of answers has a line on it, though the
    entity is not found: `answered` are schemas.ANSWERED, <system>.answered.parquet.
    """
    files = {path.name.removesuffix(".answered.parquet"): path for path in answered}
    with store.writer(out, ANSWERED_BY) as writer:
        for path in runs:
            cell, system = RunKey.from_path(path), path.stem
            parts = [pl.scan_parquet(p, glob=False) for p in (path, files.get(system)) if p]
            ids = pl.concat([part.select("query_id") for part in parts]).unique().sort("query_id")
            rows = ids.select(
                pl.lit(cell.setting).alias("setting"),
                pl.lit(cell.split).alias("split"),
                pl.lit(system).alias("system"),
                "query_id",
            ).collect()
            writer.write_table(rows.to_arrow().cast(ANSWERED_BY))


def read_largest_pool(  # noqa: PLR0913
    runs: Sequence[Path],
    inputs: Mapping[str, Path],
    *,
    independent: Sequence[str],
    sizes: Sequence[int],
    measures: Sequence[str],
    depth: int,
    positives: bool,
    overlap: int,
    subsets: Path,
    tops: Path,
) -> None:
    """Write schemas.SUBSETS, of the runs of `independent` systems, and schemas.TOPS, of all runs.

    `inputs` are texts, images and qrels, `overlap` is the number of first hits of a query.

    Raises:
        As `subsets_table` and `tops_table`.
    """
    independent_runs = [path for path in runs if path.stem in independent]
    subsets_table(independent_runs, inputs, Subsets(sizes, measures, depth, positives), subsets)
    tops_table(runs, depth=overlap, out=tops)


def subsets_table(
    runs: Sequence[Path], collected: Mapping[str, Path], subsets: Subsets, out: Path
) -> None:
    """Write schemas.SUBSETS from the runs of one pool.

    A subset holds every document that the split's queries (with `subsets.positives`, those of any
    split) are judged on, then others in the order of the MD5 of their ids, so that a smaller subset
    lies within a larger one. What a system ranks in a subset is what it ranks in the pool, less the
    documents left out: ranks are exact for dense systems, whose scores look at one document at a
    time. A query's value is certain if the run has all that matched, or if all its relevant
    documents are among the hits, or if as many hits remain as the measure looks at; `exact` is the
    share of such queries.

    A size below the number of judged documents or above the pool is left out, and logged.

    Raises:
        BadParams: runs of more than one setting or split.
    """
    cells = [RunKey.from_path(path) for path in runs]
    if len({(cell.setting, cell.split) for cell in cells}) > 1:
        raise BadParams(
            "subsets", "runs of several pools", "give the runs of one setting and split"
        )
    out.parent.mkdir(parents=True, exist_ok=True)
    progress = Progress("runs", len(runs))
    with (
        TemporaryDirectory(dir=out.parent, prefix=".subsets-") as folder,
        store.writer(out, SUBSETS) as writer,
    ):
        places = Path(folder) / "places.parquet"
        for n, path in enumerate(sorted(runs, key=run_order)):
            cell = RunKey.from_path(path)
            if n == 0:
                _put_in_order(places, collected, cell, positives=subsets.positives)
            sizes = _possible(places, cell.task, subsets)
            relations = {"run": path, "places": places, "qrels": collected["qrels"]}
            params = {"split": cell.split, "task": cell.task, "sizes": sizes}
            hits = sql.query(_SQL / "subsets/hits.sql", relations, params)
            judged = _judged(collected["qrels"], cell.split, cell.task)
            rows = _scored(hits, judged, sizes, subsets).with_columns(  # pyright: ignore[reportArgumentType]
                pl.lit(v).alias(k) for k, v in cell.labels(path.stem).items()
            )
            writer.write_table(rows.select(SUBSETS.names).to_arrow().cast(SUBSETS))
            progress.add()
    progress.finish()


def _put_in_order(
    places: Path, collected: Mapping[str, Path], cell: RunKey, *, positives: bool
) -> None:
    relations = {name: collected[name] for name in ("texts", "images", "qrels")}
    pool = list(pool_splits(cell.setting, cell.split))
    params = {"split": cell.split, "pool": pool, "positives": positives}
    sql.query(_SQL / "subsets/places.sql", relations, params, out=places)


def _possible(places: Path, task: str, subsets: Subsets) -> list[int]:
    counts = sql.query(_SQL / "subsets/sizes.sql", {"places": places}, {})
    counts_of_task = counts.filter(pl.col("task") == task)  # pyright: ignore[reportOptionalMemberAccess]
    if counts_of_task.is_empty():
        return []
    _, least, most = counts_of_task.row(0)
    ends = {least, most} if subsets.positives else {most}
    possible = sorted({size for size in subsets.sizes if least <= size < most} | ends)
    if left := sorted(set(subsets.sizes) - set(possible)):
        log.info(
            "%s: no subset of %s documents; judged %d, in the pool %d", task, left, least, most
        )
    return possible


def _judged(qrels: Path, split: str, task: str) -> pl.DataFrame:
    query, doc = id_columns(task)
    qrels_of_split = pl.read_parquet(qrels, glob=False).filter(pl.col("split") == split)
    return qrels_of_split.select(query_id=query, doc_id=doc, relevance="relevance")


def _scored(
    hits: pl.DataFrame, judged: pl.DataFrame, sizes: Sequence[int], subsets: Subsets
) -> pl.DataFrame:
    parts = [_of_size(hits.filter(pl.col("size") == n), judged, n, subsets) for n in sizes]
    return pl.concat(parts)


def _of_size(
    answers: pl.DataFrame, judged: pl.DataFrame, size: int, subsets: Subsets
) -> pl.DataFrame:
    hits = answers.drop_nulls("doc_id").select("query_id", "doc_id", "rank")
    values = score_run(hits, judged, subsets.measures)
    complete = _completeness(answers, judged, size, subsets.depth)
    means = values.join(complete, on="query_id").with_columns(
        certain=pl.col("whole") | (pl.col("remaining") >= _cutoff())
    )
    return means.group_by("measure", maintain_order=True).agg(
        documents=pl.lit(size, pl.Int64),
        queries=pl.len().cast(pl.Int64),
        value=sums.mean(pl.col("value")),
        exact=sums.mean(pl.col("certain")),
    )


def _completeness(hits: pl.DataFrame, judged: pl.DataFrame, size: int, depth: int) -> pl.DataFrame:
    """Return for each query how many hits remain in the subset, and whether these are all."""
    relevant = judged.group_by("query_id").agg(relevant=(pl.col("relevance") > 0).sum())
    counted = hits.group_by("query_id").agg(
        pl.col("retrieved", "remaining").first(), hits=pl.col("doc_id").count()
    )
    both = relevant.join(counted, on="query_id", how="left")
    # A query that the run lacks matched nothing, so nothing is missing.
    counts = both.with_columns(pl.col("retrieved", "remaining", "hits").fill_null(0))
    is_complete = (
        (pl.col("retrieved") < depth)
        | (pl.col("remaining") >= size)
        | (pl.col("hits") >= pl.col("relevant"))
    )
    return counts.select("query_id", "remaining", whole=is_complete)


def _cutoff() -> pl.Expr:
    """Return the cutoff of each measure, such as 10 of MRR@10; a very large one for others."""
    return pl.col("measure").str.extract(_CUT.pattern).cast(pl.Int64).fill_null(1 << 31)
