"""Looks of systems: the colour, the marker, the dash and the hatch that a system has everywhere.

A look has a number. The plan gives each system the number of its place in the params `systems`, so
that a figure, a table and a page with fewer systems do not change the looks of those that are left.

Eight colours in two shades, for light and for dark pages, stay apart for normal, protanopic and
deuteranopic sight; after them the same colours come with other shapes, open markers, other dashes
and hatches. Figures are written with the light shades; a page replaces them by variables.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from itertools import groupby, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes
    from matplotlib.transforms import Transform

Point = tuple[float, float]
COLOURS = (
    "#457cfd", "#842b02", "#256d4c", "#68154d", "#ad8604", "#33969b", "#4635bc", "#db3869",
)  # fmt: skip
DARK_COLOURS = (
    "#4baeed", "#c94c18", "#b8f7c7", "#b35682", "#f9d630", "#52f1f9", "#8857e0", "#e37a83",
)  # fmt: skip
# What no system has: the colour of parts and steps, and what lies behind open markers.
NEUTRAL, PAPER = "#0a5a8c", "#ffffff"
_PAGE = {NEUTRAL: "var(--accent)", PAPER: "var(--paper)"}
# Outlines within the square from (-1, -1) to (1, 1), y upwards; the circle is none of them.
_ARM = 0.42
SHAPES: Mapping[str, Sequence[Point]] = {
    "circle": (),
    "square": ((-0.84, -0.84), (0.84, -0.84), (0.84, 0.84), (-0.84, 0.84)),
    "triangle": ((-1, -0.86), (1, -0.86), (0, 1)),
    "diamond": ((0, -1), (0.82, 0), (0, 1), (-0.82, 0)),
    "wedge": ((-1, 0.86), (1, 0.86), (0, -1)),
    "plus": (
        (-_ARM, -1), (_ARM, -1), (_ARM, -_ARM), (1, -_ARM), (1, _ARM), (_ARM, _ARM),
        (_ARM, 1), (-_ARM, 1), (-_ARM, _ARM), (-1, _ARM), (-1, -_ARM), (-_ARM, -_ARM),
    ),
    "cross": (
        (0, 0.42), (0.46, 0.92), (0.92, 0.46), (0.42, 0), (0.92, -0.46), (0.46, -0.92),
        (0, -0.42), (-0.46, -0.92), (-0.92, -0.46), (-0.42, 0), (-0.92, 0.46), (-0.46, 0.92),
    ),
    "star": (
        (0, 1.25), (0.37, 0.41), (1.19, 0.39), (0.57, -0.18), (0.74, -1.01), (0, -0.57),
        (-0.74, -1.01), (-0.57, -0.18), (-1.19, 0.39), (-0.37, 0.41),
    ),
}  # fmt: skip
# On and off in widths of the line; none is a whole line.
DASHES = ((), (5, 2), (1.3, 1.5), (6, 1.8, 1.3, 1.8), (6, 1.6, 1.3, 1.6, 1.3, 1.6))
HATCHES = ("", "///", "...", "xx", "\\\\\\", "++", "oo", "|||", "---", "**")
_SHIFTS = (0, 3, 5, 2)
_MARKER_PT, _LINE_PT, _EDGE_PT = 7.4, 1.8, 0.6
# Lines and marks nearer than this, as shares of an axis, cannot be seen beside each other.
_SAME_LINE, _SAME_MARK = 0.008, 0.018
_TURN, _STEP_PT, _LEAST_STEP_PT, _PANEL_PT = 2.6, 6.2, 1.6, 270


class Look(NamedTuple):
    """What a system looks like; `colour` is a place in the colours."""

    colour: int
    shape: str
    is_open: bool
    dash: tuple[float, ...]
    hatch: str

    @property
    def light(self) -> str:
        """The shade that figures are written with."""
        return COLOURS[self.colour]

    def line(self) -> dict[str, Any]:
        """Return what matplotlib draws the system's line with."""
        dash = (0, self.dash) if self.dash else "-"
        return {"color": self.light, "linestyle": dash, "linewidth": _LINE_PT}

    def mark(self) -> dict[str, Any]:
        """Return what matplotlib draws the system's marks with; filled ones have a paper edge."""
        outline = SHAPES[self.shape]
        # matplotlib makes the longest part of an outline as long as the size.
        extent = max((abs(part) for point in outline for part in point), default=1.0)
        return {
            "color": self.light,
            "marker": [*outline, outline[0]] if outline else "o",
            "markersize": (_MARKER_PT - self.is_open) * extent,
            "markerfacecolor": PAPER if self.is_open else self.light,
            "markeredgecolor": self.light if self.is_open else PAPER,
            "markeredgewidth": 1.4 if self.is_open else _EDGE_PT,
        }


