"""A self-contained page of failures: right and returned picture, boxes, the matching in words."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core import sql, store
from isotope.core.thumbnails import thumbnail
from isotope.explain.explain_words import Part, noun, parts, sentences
from isotope.report.templates import environment
from isotope.tabulate.layout import Table, lay_out
from isotope.tabulate.table import rows

SIDE_PX = 320
TITLES = {
    "explained": "How wrong the failures are",
    "ranking": "How often the right answer comes first",
    "moved": "What exchanged words do to the right answer's rank",
    "perturbed": "All queries and the changed ones, intact and perturbed",
    "unknown_objects": "Objects that could not be used",
}
_SQL = sql.SQL / "tabulate"


class Sources(NamedTuple):
    """The tables of a collection, its explained failures and objects, and the crawl's shards."""

    texts: Path
    images: Path
    failures: Path
    known: Path
    pixels: Sequence[Path]


class Box(NamedTuple):
    """A rectangle in px of the picture, with its concept and the concept's part."""

    x: int
    y: int
    width: int
    height: int
    name: str
    part: Part


class Picture(NamedTuple):
    """A picture as the page draws it; `data` is its data: URI, None without pixels."""

    title: str
    data: str | None
    width: int
    height: int
    boxes: list[Box]


class Case(NamedTuple):
    """A failure: who was asked what, both pictures, and what is to be said."""

    row: Mapping[str, Any]
    query: str
    truth: Picture
    found: Picture
    words: list[str]


def failures_page(
    collection: str, given: Sources, tables: Sequence[Path], *, shown: int, out: Path
) -> None:
    """Write the page: the tables, then for each system its `shown` worst and best failures.

    `tables` may hold other files than csv, which are passed over. Same input, same bytes.

    Raises:
        IsotopeError: what `tabulate.rows` raises.
    """
    picks = rows(_SQL / "failures_picks.sql", {"failures": given.failures}, {"shown": shown})
    found = cases(picks, given) if picks.height else []
    systems: dict[tuple[str, str], list[Case]] = {}
    for case in found:
        systems.setdefault((case.row["task"], case.row["system"]), []).append(case)
    page = environment().get_template("failures.html.j2")
    html = page.render(collection=collection, tables=_tables(tables), systems=systems)
    with store.aside(out) as part:
        part.write_text(html, encoding="utf-8", newline="\n")


def cases(picks: pl.DataFrame, given: Sources) -> list[Case]:
    """Return the picked failures with what is to be drawn and said of them."""
    ids = sorted({*picks["truth_id"], *picks["found_id"]})
    seen = _boxes(given, ids)
    shown = _pictures(given, ids)
    asked = {"ids": sorted(set(picks["query_id"]))}
    texts = rows(_SQL / "report_texts.sql", {"texts": given.texts}, asked)
    words = {row["id"]: row["words"] or row["title"] for row in texts.iter_rows(named=True)}
    return [
        Case(
            row,
            words.get(row["query_id"], ""),
            _picture(row, row["truth_id"], seen, shown),
            _picture(row, row["found_id"], seen, shown),
            sentences(row),
        )
        for row in picks.iter_rows(named=True)
    ]


def _boxes(given: Sources, ids: list[str]) -> dict[str, pl.DataFrame]:
    relations: dict[str, sql.Files] = {"known": given.known, "images": given.images}
    found = rows(_SQL / "failures_boxes.sql", relations, {"ids": ids})
    split = found.partition_by("image_id", as_dict=True)
    return {str(key[0]): own for key, own in split.items()}


def _pictures(given: Sources, ids: list[str]) -> dict[str, tuple[str, str | None]]:
    """Return the name and the data: URI of each picture."""
    names = rows(_SQL / "report_images.sql", {"images": given.images}, {"ids": ids})
    drawn: dict[str, str | None] = {}
    if given.pixels:
        pixels = {"pixels": list(given.pixels)}
        found = rows(_SQL / "report_pixels.sql", pixels, {"ids": ids})
        drawn = {r["id"]: thumbnail(r["webp"], SIDE_PX) for r in found.iter_rows(named=True)}
    return {r["id"]: (r["title"], drawn.get(r["id"])) for r in names.iter_rows(named=True)}


def _picture(
    row: Mapping[str, Any],
    image_id: str,
    seen: Mapping[str, pl.DataFrame],
    shown: Mapping[str, tuple[str, str | None]],
) -> Picture:
    own = seen[image_id]
    part = parts(row, own["concept"].unique().to_list())
    boxes = [
        Box(
            b["x_min"],
            b["y_min"],
            b["x_max"] - b["x_min"],
            b["y_max"] - b["y_min"],
            noun(b["concept"]),
            part[b["concept"]],
        )
        for b in own.drop_nulls("x_min").iter_rows(named=True)
    ]
    width, height = own.row(0, named=True)["width"], own.row(0, named=True)["height"]
    return Picture(*shown[image_id], width or 1, height or 1, boxes)


def _tables(files: Sequence[Path]) -> list[tuple[str, Table]]:
    found = {path.stem: path for path in files if path.suffix == ".csv" and path.stat().st_size > 1}
    return [
        (title, lay_out(pl.read_csv(found[name], infer_schema_length=None)))
        for name, title in TITLES.items()
        if name in found
    ]
