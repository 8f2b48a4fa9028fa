"""OVEN's Fig. 6 (Hu et al., ICCV 2023): how well systems know popular and rare entities."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core import sql
from isotope.core.errors import EmptyTable
from isotope.tabulate.figures import COLOURS, canvas, in_order, legend
from isotope.tabulate.table import rows

_SQL = sql.SQL / "tabulate" / "popularity.sql"
_HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo")
_GROUP = 0.8


def popularity(intervals: Path, params: Mapping[str, Any], out: Path) -> None:
    """Draw bars of a measure, tail to head, a bar a system, with the ends of its interval.

    `intervals` are tables.INTERVALS; `params` are setting, split and measure, and the systems in
    their order.

    Raises:
        EmptyTable: no stratum of monthly views in this pool.
    """
    found = rows(_SQL, {"intervals": intervals}, params)
    if found.is_empty():
        remedy = "name a file of views that has this collection's entities"
        raise EmptyTable(intervals, "no entity with monthly views", remedy)
    systems = in_order(found, params)
    strata: list[str] = found["stratum"].unique(maintain_order=True).to_list()
    width = _GROUP / len(systems)
    with canvas(out, panels=1) as (figure, (panel,)):
        for n, system in enumerate(systems):
            own = found.filter(pl.col("system") == system)
            at = [strata.index(s) + (n + 0.5) * width - _GROUP / 2 for s in own["stratum"]]
            bars = panel.bar(at, own["value"], width, label=system, color=COLOURS[n % len(COLOURS)])
            for bar in bars:
                bar.set_hatch(_HATCHES[n % len(_HATCHES)])
            ends = [own["value"] - own["low"], own["high"] - own["value"]]
            panel.errorbar(at, own["value"], ends, fmt="none", ecolor="#010203", linewidth=1)
        counts = found.group_by("stratum").agg(pl.col("queries").max())
        sizes = dict(counts.iter_rows())
        panel.set_xticks(range(len(strata)), [f"{s}\n{sizes[s]:,} questions" for s in strata])
        panel.set_ylabel(str(params["measure"]))
        legend(figure, panel, len(systems))
