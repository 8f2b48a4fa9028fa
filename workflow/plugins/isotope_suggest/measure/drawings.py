"""Figures of the page of suggestions: reliability, precision by coverage, and what waits."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from isotope.tabulate.figures import canvas, legend, write_note
from isotope.tabulate.looks import NEUTRAL, draw_lines, keys, looks_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PANEL_IN = 4.6
_MOST_POINTS = 200


def draw_reliability(bins: pl.DataFrame, out: Path) -> None:
    """Draw the share that was right by the mean probability of each bin, with its interval.

    Below it stands the number of suggestions of each bin. `bins` is of `evaluate.reliability`.
    """
    if bins.is_empty():
        write_note("no suggestion has a probability: nothing was calibrated", out)
        return
    with canvas(out, panels=1, width=1.6 * _PANEL_IN, height=4.6, lines=(3, 1)) as (_, panels):
        top, below = panels
        x, share = bins["probability"].to_list(), bins["share"]
        ends = [(share - bins["low"]).to_list(), (bins["high"] - share).to_list()]
        top.plot([0, 1], [0, 1], color="grey", linewidth=0.8, linestyle=(0, (4, 3)))
        marks: dict[str, Any] = {"marker": "o", "linestyle": "none", "color": NEUTRAL}
        top.errorbar(x, share.to_list(), ends, capsize=2, elinewidth=1.2, **marks)
        below.bar(x, bins["suggestions"].to_list(), 0.02, color=NEUTRAL)
        _unit_axes(top, "right suggestions")
        below.set_xlim(-0.02, 1.02)
        below.set_ylabel("number")
        below.set_xlabel("probability")
        top.tick_params(labelbottom=False)


def draw_precision(curves: Sequence[pl.DataFrame], wanted: float, out: Path) -> None:
    """Draw precision by coverage, a line a system; `curves` are of `evaluate.precision_curve`.

    The dashed line is the precision wanted. A point at which more is covered at the same threshold
    joins the one before it in a straight line, the precision of a choice by chance between both.
    """
    thinned = {str(c["system"][0]): _thinned(c) for c in curves if len(c)}
    drawn = {name: c.select("coverage", "precision").rows() for name, c in thinned.items()}
    if not drawn:
        write_note("no judged section has a suggestion", out)
        return
    looks = looks_of([*drawn], {})
    with canvas(out, panels=1, width=1.6 * _PANEL_IN) as (figure, (panel,)):
        _unit_axes(panel, "precision of first suggestions")
        panel.set_xlabel("coverage: share of sections answered")
        panel.axhline(wanted, color="grey", linewidth=0.8, linestyle=(0, (4, 3)))
        lines = {name: points for name, points in drawn.items() if len(points) > 1}
        if any(len(points) <= _FEW_POINTS for points in drawn.values()):
            draw_lines(panel, {n: p for n, p in drawn.items() if len(p) <= _FEW_POINTS}, looks)
        for name, points in drawn.items():
            if len(points) > _FEW_POINTS:
                x, y = zip(*points, strict=True)
                panel.plot(x, y, **looks[name].line())
        legend(figure, [*drawn], keys({n: looks[n] for n in drawn}, set(lines)))


# Lines of so few points have marks at them.
_FEW_POINTS = 12


def _thinned(curve: pl.DataFrame) -> pl.DataFrame:
    """Return at most about 200 points of a curve, evenly along it, with the last one."""
    step = max(1, len(curve) // _MOST_POINTS)
    last = pl.int_range(pl.len()) == len(curve) - 1
    return curve.filter((pl.int_range(pl.len()) % step == 0) | last)


def _unit_axes(panel: "Axes", label: str) -> None:
    panel.set_xlim(-0.02, 1.02)
    panel.set_ylim(-0.02, 1.02)
    panel.set_ylabel(label)


def draw_waiting(curves: Mapping[str, pl.DataFrame], unit: str, last: float, out: Path) -> None:
    """Draw the share of sections that have taken up nothing yet, by time, a step line a system.

    `curves` are of `editors.waiting`; `last` is the time of the last snapshot.
    """
    if not curves:
        write_note("no later snapshot to follow suggestions to", out)
        return
    looks = looks_of([*curves], {})
    with canvas(out, panels=1, width=1.6 * _PANEL_IN) as (figure, (panel,)):
        panel.set_ylim(-0.02, 1.02)
        panel.set_ylabel("sections still without their suggestion")
        panel.set_xlabel(f"{unit} since the snapshot")
        # So that a step at the last snapshot is seen.
        end = 1.04 * last
        for name, curve in curves.items():
            times = [0.0, *curve["time"].to_list(), end]
            shares = [1.0, *curve["share"].to_list()]
            panel.step(times, [*shares, shares[-1]], where="post", **looks[name].line())
        legend(figure, [*curves], keys({n: looks[n] for n in curves}, set(curves)))
