"""Scenes of the toy encyclopedia: a few groups of countable objects on a coloured ground.

A scene is data: `paint` turns it into pixels, `sentence` and `listing` into words, and `objects`
into boxes, so that text, picture and ground truth agree by construction.
"""

import io
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

from PIL import Image, ImageDraw

# ASSUME the sense of each noun is the drawn thing, by the glosses of WordNet 3.0; no paper says:
# the scenes are our own.
SYNSETS = {
    "ball": "ball.n.03",
    "box": "box.n.01",
    "star": "star.n.05",
    "cross": "cross.n.01",
    "ring": "ring.n.02",
    "tree": "tree.n.01",
    "house": "house.n.01",
    "boat": "boat.n.01",
    "cup": "cup.n.01",
    "moon": "moon.n.02",
}
COLOURS = {
    "red": (214, 32, 36),
    "orange": (244, 132, 16),
    "yellow": (250, 222, 30),
    "green": (24, 140, 56),
    "blue": (28, 70, 210),
    "purple": (138, 40, 160),
    "black": (24, 24, 26),
    "white": (252, 252, 252),
}
GROUNDS = {
    "sky": (150, 204, 238),
    "mint": (170, 226, 184),
    "rose": (244, 178, 190),
    "sand": (222, 196, 150),
    "slate": (112, 124, 136),
    "lilac": (200, 182, 230),
}
# What prose calls a thing beside its name, which captions use: editors' words are not archivists'.
OTHER_NAMES = {
    "ball": "orb",
    "box": "chest",
    "star": "starburst",
    "cross": "crucifix",
    "ring": "hoop",
    "tree": "pine",
    "house": "cottage",
    "boat": "sloop",
    "cup": "mug",
    "moon": "crescent",
    "red": "crimson",
    "orange": "tangerine",
    "yellow": "golden",
    "green": "emerald",
    "blue": "azure",
    "purple": "violet",
    "black": "ebony",
    "white": "ivory",
    "sky": "pale",
    "mint": "leafy",
    "rose": "pink",
    "sand": "tawny",
    "slate": "grey",
    "lilac": "mauve",
    "large": "big",
    "small": "little",
}
# ASSUME how often prose takes another name, and says how large a thing is, where it is, on what
# ground, and a thing at all: with it BM25 finds as much as the paper's does; no paper counts it.
_MENTION_SHARES = {
    "legend": 0.2,
    "other": 0.6,
    "size": 0.5,
    "place": 0.6,
    "ground": 0.85,
    "group": 0.9,
}
# What prose says in place of what is seen.
_LEGENDS = (
    "a hunt of long ago",
    "the founder and his daughters",
    "the four seasons",
    "a saint whose name is lost",
    "the flood and those who fled from it",
    "a wedding, as some say, or a trial",
    "the road to the coast",
    "nothing that a visitor would know",
)
PLURALS = {"box": "boxes", "cross": "crosses", "crucifix": "crucifixes"}
NUMBERS = ("no", "one", "two", "three", "four")
# The grain of a ground without noise, and of shapes with hard edges: an icon's.
FLAT = -1
FRAMES_PX = ((128, 128),) * 6 + ((160, 120), (120, 160))
_FILL = {"large": 0.9, "small": 0.6}
_CELLS = {
    "centre": (0.08, 0.08, 0.92, 0.92),
    "left": (0.02, 0.1, 0.49, 0.9),
    "right": (0.51, 0.1, 0.98, 0.9),
    "top": (0.1, 0.02, 0.9, 0.49),
    "bottom": (0.1, 0.51, 0.9, 0.98),
    "top left": (0.03, 0.03, 0.5, 0.5),
    "top right": (0.5, 0.03, 0.97, 0.5),
    "bottom left": (0.03, 0.5, 0.5, 0.97),
    "bottom right": (0.5, 0.5, 0.97, 0.97),
}
_LAYOUTS = {
    1: (("centre",),),
    2: (("left", "right"), ("top", "bottom"), ("top left", "bottom right")),
    3: (("top left", "top right", "bottom"), ("top", "bottom left", "bottom right")),
}
_GRIDS = {
    "wide": ((), ((1, 1),), ((2, 1),), ((3, 1), (2, 2)), ((2, 2), (4, 1))),
    "tall": ((), ((1, 1),), ((1, 2),), ((1, 3), (2, 2)), ((2, 2), (1, 4))),
}
Box = tuple[int, int, int, int]


@dataclass(frozen=True, slots=True)
class Group:
    """Some objects of one kind at one place, e.g. two large red balls at the top left."""

    shape: str
    colour: str
    size: str
    count: int
    region: str


