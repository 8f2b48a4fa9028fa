"""Every table and figure of one collection, from its Parquet tables."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from isotope import figures as draw
from isotope import sql
from isotope.tabulate import metrics, tabulate

_SQL = sql.SQL / "tabulate"
_READS = {
    "table1": ("texts", "images", "qrels"),
    "account": ("filters",),
    "crawl": ("ledger",),
    "projection": ("projection",),
    "table3": ("scores", "significance"),
    "headline": ("scores",),
}
_ASKS = {"table3": ("alpha",), "headline": ("setting", "split", "measure")}


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
    for name, reads in _READS.items():
        given = {k: params[k] for k in _ASKS.get(name, ())}
        chosen = {r: relations[r] for r in reads}
        tabulate(_SQL / f"{name}.sql", chosen, given, tables / name)
    metrics([relations["scores"]], tables / "metrics.json")
    sized = {r: relations[r] for r in ("scores", "texts", "images")}
    asked = {k: params[k] for k in ("split", "measure")}
    draw.corpus_size(_SQL / "corpus_size.sql", sized, asked, figures / "corpus_size.svg")
    for curve in curves:
        draw.learning_curve(curve, figures / f"curve-{curve.parent.name}.svg")
