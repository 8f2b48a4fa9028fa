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
}


def tabulate_all(
    relations: Mapping[str, Path],
    curves: Sequence[Path],
    *,
    tables: Path,
    figures: Path,
    params: Mapping[str, Any],
) -> None:
    """Write `tables`/<name>.{csv,md,tex}, `tables`/metrics.json and `figures`/<name>.svg.

    `params` are alpha (of the significance letters), split and measure (of the corpus-size figure).
    """
    for name, reads in _READS.items():
        given = {"alpha": params["alpha"]} if name == "table3" else {}
        chosen = {r: relations[r] for r in reads}
        tabulate(_SQL / f"{name}.sql", chosen, given, tables / name)
    metrics([relations["scores"]], tables / "metrics.json")
    sized = {r: relations[r] for r in ("scores", "texts", "images")}
    asked = {k: params[k] for k in ("split", "measure")}
    draw.corpus_size(_SQL / "corpus_size.sql", sized, asked, figures / "corpus_size.svg")
    for curve in curves:
        draw.learning_curve(curve, figures / f"curve-{curve.parent.name}.svg")
