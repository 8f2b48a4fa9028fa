"""The figure of means by people, by a model, and by both."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core import sql
from isotope.tabulate.figures import looks_in_order, read_points, task_title
from isotope.tabulate.whiskers import Panel, PanelLine, broken, draw, marks_of


def judged(
    sql_file: Path, relations: Mapping[str, sql.Files], values: Mapping[str, Any], out: Path
) -> None:
    """Draw means by people, by a model and by both: a line a task and model, a panel a measure.

    `relations` are estimates (schemas.ESTIMATES); a mean without an interval is a dot, and
    one that is not there has a row of its own all the same.
    """
    points = read_points(sql_file, relations, values)
    looks = looks_in_order(points, values)
    lines: list[PanelLine] = []
    for (judge, task), task_points in points.partition_by(
        "judge", "task", maintain_order=True, as_dict=True
    ).items():
        rows: dict[str, str] = {}
        for system, by in (
            task_points.select("system", "judged_by").unique(maintain_order=True).iter_rows()
        ):
            rows |= {str(system): str(system), f"{system}/{by}": str(by)}
        valued = task_points.drop_nulls("value")
        parts = valued.partition_by("measure", maintain_order=True, as_dict=True)
        row = pl.concat_str("system", "judged_by", separator="/")
        panels = [Panel(str(measure), marks_of(part, row)) for (measure,), part in parts.items()]
        title = f"{task_title(str(task))}, judged by {judge}"
        headings = frozenset(map(str, task_points["system"]))
        lines += [PanelLine(title, rows, headings, part) for part in broken(panels)]
    draw(lines, looks, "mean over queries", out)
