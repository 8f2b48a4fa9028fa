"""Pictures of every kind, drawn: what the classifier of pictures is tried on."""

from collections.abc import Iterator
from typing import NamedTuple

import cv2
import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw, ImageFilter

Pixels = npt.NDArray[np.uint8]
_PLAIN = [(206, 17, 38), (0, 57, 166), (0, 122, 61), (255, 206, 0), (255, 255, 255), (0, 0, 0)]


class Drawn(NamedTuple):
    """A picture as the crawl has it, with a file name such as people give."""

    kind: str
    file: str
    mime_type: str
    rgb: Pixels


def drawn(n: int, seed: int = 0) -> Iterator[Drawn]:
    """Yield n pictures of each kind; every other name does not tell the kind."""
    rng = np.random.default_rng(seed)
    for i in range(n):
        tells = i % 2 == 0
        for kind, (draw, name, mime) in _KINDS.items():
            ending = "jpg" if mime == "image/jpeg" else "svg" if "svg" in mime else "png"
            file = f"{name if tells else 'Item'} {i}.{ending}"
            yield Drawn(kind, file, mime, draw(rng))


def photograph(rng: np.random.Generator) -> Pixels:
    """Draw light, noise of every scale (1/f, as in natural scenes) and a few soft bodies."""
    width, height = (int(s) for s in rng.integers(300, 700, 2))
    rough = np.zeros((height, width, 3), np.float32)
    for side in (3, 6, 12, 25, 50, 100, 200):
        noise = rng.normal(0, 90 / side**0.6, (side, side, 3)).astype(np.float32)
        rough += cv2.resize(noise, (width, height), interpolation=cv2.INTER_CUBIC)
    scene = Image.fromarray(np.clip(rough + rng.integers(60, 190, 3), 0, 255).astype(np.uint8))
    pen = ImageDraw.Draw(scene)
    for _ in range(4):
        x, y = int(rng.integers(0, width)), int(rng.integers(0, height))
        r = int(rng.integers(15, 80))
        pen.ellipse((x - r, y - r, x + r, y + r), tuple(int(c) for c in rng.integers(0, 255, 3)))
    soft = np.asarray(scene.filter(ImageFilter.GaussianBlur(1.5)), np.float32)
    grain = rng.normal(0, 4, soft.shape)
    return np.clip(soft + grain, 0, 255).astype(np.uint8)


