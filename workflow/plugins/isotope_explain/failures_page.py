"""A self-contained page of failures: right and returned picture, boxes, the matching in words."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from isotope.core import sql
from isotope.core.uploads import decoded_name
from isotope.report.content import Scope, thumbnails
from isotope.report.site import write_page
from isotope.tabulate.table import Table, lay_out, read_table, rows
from isotope_explain.resources import SQL

Row = Mapping[str, Any]
SIDE_PX = 320
TITLES = {
    "explained": "How wrong the failures are",
    "ranking": "How often the right answer comes first",
    "moved": "What exchanged words do to the right answer's rank",
    "perturbed": "All queries and the changed ones, intact and perturbed",
    "unknown_objects": "Objects that could not be used",
}
GLOSSARY = {
    "CA": "concept agreement: the share of the right picture's concepts that the returned one has.",
    "NCS": "non-common concept similarity: the other concepts are paired so that their "
    "similarities in WordNet add up to the most; the mean over the pairs, 1 for the same concept.",
    "CE": "concept enumeration: how far the counts of the common concepts differ, added up.",
    "SD": "size disagreement: the share of common objects whose boxes differ in area by the "
    "threshold or more; continuous SD adds up the mean differences.",
    "hit, miss": "concepts of the right picture that the returned one has, and those that it "
    "lacks.",
}
_REPORT = sql.SQL / "tabulate/report"


class PageFiles(NamedTuple):
    """The tables of a collection, its explained failures and objects, and the crawl's shards."""

    texts: Path
    images: Path
    failures: Path
    concepts: Path
    pixels: Sequence[Path]


class Part(NamedTuple):
    """A concept's part in the matching: `common`, `paired` or `alone`, and the number to show."""

    kind: str
    number: int


class Box(NamedTuple):
    """A rectangle in px of the picture, with its concept and the concept's part."""

    x: int
    y: int
    width: int
    height: int
    name: str
    part: Part


class DrawnPicture(NamedTuple):
    """A picture as the page draws it; `data` is its data: URI, None without pixels."""

    title: str
    data: str | None
    width: int
    height: int
    boxes: list[Box]


class Case(NamedTuple):
    """A failure: its row, the query, both pictures, and the explanation in sentences."""

    row: Mapping[str, Any]
    query: str
    truth: DrawnPicture
    returned: DrawnPicture
    words: list[str]


def write_failures_page(  # noqa: PLR0913
    texts: Path,
    images: Path,
    *,
    scope: Scope,
    failures: Path,
    concepts: Path,
    pixels: Sequence[Path],
    tables: Sequence[Path],
    shown: int,
    page: Path,
) -> None:
    """Write what `failures_page` does.

    Raises:
        As `failures_page`.
    """
    sources = PageFiles(texts, images, failures, concepts, pixels)
    failures_page(scope, sources, tables, shown=shown, out=page)


def failures_page(
    scope: Scope, sources: PageFiles, tables: Sequence[Path], *, shown: int, out: Path
) -> None:
    """Write the page: the tables, then for each system its `shown` worst and best failures.

    `tables` may hold other files than csv, which are passed over. Same input, same bytes.

    Raises:
        IsotopeError: what `tabulate.table.rows` raises.
    """
    picks = rows(SQL / "failures/picks.sql", {"failures": sources.failures}, {"shown": shown})
    systems: dict[tuple[str, str], list[Case]] = {}
    for case in cases(picks, sources) if picks.height else []:
        systems.setdefault((case.row["task"], case.row["system"]), []).append(case)
    about = {"scope": scope, "up": "", "glossary": GLOSSARY.items()}
    write_page("failures", out, **about, tables=_tables(tables), systems=systems)


def cases(picks: pl.DataFrame, sources: PageFiles) -> list[Case]:
    """Return the picked failures with their pictures, boxes and sentences."""
    ids = sorted({*picks["truth_id"], *picks["found_id"]})
    boxes = _boxes(sources, ids)
    pictures = _pictures(sources, ids)
    queries = {"ids": sorted(set(picks["query_id"]))}
    texts = rows(_REPORT / "texts.sql", {"texts": sources.texts}, queries)
    words = {row["id"]: row["words"] or row["title"] for row in texts.iter_rows(named=True)}
    return [
        Case(
            row,
            words.get(row["query_id"], ""),
            _picture(row, row["truth_id"], boxes, pictures),
            _picture(row, row["found_id"], boxes, pictures),
            sentences(row),
        )
        for row in picks.iter_rows(named=True)
    ]


