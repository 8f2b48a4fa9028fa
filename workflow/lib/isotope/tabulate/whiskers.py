"""Dots with whiskers: means between the ends of their intervals, in panels of one scale.

A line of panels a task. By stratum a panel is a system, and a row a stratum; by pool a panel is a
pool, and a row a system. Rows with a heading stand in blocks: the strata of one kind. Plug-ins draw
others by `draw`.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import polars as pl

from isotope.core import sql
from isotope.tabulate.figures import canvas, looks_in_order, read_points, task_title, write_note
from isotope.tabulate.looks import Look
from isotope.tabulate.table import stratum_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes
_WIDTH_IN, _ROW_IN, _LINE_IN = 9.2, 0.17, 1.0
_MOST_PANELS = 6
_LETTERS = 100
_MARK_SCALE = 0.7
_SMALL = 8


# The row of a mark, its value, and the ends of its whisker.
Mark = tuple[str, float, float, float]


class Panel(NamedTuple):
    """A title, and marks by system: the row of each, its value, and the ends of its whisker."""

    title: str
    marks: Mapping[str, Sequence[Mark]]


class PanelLine(NamedTuple):
    """Panels side by side; `rows` from top to bottom, with `headings` among them."""

    title: str
    rows: Mapping[str, str]
    headings: frozenset[str]
    panels: Sequence[Panel]


def strata(
    sql_file: Path, relations: Mapping[str, sql.Files], values: Mapping[str, Any], out: Path
) -> None:
    """Draw `values["measure"]` by stratum: lines of panels a task, a panel a system.

    `relations` are intervals (schemas.INTERVALS). Where there is no stratum, the figure says so.
    """
    points = read_points(sql_file, relations, values)
    if points.is_empty():
        write_note("no query is in a stratum", out)
        return
    looks = looks_in_order(points, values)
    lines: list[PanelLine] = []
    for task in points["task"].unique(maintain_order=True):
        points_of_task = points.filter(pl.col("task") == task)
        rows, headings = _strata_rows(points_of_task)
        marks = marks_of(points_of_task, pl.concat_str("kind", "stratum", separator="/"))
        panels = [Panel(system, {system: marks[system]}) for system in looks if system in marks]
        lines += [
            PanelLine(task_title(task), rows, headings, broken_panels)
            for broken_panels in broken(panels)
        ]
    draw(lines, looks, str(values["measure"]), out)


def pools(
    sql_file: Path, relations: Mapping[str, sql.Files], values: Mapping[str, Any], out: Path
) -> None:
    """Draw `values["measure"]` of every system: lines of panels a task, a panel a pool.

    `relations` are intervals (schemas.INTERVALS). Where there is no mean, the figure says so.
    """
    points = read_points(sql_file, relations, values)
    chosen = points.filter(pl.col("measure") == values["measure"]) if len(points) else points
    if chosen.is_empty():
        write_note(f"no system was measured by {values['measure']}", out)
        return
    looks = looks_in_order(chosen, values)
    lines: list[PanelLine] = []
    for task in chosen["task"].unique(maintain_order=True):
        points_of_task = chosen.filter(pl.col("task") == task)
        parts = points_of_task.partition_by("setting", "split", maintain_order=True, as_dict=True)
        panels = [
            Panel(" · ".join(map(str, pool)), marks_of(part, pl.col("system")))
            for pool, part in parts.items()
        ]
        rows = {system: system for system in looks}
        lines += [PanelLine(task_title(task), rows, frozenset(), part) for part in broken(panels)]
    draw(lines, looks, str(values["measure"]), out)


def marks_of(
    points: pl.DataFrame, row: pl.Expr
) -> dict[str, list[tuple[str, float, float, float]]]:
    """Return the marks of each system, in the rows that `row` names; no interval, no whisker."""
    ends = [pl.col(c).fill_null(pl.col("value")) for c in ("low", "high")]
    named = points.select("system", row.alias("row"), "value", *ends)
    parts = named.partition_by("system", maintain_order=True, include_key=False, as_dict=True)
    return {str(key[0]): part.rows() for key, part in parts.items()}


def broken(panels: Sequence[Panel]) -> list[Sequence[Panel]]:
    """Return as few lines as hold the panels, with about as many in each."""
    lines = -(-len(panels) // _MOST_PANELS)
    length = -(-len(panels) // lines)
    return [panels[start : start + length] for start in range(0, len(panels), length)]


def _strata_rows(points: pl.DataFrame) -> tuple[dict[str, str], frozenset[str]]:
    """Return the labels of kinds and strata by key, and which of them are kinds."""
    rows: dict[str, str] = {}
    counted = points.group_by("kind", "stratum", maintain_order=True).agg(pl.col("queries").max())
    for kind, stratum, queries in counted.iter_rows():
        rows.setdefault(kind, kind)
        rows[f"{kind}/{stratum}"] = f"{stratum_words(stratum)} ({queries:,})"
    return rows, frozenset(points["kind"])


def draw(lines: Sequence[PanelLine], looks: Mapping[str, Look], measure: str, out: Path) -> None:
    """Draw lines of panels, one below the other, in one scale; `measure` stands below them."""
    heights = [_LINE_IN + _ROW_IN * len(line.rows) for line in lines]
    widest = max(len(line.panels) for line in lines)
    panels = [panel for line in lines for panel in line.panels]
    marks = [
        mark
        for panel in panels
        for marks_of_system in panel.marks.values()
        for mark in marks_of_system
    ]
    ends = min(0.0, *(low for *_, low, _ in marks)), max(1.0, *(high for *_, high in marks))
    size = {"width": _WIDTH_IN / widest, "height": sum(heights)}
    with canvas(out, widest, lines=heights, **size) as (figure, axes):
        for n, line in enumerate(lines):
            line_axes = axes[n * widest : (n + 1) * widest]
            for panel, drawn in zip(line.panels, line_axes, strict=False):
                _draw_panel(drawn, line, panel, looks)
                drawn.set_xlim(ends[0] - 0.03, ends[1] + 0.03)
            _name_rows(line_axes, line)
            for unused in line_axes[len(line.panels) :]:
                figure.delaxes(unused)
        figure.supxlabel(measure, fontsize=10)


def _draw_panel(axes: "Axes", line: PanelLine, panel: Panel, looks: Mapping[str, Look]) -> None:
    places = {row: n for n, row in enumerate(line.rows)}
    for system, marks in panel.marks.items():
        rows, values, lows, highs = zip(*marks, strict=True)
        ends = [[max(0, v - e) for v, e in zip(values, lows, strict=True)]]
        ends += [[max(0, e - v) for v, e in zip(values, highs, strict=True)]]
        look = looks[system].mark()
        look |= {"markersize": _MARK_SCALE * look["markersize"], "linestyle": "none"}
        axes.errorbar(values, [places[row] for row in rows], xerr=ends, elinewidth=1.1, **look)
    axes.set_title(fill(panel.title, _LETTERS // len(line.panels)), loc="left", fontsize=_SMALL)
    axes.set_ylim(len(line.rows) - 0.5, -0.5)
    axes.tick_params(axis="x", labelsize=_SMALL)
    axes.grid(visible=True, axis="x")
    axes.grid(visible=False, axis="y")


def _name_rows(panels: Sequence["Axes"], line: PanelLine) -> None:
    """Name the rows beside the first panel, whose ticks the others share, and the line above it."""
    for panel in panels:
        panel.set_yticks(range(len(line.rows)), [*line.rows.values()], fontsize=_SMALL)
        panel.tick_params(axis="y", length=0, labelleft=panel is panels[0])
    for row, label in zip(line.rows, panels[0].get_yticklabels(), strict=True):
        if row in line.headings:
            label.set_fontweight("bold")
    titles = max(panel.get_title(loc="left").count("\n") + 1 for panel in panels)
    # A title takes no width of the panels; blank lines lift it above those of the panels.
    lifted = line.title + "\n" * titles
    panels[0].set_title(lifted, loc="center", x=0, horizontalalignment="left", fontsize=11)
