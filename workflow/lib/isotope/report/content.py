"""What pages show: tables and figures with their captions, and queries with what was returned.

A page is about a `Scope`: a collection, a pool of it, and the system whose answers are shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby, takewhile
from pathlib import Path
from typing import NamedTuple

import polars as pl

from isotope.core import sql
from isotope.core.pixels import SIDE_PX, thumbnail
from isotope.core.uploads import decoded_name
from isotope.tabulate.exhibits import Exhibit, described
from isotope.tabulate.looks import themed
from isotope.tabulate.table import Column, PrintedCell, Table, lay_out, read_table, rows

DEPTH = 5
_SQL = sql.SQL / "tabulate"
_CURVE = "curve-"
_TALL_ROWS = 24
_WINDOWS = 3
_WORD = 12
_FEWEST = 3


@dataclass(frozen=True)
class Scope:
    """What a page is about: a collection below `root`, a pool, and a system, with their files.

    `compared` if the collection has a page of two systems query by query; `further` are the pages
    that plug-ins write, by name: the fields of a `plan.extension.ReportPage`. `origin` chooses the
    words of its pages (`report.words`).
    """

    root: Path
    collection: str
    sources: Sequence[str]
    setting: str
    split: str
    system: str
    compared: bool = False
    further: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])
    origin: str = "wikipedia"

    def run(self, task: str) -> Path:
        """Return the file of the system's run for `task`."""
        folder = self.root / "results/search" / self.collection / self.setting / self.split
        return folder / task / f"{self.system}.parquet"

    def table(self, name: str) -> Path:
        """Return the file of one of the collection's tables."""
        return self.root / "data/collect" / self.collection / f"{name}.parquet"

    def shards(self) -> list[Path]:
        """Return the files that hold the pixels; none for a collection that was not crawled."""
        crawl = self.root / "data/crawl"
        return sorted(p for s in self.sources for p in crawl.glob(f"{s}/shard-*.parquet"))


class TableGroup(NamedTuple):
    """Rows under one heading: what their key has in common, and how many queries they are about.

    `pool` is the setting and the split among it, empty where it has none.
    """

    heading: list[str]
    pool: tuple[str, ...]
    queries: str
    rows: list[list[PrintedCell]]


class GroupedTable(NamedTuple):
    """A table as a page prints it: columns, first the keys, and rows in groups.

    `folded` are the columns whose values stand in the groups' headings; where there are none, the
    one group has no heading.
    """

    folded: list[Column]
    keys: list[Column]
    columns: list[Column]
    groups: list[TableGroup]

    @property
    def letters(self) -> int:
        """The most systems that a cell beats."""
        cells = (cell for group in self.groups for row in group.rows for cell in row)
        return max((len(cell.beats) for cell in cells), default=0)


class Display(NamedTuple):
    """An exhibit with its table, its drawing, or both; `files` are suffixes to link to."""

    stem: str
    exhibit: Exhibit
    table: Table | None
    drawing: str | None
    files: tuple[str, ...]

    @property
    def tall(self) -> bool:
        """Whether the table is too long to be read in one piece."""
        return self.table is not None and len(self.table.rows) > _TALL_ROWS


@dataclass(frozen=True)
class ShownItem:
    """A text or an image as the page shows it; `picture` is a data: URI, if there are pixels."""

    kind: str
    title: str
    words: str
    url: str
    picture: str | None = None

    @property
    def name(self) -> str:
        """What a link to it says: the title, or the words of a text that has none."""
        return self.title or " ".join(self.words.split())


@dataclass(frozen=True)
class ShownHit:
    """An item at a rank, and whether it is a right answer."""

    rank: int
    item: ShownItem
    relevant: bool


@dataclass(frozen=True)
class QueryExample:
    """A query, its first right answer with its rank (None: not returned), the top of the run."""

    query: ShownItem
    answer: ShownItem
    rank: int | None
    best: bool
    hits: list[ShownHit]


class TextPiece(NamedTuple):
    """A piece of a text; `mark` is `right`, `hit` or empty, by where else its word stands."""

    text: str
    mark: str = ""


class MarkedTerm(NamedTuple):
    """Where a term stands in a text, what it weighs, and how it is marked."""

    start: int
    end: int
    weight: float
    mark: str


def read_exhibits(files: Iterable[Path], words: Mapping[str, object]) -> dict[str, Display]:
    """Return what `files` hold, by stem: `.svg` drawings, and `.arrow` tables that have rows.

    `words` fill the captions. What lies in `since/<earlier>` has that before its stem. A table that
    nothing describes is shown last, under its own name; a drawing `curve-<model>` is a learning
    curve.
    """
    paths = sorted(set(files))
    tables, drawings = (
        {_stem(p): p for p in paths if p.suffix == suffix} for suffix in (".arrow", ".svg")
    )
    listed = [s for s in described() if s in tables or s in drawings]
    unlisted = sorted((tables.keys() | drawings.keys()) - set(listed))
    displays = {s: _display(s, tables.get(s), drawings.get(s), words) for s in (*listed, *unlisted)}
    return {s: display for s, display in displays.items() if display.drawing or display.table}


