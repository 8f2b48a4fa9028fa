"""What systems lose from one snapshot to the next, as a drawing."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from isotope.tabulate.figures import TASKS, canvas, in_order, legend, styles

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SPREAD = 0.6


def draw_drops(points: pl.DataFrame, params: Mapping[str, Any], out: Path) -> None:
    """Draw the relative drop by strata of queries: a panel a task, a mark a system.

    It is that of the first of `params["measures"]`; `params["systems"]` orders the systems.
    `points` are rows of sql/tabulate/temporal.sql; a whisker is the interval, where there is one.
    """
    measure = params["measures"][0]
    chosen = points.filter(pl.col("measure") == measure)
    tasks: list[str] = chosen["task"].unique(maintain_order=True).to_list()
    systems = in_order(chosen, params)
    with canvas(out, panels=max(1, len(tasks))) as (figure, panels):
        for task, panel in zip(tasks, panels, strict=False):
            _panel(panel, chosen.filter(pl.col("task") == task), systems)
            panel.set_title(TASKS.get(task, task), loc="left", fontsize=11)
            panel.set_xlabel(f"% of {measure} lost")
        if systems:
            legend(figure, panels[0], len(systems))


def _panel(panel: "Axes", points: pl.DataFrame, systems: list[str]) -> None:
    strata: list[str] = points["queries"].unique(maintain_order=True).to_list()
    sizes = dict(points.select("queries", "number").rows())
    step = _SPREAD / max(1, len(systems) - 1)
    for place, (system, style) in enumerate(zip(systems, styles(), strict=False)):
        own = points.filter(pl.col("system") == system).drop_nulls("drop_share")
        rows = [strata.index(s) + place * step - _SPREAD / 2 for s in own["queries"]]
        drop = own["drop_share"]
        ends = [(drop - own["low_share"]).fill_null(0), (own["high_share"] - drop).fill_null(0)]
        whiskers = [(100 * end.clip(0)).to_list() for end in ends]
        marks: dict[str, Any] = {**style, "linestyle": "none", "elinewidth": 1.2, "capsize": 2}
        panel.errorbar((100 * drop).to_list(), rows, xerr=whiskers, label=system, **marks)
    panel.axvline(0, color=panel.spines["left"].get_edgecolor(), linewidth=0.8)
    panel.set_yticks(range(len(strata)), [f"{s} ({sizes[s]:,})" for s in strata])
    panel.set_ylim(len(strata) - 0.5, -0.5)
    panel.grid(visible=True, axis="x")
    panel.grid(visible=False, axis="y")