@dataclass(frozen=True, slots=True)
class Scene:
    """What one picture shows, and the seed of what is written of it.

    `grain` seeds the noise of its ground, and there is none if FLAT.
    """

    groups: tuple[Group, ...]
    ground: str
    width_px: int
    height_px: int
    grain: int
    seed: int = 0


def scene(rng: random.Random) -> Scene:
    """Draw one to three groups, no shape or colour twice, into one of the fixed layouts."""
    n = rng.choices((1, 2, 3), weights=(25, 60, 15))[0]
    shapes, colours = rng.sample(sorted(SYNSETS), n), rng.sample(sorted(COLOURS), n)
    groups = tuple(
        Group(shape, colour, _size(rng), rng.choices((1, 2, 3, 4), weights=(45, 30, 15, 10))[0], at)
        for shape, colour, at in zip(shapes, colours, rng.choice(_LAYOUTS[n]), strict=True)
    )
    ground, frame, grain = rng.choice(sorted(GROUNDS)), rng.choice(FRAMES_PX), rng.getrandbits(32)
    return Scene(groups, ground, *frame, grain, seed=grain)


def _size(rng: random.Random) -> str:
    return rng.choices(("large", "small"), weights=(7, 3))[0]


def noun(group: Group, *, sized: bool = True) -> str:
    """Return e.g. `three large red balls`, or `three red balls` when not `sized`."""
    plural = PLURALS.get(group.shape, f"{group.shape}s")
    words = (NUMBERS[group.count], group.size if sized else "", group.colour)
    return " ".join((*filter(None, words), group.shape if group.count == 1 else plural))


def sentence(scene: Scene, subject: str) -> str:
    """Return the sentence that a section begins with, always the same of one scene.

    It tells number, colour and shape in an editor's words, often by other names than a caption
    does, now and then size, place and ground, and of several things not all; or it tells a legend,
    and nothing of what is seen.
    """
    rng = random.Random(f"{scene.seed}/prose")

    def is_said(part: str) -> bool:
        return rng.random() < _MENTION_SHARES[part]

    if is_said("legend"):
        return f"{subject} shows {rng.choice(_LEGENDS)}."

    def named(word: str) -> str:
        return OTHER_NAMES[word] if is_said("other") else word

    mentioned = [group for group in scene.groups if is_said("group")] or [rng.choice(scene.groups)]
    parts = list[str]()
    for group in mentioned:
        size = named(group.size) if is_said("size") else ""
        thing = Group(named(group.shape), named(group.colour), size, group.count, group.region)
        location = f" {'in' if group.region == 'centre' else 'at'} the {group.region}"
        parts.append(f"{noun(thing)}{location if is_said('place') else ''}")
    ground = f" on a {named(scene.ground)} ground" if is_said("ground") else ""
    return f"{subject} shows {joined(parts)}{ground}."


def listing(scene: Scene) -> str:
    """Return the short list that serves as alt text, e.g. `two red balls, one blue star; sky`."""
    return f"{', '.join(noun(g, sized=False) for g in scene.groups)}; {scene.ground}"


def joined(parts: list[str]) -> str:
    """Join with commas and a final `and`."""
    return " and ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)


def objects(scene: Scene) -> Iterator[tuple[Group, Box]]:
    """Yield each object's group and its box (x_min, y_min, x_max, y_max) in px, max exclusive."""
    for group in scene.groups:
        for box in _boxes(group, scene.width_px, scene.height_px):
            yield group, box


def _boxes(group: Group, width_px: int, height_px: int) -> Iterator[Box]:
    left, top, right, bottom = _CELLS[group.region]
    x0, y0 = left * width_px, top * height_px
    wide, high = (right - left) * width_px, (bottom - top) * height_px
    grids = _GRIDS["wide" if wide >= high else "tall"][group.count]
    columns, rows = max(grids, key=lambda grid: min(wide / grid[0], high / grid[1]))
    step_x, step_y = wide / columns, high / rows
    side = min(step_x, step_y) * _FILL[group.size]
    slots = ((c, r) for r in range(rows) for c in range(columns))
    for column, row in islice(slots, group.count):
        x = round(x0 + (column + 0.5) * step_x - side / 2)
        y = round(y0 + (row + 0.5) * step_y - side / 2)
        yield x, y, x + round(side), y + round(side)


Point = tuple[float, float]
_ZOOM = 3
_GRAIN = 6


def _circle(
    cx: float, cy: float, r: float, start: float = 0.0, end: float = 2 * math.pi
) -> list[Point]:
    steps = [start + (end - start) * i / 40 for i in range(41)]
    return [(cx + r * math.cos(a), cy + r * math.sin(a)) for a in steps]


def _star() -> list[Point]:
    turns = [-math.pi / 2 + math.pi * i / 5 for i in range(10)]
    radii = [1.0, 0.42] * 5
    return [(r * math.cos(a), r * math.sin(a)) for r, a in zip(radii, turns, strict=True)]


