"""Figures as SVG: same numbers, same bytes; they take the ink of the page that embeds them.

A function draws the rows of a query: `(sql_file, relations, params, out)`; `learning_curve` and
`draw_drops` draw a table that is there already.
"""

import io
import math
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from isotope.core import sql, store
from isotope.core.errors import EmptyTable
from isotope.core.grid import TASKS
from isotope.tabulate.table import rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
# Okabe and Ito (2008), without the yellow that white paper swallows.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
_MARKERS = ("o", "s", "^", "D", "v", "P", "X")
_DASHES = ("-", (0, (6, 2)), (0, (2, 1.5)), (0, (6, 2, 1.5, 2)), (0, (9, 3)))
_HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo")
_TICK_ROOM = 0.14
_SPREAD = 0.6
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
    "grid.color": _FAINT,
    "grid.linewidth": 0.6,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "lines.linewidth": 1.8,
    "lines.markersize": 6,
    "legend.frameon": False,
}


def corpus_size(
    sql_file: Path, relations: Mapping[str, sql.Files], params: Mapping[str, Any], out: Path
) -> None:
    """Draw `params["measure"]` against the number of documents: a panel a task, a line a system.

    `relations` are scores, texts and images; `params` are split and measure, and the order of
    systems, if there is one.

    Raises:
        EmptyTable: no score of this split and measure.
    """
    points = rows(sql_file, relations, params)
    if points.is_empty():
        raise EmptyTable(
            sql_file, f"no scores for {dict(params)}", "name a scored split and measure"
        )
    tasks: list[str] = points["task"].unique(maintain_order=True).to_list()
    systems = _in_order(points, params)
    with _canvas(out, panels=len(tasks)) as (figure, panels):
        for task, panel in zip(tasks, panels, strict=True):
            _size_panel(panel, points.filter(pl.col("task") == task), systems)
            panel.set_title(_title(task), loc="left", fontsize=11)
        panels[0].set_ylabel(str(params["measure"]))
        _legend(figure, panels[0], len(systems))


def subsets(
    sql_file: Path, relations: Mapping[str, sql.Files], params: Mapping[str, object], out: Path
) -> None:
    """Draw a measure against the size of nested subsets: a panel a task, a line a system.

    `params` are split and measure, and the order of systems. Where no point is exact, because the
    runs are short beside the pool, the figure says so.
    """
    points = rows(sql_file, relations, params)
    if points.is_empty():
        _write_note("no size has an exact value: raise search.depth", out)
        return
    tasks: list[str] = points["task"].unique(maintain_order=True).to_list()
    systems = _in_order(points, params)
    with _canvas(out, panels=len(tasks)) as (figure, panels):
        for task, panel in zip(tasks, panels, strict=True):
            for system, style in zip(systems, styles(), strict=False):
                line = points.filter(pl.col("task") == task, pl.col("system") == system)
                panel.plot(line["documents"], line["value"], label=system, **style)
            sizes = points.filter(pl.col("task") == task)["documents"].unique().sort().to_list()
            panel.set_xscale("log")
            panel.set_xticks(sizes, [f"{n:,}" for n in sizes], fontsize=8, rotation=45)
            panel.minorticks_off()
            panel.set_ylim(bottom=0)
            panel.set_xlabel("documents")
            panel.set_title(_title(task), loc="left", fontsize=11)
        panels[0].set_ylabel(str(params["measure"]))
        _legend(figure, panels[0], len(systems))


def bars(
    sql_file: Path, relations: Mapping[str, sql.Files], params: Mapping[str, object], out: Path
) -> None:
    """Draw a query's `share` by its `label`, in its order; a panel for each `counted`, if any.

    Raises:
        EmptyTable: a query without rows.
    """
    shares = rows(sql_file, relations, params)
    if shares.is_empty():
        raise EmptyTable(sql_file, f"nothing to draw for {dict(params)}", "see the tables it reads")
    panels = (
        shares.partition_by("counted", maintain_order=True) if "counted" in shares else [shares]
    )
    with _canvas(out, panels=max(2, len(panels))) as (figure, axes):
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


