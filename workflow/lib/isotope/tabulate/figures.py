"""Figures as SVG: same numbers, same bytes; they take the ink of the page that embeds them.

A function draws the rows of a query: `(sql_file, relations, values, out)`; `learning_curve` and
`draw_drops` draw a table that is there already. Of `values`, `systems` is the order of systems and
`looks` the number of each one's look (`isotope.tabulate.looks`); the others are the query's.
"""

import io
from collections.abc import Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from isotope.core import sql, store
from isotope.core.errors import EmptyTable
from isotope.core.grid import TASKS
from isotope.tabulate.looks import (
    NEUTRAL,
    PAPER,
    Look,
    Point,
    draw_lines,
    draw_marks,
    keys,
    looks_of,
    part_style,
)
from isotope.tabulate.table import rows, synset_words

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
_PANEL_IN, _HEIGHT_IN, _ROW_IN, _LEGEND_ROW_IN = 4.6, 3.6, 0.12, 0.21
_LEGEND_PT = {"handle": 28, "pad": 6, "column": 14}
_LEGEND_COLUMNS = 3
_NOTE_IN = 0.5
_TICK_PT = 9
_LABEL_GAP_PT = 5
_ROOM = 0.08
_GROUP = 0.8
_LEAST_RANKS = 2
_INK, _FAINT = "#010203", "#010204"
_STYLE: dict[Any, object] = {
    "svg.hashsalt": "isotope",
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 10,
    "text.color": _INK,
    "axes.labelcolor": _INK,
    "axes.edgecolor": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.grid.axis": "y",
    "axes.axisbelow": True,
    "grid.color": _FAINT,
    "grid.linewidth": 0.6,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "hatch.color": PAPER,
    "hatch.linewidth": 0.9,
    "lines.linewidth": 1.8,
    "lines.markersize": 6,
    "lines.dash_capstyle": "butt",
    "legend.frameon": False,
}


def corpus_size(
    sql_file: Path, relations: Mapping[str, sql.Files], values: Mapping[str, Any], out: Path
) -> None:
    """Draw `values["measure"]` against the number of documents: a panel a task, a line a system.

    `relations` are scores, texts and images; `values` are split and measure. A size is labelled by
    its settings.

    Raises:
        EmptyTable: no score of this split and measure.
    """
    points = read_points(sql_file, relations, values)
    if points.is_empty():
        wanted = {name: values[name] for name in ("split", "measure")}
        raise EmptyTable(sql_file, f"no scores for {wanted}", "name a scored split and measure")
    _draw_sizes(points, values, out)


def subsets(
    sql_file: Path, relations: Mapping[str, sql.Files], values: Mapping[str, Any], out: Path
) -> None:
    """Draw a measure against the size of nested subsets: a panel a task, a line a system.

    `values` are split and measure. A size at which no value is exact, because the runs are short
    beside the pool, has its label and no mark; where there is no other, the figure says so.
    """
    points = read_points(sql_file, relations, values)
    if points["value"].drop_nulls().is_empty():
        write_note("no size has an exact value: raise search.depth", out)
        return
    _draw_sizes(points, values, out)


def bars(
    sql_file: Path, relations: Mapping[str, sql.Files], values: Mapping[str, object], out: Path
) -> None:
    """Draw a query's `share` by its `label`, in its order; a panel for each `counted`, if any.

    Raises:
        EmptyTable: a query without rows.
    """
    shares = read_points(sql_file, relations, values)
    if shares.is_empty():
        raise EmptyTable(
            sql_file, f"nothing to draw for {_asked(values)}", "see the tables it reads"
        )
    panels = (
        shares.partition_by("counted", maintain_order=True) if "counted" in shares else [shares]
    )
    unit = f"% of {shares.columns[2 if 'counted' in shares else 1]}"
    with canvas(out, panels=max(2, len(panels))) as (figure, axes):
        for panel, part in zip(axes, panels, strict=False):
            panel.barh(
                [*map(synset_words, part["label"])], (100 * part["share"]).to_list(), color=NEUTRAL
            )
            panel.invert_yaxis()
            panel.grid(visible=False)
            for row, share in enumerate(part["share"]):
                panel.annotate(f" {share:.1%}", (100 * share, row), va="center", fontsize=8)
            panel.set_xlim(0, 118 * max(shares["share"].to_list()))
            if "counted" in part:
                panel.set_title(f"{part['counted'][0]} in an image", loc="left", fontsize=11)
        for unused in axes[len(panels) :]:
            figure.delaxes(unused)
        _name_axis(figure, axes[: len(panels)], unit)


