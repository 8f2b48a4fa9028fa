"""Bars for shares of a whole, and lines for nested subsets; the same ink as the other figures."""

from collections.abc import Mapping
from pathlib import Path

import polars as pl

from isotope.core import sql
from isotope.core.errors import EmptyTable
from isotope.tabulate.figures import COLOURS, TASKS, canvas, in_order, legend, styles
from isotope.tabulate.table import rows


def bars(
    sql_file: Path, relations: Mapping[str, sql.Files], params: Mapping[str, object], out: Path
) -> None:
    """Draw a query's `share` by its `label`, in its order; a panel for each `counted`, if any.

    Raises:
        EmptyTable: a query without rows.
    """
    found = _rows(sql_file, relations, params)
    panels = found.partition_by("counted", maintain_order=True) if "counted" in found else [found]
    with canvas(out, panels=max(2, len(panels))) as (figure, axes):
        for panel, part in zip(axes, panels, strict=False):
            panel.barh(part["label"].to_list(), (100 * part["share"]).to_list(), color=COLOURS[0])
            panel.invert_yaxis()
            panel.grid(visible=False)
            panel.set_xlabel(f"% of {part.columns[2 if 'counted' in part else 1]}")
            for place, share in enumerate(part["share"]):
                panel.annotate(f" {share:.1%}", (100 * share, place), va="center", fontsize=8)
            panel.margins(x=0.18)
            if "counted" in part:
                panel.set_title(f"{part['counted'][0]} in an image", loc="left", fontsize=11)
        for unused in axes[len(panels) :]:
            figure.delaxes(unused)


def subsets(
    sql_file: Path, relations: Mapping[str, sql.Files], params: Mapping[str, object], out: Path
) -> None:
    """Draw a measure against the size of nested subsets: a panel a task, a line a system.

    Where no point is exact, because the runs are short beside the pool, the figure says so.
    """
    found = rows(sql_file, relations, params)
    if found.is_empty():
        _say("no size has an exact value: raise search.depth", out)
        return
    tasks: list[str] = found["task"].unique(maintain_order=True).to_list()
    systems = in_order(found, params)
    with canvas(out, panels=len(tasks)) as (figure, panels):
        for task, panel in zip(tasks, panels, strict=True):
            for system, style in zip(systems, styles(), strict=False):
                line = found.filter(pl.col("task") == task, pl.col("system") == system)
                panel.plot(line["documents"], line["value"], label=system, **style)
            sizes = found.filter(pl.col("task") == task)["documents"].unique().sort().to_list()
            panel.set_xscale("log")
            panel.set_xticks(sizes, [f"{n:,}" for n in sizes], fontsize=8, rotation=45)
            panel.minorticks_off()
            panel.set_ylim(bottom=0)
            panel.set_xlabel("documents")
            panel.set_title(TASKS.get(task, task), loc="left", fontsize=11)
        panels[0].set_ylabel(str(params["measure"]))
        legend(figure, panels[0], len(systems))


def _say(text: str, out: Path) -> None:
    with canvas(out, panels=1) as (_, panels):
        panels[0].set_axis_off()
        panels[0].text(0.5, 0.5, text, ha="center", va="center")


def _rows(
    sql_file: Path, relations: Mapping[str, sql.Files], params: Mapping[str, object]
) -> pl.DataFrame:
    found = rows(sql_file, relations, params)
    if found.is_empty():
        raise EmptyTable(sql_file, f"nothing to draw for {dict(params)}", "see the tables it reads")
    return found
