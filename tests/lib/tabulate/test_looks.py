"""Looks of systems: apart for every sight and on both pages, and of the system alone."""

import re
from itertools import combinations

import numpy as np
import pytest

from isotope.report.site import environment
from isotope.tabulate import looks

# Machado, Oliveira and Fernandes (2009), table of their model at severity 1.0, on linear sRGB.
SIGHTS = {
    "normal": [[1, 0, 0], [0, 1, 0], [0, 0, 1]],
    "protanopia": [
        [0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
}  # fmt: skip
LEAST_DIFFERENCE = 15
MANY = [looks.look(n) for n in range(16)]
SHADES = {"light": looks.COLOURS, "dark": looks.DARK_COLOURS}


def linear(colour):
    value = np.array([int(colour[n : n + 2], 16) for n in (1, 3, 5)]) / 255
    return np.where(value <= 0.04045, value / 12.92, ((value + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    """CIELAB, D65, of linear sRGB."""
    to_xyz = np.array([[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750],
                       [0.0193339, 0.1191920, 0.9503041]])  # fmt: skip
    xyz = to_xyz @ rgb / np.array([0.95047, 1, 1.08883])
    x, y, z = np.where(xyz > (6 / 29) ** 3, np.cbrt(xyz), xyz * (29 / 6) ** 2 / 3 + 4 / 29)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def ciede2000(one, other):
    """The CIE's colour difference of 2000 (ISO/CIE 11664-6)."""
    chroma = (np.hypot(*one[1:]) + np.hypot(*other[1:])) / 2
    stretch = 1.5 - 0.5 * np.sqrt(chroma**7 / (chroma**7 + 25**7))
    (l1, c1, h1), (l2, c2, h2) = (
        (light, np.hypot(a * stretch, b), np.degrees(np.arctan2(b, a * stretch)))
        for light, a, b in (one, other)
    )
    turn = (h2 - h1 + 180) % 360 - 180
    light, chroma, hue = (l1 + l2) / 2, (c1 + c2) / 2, h1 + turn / 2
    t = 1 - 0.17 * cosine(hue - 30) + 0.24 * cosine(2 * hue)
    t += 0.32 * cosine(3 * hue + 6) - 0.2 * cosine(4 * hue - 63)
    dl = (l2 - l1) / (1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2))
    dc = (c2 - c1) / (1 + 0.045 * chroma)
    dh = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn / 2)) / (1 + 0.015 * chroma * t)
    bend = np.sin(np.radians(60 * np.exp(-(((hue % 360 - 275) / 25) ** 2))))
    bend *= -2 * np.sqrt(chroma**7 / (chroma**7 + 25**7))
    return np.sqrt(dl**2 + dc**2 + dh**2 + bend * dc * dh)


def cosine(degrees):
    return np.cos(np.radians(degrees))


def difference(one, other):
    """The least difference of two colours among the sights."""
    return min(
        ciede2000(*(lab(np.clip(np.array(sight) @ linear(c), 0, 1)) for c in (one, other)))
        for sight in SIGHTS.values()
    )


def contrast(one, other):
    """The contrast of WCAG 2.2."""
    dim, bright = sorted(np.array([0.2126, 0.7152, 0.0722]) @ linear(c) for c in (one, other))
    return (bright + 0.05) / (dim + 0.05)


def test_the_difference_of_colours_is_the_published_one():
    """Sharma, Wu and Dalal (2005), table 1, pairs 1, 7 and 17."""
    for one, other, expected in (
        ((50, 2.6772, -79.7751), (50, 0, -82.7485), 2.0425),
        ((50, 0, 0), (50, -1, 2), 2.3669),
        ((50, 2.5, 0), (73, 25, -18), 27.1492),
    ):
        assert ciede2000(one, other) == pytest.approx(expected, abs=1e-4)


@pytest.mark.parametrize("page", SHADES)
def test_sixteen_systems_stay_apart_for_normal_red_blind_and_green_blind_sight(page):
    near = [
        (one, other)
        for one, other in combinations(MANY, 2)
        if difference(*(SHADES[page][of.colour] for of in (one, other))) < LEAST_DIFFERENCE
    ]
    assert len(near) == 8
    for one, other in near:
        assert all(a != b for a, b in zip(one[1:], other[1:], strict=True))


def test_thirty_two_systems_stay_apart_without_colour():
    grey = [looks.look(n)[1:4] for n in range(32)]
    assert len(set(grey)) == 32
    assert len({(look.colour, look.hatch) for look in map(looks.look, range(32))}) == 32


@pytest.mark.parametrize(("page", "place"), [("light", 0), ("dark", 1)])
def test_every_colour_is_seen_on_its_page(page, place):
    css = environment().get_template("report.css").render()
    for surface in ("paper", "card"):
        behind = re.findall(rf"--{surface}: (#\w+);", css)[place]
        long = behind if len(behind) == 7 else "#" + "".join(2 * c for c in behind[1:])
        assert min(contrast(colour, long) for colour in SHADES[page]) >= 3


def test_a_systems_look_is_of_its_number_and_not_of_its_companions():
    numbers = {"bm25": 1, "clip": 2, "rrf": 9}
    every = looks.looks_of(["clip", "bm25", "rrf"], numbers)
    assert [*every] == ["clip", "bm25", "rrf"]
    assert looks.looks_of(["rrf"], numbers) == {"rrf": every["rrf"]} == {"rrf": looks.look(9)}
    assert looks.looks_of(["new", "bm25"], numbers)["new"] == looks.look(10)


def test_a_figure_alone_has_the_light_colours_and_in_a_page_those_of_the_page():
    drawn = '<path style="fill: #457cfd; stroke: #FFFFFF"/><path style="fill: #0a5a8c"/>'
    assert looks.themed(drawn) == (
        '<path style="fill: var(--system-0); stroke: var(--paper)"/>'
        '<path style="fill: var(--accent)"/>'
    )
    light, dark = looks.style_sheet().splitlines()
    assert "--system-7: #db3869;" in light
    assert "prefers-color-scheme: dark" in dark
    assert "--system-7: #e37a83;" in dark


def test_a_swatch_shows_colour_shape_and_dash():
    filled, hollow = looks.swatch(1), looks.swatch(9)
    assert all("var(--system-1)" in swatch for swatch in (filled, hollow))
    assert 'fill="var(--system-1)"' in filled
    assert 'fill="var(--paper)"' in hollow
    assert 'stroke-dasharray="10 4"' in filled
    assert "<circle" in looks.swatch(0)
    assert 'aria-hidden="true"' in filled
