"""Tables and figures that need more than the collection and its scores."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from isotope.core import sql
from isotope.tabulate import bars
from isotope.tabulate.exhibits import tabulate_each
from isotope.tabulate.statistics_tables import CHOSEN, FACTS, STATISTICS, given

_SQL = sql.SQL / "tabulate"


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
    bars.subsets(_SQL / "subsets_exact.sql", subsets, shown, figures / "subsets.svg")


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
    bars.bars(_SQL / f"{name}.sql", chosen, asked, figures / f"{name}.svg")
    tabulate_each({name: table}, relations, params, tables)
