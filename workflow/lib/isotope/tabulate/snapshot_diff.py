"""Two snapshots: what has changed between them, and what systems lose as they grow old.

A section keeps its identity, in this order, (1) where page id and path of headings are the same,
(2) where its title is the only such one of the page on both sides: it has moved, (3) where two
share at least half of their words and more than with any other: it is renamed, (4) where it stands
between the same two sections.

A system that was built on the earlier snapshot answers the later queries with the documents, and
the weights, that it has. What it loses is the relative drop (later - earlier) / later of a
measure's mean over the same queries: with the system built anew as the baseline, it is what not
building anew costs. LongEval (Galuščáková et al., SIGIR 2023) compares a system with itself on
its earlier test set instead, which is `home` here; from there the drop is also that of the queries'
difficulty.
"""

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from isotope.core import sql, store, sums
from isotope.core.errors import EmptyTable, MissingFile
from isotope.core.grid import RunKey
from isotope.core.measures import Floats, parse_all, percentiles, resampled_means, score_cells
from isotope.params import SETTINGS
from isotope.schemas.tabulate import CHANGES, IDENTITIES, TEMPORAL
from isotope.tabulate.figures import draw_drops
from isotope.tabulate.strata import USUAL, Resampling
from isotope.tabulate.table import means, read_table, rows, tabulate

_CELL = ["setting", "split", "task"]
_COLUMN = ["measure", "system"]
_SQL = sql.SQL / "tabulate"
_QUERIES = {
    "snapshot_diff": _SQL / "tables/snapshot_diff.sql",
    "snapshot_survival": _SQL / "tables/snapshot_survival.sql",
}
# Splits in the order in which a pool is chosen to stand for a collection.
_POOLS = ("validation", "test", "train")
_MEASURE = "MRR@10"
_TABLES = ("texts", "images", "qrels")


class Shown(NamedTuple):
    """What a table of systems that grow old shows: measures, a pool, and systems in their order.

    `looks` are the numbers of the systems' looks.
    """

    measures: Sequence[str]
    setting: str
    split: str
    systems: Sequence[str]
    looks: Mapping[str, int]


def compare_snapshots(
    before: Sequence[Path],
    later: Sequence[Path],
    *,
    changes: Path,
    identities: Path,
    stems: Sequence[str],
) -> None:
    """Write schemas.CHANGES and schemas.IDENTITIES, and the two tables of changes to `stems`.

    `before` and `later` are the files texts, images and qrels of either collection.

    Raises:
        As `write_changes`.
    """
    old, new = ({path.stem: path for path in tables} for tables in (before, later))
    write_changes(old, new, changes, identities)
    tabulate_changes(changes, [Path(stem) for stem in stems])


def write_changes(
    before: Mapping[str, Path], after: Mapping[str, Path], changes: Path, identities: Path
) -> None:
    """Write schemas.CHANGES and schemas.IDENTITIES of two collections' texts, images and qrels.

    Raises:
        MissingFile: a table that was not collected.
    """
    relations: dict[str, sql.Files] = {
        f"{when}_{table}": tables_of_version[table]
        for when, tables_of_version in (("before", before), ("after", after))
        for table in _TABLES
    }
    schemas = {"changes": CHANGES, "identities": IDENTITIES}
    identities.parent.mkdir(parents=True, exist_ok=True)
    changes.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=changes.parent, prefix=".diff-") as folder:
        steps = sorted((_SQL / "diff/changes").glob("*.sql"))
        tables = sql.run_chain(steps, relations, Path(folder), schemas=schemas)
        tables["identities"].replace(identities)
        tables["changes"].replace(changes)


def tabulate_changes(changes: Path, stems: Sequence[Path]) -> None:
    """Write `snapshot_diff` and `snapshot_survival` (csv, md, tex) of schemas.CHANGES to `stems`.

    Raises:
        MissingFile: no such table.
    """
    for stem in stems:
        tabulate(_QUERIES[stem.name], {"changes": changes}, {}, stem)


