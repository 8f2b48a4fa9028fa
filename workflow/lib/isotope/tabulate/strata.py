"""Means with bootstrap intervals, over all queries and over strata of them."""

from collections.abc import Container, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from isotope.core import sql, store
from isotope.core.errors import EmptyTable
from isotope.core.measures import Floats, percentiles, resampled_means
from isotope.core.progress import Progress
from isotope.schemas.tabulate import INTERVALS

ALL, MACRO, GAP = "all", "macro", "head - tail"
# The SQL file strata/<first word of the kind>.sql says who is in which stratum: its relations, by
# the fact that each reads.
KINDS: Mapping[str, Mapping[str, str]] = {
    "popularity by views": {"texts": "texts", "qrels": "qrels", "popularity": "views"},
    "popularity by monthly views": {
        "texts": "texts",
        "qrels": "qrels",
        "popularity": "monthly_views",
    },
    "popularity by in-links": {"texts": "texts", "qrels": "qrels", "popularity": "inlinks"},
    "caption": {"images": "images", "qrels": "qrels"},
    "style": {"qrels": "qrels", "styles": "styles"},
    "decade": {"images": "images", "qrels": "qrels"},
    "language": {"texts": "texts", "qrels": "qrels"},
    "split": {"qrels": "qrels"},
}
# A column that not every collection has.
_NEEDS = {"decade": ("images", "date")}
_MONTHLY = "popularity by monthly views"
_GAPS = {
    "popularity": ("10", "01"),
    "caption": ("present", "absent"),
    _MONTHLY: ("head", "tail"),
}
_COLUMN = ["measure", "system"]
_CELL = ["setting", "split", "task"]


class Resampling(NamedTuple):
    """How often queries are drawn anew, from which seed, and the share that an interval holds.

    `gains` are pairs of systems: what the first has over the second is one more row, `a - b`.
    """

    samples: int = 1000
    seed: int = 0
    level: float = 0.95
    gains: Sequence[Sequence[str]] = ()


class Thresholds(NamedTuple):
    """Views a month: more than `head` make the head, fewer than `tail` the tail.

    The defaults are those of OVEN (Hu et al., ICCV 2023, section 6).
    """

    head: float = 5000
    tail: float = 2500


USUAL = Resampling()
PAPER = Thresholds()


class _Stratum(NamedTuple):
    """A row of means and its resampled rows; a combination of strata has both as well."""

    name: str
    queries: int
    value: Floats
    means: Floats


def intervals_table(  # noqa: PLR0913
    scores: Path,
    facts: Mapping[str, Path],
    *,
    language: str,
    how: Resampling,
    out: Path,
    views: Thresholds = PAPER,
    inputs: Mapping[str, Path] = MappingProxyType({}),
) -> None:
    """Write schemas.INTERVALS: for each cell the mean over all queries, then over strata.

    `facts`, and `inputs` beside them, are the files of KINDS; a kind of which one is absent is left
    out. Within a kind, `macro` is the mean of the strata's means, and `head - tail` is the tenth
    decile less the first, the head less the tail of `views`, or what has captions less what has
    none. Strata are drawn anew each on its own, so their sizes stay. Of the kind `split`, the cell
    is the union of the splits, named `all`. Ends that the queries do not tell
    (`measures.percentiles`) are null.

    Raises:
        EmptyTable: no scores.
    """
    lazy = pl.scan_parquet(scores, glob=False)
    places = lazy.select("setting", "task").unique().sort("setting", "task").collect().rows()
    if not places:
        raise EmptyTable(scores, "no scores", "run the phase score")
    strata = members({**facts, **inputs}, language, views)
    progress = Progress("settings and tasks", len(places))
    with store.writer(out, INTERVALS) as writer:
        for setting, task in places:
            scores_of_cell = lazy.filter(
                pl.col("setting") == setting, pl.col("task") == task
            ).collect()
            compared = pl.concat(
                [scores_of_cell, *(gain(scores_of_cell, *pair) for pair in how.gains)]
            )
            for table in _of_place(compared, strata.filter(pl.col("task") == task), how):
                rows = table.select(INTERVALS.names)
                writer.write_table(rows.to_arrow().cast(INTERVALS))
            progress.add()
    progress.finish()


def gain(scores: pl.DataFrame, system: str, other: str) -> pl.DataFrame:
    """Return what `system` has over `other` in each row that both have, as a system of its own."""
    mine, yours = (scores.filter(pl.col("system") == name) for name in (system, other))
    cell = [c for c in scores.columns if c not in ("system", "value")]
    both = mine.join(yours.select(*cell, less="value"), on=cell)
    named = pl.lit(gain_name(system, other)).alias("system")
    return both.with_columns(named, value=pl.col("value") - pl.col("less")).select(scores.columns)


