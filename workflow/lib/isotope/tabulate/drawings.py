"""Two collections against each other (Fig. 7): does what is good here do well there?"""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from isotope.core import sql
from isotope.core.errors import EmptyTable
from isotope.tabulate.figures import COLOURS, TASKS, canvas, in_order, legend, styles
from isotope.tabulate.table import rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_SPREAD = 0.6


def draw_drops(points: pl.DataFrame, params: Mapping[str, Any], out: Path) -> None:
    """Draw the relative drop by strata of queries: a panel a task, a mark a system.

    It is that of the first of `params["measures"]`; `params["systems"]` orders the systems.
    `points` are rows of tables/temporal.sql; a whisker is the interval, where there is one.
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


_HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo")
_GROUP = 0.8


def popularity(
    sql_file: Path, relations: Mapping[str, sql.Files], params: Mapping[str, Any], out: Path
) -> None:
    """Draw bars of a measure, tail to head, a bar a system, with the ends of its interval.

    `relations` are intervals (tables.INTERVALS); `params` are setting, split and measure, and the
    systems in their order.

    Raises:
        EmptyTable: no stratum of monthly views in this pool.
    """
    found = rows(sql_file, relations, params)
    if found.is_empty():
        remedy = "name a file of views that has this collection's entities"
        raise EmptyTable(str(relations["intervals"]), "no entity with monthly views", remedy)
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


_TWO = 2


def against(
    sql_file: Path, relations: Mapping[str, sql.Files], params: Mapping[str, Any], out: Path
) -> None:
    """Draw a collection's scores against another's: a point a system, a panel a task.

    `relations` are the scores of both; `params` are here and there (collections), measure and other
    (their measures), setting, split and other_split (theirs), and the order of systems. A panel's
    title has Kendall's tau between the two rankings of the systems.

    Raises:
        EmptyTable: no system that was scored on both collections.
    """
    points = rows(sql_file, relations, params)
    if points.is_empty():
        found = f"no system scored on both {params['here']} and {params['there']}"
        raise EmptyTable(sql_file, found, "run the same systems, settings and splits on both")
    tasks: list[str] = points["task"].unique(maintain_order=True).to_list()
    systems = in_order(points, params)
    here, there = _axes(params)
    with canvas(out, panels=len(tasks)) as (page, panels):
        for task, panel in zip(tasks, panels, strict=True):
            own = points.filter(pl.col("task") == task)
            for system, style in zip(systems, styles(), strict=False):
                point = own.filter(pl.col("system") == system)
                panel.plot(point["here"], point["there"], label=system, **style)
            panel.set(xlim=(0, None), ylim=(0, None))
            panel.set_xlabel(here)
            panel.set_title(f"{TASKS.get(task, task)}{_tau(own)}", loc="left", fontsize=11)
        panels[0].set_ylabel(there)
        legend(page, panels[0], len(systems))


def _axes(params: Mapping[str, object]) -> tuple[str, str]:
    """Return what the axes show; the splits, too, where they differ."""
    here, there = (
        f"{params[measure]} on {params[collection]}"
        for measure, collection in (("measure", "here"), ("other", "there"))
    )
    if params["split"] == params["other_split"]:
        return here, there
    return f"{here}, {params['split']}", f"{there}, {params['other_split']}"


def _tau(points: pl.DataFrame) -> str:
    distinct = min(points["here"].n_unique(), points["there"].n_unique())
    if distinct < _TWO:
        return ""
    # The plan reads the exhibits, and this takes longer to import than all else in it.
    from scipy.stats import kendalltau  # noqa: PLC0415

    tau, _ = kendalltau(points["here"].to_numpy(), points["there"].to_numpy())
    return f", τ = {tau:.2f}"
