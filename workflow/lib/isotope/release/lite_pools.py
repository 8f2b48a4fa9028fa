"""Which queries and documents a small release has, and what its smaller pools cost.

Of each split and direction that has runs it takes at most so many judged queries, those whose ids
have the least SHA-256. A query's pool is its judged documents and its hard negatives: of the hits
on the largest pool that was searched, of all systems but random ones, those that nobody judged;
best rank first, then found by more systems, then by id. The queries of a split are asked on the
union of their pools and the queries of the other direction.

The number is that of MTEB's HardNegatives sets, whose descriptions in the package mteb say that
they pool the 250 top documents a query of three systems.
"""

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, cast

import polars as pl

from isotope.core import sums
from isotope.core.errors import MissingFile
from isotope.core.grid import TASKS, RunKey, id_column
from isotope.core.measures import score_run
from isotope.core.progress import Progress
from isotope.core.runs import KEY, ranked, read_trec_run
from isotope.release.words import Pool, Pools, pool_items
from isotope.schemas.release import LITE_POOLS

RUNS = "runs"
SUFFIX = ".trec.gz"
# Largest first.
_SETTINGS = ("large", "base", "small")
_RANDOM = "random"
_FEW = 2


class PoolLimits(NamedTuple):
    """Hard negatives of a query, and queries of a split and direction, at most."""

    negatives: int = 250
    queries: int = 1_000


class Chosen(NamedTuple):
    """A cell of a release that gives negatives: its runs by system, judgements and pools.

    `qrels` (query_id, doc_id, relevance) are of the queries taken, `pools` schemas.LITE_POOLS.
    """

    cell: RunKey
    runs: dict[str, Path]
    qrels: pl.DataFrame
    pools: pl.DataFrame

    @property
    def key(self) -> tuple[str, str]:
        """The split and the task."""
        return self.cell.split, self.cell.task


def choose(release: Path, kinds: Mapping[str, str], bounds: PoolLimits) -> list[Chosen]:
    """Return what a small form of the release has; `kinds` are the systems' kinds by name.

    Raises:
        MissingFile: a release without runs, or without a judged split that has any.
        As `runs.read_trec_run`.
    """
    cells = _largest(release)
    progress = Progress("cells pooled", total=len(cells))
    chosen: list[Chosen] = []
    for cell, runs in cells:
        pooled_runs = {name: path for name, path in runs.items() if kinds.get(name) != _RANDOM}
        qrels = _judged(release, cell, bounds.queries)
        if qrels.height:
            pools = _pools(qrels, list((pooled_runs or runs).values()), bounds.negatives)
            chosen.append(Chosen(cell, runs, qrels, pools))
        progress.add()
    progress.finish()
    if not chosen:
        remedy = "search a judged split (search.splits) and release the collection again"
        raise MissingFile(release / RUNS, "no run on a judged split: no hard negatives", remedy)
    return chosen


def _largest(release: Path) -> list[tuple[RunKey, dict[str, Path]]]:
    """Return the runs on the largest pool of each split and task, by system, sorted."""
    largest: dict[tuple[str, str], tuple[RunKey, dict[str, Path]]] = {}
    for path in sorted(release.glob(f"{RUNS}/*/*/*/*{SUFFIX}")):
        cell = RunKey.from_path(path)
        other = largest.get((cell.split, cell.task))
        if other is None or _size(cell) > _size(other[0]):
            largest[cell.split, cell.task] = other = (cell, {})
        if other[0].setting == cell.setting:
            other[1][path.name.removesuffix(SUFFIX)] = path
    return [largest[key] for key in sorted(largest)]


def _size(cell: RunKey) -> int:
    return -_SETTINGS.index(cell.setting) if cell.setting in _SETTINGS else -len(_SETTINGS)


def _judged(release: Path, cell: RunKey, most: int) -> pl.DataFrame:
    """Return the judgements of the queries taken: query_id, doc_id, relevance."""
    path = release / f"qrels/{cell.split}.parquet"
    if not path.is_file():
        return pl.DataFrame(schema={**dict.fromkeys(KEY, pl.String), "relevance": pl.Int32})
    task = TASKS[cell.task]
    names = {"query_id": id_column(task.queries), "doc_id": id_column(task.documents)}
    columns = {to: pl.col(name) for to, name in {**names, "relevance": "rel"}.items()}
    qrels = pl.read_parquet(path, glob=False).select(**columns)
    drawn = sorted(set(qrels["query_id"]), key=lambda i: sha256(i.encode()).hexdigest())[:most]
    return qrels.filter(pl.col("query_id").is_in(drawn))