# ASSUME a page keeps its split, so that no system has learned from later queries; AToMiC leaves
# Wikipedia's change for later work (section 6) and does not say.
def tabulate_temporal(  # noqa: PLR0913
    runs: Sequence[Path],
    inputs: Mapping[str, Path],
    shown: Shown,
    *,
    drops: Path,
    figure: Path,
    how: Resampling = USUAL,
) -> None:
    """Write schemas.TEMPORAL to `drops`, a table of one pool beside it, and draw that as `figure`.

    `runs` are of later queries on earlier documents. `inputs` are before_qrels, after_qrels,
    changes and identities of the two snapshots, and before_scores and after_scores, what the
    systems built on each reach there.

    Raises:
        EmptyTable: a system without scores on the later snapshot.
        As `scoring.score_cells`.
    """
    old = outdated_scores(runs, inputs["after_qrels"], inputs["identities"], shown.measures)
    both = paired(old, inputs["after_scores"])
    changed = {k: inputs[k] for k in ("before_qrels", "after_qrels", "changes", "identities")}
    strata = rows(_SQL / "diff/queries.sql", changed, {})
    home = at_home(inputs["before_scores"], inputs["identities"], strata)
    losses = relative_drops(both, home, strata, how)
    store.write(losses.to_arrow(), drops, TEMPORAL)
    query, relations = _SQL / "tables/temporal.sql", {"temporal": drops}
    values = shown._asdict()
    asked = {name: value for name, value in values.items() if name != "looks"}
    tabulate(query, relations, asked, drops.with_suffix(""))
    draw_drops(rows(query, relations, asked), values, figure)


def outdated_scores(
    runs: Sequence[Path], qrels: Path, identities: Path, measures: Sequence[str]
) -> pl.DataFrame:
    """Score runs of later queries on earlier documents: schemas.SCORES without the collection.

    A text is judged under its later id (schemas.IDENTITIES); a document that is gone keeps its rank
    and is not relevant.

    Raises:
        As `scoring.score_cells`.
    """
    names = pl.read_parquet(identities, glob=False).select(doc_id="before_id", later="after_id")

    def read(cell: RunKey, piece: pl.DataFrame) -> pl.DataFrame:
        if cell.task != "m2t":
            return piece
        named = piece.join(names, on="doc_id", maintain_order="left")
        return named.drop("doc_id").rename({"later": "doc_id"})

    return pl.concat(
        values.with_columns(
            pl.lit(v).alias(k) for k, v in RunKey.from_path(path).labels(path.stem).items()
        )
        for path, values in score_cells(runs, qrels, parse_all(measures), read)
    )


def paired(old: pl.DataFrame, scores: Path) -> pl.DataFrame:
    """Put the scores of the same systems on the later snapshot beside those of `outdated_scores`.

    Raises:
        EmptyTable: a system without scores there.
    """
    key = [*_CELL, *_COLUMN, "query_id"]
    later = pl.scan_parquet(scores, glob=False).select(*key, later="value").collect()
    both = old.select(*key, earlier="value").join(later, on=key)
    lost = sorted(set(old["system"]) - set(both["system"]))
    if lost:
        raise EmptyTable(scores, f"no scores of {lost[0]}", "add it to search.systems")
    return both


def at_home(scores: Path, identities: Path, strata: pl.DataFrame) -> pl.DataFrame:
    """Return what the earlier systems reach on their own snapshot: its mean, `home`, by stratum.

    Over all queries there; within a stratum over those that the later snapshot asks as well.
    """
    names = pl.read_parquet(identities, glob=False).select(query_id="before_id", later="after_id")
    scored = pl.read_parquet(scores, glob=False).join(
        names, on="query_id", how="left", maintain_order="left"
    )
    is_text = pl.col("task") == "t2m"
    scored = scored.with_columns(query_id=pl.when(is_text).then("later").otherwise("query_id"))
    repeated = strata.filter(~pl.col("stratum").is_in(["all", "new"]))
    within = scored.join(repeated, on=["task", "query_id"], maintain_order="left")
    parts = [scored.with_columns(stratum=pl.lit("all")), within.select(*scored.columns, "stratum")]
    grouped = pl.concat(parts).group_by(*_CELL, *_COLUMN, "stratum", maintain_order=True)
    return grouped.agg(home=sums.mean(pl.col("value")))


