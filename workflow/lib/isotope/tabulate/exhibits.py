"""Every table and figure of one collection, from its Parquet tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from isotope.core import sql
from isotope.tabulate import figures as bars
from isotope.tabulate import figures as draw
from isotope.tabulate.table import metrics, tabulate


class Table(NamedTuple):
    """The relations that a query reads, and the params that it asks for."""

    reads: tuple[str, ...]
    asks: Mapping[str, object]


_ORDER: Mapping[str, object] = {"systems": None}
CHOSEN: Mapping[str, object] = dict.fromkeys(("split", "measure", "systems"))
_CELL: Mapping[str, object] = {**CHOSEN, "setting": None}
ROAD: Mapping[str, Table] = {
    "table1": Table(("texts", "images", "qrels"), {}),
    "account": Table(("filters",), {}),
    "table3": Table(("scores", "significance"), {"alpha": None, **_ORDER}),
    "headline": Table(("scores",), _CELL),
}
ACCOUNTS: Mapping[str, str] = {
    "crawl": "ledger",
    "projection": "projection",
    "picture_words": "pictures",
}
STATISTICS: Mapping[str, Table] = {
    "table2": Table(("tokens",), {}),
    "intervals": Table(("intervals",), _ORDER),
    "strata": Table(("intervals",), _CELL),
    "subsets": Table(("subsets",), CHOSEN),
    "overlap": Table(("tops",), _ORDER),
}
# ASSUME a topic is predicted when its probability is above one half, as Wikimedia counts them;
# AToMiC takes the predicted classes (section 4.2) and does not say.
FACTS: Mapping[str, Table] = {
    "categories": Table(("texts", "topics"), {"probability": 0.5, "tail": None}),
    "objects": Table(("images", "objects"), {"tail": None}),
    "object_counts": Table(("images", "objects"), {"most": 10}),
    "styles": Table(("images", "styles"), {"tail": None}),
}


def given(table: Table, params: Mapping[str, Any]) -> dict[str, object]:
    """Return the query's parameters: fixed ones, and the others from `params`."""
    return {k: params[k] if v is None else v for k, v in table.asks.items()}


def figures_from(facts: Mapping[str, object]) -> list[str]:
    """Return the names of FACTS whose facts are there."""
    collected = {"texts", "images"}
    return [n for n, table in FACTS.items() if set(table.reads) - collected <= set(facts)]


_SQL = sql.SQL / "tabulate"


def tabulate_all(
    relations: Mapping[str, Path],
    curves: Sequence[Path],
    *,
    tables: Path,
    figures: Path,
    params: Mapping[str, Any],
) -> None:
    """Write `tables`/<name>.{csv,md,tex}, `tables`/metrics.json and `figures`/<name>.svg.

    `params` are alpha (of the significance letters), and the setting, split and measure that the
    headline table and the corpus-size figure show.
    """
    tabulate_each(ROAD, relations, params, tables)
    metrics([relations["scores"]], tables / "metrics.json")
    sized = {r: relations[r] for r in ("scores", "texts", "images")}
    asked = {k: params[k] for k in CHOSEN}
    draw.corpus_size(_SQL / "tables/corpus_size.sql", sized, asked, figures / "corpus_size.svg")
    for curve in curves:
        draw.learning_curve(curve, figures / f"curve-{curve.parent.name}.svg")


def tabulate_each(
    chosen: Mapping[str, Table],
    relations: Mapping[str, Path],
    params: Mapping[str, Any],
    folder: Path,
) -> None:
    """Write `folder`/<name>.{csv,md,tex} for each table, from the relations that it reads.

    Raises:
        IsotopeError: what `tabulate` raises.
    """
    for name, table in chosen.items():
        reads = {r: relations[r] for r in table.reads}
        tabulate(_SQL / f"tables/{name}.sql", reads, given(table, params), folder / name)


def tabulate_statistics(
    relations: Mapping[str, Path], *, tables: Path, figures: Path, params: Mapping[str, Any]
) -> None:
    """Write `tables`/<name>.{csv,md,tex} for each of STATISTICS, and `figures`/subsets.svg.

    `relations` are tokens, intervals, subsets and tops; `params` the setting, split and measure.

    Raises:
        IsotopeError: what `tabulate` raises.
    """
    tabulate_each(STATISTICS, relations, params, tables)
    subsets, shown = {"subsets": relations["subsets"]}, {k: params[k] for k in CHOSEN}
    bars.subsets(_SQL / "tables/subsets_exact.sql", subsets, shown, figures / "subsets.svg")


def tabulate_facts(
    name: str,
    relations: Mapping[str, Path],
    *,
    tables: Path,
    figures: Path,
    params: Mapping[str, Any],
) -> None:
    """Write one of FACTS as `tables`/<name>.{csv,md,tex} and `figures`/<name>.svg.

    `relations` are the collection's tables and its facts; `params` has the tail.

    Raises:
        MissingFile: a fact that is not where the params say.
        EmptyTable: a fact that says nothing of this collection.
    """
    table = FACTS[name]
    chosen, asked = {r: relations[r] for r in table.reads}, given(table, params)
    bars.bars(_SQL / f"tables/{name}.sql", chosen, asked, figures / f"{name}.svg")
    tabulate_each({name: table}, relations, params, tables)