def _pools(qrels: pl.DataFrame, runs: Sequence[Path], negatives: int) -> pl.DataFrame:
    most = cast("int", qrels.group_by("query_id").len()["len"].max())
    queries = qrels["query_id"].unique().implode()
    # All negatives of a query are among the first hits of some run, so the rest is not held.
    asked = pl.col("query_id").is_in(queries), pl.col("rank") <= negatives + most
    return pool(qrels, [read_trec_run(path).filter(*asked) for path in runs], negatives)


def pool(qrels: pl.DataFrame, runs: Sequence[pl.DataFrame], negatives: int) -> pl.DataFrame:
    """Return schemas.LITE_POOLS of the judged queries, by query, negatives last, best first.

    `qrels` has query_id, doc_id and relevance, each of `runs` core.schemas.RUN.
    """
    tops = pl.concat([run.select(*KEY, "rank") for run in runs])
    hits = tops.group_by(KEY).agg(pl.col("rank").min(), systems=pl.len())
    unjudged = hits.join(qrels, on=KEY, how="anti")
    order = unjudged.sort(
        "query_id", "rank", "systems", "doc_id", descending=[False, False, True, False]
    )
    hard = order.group_by("query_id", maintain_order=True).head(negatives)
    judged = qrels.join(hits, on=KEY, how="left").rename({"relevance": "grade"})
    rows = [
        judged.select(*KEY, pl.col("grade").cast(pl.Int32), pl.col("rank").fill_null(0)),
        hard.select(*KEY, pl.lit(None, pl.Int32).alias("grade"), "rank"),
    ]
    table = pl.concat(rows).sort("query_id", "grade", "rank", "doc_id", nulls_last=True)
    return table.select(LITE_POOLS.names)


def as_pools(chosen: Sequence[Chosen]) -> dict[tuple[str, str], Pool]:
    """Return the queries and documents of each split and task."""
    tables = {choice.key: choice.pools for choice in chosen}
    return {k: Pool(frozenset(t["query_id"]), frozenset(t["doc_id"])) for k, t in tables.items()}


def items(pools: Pools, side: str) -> set[str]:
    """Return the ids of all texts, or of all images, of a small release."""
    splits = {split for split, _ in pools}
    return {i for split in splits for i in pool_items(pools, split, side) or ()}


def restricted(choice: Chosen, path: Path, pools: Pools) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return a run's hits for the queries taken, on the whole pool and on the small one."""
    queries = set(choice.qrels["query_id"])
    documents = pool_items(pools, choice.cell.split, choice.cell.document_side) or frozenset[str]()
    hits = read_trec_run(path).filter(pl.col("query_id").is_in(queries))
    small = ranked(hits.filter(pl.col("doc_id").is_in(documents)))
    return hits, small


def compared(
    choice: Chosen, runs: Mapping[str, tuple[pl.DataFrame, pl.DataFrame]], measures: Sequence[str]
) -> list[dict[str, Any]]:
    """Return the mean of every measure for every system, on the whole pool and the small one."""
    rows: list[dict[str, Any]] = []
    for system, both in runs.items():
        full, small = (_means(run, choice.qrels, measures) for run in both)
        cell = {
            "split": choice.cell.split,
            "task": choice.cell.task,
            "setting": choice.cell.setting,
        }
        rows += [
            {**cell, "system": system, "measure": m, "whole": full[m], "lite": small[m]}
            for m in measures
        ]
    return rows


def _means(run: pl.DataFrame, qrels: pl.DataFrame, measures: Sequence[str]) -> dict[str, float]:
    values = score_run(run, qrels, measures).group_by("measure").agg(sums.mean(pl.col("value")))
    return dict(cast("Iterator[tuple[str, float]]", values.iter_rows()))


def agreement(rows: pl.DataFrame) -> list[dict[str, Any]]:
    """Return Kendall's tau-b between the two orders of systems; None with fewer than two orders.

    Source: Kendall, Biometrika 33, 1945.
    """
    from scipy.stats import kendalltau  # noqa: PLC0415 (slow to import)

    agreements: list[dict[str, Any]] = []
    for names, part in rows.group_by("split", "task", "measure", maintain_order=True):
        cell = dict(zip(("split", "task", "measure"), names, strict=True))
        tau = None
        if min(part["whole"].n_unique(), part["lite"].n_unique()) >= _FEW:
            test: Any = kendalltau(part["whole"].to_numpy(), part["lite"].to_numpy())
            tau = round(float(test.statistic), 4)
        agreements.append({**cell, "systems": part.height, "tau": tau})
    return agreements
