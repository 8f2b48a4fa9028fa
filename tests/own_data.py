"""Small data of one's own, as people have it: figures in three languages, emoji, captions, dirt."""

import csv
from collections.abc import Iterable, Sequence
from pathlib import Path

from tests.pairs import draw

_FIGURES = (
    ("brush", "The brush tool paints fuzzy strokes on the layer that is active."),
    ("eraser", "The eraser removes parts of the layer and shows what is below it."),
    ("crop", "The crop tool cuts away the edges of an image which are not needed."),
    ("bucket", "The bucket fills an area with the colour that is in the foreground."),
)
_GERMAN = (
    "Das Pinselwerkzeug malt weiche Striche auf die Ebene, die gerade aktiv ist.",
    "Der Radierer entfernt Teile der Ebene und zeigt, was unter ihr liegt.",
    "Das Werkzeug schneidet die Kanten eines Bildes ab, die nicht gebraucht werden.",
    "Der Eimer füllt eine Fläche mit der Farbe, die im Vordergrund ist.",
)
_FRENCH = (
    "Le pinceau peint des traits doux sur le calque qui est actif.",
    "La gomme enlève des parties du calque et montre ce qui est au-dessous.",
    "Cet outil coupe les bords d'une image dont on n'a pas besoin.",
    "Le seau remplit une zone avec la couleur qui est au premier plan.",
)
_EMOJI = (
    ("1F600", "grinning face", "face; grin; smile", "Smileys and Emotion"),
    ("1F431", "cat face", "cat; face; pet", "Animals and Nature"),
    ("1F680", "rocket", "rocket; space; launch", "Travel and Places"),
    ("1F34E", "red apple", "apple; fruit; red", "Food and Drink"),
    ("26F5", "sailboat", "boat; sea; sail; yacht", "Travel and Places"),
    ("1F3B8", "guitar", "guitar; music; strings", "Objects of People"),
)
_ENGLISH = ("A man in an orange hat", "Two dogs run over the grass", "A girl climbs the stairs")


def table(path: Path, header: Sequence[str], rows: Iterable[Sequence[object]]) -> Path:
    """Write a CSV file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([header, *rows])
    return path


def figures(folder: Path, times: int = 4) -> Path:
    """Figures of a manual with a sentence in English, German and French, and web pages beside."""
    rows: list[list[str]] = []
    for n in range(times):
        for (name, english), german, french in zip(_FIGURES, _GERMAN, _FRENCH, strict=True):
            own = [f"{text} ({n})" for text in (english, german, french)]
            rows.append([f"{name}-{n}.png", *own, f"{name} tool"])
    draw(folder / "images", [row[0] for row in rows])
    for n in range(6):
        (folder / f"images/page-{n}.html").write_text("<p>A page of the manual.</p>", "utf-8")
    return table(folder / "figures.csv", ["file", "en", "de", "fr", "title"], rows)


def emoji(folder: Path, times: int = 4) -> Path:
    """An emoji set: a name and tags of each picture, several emoji a group."""
    rows = [
        [f"{code}-{n}.png", f"{label} {n}", tags, group]
        for n in range(times)
        for code, label, tags, group in _EMOJI
    ]
    draw(folder / "png", [row[0] for row in rows])
    return table(folder / "emoji.csv", ["file", "label", "tags", "group"], rows)


def multi30k(folder: Path, pictures: int = 12) -> Path:
    """Captions as Multi30k has them: five a picture, and splits."""
    names = [f"{1000 + n}.jpg" for n in range(pictures)]
    rows = [
        [
            name,
            ("train", "val", "test")[n % 3],
            *(f"{_ENGLISH[n % 3]}, {n}, {k}." for k in range(5)),
        ]
        for n, name in enumerate(names)
    ]
    draw(folder / "pictures", names)
    return table(
        folder / "multi30k.csv", ["image", "split", *(f"en_{k}" for k in range(1, 6))], rows
    )


def dirty(folder: Path) -> Path:
    """A table with what tables of people have: a slip in a split, days of two kinds, repeats."""
    rows: list[Sequence[object]] = []
    for n in range(12):
        split = ("train", "train", "val", "test")[n % 4] if n != 5 else "trian"
        day = f"{n + 1:02}/04/2021" if n == 7 else f"2021-04-{n + 1:02}"
        rows.append([f"{n:02}.jpg", f"{_ENGLISH[n % 3]} number {n} ", split, day, "", n % 3])
    rows += [rows[2], rows[3], ["12.jpg", "Rated badly", "train", "2021-05-01", "", "often"]]
    rows += [["13.jpg", "", "train", "2021-05-01", "", 1], ["14.jpg", "Short row"]]
    draw(folder / "photos", [f"{n:02}.jpg" for n in range(1, 14)])
    header = ["photo", "caption", "split", "taken", "licence note", "rating"]
    return table(folder / "dirty.csv", header, rows)