def on_page(frame: pl.DataFrame) -> Table | None:
    """Return a table as pages print it, or None if it has no rows."""
    return None if frame.is_empty() else _without_gaps(lay_out(frame))


def group_rows(table: Table) -> GroupedTable:
    """Return the table with keys that many rows share as headings of groups.

    Keys come first: those at the beginning, and those before a system and right after it. All but
    the last become headings as long as a group has as many as `_FEWEST` rows on average, and stands
    in one place. A number of queries that is the same throughout every group stands in the heading,
    too. Words that are no key come last.
    """
    names = [column.name for column in table.columns]
    first = names.index("system") if "system" in names else 0
    after = takewhile(lambda n: table.columns[n].key, range(first, len(names)))
    keys = [n for n in (*range(first), *after) if table.columns[n].key]
    folded = keys[: _folded(table, keys)]
    runs = [(k, list(run)) for k, run in groupby(table.rows, key=lambda r: _texts(r, folded))]
    about = _common(table, "queries", [run for _, run in runs]) if folded else []
    shown_columns = [n for n in keys if n not in folded]
    unkeyed = [n for n in range(len(names)) if n not in (*keys, *about)]
    shown_columns += sorted(unkeyed, key=lambda n: not table.columns[n].numeric)
    pool = [n for n, column in enumerate(folded) if names[column] in ("setting", "split")]
    groups = [
        TableGroup(
            list(heading),
            tuple(heading[n] for n in pool),
            run[0][about[0]].text if about else "",
            [[row[n] for n in shown_columns] for row in run],
        )
        for heading, run in runs
    ]
    columns = [table.columns[n] for n in shown_columns]
    return GroupedTable(
        [table.columns[n] for n in folded], columns[: len(keys) - len(folded)], columns, groups
    )


def examples(scope: Scope, task: str, n: int) -> list[QueryExample]:
    """Return the `n` best and `n` worst queries of `task` (t2m or m2t), best first.

    Best and worst go by the rank of the first relevant document, then by how far the first
    document's score is ahead of the second's.
    """
    run = {"run": scope.run(task)}
    params = {"task": task, "split": scope.split, "n": n}
    picks = rows(_SQL / "report/picks.sql", run | {"qrels": scope.table("qrels")}, params)
    selection = {"queries": picks["query_id"].to_list(), "depth": DEPTH}
    hits = rows(_SQL / "report/hits.sql", run | {"qrels": scope.table("qrels")}, selection)
    by_id = items(scope, [*picks["query_id"], *picks["doc_id"], *hits["doc_id"]])
    return [_example(pick, hits, by_id) for pick in picks.iter_rows(named=True)]


def items(scope: Scope, ids: Iterable[str], side_px: int = SIDE_PX) -> dict[str, ShownItem]:
    """Return texts and images by id, images with their thumbnails, within `side_px` squared."""
    selection = {"ids": sorted(set(ids))}
    texts = rows(_SQL / "report/texts.sql", {"texts": scope.table("texts")}, selection)
    images = rows(_SQL / "report/images.sql", {"images": scope.table("images")}, selection)
    thumbnails = pictures(scope, images["id"].to_list(), side_px)
    by_id = {r["id"]: ShownItem("text", r["title"], r["words"], r["url"]) for r in texts.to_dicts()}
    for r in images.to_dicts():
        ident, title = r["id"], decoded_name(r["title"])
        by_id[ident] = ShownItem("image", title, r["words"], r["url"], thumbnails.get(ident))
    return by_id


def pictures(scope: Scope, ids: list[str], side_px: int = SIDE_PX) -> dict[str, str | None]:
    """Return data: URIs of the pictures that were crawled, within `side_px` squared, by id."""
    return thumbnails(scope.shards(), ids, side_px)


def thumbnails(shards: Sequence[Path], ids: list[str], side_px: int) -> dict[str, str | None]:
    """Return data: URIs of the pictures that are in `shards`, within `side_px` squared, by id."""
    if not shards:
        return {}
    webps = rows(_SQL / "report/pixels.sql", {"pixels": list(shards)}, {"ids": ids})
    return {r["id"]: thumbnail(r["webp"], side_px) for r in webps.iter_rows(named=True)}