def look(number: int) -> Look:
    """Return the look of a number, 0 or more; two of 32 differ in more than colour."""
    block, colour = divmod(number, len(COLOURS))
    shapes = [*SHAPES]
    return Look(
        colour,
        shapes[(colour + _SHIFTS[block % len(_SHIFTS)]) % len(shapes)],
        block % 2 == 1,
        DASHES[(number + block) % len(DASHES)],
        HATCHES[number % len(HATCHES)],
    )


def looks_of(systems: Sequence[str], numbers: Mapping[str, int]) -> dict[str, Look]:
    """Return the looks of systems in their order; those without a number come after all others."""
    unknown = [system for system in systems if system not in numbers]
    after = max(numbers.values(), default=-1) + 1
    all_numbers = {**numbers, **{system: after + n for n, system in enumerate(unknown)}}
    return {system: look(all_numbers[system]) for system in systems}


def keys(looks: Mapping[str, Look], lines: Collection[str] = ()) -> list["Artist"]:
    """Return what stands for each system in a legend: its mark, on a line if it is in `lines`."""
    from matplotlib.lines import Line2D  # noqa: PLC0415

    handles: list[Artist] = []
    for system, look in looks.items():
        style = look.mark()
        style |= look.line() if system in lines else {"linestyle": "none"}
        handles.append(Line2D([], [], **style))
    return handles


def part_style(number: int) -> dict[str, Any]:
    """Return what draws one of several lines that are no systems: all of the neutral colour."""
    dash = DASHES[number % len(DASHES)]
    return {
        "color": NEUTRAL,
        "linestyle": (0, dash) if dash else "-",
        "marker": "osD^v"[number % 5],
        "markersize": 5,
        "markerfacecolor": PAPER if number % 2 else NEUTRAL,
        "markeredgecolor": NEUTRAL,
    }


def draw_lines(
    panel: "Axes", lines: Mapping[str, Sequence[Point]], looks: Mapping[str, Look]
) -> None:
    """Draw a line of marks for each system, by its points from left to right.

    The limits of the panel stand before. Where lines coincide they take turns, a dash of each; a
    system with one point is a mark alone. Marks that coincide stand side by side.
    """
    low, high = panel.get_ylim()
    together = _coinciding_segments(lines, _SAME_LINE * (high - low))
    for system, points in lines.items():
        for piece, sharers in _pieces(system, points, together):
            style = looks[system].line()
            if len(sharers) > 1:
                style["linestyle"] = _turns(sharers, system)
            xs, ys = zip(*piece, strict=True)
            panel.plot(xs, ys, zorder=2, **style)
    draw_marks(panel, lines, looks)


def draw_marks(
    panel: "Axes", marks: Mapping[str, Sequence[Point]], looks: Mapping[str, Look]
) -> None:
    """Draw the points of each system as marks; those that coincide stand side by side.

    The limits of the panel stand before.
    """
    offsets = _offsets(marks, lambda point: _share_of(panel, point))
    for system, points in marks.items():
        by_offset: dict[float, list[Point]] = {}
        for n, point in enumerate(points):
            by_offset.setdefault(offsets[system, n], []).append(point)
        for offset, chosen in by_offset.items():
            xs, ys = zip(*chosen, strict=True)
            style = looks[system].mark()
            style |= {"linestyle": "none", "clip_on": False}
            panel.plot(xs, ys, zorder=3, transform=_moved(panel, offset), **style)


def _moved(panel: "Axes", points: float) -> "Transform":
    """Return the panel's coordinates, `points` (1/72 inch) to the right."""
    from matplotlib.transforms import ScaledTranslation  # noqa: PLC0415

    inches = panel.figure.dpi_scale_trans
    return panel.transData + ScaledTranslation(points / 72, 0, inches)


def _share_of(panel: "Axes", point: Point) -> Point:
    """Return where a point lies between the limits of the axes, from 0 to 1."""
    x, y = panel.transLimits.transform(panel.transScale.transform(point))
    return float(x), float(y)