def popularity(
    sql_file: Path, relations: Mapping[str, sql.Files], values: Mapping[str, Any], out: Path
) -> None:
    """Draw bars of a measure, tail to head, a bar a system, with the ends of its interval.

    `relations` are intervals (schemas.INTERVALS); `values` are setting, split and measure, and the
    systems in their order.

    Raises:
        EmptyTable: no stratum of monthly views in this pool.
    """
    points = read_points(sql_file, relations, values)
    if points.is_empty():
        remedy = "name a file of views that has this collection's entities"
        raise EmptyTable(str(relations["intervals"]), "no entity with monthly views", remedy)
    looks = looks_in_order(points, values)
    strata: list[str] = points["stratum"].unique(maintain_order=True).to_list()
    width = _GROUP / len(looks)
    with canvas(out, panels=1, width=2 * _PANEL_IN) as (figure, (panel,)):
        drawn: list[Artist] = []
        for n, (system, look) in enumerate(looks.items()):
            points_of_system = points.filter(pl.col("system") == system)
            at = [
                strata.index(s) + (n + 0.5) * width - _GROUP / 2
                for s in points_of_system["stratum"]
            ]
            fill: dict[str, Any] = {
                "facecolor": look.light,
                "edgecolor": PAPER,
                "hatch": look.hatch,
            }
            drawn.append(panel.bar(at, points_of_system["value"], width, linewidth=0.8, **fill)[0])
            ends = [
                points_of_system["value"] - points_of_system["low"],
                points_of_system["high"] - points_of_system["value"],
            ]
            ends = [end.fill_null(0.0) for end in ends]
            panel.errorbar(
                at, points_of_system["value"], ends, fmt="none", ecolor=_INK, linewidth=1
            )
        counts = points.group_by("stratum").agg(pl.col("queries").max())
        sizes = dict(counts.iter_rows())
        panel.set_xticks(range(len(strata)), [f"{s}\n{sizes[s]:,} questions" for s in strata])
        panel.set_ylabel(str(values["measure"]))
        legend(figure, [*looks], drawn)


def against(
    sql_file: Path, relations: Mapping[str, sql.Files], values: Mapping[str, Any], out: Path
) -> None:
    """Draw a collection's scores against another's: a point a system, a panel a task.

    `relations` are the scores of both; `values` are here and there (collections), measure and other
    (their measures), setting, split and other_split (theirs), and the order of systems. A panel's
    title has Kendall's tau between the two rankings of the systems.

    Raises:
        EmptyTable: no system that was scored on both collections.
    """
    points = read_points(sql_file, relations, values)
    if points.is_empty():
        problem = f"no system scored on both {values['here']} and {values['there']}"
        raise EmptyTable(sql_file, problem, "run the same systems, settings and splits on both")
    tasks: list[str] = points["task"].unique(maintain_order=True).to_list()
    looks = looks_in_order(points, values)
    x_label, y_label = _axes(values)
    with canvas(out, panels=len(tasks)) as (figure, panels):
        for task, panel in zip(tasks, panels, strict=True):
            points_of_task = points.filter(pl.col("task") == task)
            panel.set_xlim(_scale(points["here"]))
            panel.set_ylim(_scale(points["there"]))
            draw_marks(panel, _by_system(points_of_task, looks, "here", "there"), looks)
            panel.set_title(f"{task_title(task)}{_tau(points_of_task)}", loc="left", fontsize=11)
            panel.grid(visible=True, axis="both")
        _name_axis(figure, panels, x_label, y_label)
        legend(figure, [*looks], keys(looks))