def marked_excerpt(text: str, places: Sequence[MarkedTerm], characters: int) -> list[TextPiece]:
    """Return about `characters` of `text`, around its heaviest terms, with the terms marked."""
    if len(text) <= characters:
        return _marked(text, places, [(0, len(text))])
    firsts = sorted(places, key=lambda term: (-term.weight, term.start))
    starts = list[int]()
    width = characters // _WINDOWS
    for term in firsts:
        if len(starts) < _WINDOWS and not any(s <= term.start < s + width // 2 for s in starts):
            starts.append(max(0, term.start - width // 3))
    width_of_window = characters // max(len(starts), 1)
    windows = list[tuple[int, int]]()
    for start in sorted(starts) or [0]:
        if windows and start <= windows[-1][1]:
            windows[-1] = (windows[-1][0], start + width_of_window)
        else:
            windows.append((start, start + width_of_window))
    return _marked(text, places, [_whole_words(text, *window) for window in windows])


def _stem(path: Path) -> str:
    """Return a file's name; with its folder where it holds a collection against an earlier one."""
    parts = path.with_suffix("").parts
    return "/".join(parts[-3:]) if parts[-3:-2] == ("since",) else path.stem


def _display(
    stem: str, arrow: Path | None, svg: Path | None, words: Mapping[str, object]
) -> Display:
    folder, _, name = stem.rpartition("/")
    exhibit = described().get(name) or _unlisted(stem)
    table = on_page(read_table(arrow)) if arrow else None
    drawing = figure_element(svg, stem.replace("/", "-")) if svg else None
    named = {**words, "earlier": folder.removeprefix("since/")}
    title, caption = (text.format_map(named) for text in (exhibit.title, exhibit.caption))
    complete = exhibit._replace(title=title, caption=caption)
    return Display(stem, complete, table, drawing, ("csv", "tex") if arrow else ())


def _folded(table: Table, keys: list[int]) -> int:
    """Return how many of the first keys become headings; the last, and a letter, stay."""
    letters = [keys.index(n) for n in keys if table.columns[n].name == "letter"]
    for width in range(min([*letters, len(keys) - 1]), 0, -1):
        runs = [k for k, _ in groupby(table.rows, key=lambda r: _texts(r, keys[:width]))]
        if len(runs) == len(set(runs)) and len(table.rows) >= _FEWEST * len(runs):
            return width
    return 0


def _common(table: Table, name: str, groups: Sequence[Sequence[list[PrintedCell]]]) -> list[int]:
    """Return the place of the column of numbers `name`, if it is the same throughout each group."""
    numbers = [n for n, c in enumerate(table.columns) if c.name == name and c.numeric]
    return [n for n in numbers if all(len({row[n] for row in rows}) == 1 for rows in groups)]


def _texts(row: Sequence[PrintedCell], places: Sequence[int]) -> tuple[str, ...]:
    return tuple(row[n].text for n in places)


def _unlisted(stem: str) -> Exhibit:
    if stem.startswith(_CURVE):
        model = stem.removeprefix(_CURVE)
        caption = "Loss, and its quality on validation, while it learned from the training split."
        return Exhibit("systems", "", f"How {model} learned", caption)
    return Exhibit("systems", "", stem.replace("_", " "), "")


def _without_gaps(table: Table) -> Table:
    """Leave out columns, other than measures, in which no row has a value."""
    filled = [
        n
        for n, column in enumerate(table.columns)
        if column.group or any(row[n].text not in ("", "—") for row in table.rows)
    ]
    return Table(
        [table.columns[n] for n in filled], [[row[n] for n in filled] for row in table.rows]
    )


def figure_element(svg: Path, name: str) -> str:
    """Return the SVG element without prolog, in the page's colours; its ids get the name first.

    So no id occurs twice in a page.
    """
    text = themed(svg.read_text(encoding="utf-8"))
    element = text[text.index("<svg") :].replace(' id="', f' id="{name}-')
    return element.replace('href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")


def _example(
    pick: dict[str, object], hits: pl.DataFrame, items: dict[str, ShownItem]
) -> QueryExample:
    hits_of_query = hits.filter(pl.col("query_id") == pick["query_id"]).iter_rows(named=True)
    return QueryExample(
        query=items[str(pick["query_id"])],
        answer=items[str(pick["doc_id"])],
        rank=pick["rank"] if isinstance(pick["rank"], int) else None,
        best=bool(pick["is_best"]),
        hits=[ShownHit(h["rank"], items[h["doc_id"]], h["relevant"]) for h in hits_of_query],
    )


def _whole_words(text: str, start: int, end: int) -> tuple[int, int]:
    """Return a window that begins and ends between words, where a script has spaces."""
    if start:
        start = text.find(" ", start, start + _WORD) + 1 or start
    if end < len(text):
        end = max(text.rfind(" ", end - _WORD, end), 0) or end
    return start, min(end, len(text))


def _marked(
    text: str, places: Sequence[MarkedTerm], windows: Sequence[tuple[int, int]]
) -> list[TextPiece]:
    pieces = list[TextPiece]()
    ordered = sorted(places)
    for n, (start, end) in enumerate(windows):
        pieces.append(TextPiece(" … " if n else "… " if start else ""))
        at = start
        for term in ordered:
            # Terms overlap where a script has no spaces.
            first = max(term.start, at)
            if first < term.end <= end:
                pieces += [TextPiece(text[at:first]), TextPiece(text[first : term.end], term.mark)]
                at = term.end
        pieces.append(TextPiece(text[at:end]))
    pieces.append(TextPiece(" …" if windows[-1][1] < len(text) else ""))
    return [piece for piece in pieces if piece.text]