def relative_drops(
    both: pl.DataFrame, home: pl.DataFrame, strata: pl.DataFrame, how: Resampling
) -> pl.DataFrame:
    """Return schemas.TEMPORAL of `paired` and `at_home`, and of strata: task, query_id, stratum.

    A drop is null where the later system finds nothing, an interval also where it finds nothing in
    one of the draws.
    """
    group, labelled = [*_CELL, "stratum"], both.join(strata, on=["task", "query_id"])
    parts = list[pl.DataFrame]()
    for key, queries in sorted(labelled.partition_by(group, as_dict=True).items()):
        names = zip(group, key, strict=True)
        parts.append(_of_group(queries, how).with_columns(pl.lit(v).alias(k) for k, v in names))
    drops = pl.concat(parts)
    complete = drops.join(home, on=[*group, *_COLUMN], how="left", maintain_order="left")
    return complete.select(TEMPORAL.names)


def write_newest(
    inputs: Mapping[str, Path], scores: Path, headline: Path, survival: Path | None, folder: Path
) -> None:
    """Write `folder`/metrics.json and, a copy of `headline`, `folder`/headline.csv.

    The numbers are few, so that `dvc metrics show` has a line that can be read; those of all pools
    and measures are in the collection's own metrics.json. They are the rows of `inputs` (texts,
    images, qrels); the first `pool` (small before large, validation before test) and `measure`
    (MRR@10, if it was scored), and under each system its means by task; and `held`, the share of
    the earlier snapshot's judgements that still hold, by split, where `survival`
    (snapshot_survival.arrow) is given.

    Raises:
        EmptyTable: no score at all.
        MissingFile: a table that is not there.
    """
    for path in (*inputs.values(), scores, headline, *([survival] if survival else [])):
        if not path.is_file():
            raise MissingFile(path, "no such table", "run the phases collect, score and tabulate")
    newest: dict[str, Any] = {name: _height(inputs[name]) for name in _TABLES}
    [values] = means([scores]).values()
    newest |= _headline(values)
    if survival:
        newest["held"] = dict(read_table(survival).select("split", "held_share").rows())
    with store.aside(folder / "metrics.json") as part:
        part.write_text(json.dumps(newest, indent=2) + "\n", encoding="utf-8", newline="\n")
    with store.aside(folder / "headline.csv") as part:
        shutil.copyfile(headline, part)


def _headline(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the first pool and measure of means by setting, split, task, system and measure."""
    setting = min(values, key=SETTINGS.index)
    split = min(values[setting], key=_POOLS.index)
    by_task: Mapping[str, Mapping[str, Mapping[str, float]]] = values[setting][split]
    measures = {
        m
        for systems in by_task.values()
        for values_of_task in systems.values()
        for m in values_of_task
    }
    measure = _MEASURE if _MEASURE in measures else min(measures)
    systems = dict.fromkeys(
        system for systems_of_task in by_task.values() for system in systems_of_task
    )
    values_of_system = {
        system: {
            t: values_of_task[system][measure]
            for t, values_of_task in by_task.items()
            if system in values_of_task
        }
        for system in systems
    }
    return {"pool": f"{setting}/{split}", "measure": measure, **values_of_system}


def _height(table: Path) -> int:
    return int(pl.scan_parquet(table, glob=False).select(pl.len()).collect().item())


def _of_group(group: pl.DataFrame, how: Resampling) -> pl.DataFrame:
    columns = group.select(_COLUMN).unique().sort(_COLUMN)
    earlier, later = _wide(group, "earlier"), _wide(group, "later")
    # What is lost is drawn itself, so that where both sides are the same it is 0 and not nearly 0.
    values, generator = np.hstack([later - earlier, later]), np.random.default_rng(how.seed)
    means = resampled_means(values, how.samples, generator)
    low, high = percentiles(_share(*np.hsplit(means, 2)), how.level)
    drop = _share(*np.hsplit(values.mean(axis=0), 2))
    cells = {"earlier": earlier.mean(axis=0), "later": later.mean(axis=0)}
    cells |= {"relative_drop": drop, "low": low, "high": high}
    series = [pl.Series(name, column).fill_nan(None) for name, column in cells.items()]
    return columns.with_columns(pl.lit(len(values), pl.Int64).alias("queries"), *series)


def _wide(group: pl.DataFrame, side: str) -> Floats:
    wide = group.sort(*_COLUMN, "query_id").pivot(
        _COLUMN, index="query_id", values=side, maintain_order=True
    )
    return np.ascontiguousarray(wide.drop("query_id").to_numpy())


def _share(lost: Floats, later: Floats) -> Floats:
    positive = later > 0
    return np.where(positive, lost / np.where(positive, later, 1.0), np.nan)