def draw_drops(points: pl.DataFrame, values: Mapping[str, Any], out: Path) -> None:
    """Draw the relative drop by strata of queries: a panel a task, a mark a system.

    It is that of the first of `values["measures"]`. `points` are rows of tables/temporal.sql; a
    whisker is the interval, where there is one.
    """
    measure = values["measures"][0]
    chosen = points.filter(pl.col("measure") == measure)
    tasks: list[str] = chosen["task"].unique(maintain_order=True).to_list()
    looks = looks_in_order(chosen, values)
    height = max(_HEIGHT_IN, 1.5 + _ROW_IN * (len(looks) + 1) * chosen["queries"].n_unique())
    with canvas(out, panels=max(1, len(tasks)), height=height) as (figure, panels):
        for task, panel in zip(tasks, panels, strict=False):
            _drop_panel(panel, chosen.filter(pl.col("task") == task), looks)
            panel.set_title(task_title(task), loc="left", fontsize=11)
        widest = [panel.get_xlim() for panel in panels]
        for panel in panels:
            panel.set_xlim(min(low for low, _ in widest), max(high for _, high in widest))
        _name_axis(figure, panels, f"% of {measure} lost")
        if looks:
            legend(figure, [*looks], keys(looks))


def learning_curve(curve_csv: Path, out: Path) -> None:
    """Draw loss, and what was measured on validation, against the training step.

    That is MRR@10 in both tasks (columns of curve.csv), or the accuracy in percent of each group
    that has pairs and their harmonic mean (those of accuracies.csv).

    Raises:
        EmptyTable: a curve without points.
    """
    # What nothing measures is `nan`, which is no number to what guesses types.
    names = pl.read_csv(curve_csv, n_rows=0, glob=False).columns
    curve = pl.read_csv(
        curve_csv, schema_overrides=dict.fromkeys(names[2:], pl.Float64), glob=False
    )
    if curve.is_empty():
        raise EmptyTable(curve_csv, "no points", "train for at least one epoch")
    tasks = {f"mrr10_{task}": task_title(task) for task in TASKS}
    shares = {c: c.replace("_", " ") for c in curve.columns[3:] if not curve[c].is_nan().all()}
    ranked = "mrr10_t2m" in curve.columns
    lines, scale = (tasks, 1) if ranked else (shares, 100)
    title = "MRR@10 on validation" if ranked else "Accuracy on validation, %"
    with canvas(out, panels=2) as (figure, (loss, quality)):
        loss.plot(curve["step"], curve["loss"], **part_style(0))
        loss.set_title("Training loss", loc="left", fontsize=11)
        for n, (column, name) in enumerate(lines.items()):
            quality.plot(curve["step"], scale * curve[column], label=name, **part_style(n))
        quality.set_title(title, loc="left", fontsize=11)
        quality.set_ylim(bottom=0)
        _name_axis(figure, (loss, quality), "training step")
        quality.legend(handlelength=_LEGEND_PT["handle"] / 10)


def _draw_sizes(points: pl.DataFrame, values: Mapping[str, Any], out: Path) -> None:
    """Draw rows of task, system, setting, documents and value: one scale for all panels.

    A row without a value is a label alone.
    """
    tasks: list[str] = points["task"].unique(maintain_order=True).to_list()
    looks = looks_in_order(points.drop_nulls("value"), values)
    with canvas(out, panels=len(tasks)) as (figure, panels):
        lines: set[str] = set()
        for task, panel in zip(tasks, panels, strict=True):
            panel.set_ylim(_scale(points["value"]))
            lines |= _size_panel(panel, points.filter(pl.col("task") == task), looks)
            panel.set_title(task_title(task), loc="left", fontsize=11)
        _name_axis(figure, panels, "documents", str(values["measure"]))
        legend(figure, [*looks], keys(looks, lines))
        _separate_labels(figure, panels)