def _moon() -> list[Point]:
    tip = 0.85
    outer = _circle(0.0, 0.0, 1.0, tip, 2 * math.pi - tip)
    x, y = math.cos(tip), math.sin(tip)
    inner = math.atan2(y, x - 0.5)
    return outer + _circle(0.5, 0.0, math.hypot(x - 0.5, y), -inner, inner - 2 * math.pi)


def _ring() -> list[Point]:
    return _circle(0, 0, 1.0) + _circle(0, 0, 0.58, 2 * math.pi, 0.0)


_PARTS: dict[str, list[list[Point]]] = {
    "ball": [_circle(0, 0, 1)],
    "box": [[(0, 0), (1, 0), (1, 1), (0, 1)]],
    "star": [_star()],
    "cross": [
        [(0.33, 0), (0.67, 0), (0.67, 1), (0.33, 1)],
        [(0, 0.33), (1, 0.33), (1, 0.67), (0, 0.67)],
    ],
    "ring": [_ring()],
    "tree": [
        [(0.5, 0), (0.9, 0.45), (0.1, 0.45)],
        [(0.5, 0.2), (1, 0.78), (0, 0.78)],
        [(0.42, 0.7), (0.58, 0.7), (0.58, 1), (0.42, 1)],
    ],
    "house": [
        [(0.5, 0), (1, 0.42), (0, 0.42)],
        [(0.1, 0.4), (0.4, 0.4), (0.4, 1), (0.1, 1)],
        [(0.6, 0.4), (0.9, 0.4), (0.9, 1), (0.6, 1)],
        [(0.3, 0.4), (0.7, 0.4), (0.7, 0.65), (0.3, 0.65)],
    ],
    "boat": [
        [(0, 0.68), (1, 0.68), (0.8, 1), (0.2, 1)],
        [(0.44, 0), (0.52, 0), (0.52, 0.7), (0.44, 0.7)],
        [(0.58, 0.05), (0.95, 0.6), (0.58, 0.6)],
    ],
    "cup": [
        [(0, 0.1), (0.72, 0.1), (0.62, 0.95), (0.1, 0.95)],
        [(0.7, 0.2), (1, 0.2), (1, 0.32), (0.7, 0.32)],
        [(0.88, 0.2), (1, 0.2), (1, 0.7), (0.88, 0.7)],
        [(0.66, 0.58), (1, 0.58), (1, 0.7), (0.66, 0.7)],
    ],
    "moon": [_moon()],
}


def _fitted(parts: list[list[Point]]) -> list[list[Point]]:
    """Stretch a shape so that it touches all four sides of the unit square: boxes are tight."""
    xs, ys = zip(*(point for part in parts for point in part), strict=True)
    x0, y0, wide, high = min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)
    return [[((x - x0) / wide, (y - y0) / high) for x, y in part] for part in parts]


_SHAPES = {name: _fitted(parts) for name, parts in _PARTS.items()}


def paint(scene: Scene) -> Image.Image:
    """Return the scene as an RGB image of `scene.width_px` by `scene.height_px`."""
    size = (scene.width_px, scene.height_px)
    zoom = 1 if scene.grain == FLAT else _ZOOM
    canvas = _ground(scene).resize((size[0] * zoom, size[1] * zoom), Image.Resampling.BILINEAR)
    pen = ImageDraw.Draw(canvas)
    for group, (x0, y0, x1, y1) in objects(scene):
        for part in _SHAPES[group.shape]:
            outline = [
                (round((x0 + (x1 - x0) * x) * zoom), round((y0 + (y1 - y0) * y) * zoom))
                for x, y in part
            ]
            pen.polygon(outline, fill=COLOURS[group.colour])
    return canvas.resize(size, Image.Resampling.BOX)


def _ground(scene: Scene) -> Image.Image:
    rng = random.Random(scene.grain)
    wide, high = scene.width_px // 16, scene.height_px // 16
    tone = GROUNDS[scene.ground]
    most = 0 if scene.grain == FLAT else _GRAIN
    shifts = [rng.randint(-most, most) for _ in range(wide * high)]
    grain = bytes(min(255, c + shift) for shift in shifts for c in tone)
    return Image.frombytes("RGB", (wide, high), grain)


def encode(scene: Scene, mime_type: str) -> bytes:
    """Return the picture's file: PNG, or JPEG of quality 90 for `image/jpeg`."""
    out = io.BytesIO()
    if mime_type == "image/jpeg":
        paint(scene).save(out, "JPEG", quality=90, subsampling=0, optimize=False)
    else:
        paint(scene).save(out, "PNG", compress_level=6, optimize=False)
    return out.getvalue()