def popularity(
    sql_file: Path, relations: Mapping[str, sql.Files], params: Mapping[str, Any], out: Path
) -> None:
    """Draw bars of a measure, tail to head, a bar a system, with the ends of its interval.

    `relations` are intervals (tables.INTERVALS); `params` are setting, split and measure, and the
    systems in their order.

    Raises:
        EmptyTable: no stratum of monthly views in this pool.
    """
    points = rows(sql_file, relations, params)
    if points.is_empty():
        remedy = "name a file of views that has this collection's entities"
        raise EmptyTable(str(relations["intervals"]), "no entity with monthly views", remedy)
    systems = _in_order(points, params)
    strata: list[str] = points["stratum"].unique(maintain_order=True).to_list()
    width = _GROUP / len(systems)
    with _canvas(out, panels=1) as (figure, (panel,)):
        for n, system in enumerate(systems):
            own = points.filter(pl.col("system") == system)
            at = [strata.index(s) + (n + 0.5) * width - _GROUP / 2 for s in own["stratum"]]
            bars = panel.bar(at, own["value"], width, label=system, color=COLOURS[n % len(COLOURS)])
            for bar in bars:
                bar.set_hatch(_HATCHES[n % len(_HATCHES)])
            ends = [own["value"] - own["low"], own["high"] - own["value"]]
            panel.errorbar(at, own["value"], ends, fmt="none", ecolor="#010203", linewidth=1)
        counts = points.group_by("stratum").agg(pl.col("queries").max())
        sizes = dict(counts.iter_rows())
        panel.set_xticks(range(len(strata)), [f"{s}\n{sizes[s]:,} questions" for s in strata])
        panel.set_ylabel(str(params["measure"]))
        _legend(figure, panel, len(systems))


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
    systems = _in_order(points, params)
    here, there = _axes(params)
    with _canvas(out, panels=len(tasks)) as (page, panels):
        for task, panel in zip(tasks, panels, strict=True):
            own = points.filter(pl.col("task") == task)
            for system, style in zip(systems, styles(), strict=False):
                point = own.filter(pl.col("system") == system)
                panel.plot(point["here"], point["there"], label=system, **style)
            panel.set(xlim=(0, None), ylim=(0, None))
            panel.set_xlabel(here)
            panel.set_title(f"{_title(task)}{_tau(own)}", loc="left", fontsize=11)
        panels[0].set_ylabel(there)
        _legend(page, panels[0], len(systems))


def draw_drops(points: pl.DataFrame, params: Mapping[str, Any], out: Path) -> None:
    """Draw the relative drop by strata of queries: a panel a task, a mark a system.

    It is that of the first of `params["measures"]`; `params["systems"]` orders the systems.
    `points` are rows of tables/temporal.sql; a whisker is the interval, where there is one.
    """
    measure = params["measures"][0]
    chosen = points.filter(pl.col("measure") == measure)
    tasks: list[str] = chosen["task"].unique(maintain_order=True).to_list()
    systems = _in_order(chosen, params)
    with _canvas(out, panels=max(1, len(tasks))) as (figure, panels):
        for task, panel in zip(tasks, panels, strict=False):
            _drop_panel(panel, chosen.filter(pl.col("task") == task), systems)
            panel.set_title(_title(task), loc="left", fontsize=11)
            panel.set_xlabel(f"% of {measure} lost")
        if systems:
            _legend(figure, panels[0], len(systems))


def learning_curve(curve_csv: Path, out: Path) -> None:
    """Draw loss, and what was measured on validation, against the training step.

    That is MRR@10 in both tasks (columns of curve.csv), or the accuracy in percent of each group
    that has pairs and their harmonic mean (those of accuracies.csv).

    Raises:
        EmptyTable: a curve without points.
    """
    # What nothing measures is `nan`, which is no number to what guesses types.
    names = pl.read_csv(curve_csv, n_rows=0).columns
    curve = pl.read_csv(curve_csv, schema_overrides=dict.fromkeys(names[2:], pl.Float64))
    if curve.is_empty():
        raise EmptyTable(curve_csv, "no points", "train for at least one epoch")
    tasks = {f"mrr10_{task}": _title(task) for task in TASKS}
    shares = {c: c.replace("_", " ") for c in curve.columns[3:] if not curve[c].is_nan().all()}
    ranked = "mrr10_t2m" in curve.columns
    lines, scale = (tasks, 1) if ranked else (shares, 100)
    with _canvas(out, panels=2) as (figure, (loss, mrr)):
        loss.plot(curve["step"], curve["loss"], color=COLOURS[0], marker="o", markersize=3)
        loss.set_title("Training loss", loc="left", fontsize=11)
        for (column, name), style in zip(lines.items(), styles(), strict=False):
            mrr.plot(curve["step"], scale * curve[column], label=name, **style)
        title = "MRR@10 on validation" if ranked else "Accuracy on validation, %"
        mrr.set_title(title, loc="left", fontsize=11)
        mrr.set_ylim(bottom=0)
        for panel in (loss, mrr):
            panel.set_xlabel("training step")
        _legend(figure, mrr, 2)