def _size_panel(panel: "Axes", points: pl.DataFrame, looks: Mapping[str, Look]) -> set[str]:
    """Draw the systems' values by size and return those that have a line.

    Of one size there is no line: the systems stand side by side above it, in their order.
    """
    labels = _size_labels(points)
    by_size = _by_system(points, looks, "documents", "value")
    if len(labels) == 1:
        panel.set_xlim(-1, len(looks))
        panel.set_xticks([(len(looks) - 1) / 2], [*labels.values()], fontsize=_TICK_PT)
        order = [*looks]
        beside = {
            s: [(float(order.index(s)), y) for _, y in points_of_system]
            for s, points_of_system in by_size.items()
        }
        draw_marks(panel, beside, looks)
        return set()
    panel.set_xscale("log")
    low, high = min(labels), max(labels)
    panel.set_xlim(low * (low / high) ** _ROOM, high * (high / low) ** _ROOM)
    panel.set_xticks([*labels], [*labels.values()], fontsize=_TICK_PT)
    panel.minorticks_off()
    draw_lines(panel, by_size, looks)
    return {system for system, points_of_system in by_size.items() if len(points_of_system) > 1}


def _size_labels(points: pl.DataFrame) -> dict[int, str]:
    """Return a label for each size, with the settings that have it."""
    sizes = points.group_by("documents").agg(pl.col("setting").unique(maintain_order=True))
    named = sizes.sort("documents").iter_rows()
    return {n: f"{n:,}\n{' = '.join(settings)}".rstrip() for n, settings in named}


def _separate_labels(figure: "Figure", panels: Sequence["Axes"]) -> None:
    """Lower the labels of an axis that would run into another one, by as many rows as it takes."""
    figure.draw_without_rendering()
    gap = _LABEL_GAP_PT * figure.dpi / 72
    for panel in panels:
        ends: list[float] = []
        texts = panel.get_xticklabels()
        deep = max(text.get_text().count("\n") + 1 for text in texts)
        lowered: list[str] = []
        for text in texts:
            box = text.get_window_extent()
            free = (level for level, end in enumerate(ends) if end + gap < box.x0)
            level = next(free, len(ends))
            ends[level : level + 1] = [box.x1]
            lowered.append("\n" * deep * level + text.get_text())
        panel.set_xticks(panel.get_xticks(), lowered, fontsize=_TICK_PT)


def _drop_panel(panel: "Axes", points: pl.DataFrame, looks: Mapping[str, Look]) -> None:
    strata: list[str] = points["queries"].unique(maintain_order=True).to_list()
    sizes = dict(points.select("queries", "number").rows())
    step = _GROUP / len(looks)
    for n, (system, look) in enumerate(looks.items()):
        points_of_system = points.filter(pl.col("system") == system).drop_nulls("drop_share")
        at = [strata.index(s) + (n + 0.5) * step - _GROUP / 2 for s in points_of_system["queries"]]
        drop = points_of_system["drop_share"]
        ends = [
            (drop - points_of_system["low_share"]).fill_null(0),
            (points_of_system["high_share"] - drop).fill_null(0),
        ]
        whiskers = [(100 * end.clip(0)).to_list() for end in ends]
        marks: dict[str, Any] = {**look.mark(), "linestyle": "none", "elinewidth": 1.2}
        panel.errorbar((100 * drop).to_list(), at, xerr=whiskers, capsize=2, **marks)
    panel.axvline(0, color=_INK, linewidth=0.8, zorder=1)
    panel.set_yticks(range(len(strata)), [f"{s} ({sizes[s]:,})" for s in strata])
    panel.set_ylim(len(strata) - 0.5, -0.5)
    panel.grid(visible=True, axis="x")
    panel.grid(visible=False, axis="y")


def _axes(values: Mapping[str, object]) -> tuple[str, str]:
    """Return what the axes show; the splits, too, where they differ."""
    x_label, y_label = (
        f"{values[measure]} on {values[collection]}"
        for measure, collection in (("measure", "here"), ("other", "there"))
    )
    if values["split"] == values["other_split"]:
        return x_label, y_label
    return f"{x_label}, {values['split']}", f"{y_label}, {values['other_split']}"


def _tau(points: pl.DataFrame) -> str:
    distinct = min(points["here"].n_unique(), points["there"].n_unique())
    if distinct < _LEAST_RANKS:
        return ""
    # The plan reads the exhibits, and this takes longer to import than all else in it.
    from scipy.stats import kendalltau  # noqa: PLC0415

    tau, _ = kendalltau(points["here"].to_numpy(), points["there"].to_numpy())
    return f", τ = {tau:.2f}"


