"""Pixels of the toy scenes: flat shapes over a grainy ground, drawn with Pillow."""

import io
import math
import random

from PIL import Image, ImageDraw

from isotope.toy import scenes
from isotope.toy.scenes import Scene

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
    canvas = _ground(scene).resize((size[0] * _ZOOM, size[1] * _ZOOM), Image.Resampling.BILINEAR)
    pen = ImageDraw.Draw(canvas)
    for group, (x0, y0, x1, y1) in scenes.objects(scene):
        for part in _SHAPES[group.shape]:
            outline = [
                (round((x0 + (x1 - x0) * x) * _ZOOM), round((y0 + (y1 - y0) * y) * _ZOOM))
                for x, y in part
            ]
            pen.polygon(outline, fill=scenes.COLOURS[group.colour])
    return canvas.resize(size, Image.Resampling.BOX)


def _ground(scene: Scene) -> Image.Image:
    rng = random.Random(scene.grain)
    wide, high = scene.width_px // 16, scene.height_px // 16
    tone = scenes.GROUNDS[scene.ground]
    shifts = [rng.randint(-_GRAIN, _GRAIN) for _ in range(wide * high)]
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
