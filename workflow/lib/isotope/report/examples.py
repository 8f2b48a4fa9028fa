"""The queries that a system answers best and worst, with what it returned for them."""

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
