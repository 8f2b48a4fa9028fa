"""Which queries become case studies: largest gain, largest loss, at random, or by their ids."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from hashlib import md5
from itertools import chain
from typing import Any

import polars as pl

from isotope.core import sql
from isotope.core.errors import UnknownId
from isotope.report.examples import Cell
from isotope.tabulate.table import rows

_SQL = sql.SQL / "tabulate"


def ranks_of(cell: Cell, task: str, systems: Sequence[str]) -> pl.DataFrame:
    """Return a row a judged pair of the task: query_id, doc_id, rank by the first and the last."""
    one, two = (replace(cell, system=s).run(task) for s in (systems[0], systems[-1]))
    relations = {"one": one, "two": two, "qrels": cell.table("qrels")}
    params = {"task": task, "split": cell.split}
    return rows(_SQL / "cases_answers.sql", relations, params)


def choose(ranks: pl.DataFrame, asked: Mapping[str, Any]) -> dict[str, str]:
    """Return {query id: why it was chosen}."""
    firsts = ranks.group_by("query_id").agg(pl.col("rank", "other_rank").min())
    gain = (1 / pl.col("rank")).fill_null(0.0) - (1 / pl.col("other_rank")).fill_null(0.0)
    gains = firsts.select("query_id", gain=gain).sort("gain", "query_id", descending=[True, False])
    if isinstance(asked["queries"], list):
        known = set(gains["query_id"])
        return {q: "as asked for" for q in asked["queries"] if q in known}
    n = asked["queries"]
    best = gains.filter(pl.col("gain") > 0).head(n)["query_id"]
    worst = gains.filter(pl.col("gain") < 0).sort("gain", "query_id").head(n)["query_id"]
    chosen = {**dict.fromkeys(best, "largest gain"), **dict.fromkeys(worst, "largest loss")}
    others = sorted(set(gains["query_id"]) - set(chosen), key=lambda q: _drawn(asked["seed"], q))
    return {**chosen, **dict.fromkeys(others[:n], "at random")}


def _drawn(seed: int, query: str) -> tuple[str, str]:
    return md5(f"{seed}/{query}".encode(), usedforsecurity=False).hexdigest(), query


def check_ids(queries: int | list[str], chosen: Mapping[str, Mapping[str, str]]) -> None:
    """Refuse ids that no task has judgements for.

    Raises:
        UnknownId: the first of them.
    """
    unknown = set(queries if isinstance(queries, list) else ()) - set(chain(*chosen.values()))
    if unknown:
        found = f"no judged query {min(unknown)!r} in this split"
        raise UnknownId("params tabulate.cases.queries", found, "see the view qrels of the catalog")
