"""The page about two snapshots: what has changed, in numbers and side by side."""

from collections.abc import Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core import sql
from isotope.core.pixels import thumbnail
from isotope.report.changes import Change, Drawn, Known, change, pictures
from isotope.report.collection import need
from isotope.report.site import write_page
from isotope.tabulate.layout import lay_out
from isotope.tabulate.table import plain, rows

PAGES, ITEMS, PICTURES = 40, 12, 300
KINDS = {"text": "Texts", "image": "Images", "pair": "Pairs"}
CHANGES = ("edited", "renamed", "moved", "replaced", "added", "removed")
CLASSES = {
    "edited": "Edited pages",
    "renamed": "Renamed pages",
    "new": "New pages",
    "gone": "Pages that are gone",
    "untouched": "Pages whose words are as they were",
    None: "Pictures that stand on no judged page",
}
_SQL = sql.SQL / "tabulate"
_SIDE_PX = 120
Row = Mapping[str, Any]


class Side(NamedTuple):
    """A snapshot's collection: its name, its tables by name, and the shards of its pictures."""

    name: str
    tables: Mapping[str, Path]
    pixels: Sequence[Path]


class Entry(NamedTuple):
    """A page and the first of its changes, of which there are `total`."""

    title: str
    was: str
    url: str
    total: int
    changes: list[Change]


class Group(NamedTuple):
    """The pages of a class with the most changes, of `total` that have any."""

    title: str
    total: int
    pages: list[Entry]


def build(before: Side, after: Side, changes: Path, out: Path) -> None:
    """Write the page on tables.CHANGES; snapshot_diff.csv and snapshot_survival.csv lie beside it.

    Of each class of pages the 40 with the most changes are shown, with 12 changes each, and 300
    pictures in all. Same input, same bytes.

    Raises:
        MissingFile: a table that is not there.
    """
    relations: dict[str, sql.Files] = {"changes": changes}
    for when, side in (("before", before), ("after", after)):
        relations |= {f"{when}_{name}": path for name, path in side.tables.items()}
    items = _asked("items", relations, {"pages": PAGES, "items": ITEMS})
    known = _known(items, relations, {"before": before.pixels, "after": after.pixels})
    classes = _asked("classes", relations, {})
    tables = {name: changes.parent / f"snapshot_{name}.csv" for name in ("diff", "survival")}
    read = {name: pl.read_csv(path) for name, path in tables.items()}
    write_page(
        "since",
        out,
        **{"cell": None, "up": "../../", "before": before.name, "after": after.name},
        **{"kinds": KINDS, "changes": CHANGES, "groups": _groups(items, known)},
        classes={row["page_class"]: row["pages"] for row in classes},
        held=read["survival"].to_dicts()[:1],
        tables={name: lay_out(table) for name, table in read.items()},
    )


def summary(table: Path) -> str:
    """Return snapshot_diff.csv as plain text: a line a kind, a column a change.

    Raises:
        MissingFile: it is not there.
    """
    every = {(row["kind"], row["change"]): row["every"] for row in need(table).to_dicts()}
    names = ["unchanged", *CHANGES]
    lines = [
        [name.lower(), *(f"{every.get((kind, c), 0):,}" for c in names)]
        for kind, name in KINDS.items()
    ]
    return plain(lines, ["", *names], right=range(1, len(names) + 1))


def _asked(
    name: str, relations: Mapping[str, sql.Files], params: Mapping[str, object]
) -> list[dict[str, Any]]:
    return rows(_SQL / f"since/{name}.sql", relations, params).to_dicts()


def _known(
    items: Sequence[Row], relations: Mapping[str, sql.Files], pixels: Mapping[str, Sequence[Path]]
) -> Known:
    """Look up what the changes speak of, and draw the first pictures among them."""
    ends = [str(row[end]).split() for row in items for end in ("before_id", "after_id") if row[end]]
    ids = sorted({part for end in ends for part in end})
    texts = _of("texts", relations, ids)
    images = _of("images", relations, ids)
    wanted = list(dict.fromkeys(one for row in items for one in pictures(row)))[:PICTURES]
    drawn: Drawn = {}
    for side, shards in pixels.items():
        own = sorted(image for when, image in wanted if when == side)
        if own and shards:
            found = rows(_SQL / "report/pixels.sql", {"pixels": list(shards)}, {"ids": own})
            for row in found.iter_rows(named=True):
                drawn[side, row["id"]] = thumbnail(row["webp"], _SIDE_PX)
    return Known(texts, images, drawn)


def _of(
    name: str, relations: Mapping[str, sql.Files], ids: list[str]
) -> dict[tuple[str, str], dict[str, Any]]:
    own = {f"{when}_{name}": relations[f"{when}_{name}"] for when in ("before", "after")}
    key = f"{name[:-1]}_id"
    found = _asked(name, own, {"ids": ids})
    return {(row["side"], row[key]): row for row in found}


def _groups(items: Sequence[Row], known: Known) -> list[Group]:
    found = {name: list(own) for name, own in groupby(items, lambda row: row["class"])}
    return [
        Group(title, found[name][0]["in_class"], _entries(found[name], known))
        for name, title in CLASSES.items()
        if name in found
    ]


def _entries(items: Sequence[Row], known: Known) -> list[Entry]:
    entries: list[Entry] = []
    for _, page in groupby(items, lambda row: row["page_id"]):
        own, seen = list(page), set[tuple[str, str]]()
        first, told = own[0], [change(row, known, seen) for row in own if row["total"]]
        title, was = first["title"] or first["was"] or "", first["was"] or ""
        was = was if was != title else ""
        entries.append(Entry(title, was, first["url"] or "", first["total"], told))
    return entries
