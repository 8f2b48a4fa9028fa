"""Two collections against each other (Fig. 7): does what is good here do well there?"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl
from scipy.stats import kendalltau

from isotope.core import sql
from isotope.core.errors import EmptyTable
from isotope.tabulate.figures import TASKS, canvas, in_order, legend, styles
from isotope.tabulate.table import rows, tabulate

_TWO = 2


def against(
    scores: Sequence[Path], params: Mapping[str, object], *, table: Path, figure: Path
) -> None:
    """Write `table`.{csv,md,tex} and draw `figure`: a point a system, a panel a task.

    `params` are here and there (collections), measure and other (their measures), setting, split
    and other_split (theirs), and the order of systems. A panel's title has Kendall's tau between
    the two rankings of the systems.

    Raises:
        EmptyTable: no system that was scored on both collections.
    """
    sql_file, relations = sql.SQL / "tabulate" / "against.sql", {"scores": scores}
    points = rows(sql_file, relations, params)
    if points.is_empty():
        found = f"no system scored on both {params['here']} and {params['there']}"
        raise EmptyTable(sql_file, found, "run the same systems, settings and splits on both")
    tabulate(sql_file, relations, params, table)
    tasks: list[str] = points["task"].unique(maintain_order=True).to_list()
    systems = in_order(points, params)
    here, there = _axes(params)
    with canvas(figure, panels=len(tasks)) as (page, panels):
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
    tau, _ = kendalltau(points["here"].to_numpy(), points["there"].to_numpy())
    return f", τ = {tau:.2f}"