def _size_panel(panel: "Axes", points: pl.DataFrame, systems: list[str]) -> None:
    for system, style in zip(systems, styles(), strict=False):
        line = points.filter(pl.col("system") == system)
        panel.plot(line["documents"], line["value"], label=system, **style)
    ticks = _ticks(points)
    panel.set_xscale("log")
    panel.set_xticks(list(ticks), list(ticks.values()), fontsize=8)
    panel.minorticks_off()
    panel.set_ylim(bottom=0)
    panel.set_xlabel("documents")


def _ticks(points: pl.DataFrame) -> dict[int, str]:
    """Return a label for each corpus size, lowered where it would run into its left neighbour."""
    pools = points.group_by("documents").agg(pl.col("setting").unique().sort()).sort("documents")
    sizes: list[int] = pools["documents"].to_list()
    room = _TICK_ROOM * math.log(max(2.0, sizes[-1] / sizes[0]))
    labels: dict[int, str] = {}
    lowered = False
    for i, (size, settings) in enumerate(pools.iter_rows()):
        close = i > 0 and math.log(size / sizes[i - 1]) < room
        lowered = close and not lowered
        labels[size] = "\n\n" * lowered + f"{size:,}\n{' = '.join(settings)}"
    return labels


def _drop_panel(panel: "Axes", points: pl.DataFrame, systems: list[str]) -> None:
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
    if distinct < _LEAST_RANKS:
        return ""
    # The plan reads the exhibits, and this takes longer to import than all else in it.
    from scipy.stats import kendalltau  # noqa: PLC0415

    tau, _ = kendalltau(points["here"].to_numpy(), points["there"].to_numpy())
    return f", τ = {tau:.2f}"


def _write_note(text: str, out: Path) -> None:
    with _canvas(out, panels=1) as (_, panels):
        panels[0].set_axis_off()
        panels[0].text(0.5, 0.5, text, ha="center", va="center")


def _in_order(points: pl.DataFrame, params: Mapping[str, Any]) -> list[str]:
    """Return the systems of `points` in the order of `params["systems"]`, then others by name."""
    systems = set(points["system"].to_list())
    ordered = [system for system in params.get("systems", []) if system in systems]
    return [*ordered, *sorted(systems - set(ordered))]


def _title(task: str) -> str:
    """Return the heading of a task's panel."""
    return f"{TASKS[task].title} ({task.upper()})" if task in TASKS else task


def styles() -> Generator[dict[str, Any], None, None]:
    """Yield colour, marker and dash of one line after another; 210 differ."""
    for colour, marker, dash in zip(cycle(COLOURS), cycle(_MARKERS), cycle(_DASHES), strict=False):
        yield {"color": colour, "marker": marker, "linestyle": dash}


def _legend(figure: "Figure", panel: "Axes", entries: int) -> None:
    """Put the names of a panel's lines below the figure."""
    handles, labels = panel.get_legend_handles_labels()
    columns = min(entries, 4)
    figure.legend(handles, labels, loc="outside lower center", ncols=columns, handlelength=3.5)


@contextmanager
def _canvas(out: Path, panels: int) -> Generator[tuple["Figure", list["Axes"]], None, None]:
    """Yield a figure with panels side by side; write it to `out` when it has been drawn."""
    import matplotlib as mpl  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    with mpl.rc_context(_STYLE):
        figure = Figure(figsize=(4.6 * panels, 3.9), layout="constrained")
        yield figure, [figure.add_subplot(1, panels, n + 1) for n in range(panels)]
        text = io.StringIO()
        figure.savefig(text, format="svg", transparent=True, metadata={"Date": None})
    svg = text.getvalue()
    faint = svg.replace(f"stroke: {_FAINT}", "stroke: currentColor; stroke-opacity: 0.18")
    with store.aside(out) as part:
        part.write_text(faint.replace(_INK, "currentColor"), encoding="utf-8")