def write_note(text: str, out: Path) -> None:
    """Write a figure that says why there is nothing to draw."""
    with canvas(out, panels=1, width=2 * _PANEL_IN, height=_NOTE_IN) as (_, panels):
        panels[0].set_axis_off()
        panels[0].text(0, 0.5, text, va="center")


def read_points(
    sql_file: Path, relations: Mapping[str, sql.Files], values: Mapping[str, Any]
) -> pl.DataFrame:
    """Return the rows of a query, which knows nothing of looks."""
    return rows(sql_file, relations, _asked(values))


def _asked(values: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name != "looks"}


def looks_in_order(points: pl.DataFrame, values: Mapping[str, Any]) -> dict[str, Look]:
    """Return the looks of the systems of `points`, in the order of `values`, others by name."""
    systems = set(points["system"].to_list())
    ordered = [system for system in values.get("systems", []) if system in systems]
    return looks_of([*ordered, *sorted(systems - set(ordered))], values.get("looks", {}))


def _by_system(
    points: pl.DataFrame, systems: Iterable[str], x: str, y: str
) -> dict[str, list[Point]]:
    """Return the points of each system, in their order."""
    drawn = points.drop_nulls([x, y])
    chosen = {s: drawn.filter(pl.col("system") == s).select(x, y) for s in systems}
    return {
        system: points_of_system.rows()
        for system, points_of_system in chosen.items()
        if not points_of_system.is_empty()
    }


def _scale(values: pl.Series) -> tuple[float, float]:
    """Return the ends of an axis from zero that has room for a mark at the highest value."""
    return 0, 1.05 * (max(values.drop_nulls().to_list(), default=0) or 1)


def task_title(task: str) -> str:
    """Return the heading of a task's panel."""
    return f"{TASKS[task].title} ({task.upper()})" if task in TASKS else task


def _name_axis(figure: "Figure", panels: Sequence["Axes"], below: str, beside: str = "") -> None:
    """Name the axes once for all panels; what a second panel would repeat is left out."""
    if len(panels) == 1:
        panels[0].set_xlabel(below)
    else:
        figure.supxlabel(below, fontsize=10)
    if beside:
        panels[0].set_ylabel(beside)
        for panel in panels[1:]:
            panel.tick_params(labelleft=False)


def legend(figure: "Figure", names: Sequence[str], handles: Sequence["Artist"]) -> None:
    """Put names above the panels, from the left: a phone shows the first panel and all names."""
    from matplotlib.textpath import TextPath  # noqa: PLC0415

    longest = max(TextPath((0, 0), name, size=10).get_extents().width for name in names)
    room = 72 * figure.get_figwidth() // (longest + sum(_LEGEND_PT.values()))
    count = -(-len(names) // int(max(1, min(room, _LEGEND_COLUMNS))))
    figure.set_figheight(figure.get_figheight() + _LEGEND_ROW_IN * count)
    lengths = {
        "handlelength": _LEGEND_PT["handle"] / 10,
        "handletextpad": _LEGEND_PT["pad"] / 10,
        "columnspacing": _LEGEND_PT["column"] / 10,
    }
    columns = -(-len(names) // count)
    figure.legend(handles, names, loc="outside upper left", ncols=columns, **lengths)


@contextmanager
def canvas(
    out: Path,
    panels: int,
    *,
    width: float = _PANEL_IN,
    height: float = _HEIGHT_IN,
    lines: Sequence[float] = (1,),
) -> Generator[tuple["Figure", list["Axes"]], None, None]:
    """Yield a figure with panels side by side; write it to `out` when it has been drawn.

    `width` is that of a panel and `height` that of the figure, in inches. There may be several
    lines of as many panels each; `lines` are how high they are beside each other.
    """
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(width * panels, height), layout="constrained")
        grid = figure.add_gridspec(len(lines), panels, height_ratios=lines)
        places = range(len(lines) * panels)
        yield figure, [figure.add_subplot(grid[divmod(n, panels)]) for n in places]
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    svg = text.getvalue()
    faint = svg.replace(f"stroke: {_FAINT}", "stroke: currentColor; stroke-opacity: 0.18")
    with store.aside(out) as part:
        part.write_text(faint.replace(_INK, "currentColor"), encoding="utf-8")