def _coinciding_segments(
    lines: Mapping[str, Sequence[Point]], least: float
) -> dict[tuple[str, int], tuple[str, ...]]:
    """Return, for each system and place of a segment, the systems that share it."""
    groups: list[tuple[tuple[Point, Point], list[tuple[str, int]]]] = []
    for system, points in lines.items():
        for segment, ends in enumerate(pairwise(points)):
            near = (keys for other, keys in groups if _coincide(ends, other, least))
            sharers = next(near, None)
            if sharers is None:
                groups.append((ends, sharers := []))
            sharers.append((system, segment))
    return {key: tuple(system for system, _ in keys) for _, keys in groups for key in keys}


def _coincide(left: tuple[Point, Point], other: tuple[Point, Point], least: float) -> bool:
    return all(a[0] == b[0] and abs(a[1] - b[1]) < least for a, b in zip(left, other, strict=True))


def _pieces(
    system: str, points: Sequence[Point], together: Mapping[tuple[str, int], tuple[str, ...]]
) -> Iterator[tuple[list[Point], tuple[str, ...]]]:
    """Yield a line in pieces, each as long as the same systems share it."""
    places = range(len(points) - 1)
    for sharers, run in groupby(places, lambda segment: together[system, segment]):
        segments = list(run)
        yield list(points[segments[0] : segments[-1] + 2]), sharers


def _turns(sharers: Sequence[str], system: str) -> tuple[float, tuple[float, float]]:
    """Return the dash of one of several lines that take turns: its start, on and off."""
    length = _TURN * len(sharers)
    start = (length - _TURN * sharers.index(system)) % length
    return start, (_TURN, length - _TURN)


def _offsets(
    marks: Mapping[str, Sequence[Point]], place_of: Callable[[Point], Point]
) -> dict[tuple[str, int], float]:
    """Return how far each mark is moved to the right, in points, by system and place."""
    groups: list[tuple[Point, list[tuple[str, int]]]] = []
    for system, points in marks.items():
        for n, point in enumerate(points):
            at = place_of(point)
            near = (keys for other, keys in groups if _distance(at, other) < _SAME_MARK)
            sharers = next((keys for keys in near if system not in dict(keys)), None)
            if sharers is None:
                groups.append((at, sharers := []))
            sharers.append((system, n))
    places = [at for at, _ in groups]
    return {
        key: (n - (len(keys) - 1) / 2) * _step(at, len(keys), places)
        for at, keys in groups
        for n, key in enumerate(keys)
    }


def _distance(left: Point, other: Point) -> float:
    return max(abs(left[0] - other[0]), abs(left[1] - other[1]))


def _step(at: Point, number: int, places: Sequence[Point]) -> float:
    """Return the points between marks side by side: fewer where other marks stand close by."""
    gaps = [abs(x - at[0]) for x, y in places if abs(y - at[1]) < 2 * _SAME_MARK]
    room = _PANEL_PT * min((gap for gap in gaps if gap >= _SAME_MARK), default=1.0) - _MARKER_PT
    return min(_STEP_PT, max(_LEAST_STEP_PT, room / max(1, number - 1)))


def themed(svg: str) -> str:
    """Return a figure whose colours are those of the page around it."""
    names = {colour: f"var(--system-{n})" for n, colour in enumerate(COLOURS)} | _PAGE
    return re.sub("|".join(names), lambda match: names[match[0].lower()], svg, flags=re.IGNORECASE)


def style_sheet() -> str:
    """Return the variables of the systems' colours, on light pages and on dark ones."""
    light, dark = (
        "".join(f" --system-{n}: {colour};" for n, colour in enumerate(colours))
        for colours in (COLOURS, DARK_COLOURS)
    )
    return f":root {{{light} }}\n@media (prefers-color-scheme: dark) {{ :root {{{dark} }} }}"


def swatch(number: int) -> str:
    """Return a piece of a system's line with its mark, as an SVG element for a page."""
    style = look(number)
    colour = f"var(--system-{style.colour})"
    dash = " ".join(f"{2 * part:g}" for part in style.dash)
    line = f'<path d="M0 7H30" stroke="{colour}" stroke-width="2" stroke-dasharray="{dash}"/>'
    pen = (
        f'fill="{"var(--paper)" if style.is_open else colour}" stroke="{colour}" stroke-width="1.4"'
    )
    around = "".join(f" {15 + 4.3 * x:g},{7 - 4.3 * y:g}" for x, y in SHAPES[style.shape]).strip()
    outline = f'polygon points="{around}"' if around else 'circle cx="15" cy="7" r="4.3"'
    return (
        f'<svg class="swatch" viewBox="0 0 30 14" aria-hidden="true">{line}<{outline} {pen}/></svg>'
    )
