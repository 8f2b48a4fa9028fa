"""What pages show: tables and figures with their captions, and queries with what was returned.

A page is about a `Scope`: a collection, a pool of it, and the system whose answers are shown.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple
from urllib.parse import unquote

import polars as pl

from isotope.core import sql
from isotope.core.errors import MissingFile
from isotope.core.pixels import SIDE_PX, thumbnail
from isotope.tabulate.exhibits import Exhibit, described
from isotope.tabulate.looks import themed
from isotope.tabulate.table import Table, lay_out, rows

DEPTH = 5
_SQL = sql.SQL / "tabulate"
_CURVE = "curve-"
_TALL_ROWS = 24


@dataclass(frozen=True)
class Scope:
    """What a page is about: a collection below `root`, a pool, and a system, with their files.

    `explained` if the collection has a page of explained failures.
    """

    root: Path
    collection: str
    sources: Sequence[str]
    setting: str
    split: str
    system: str
    explained: bool = False

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
class Item:
    """A text or an image as the page shows it; `picture` is a data: URI, if there are pixels."""

    kind: str
    title: str
    words: str
    url: str
    picture: str | None = None


@dataclass(frozen=True)
class Hit:
    """An item at a rank, and whether it is a right answer."""

    rank: int
    item: Item
    relevant: bool


@dataclass(frozen=True)
class Example:
    """A query, its first right answer with its rank (None: not returned), the top of the run."""

    query: Item
    answer: Item
    rank: int | None
    best: bool
    hits: list[Hit]


def required(path: Path) -> pl.DataFrame:
    """Return the table at `path`.

    Raises:
        MissingFile: it is not there.
    """
    if not path.is_file():
        raise MissingFile(path, "no such table", "run the phase tabulate")
    return pl.read_csv(path, infer_schema_length=None)


def read_exhibits(files: Iterable[Path], words: Mapping[str, object]) -> dict[str, Display]:
    """Return what `files` hold, by stem: `.svg` drawings, and the tables whose `.csv` is given.

    `words` fill the captions. What lies in `since/<earlier>` has that before its stem. A table that
    nothing describes is shown last, under its own name; a drawing `curve-<model>` is a learning
    curve.
    """
    paths = sorted(set(files))
    tables = {_stem(p): p.with_suffix(".csv") for p in paths if p.suffix in {".csv", ".md"}}
    drawings = {_stem(p): p for p in paths if p.suffix == ".svg"}
    listed = [s for s in described() if s in tables or s in drawings]
    others = sorted((tables.keys() | drawings.keys()) - set(listed))
    return {s: _display(s, tables.get(s), drawings.get(s), words) for s in (*listed, *others)}


def examples(scope: Scope, task: str, n: int) -> list[Example]:
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


def items(scope: Scope, ids: Iterable[str]) -> dict[str, Item]:
    """Return texts and images by id, images with their thumbnails."""
    selection = {"ids": sorted(set(ids))}
    texts = rows(_SQL / "report/texts.sql", {"texts": scope.table("texts")}, selection)
    images = rows(_SQL / "report/images.sql", {"images": scope.table("images")}, selection)
    thumbnails = pictures(scope, images["id"].to_list())
    by_id = {r["id"]: Item("text", r["title"], r["words"], r["url"]) for r in texts.to_dicts()}
    for r in images.to_dicts():
        ident, title = r["id"], unquote(r["title"]).replace("_", " ")
        by_id[ident] = Item("image", title, r["words"], r["url"], thumbnails.get(ident))
    return by_id


def pictures(scope: Scope, ids: list[str], side_px: int = SIDE_PX) -> dict[str, str | None]:
    """Return data: URIs of the pictures that were crawled, within `side_px` squared, by id."""
    shards = scope.shards()
    if not shards:
        return {}
    webps = rows(_SQL / "report/pixels.sql", {"pixels": shards}, {"ids": ids})
    return {r["id"]: thumbnail(r["webp"], side_px) for r in webps.iter_rows(named=True)}


def _stem(path: Path) -> str:
    """Return a file's name; with its folder where it holds a collection against an earlier one."""
    parts = path.with_suffix("").parts
    return "/".join(parts[-3:]) if parts[-3:-2] == ("since",) else path.stem


def _display(stem: str, csv: Path | None, svg: Path | None, words: Mapping[str, object]) -> Display:
    folder, _, name = stem.rpartition("/")
    exhibit = described().get(name) or _unlisted(stem)
    table = lay_out(pl.read_csv(csv, infer_schema_length=None)) if csv else None
    drawing = _drawing(svg, stem.replace("/", "-")) if svg else None
    named = {**words, "earlier": folder.removeprefix("since/")}
    complete = exhibit._replace(caption=exhibit.caption.format_map(named))
    return Display(stem, complete, table, drawing, ("csv", "tex") if csv else ())


def _unlisted(stem: str) -> Exhibit:
    if stem.startswith(_CURVE):
        model = stem.removeprefix(_CURVE)
        caption = "Loss, and its quality on validation, while it learned from the training split."
        return Exhibit("systems", "", f"How {model} learned", caption)
    return Exhibit("systems", "", stem.replace("_", " "), "")


def _drawing(svg: Path, name: str) -> str:
    """Return the SVG element without prolog, in the page's colours; its ids get the name first.

    So no id occurs twice in a page.
    """
    text = themed(svg.read_text(encoding="utf-8"))
    own = text[text.index("<svg") :].replace(' id="', f' id="{name}-')
    return own.replace('href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")


def _example(pick: dict[str, object], hits: pl.DataFrame, items: dict[str, Item]) -> Example:
    own = hits.filter(pl.col("query_id") == pick["query_id"]).iter_rows(named=True)
    return Example(
        query=items[str(pick["query_id"])],
        answer=items[str(pick["doc_id"])],
        rank=pick["rank"] if isinstance(pick["rank"], int) else None,
        best=bool(pick["is_best"]),
        hits=[Hit(h["rank"], items[h["doc_id"]], h["relevant"]) for h in own],
    )