def parts(failure: Row, concepts: Sequence[str]) -> dict[str, Part]:
    """Return the part of each concept of a picture; paired ones share their number."""
    common = [c["concept"] for c in failure["counts"]]
    numbered = {name: Part("common", n) for n, name in enumerate(common, 1)}
    for n, pair in enumerate(failure["pairs"], len(common) + 1):
        numbered |= dict.fromkeys((pair["truth"], pair["found"]), Part("paired", n))
    return {name: numbered.get(name, Part("alone", 0)) for name in concepts}


def sentences(failure: Row) -> list[str]:
    """Say in words what agrees, what stands in for what, and how counts and sizes differ."""
    return [
        _agreement(failure),
        *map(_pair, failure["pairs"]),
        *filter(None, map(_count, failure["counts"])),
        *filter(None, (_sizes(c["concept"], failure["sizes"]) for c in failure["counts"])),
    ]


def noun(concept: str) -> str:
    """Return `street sign` for `street_sign.n.01`."""
    return concept.partition(".")[0].replace("_", " ")


def _boxes(sources: PageFiles, ids: list[str]) -> dict[str, pl.DataFrame]:
    relations: dict[str, sql.Files] = {"concepts": sources.concepts, "images": sources.images}
    boxes = rows(SQL / "failures/boxes.sql", relations, {"ids": ids})
    pictures = boxes.partition_by("image_id", as_dict=True)
    return {str(key[0]): rows for key, rows in pictures.items()}


def _pictures(sources: PageFiles, ids: list[str]) -> dict[str, tuple[str, str | None]]:
    """Return the name and the data: URI of each picture."""
    names = rows(_REPORT / "images.sql", {"images": sources.images}, {"ids": ids})
    drawn = thumbnails(sources.pixels, ids, SIDE_PX)
    titles = {r["id"]: decoded_name(r["title"]) for r in names.iter_rows(named=True)}
    return {ident: (title, drawn.get(ident)) for ident, title in titles.items()}


def _picture(
    row: Mapping[str, Any],
    image_id: str,
    boxes_of: Mapping[str, pl.DataFrame],
    pictures: Mapping[str, tuple[str, str | None]],
) -> DrawnPicture:
    picture_boxes = boxes_of[image_id]
    part = parts(row, picture_boxes["concept"].unique().to_list())
    boxes = [
        Box(
            b["x_min"],
            b["y_min"],
            b["x_max"] - b["x_min"],
            b["y_max"] - b["y_min"],
            noun(b["concept"]),
            part[b["concept"]],
        )
        for b in picture_boxes.drop_nulls("x_min").iter_rows(named=True)
    ]
    width, height = (
        picture_boxes.row(0, named=True)["width"],
        picture_boxes.row(0, named=True)["height"],
    )
    return DrawnPicture(*pictures[image_id], width or 1, height or 1, boxes)


def _tables(files: Sequence[Path]) -> list[tuple[str, Table]]:
    tables = {path.stem: lay_out(read_table(path)) for path in files}
    titled = TITLES.items()
    return [(title, tables[n]) for n, title in titled if n in tables and tables[n].rows]


def _agreement(failure: Row) -> str:
    total = failure["hit"] + failure["miss"]
    names = ", ".join(noun(c["concept"]) for c in failure["counts"])
    listed = f": {names}" if names else ""
    return (
        f"Of the {_many(total, 'concept')} of the right picture the returned one has "
        f"{failure['hit'] or 'none'}{listed} (CA {failure['ca']:.2f})."
    )


def _pair(pair: Row) -> str:
    truth, returned = noun(pair["truth"]), noun(pair["found"])
    return f"For {truth} it has {returned}, {pair['similarity']:.3f} alike on WordNet's paths."


def _count(count: Row) -> str:
    more = count["found"] - count["truth"]
    if not more:
        return ""
    way = "too many" if more > 0 else "too few"
    both = f"{count['found']} instead of {count['truth']}"
    return f"It has {both} of {noun(count['concept'])}, {abs(more)} {way}."


def _sizes(concept: str, sizes: Sequence[Row]) -> str:
    both = [size for size in sizes if size["concept"] == concept]
    apart = [size for size in both if size["differs"]]
    if not apart:
        return ""
    areas = ", ".join(f"{s['found_px']:,.0f} px² for {s['truth_px']:,.0f}" for s in apart)
    return f"{noun(concept).capitalize()} differs in size in {len(apart)} of {len(both)}: {areas}."


def _many(count: int, singular: str) -> str:
    return f"{count} {singular}" if count == 1 else f"{count} {singular}s"
