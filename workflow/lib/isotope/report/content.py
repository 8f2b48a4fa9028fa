"""What the site shows: every table and figure with its page, its number in AToMiC, a caption."""

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import polars as pl

from isotope.tabulate.exhibits import Exhibit, described
from isotope.tabulate.table import Table, lay_out

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote

import polars as pl

from isotope.core import sql
from isotope.core.pixels import SIDE_PX, thumbnail
from isotope.tabulate.table import rows



DEPTH = 5
_SQL = sql.SQL / "tabulate"


@dataclass(frozen=True)
class Cell:
    """Where a system's runs and its collection lie under `root`."""

    root: Path
    collection: str
    sources: Sequence[str]
    setting: str
    split: str
    system: str

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


def examples(cell: Cell, task: str, n: int) -> list[Example]:
    """Return the `n` best and `n` worst queries of `task` (t2m or m2t), best first.

    Best and worst go by the rank of the first relevant document, then by how far the first
    document's score is ahead of the second's.
    """
    run = {"run": cell.run(task)}
    params = {"task": task, "split": cell.split, "n": n}
    picks = rows(_SQL / "report/picks.sql", run | {"qrels": cell.table("qrels")}, params)
    wanted = {"queries": picks["query_id"].to_list(), "depth": DEPTH}
    hits = rows(_SQL / "report/hits.sql", run | {"qrels": cell.table("qrels")}, wanted)
    found = items(cell, [*picks["query_id"], *picks["doc_id"], *hits["doc_id"]])
    return [_example(pick, hits, found) for pick in picks.iter_rows(named=True)]


def _example(pick: dict[str, object], hits: pl.DataFrame, items: dict[str, Item]) -> Example:
    own = hits.filter(pl.col("query_id") == pick["query_id"]).iter_rows(named=True)
    return Example(
        query=items[str(pick["query_id"])],
        answer=items[str(pick["doc_id"])],
        rank=pick["rank"] if isinstance(pick["rank"], int) else None,
        best=bool(pick["is_best"]),
        hits=[Hit(h["rank"], items[h["doc_id"]], h["relevant"]) for h in own],
    )


def items(cell: Cell, ids: Iterable[str]) -> dict[str, Item]:
    """Return texts and images by id, images with their thumbnails."""
    wanted = {"ids": sorted(set(ids))}
    texts = rows(_SQL / "report/texts.sql", {"texts": cell.table("texts")}, wanted)
    images = rows(_SQL / "report/images.sql", {"images": cell.table("images")}, wanted)
    thumbnails = pictures(cell, images["id"].to_list())
    found = {r["id"]: Item("text", r["title"], r["words"], r["url"]) for r in texts.to_dicts()}
    for r in images.to_dicts():
        ident, title = r["id"], unquote(r["title"]).replace("_", " ")
        found[ident] = Item("image", title, r["words"], r["url"], thumbnails.get(ident))
    return found


def pictures(cell: Cell, ids: list[str], side_px: int = SIDE_PX) -> dict[str, str | None]:
    """Return data: URIs of the pictures that were crawled, within `side_px` squared, by id."""
    shards = cell.shards()
    if not shards:
        return {}
    found = rows(_SQL / "report/pixels.sql", {"pixels": shards}, {"ids": ids})
    return {r["id"]: thumbnail(r["webp"], side_px) for r in found.iter_rows(named=True)}


_CURVE = "curve-"
_TALL_ROWS = 24


class Shown(NamedTuple):
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


def exhibits(files: Iterable[Path], told: Mapping[str, object]) -> dict[str, Shown]:
    """Return what `files` hold, by stem: `.svg` drawings, and the tables whose `.csv` is given.

    `told` fills the captions. What lies in `since/<earlier>` has that before its stem. A table that
    nothing describes is shown last, under its own name; a drawing `curve-<model>` is a learning
    curve.
    """
    given = sorted(set(files))
    tables = {_stem(p): p.with_suffix(".csv") for p in given if p.suffix in {".csv", ".md"}}
    drawings = {_stem(p): p for p in given if p.suffix == ".svg"}
    known = [s for s in described() if s in tables or s in drawings]
    others = sorted((tables.keys() | drawings.keys()) - set(known))
    return {s: _shown(s, tables.get(s), drawings.get(s), told) for s in (*known, *others)}


def _stem(path: Path) -> str:
    """Return a file's name; with its folder where it holds a collection against an earlier one."""
    parts = path.with_suffix("").parts
    return "/".join(parts[-3:]) if parts[-3:-2] == ("since",) else path.stem


def _shown(stem: str, csv: Path | None, svg: Path | None, told: Mapping[str, object]) -> Shown:
    folder, _, name = stem.rpartition("/")
    exhibit = described().get(name) or _unlisted(stem)
    table = lay_out(pl.read_csv(csv, infer_schema_length=None)) if csv else None
    drawing = _drawing(svg, stem.replace("/", "-")) if svg else None
    named = {**told, "earlier": folder.removeprefix("since/")}
    told_so = exhibit._replace(caption=exhibit.caption.format_map(named))
    return Shown(stem, told_so, table, drawing, ("csv", "tex") if csv else ())


def _unlisted(stem: str) -> Exhibit:
    if stem.startswith(_CURVE):
        model = stem.removeprefix(_CURVE)
        caption = "Loss, and its quality on validation, while it learned from the training split."
        return Exhibit("systems", "", f"How {model} learned", caption)
    return Exhibit("systems", "", stem.replace("_", " "), "")


def _drawing(svg: Path, name: str) -> str:
    """Return the SVG element without prolog; its ids get the name, so none occurs twice."""
    text = svg.read_text(encoding="utf-8")
    own = text[text.index("<svg") :].replace(' id="', f' id="{name}-')
    return own.replace('href="#', f'href="#{name}-').replace("url(#", f"url(#{name}-")