def gain_name(system: str, other: str) -> str:
    """Return what tables call the gain of `system` over `other`."""
    return f"{system} - {other}"


def members(facts: Mapping[str, Path], language: str, views: Thresholds = PAPER) -> pl.DataFrame:
    """Return who is in which stratum: kind, task, split, query_id, stratum."""
    thresholds: Mapping[str, Mapping[str, object]] = {
        "caption": {"language": language},
        "popularity": dict.fromkeys(Thresholds._fields),
        _MONTHLY: views._asdict(),
    }
    parts = [pl.DataFrame(schema=dict.fromkeys(_MEMBER, pl.String()))]
    for kind, reads in KINDS.items():
        if all(name in facts for name in reads.values()) and _has_column(kind, facts):
            query = sql.SQL / f"tabulate/strata/{kind.split()[0]}.sql"
            params = thresholds.get(_key(kind, thresholds), {})
            rows = sql.query(query, {r: facts[name] for r, name in reads.items()}, params)
            parts.append(rows.with_columns(kind=pl.lit(kind)).select(_MEMBER))  # pyright: ignore[reportOptionalMemberAccess]
    return pl.concat(parts)


def _key(kind: str, kinds: Container[str]) -> str:
    """Return the kind, or its first word where only that is known."""
    return kind if kind in kinds else kind.split(maxsplit=1)[0]


def _has_column(kind: str, facts: Mapping[str, Path]) -> bool:
    table, column = _NEEDS.get(kind, ("", ""))
    return not table or column in pq.read_schema(facts[table]).names


_MEMBER = ["kind", "task", "split", "query_id", "stratum"]


def _of_place(
    compared: pl.DataFrame, strata: pl.DataFrame, how: Resampling
) -> Iterator[pl.DataFrame]:
    everyone = compared.with_columns(kind=pl.lit(ALL), stratum=pl.lit(ALL))
    within = compared.join(strata, on=["task", "split", "query_id"])
    joint_split = pl.when(pl.col("kind") == "split").then(pl.lit(ALL)).otherwise(pl.col("split"))
    both = pl.concat([everyone, within.select(everyone.columns).with_columns(split=joint_split)])
    groups = both.partition_by([*_CELL, "kind"], as_dict=True)
    for key, group in sorted(groups.items()):
        names = zip([*_CELL, "kind"], key, strict=True)
        yield _of_group(group, how).with_columns(pl.lit(v).alias(k) for k, v in names)


def _of_group(group: pl.DataFrame, how: Resampling) -> pl.DataFrame:
    # An external system need not have a run in every split: such a one has no value across splits.
    strata_count = pl.col("stratum").n_unique()
    group = group.filter(strata_count.over(_COLUMN) == strata_count)
    columns = group.select(_COLUMN).unique().sort(_COLUMN)
    parts = group.sort("stratum").partition_by("stratum", as_dict=True, maintain_order=True)
    strata = [_stratum(str(key[0]), n, part, how) for n, (key, part) in enumerate(parts.items())]
    combined = _combined(strata, str(group["kind"][0]))
    return pl.concat(_rows(stratum, columns, how.level) for stratum in [*strata, *combined])


def _stratum(name: str, n: int, part: pl.DataFrame, how: Resampling) -> _Stratum:
    wide = part.sort(*_COLUMN, "split", "query_id").pivot(
        _COLUMN, index=["split", "query_id"], values="value", maintain_order=True
    )
    values = np.ascontiguousarray(wide.drop("split", "query_id").to_numpy())
    generator = np.random.default_rng([how.seed, n] if n else how.seed)
    means = resampled_means(values, how.samples, generator)
    return _Stratum(name, len(values), values.mean(axis=0), means)


def _combined(strata: list[_Stratum], kind: str) -> Iterator[_Stratum]:
    if kind == ALL:
        return
    queries = sum(s.queries for s in strata)
    value = np.mean([s.value for s in strata], axis=0)
    yield _Stratum(MACRO, queries, value, np.mean([s.means for s in strata], axis=0))
    named = {s.name: s for s in strata}
    ends = _GAPS.get(_key(kind, _GAPS), ())
    if ends and set(ends) <= set(named):
        head, tail = (named[name] for name in ends)
        both = head.queries + tail.queries
        yield _Stratum(GAP, both, head.value - tail.value, head.means - tail.means)


def _rows(stratum: _Stratum, columns: pl.DataFrame, level: float) -> pl.DataFrame:
    low, high = percentiles(stratum.means, level)
    return columns.with_columns(
        stratum=pl.lit(stratum.name),
        queries=pl.lit(stratum.queries, pl.Int64),
        value=pl.Series(stratum.value),
        low=pl.Series(low).fill_nan(None),
        high=pl.Series(high).fill_nan(None),
    )