def drawing(rng: np.random.Generator) -> Pixels:
    """Draw a diagram: some bodies of many colours, lines and hatching on a coloured ground."""
    width, height = (int(s) for s in rng.integers(350, 700, 2))
    picture = Image.new("RGB", (width, height), tuple(int(c) for c in rng.integers(150, 250, 3)))
    pen = ImageDraw.Draw(picture)
    for _ in range(25):
        x, y, w, h = (int(v) for v in rng.integers(10, 300, 4))
        pen.rectangle((x, y, x + w, y + h // 2), _colour(rng), outline="black", width=2)
    for _ in range(40):
        pen.line([int(v) for v in rng.integers(0, 600, 4)], _colour(rng), 2)
    return np.asarray(picture)


def icon(rng: np.random.Generator) -> Pixels:
    """Draw a glyph of two colours on white, 16 to 60 px."""
    side = int(rng.integers(16, 61))
    big = Image.new("RGB", (side * 4, side * 4), "white")
    pen = ImageDraw.Draw(big)
    pen.ellipse((4, 4, side * 4 - 4, side * 4 - 4), _plain(rng, 4))
    pen.polygon([(side, 2 * side), (3 * side, side), (3 * side, 3 * side)], _plain(rng))
    return np.asarray(big.resize((side, side), Image.Resampling.LANCZOS))


def flag(rng: np.random.Generator) -> Pixels:
    """Draw three stripes, perhaps with a disc or a cross."""
    height = int(rng.integers(200, 700))
    width = int(height * rng.choice([1.5, 1.667, 2.0]))
    picture = Image.new("RGB", (width, height))
    pen = ImageDraw.Draw(picture)
    upright = rng.random() < 0.5
    for i, colour in enumerate(rng.permutation(len(_PLAIN))[:3]):
        box = (width * i // 3, 0, width * (i + 1) // 3, height)
        box = box if upright else (0, height * i // 3, width, height * (i + 1) // 3)
        pen.rectangle(box, _PLAIN[colour])
    if rng.random() < 0.5:
        x, y, r = width // 2, height // 2, height // 5
        pen.ellipse((x - r, y - r, x + r, y + r), _plain(rng))
    return np.asarray(picture)


def locator(rng: np.random.Generator) -> Pixels:
    """Draw land, borders and rivers on a sea, with a dot and some names."""
    width, height = (int(s) for s in rng.integers(400, 900, 2))
    picture = Image.new("RGB", (width, height), (198, 236, 255))
    pen = ImageDraw.Draw(picture)
    land = [(254, 254, 233), (246, 225, 185), (224, 242, 204), (250, 218, 221)]
    for i in range(9):
        x, y, r = rng.integers(0, width), rng.integers(0, height), rng.integers(70, 200)
        at = np.sort(rng.uniform(0, 2 * np.pi, 24))
        edge = r * rng.uniform(0.7, 1.1, 24)
        points = [*zip(x + edge * np.cos(at), y + edge * np.sin(at), strict=True)]
        pen.polygon(points, land[i % 4], outline=(100, 100, 100), width=2)
        pen.line(points[:9], (9, 120, 171), 2)
        pen.text((int(x) - 20, int(y)), "Name of it", "black")
    pen.ellipse((width // 2 - 7, height // 2 - 7, width // 2 + 7, height // 2 + 7), "red")
    return np.asarray(picture)


def logo(rng: np.random.Generator) -> Pixels:
    """Draw letters of one colour on white, wide."""
    width, height = int(rng.integers(300, 800)), int(rng.integers(90, 200))
    picture = Image.new("RGB", (width, height), "white")
    pen = ImageDraw.Draw(picture)
    colour, x = _plain(rng, 4), 15
    while x < width - 60:
        w = int(rng.integers(20, 45))
        pen.rectangle((x, 25, x + 9, height - 25), colour)
        pen.ellipse((x, height // 3, x + w, height - 25), colour)
        x += w + 12
    return np.asarray(picture)


def placeholder(rng: np.random.Generator) -> Pixels:
    """Draw a grey head and shoulders on a lighter grey."""
    side = int(rng.integers(150, 400))
    shade = int(rng.integers(215, 245))
    picture = Image.new("RGB", (side, side), (shade, shade, shade))
    pen = ImageDraw.Draw(picture)
    grey = (shade - 50,) * 3
    pen.ellipse((side // 3, side // 6, 2 * side // 3, side // 2), grey)
    pen.ellipse((side // 6, side * 11 // 20, side * 5 // 6, side * 13 // 10), grey)
    return np.asarray(picture)


def _plain(rng: np.random.Generator, most: int = 6) -> tuple[int, int, int]:
    return _PLAIN[int(rng.integers(0, most))]


def _colour(rng: np.random.Generator) -> tuple[int, int, int]:
    red, green, blue = (int(c) for c in rng.integers(20, 240, 3))
    return red, green, blue


_KINDS = {
    "photograph": (photograph, "Harbour at dusk", "image/jpeg"),
    "drawing": (drawing, "Section of a dynamo", "image/png"),
    "icon": (icon, "Information icon", "image/png"),
    "flag": (flag, "Flag of Land", "image/svg+xml"),
    "map": (locator, "Locator map of Land", "image/png"),
    "logo": (logo, "Company logo", "image/png"),
    "placeholder": (placeholder, "No image available", "image/png"),
}
