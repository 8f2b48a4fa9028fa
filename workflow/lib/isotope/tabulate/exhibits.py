"""Every table and figure of one collection, from its Parquet tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isotope.core import sql
from isotope.tabulate import figures as draw
from isotope.tabulate.statistics_tables import CHOSEN, ROAD, Table, given
from isotope.tabulate.table import metrics, tabulate

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
    draw.corpus_size(_SQL / "corpus_size.sql", sized, asked, figures / "corpus_size.svg")
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
        tabulate(_SQL / f"{name}.sql", reads, given(table, params), folder / name)
