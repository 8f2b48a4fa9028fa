"""One assessor's session: the pages to judge, the grades so far, agreement with other assessors.

A session is at a pool (pairs of query and document get a grade) or at a sheet of failures (each
failure gets a verdict). Its methods return what the page draws, ready for JSON.
"""

import hashlib
import io
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Generic
from urllib.parse import quote, unquote

import polars as pl
from PIL import Image

from isotope.core.errors import BadParams, BrokenPromise, EmptyTable, IsotopeError, MissingFile
from isotope.core.grid import SIDES, Cell, id_column
from isotope.core.pixels import decode, iter_pixels
from isotope.judge import study
from isotope.judge.ledger import (
    FOLDER,
    PAIRS,
    Grade,
    Item,
    Ledger,
    Pair,
    grades_file,
    sheet_paths,
)
from isotope.judge.pool import agreement, read_sheets
from isotope.judge.study import VERDICTS, Sheet, Verdict, verdict_json
from isotope.params.links import sources
from isotope.params.sections import Params

SIDE_PX = 480
_QUALITY = 80


def open_pool(collection: str, assessor: str, params: Params) -> "PoolSession":
    """Return an assessor's session at the pool of a collection in the working directory.

    Raises:
        BadParams: a collection that the params lack, or a bad name.
        MissingFile: no pool, as `load_items`.
        BrokenPromise, CorruptFile: as `PoolSession`.
    """
    _check_collection(collection, params)
    items = load_items(collection, assessor)
    pictures = Pictures(_shards(collection, params), set(items.words["images"]))
    return PoolSession(collection, assessor, items, pictures)


def open_sheet(collection: str, assessor: str, name: str, params: Params) -> "SheetSession":
    """Return an assessor's session at the sheet `name`, failures or mistakes.

    Raises:
        BadParams: a collection or a sheet that the params lack, or a bad name.
        MissingFile: no sheet, as `study.load`.
        BrokenPromise, CorruptFile: as `SheetSession`.
    """
    _check_collection(collection, params)
    sheet = study.load(collection, name, params["tabulate"])
    ids = {row[c] for row in sheet.rows for c in ("query_id", "truth_id", "found_id")}
    pictures = Pictures(_shards(collection, params), ids)
    return SheetSession(collection, assessor, sheet, pictures)


def _check_collection(collection: str, params: Params) -> None:
    if collection not in params["collect"]:
        names = ", ".join(params["collect"])
        remedy = f"choose one of {names}, or name its overlay with --configfile"
        raise BadParams("params collect", f"no collection {collection!r}", remedy)


def _shards(collection: str, params: Params) -> list[Path]:
    crawls = [Path(f"data/crawl/{source}") for source in sources(params, collection)]
    return sorted(shard for crawl in crawls for shard in crawl.glob("shard-*.parquet"))


_Value = str | list[str] | None
_FIELDS = {
    "texts": {
        "page_title": "Page",
        "section_title": "Section",
        "hierarchy": "Hierarchy",
        "context_section_description": "Text of the section",
        "context_page_description": "Text of the page",
    },
    "images": {
        "caption_reference_description": "Caption",
        "caption_alt_text_description": "Alternative text",
        "caption_attribution_description": "Attribution",
        "image_url": "File",
    },
}


@dataclass(frozen=True)
class Query:
    """A query with its candidates, in the assessor's own order."""

    task: str
    query_id: str
    documents: tuple[str, ...]

    @property
    def pairs(self) -> list[Pair]:
        """The query with each of its candidates."""
        return [Pair(self.task, self.query_id, d) for d in self.documents]


@dataclass(frozen=True)
class Items:
    """A pool for display; `words` has the fields of each id, by side."""

    pool: pl.DataFrame
    queries: Sequence[Query]
    words: Mapping[str, Mapping[str, Mapping[str, str]]]


def load_items(collection: str, assessor: str, root: Path = Path()) -> Items:
    """Return the pool of a collection (tables.POOL) with the words of its items.

    Raises:
        MissingFile: no pool, or no table of the collection.
    """
    path = root / f"results/score/{collection}/pool.parquet"
    remedy = "run `snakemake --cores all score --configfile params/track.yaml`"
    if not path.is_file():
        raise MissingFile(path, "no pool to judge", remedy)
    pool = pl.read_parquet(path)
    words = {side: _words(root, collection, side, _ids(pool, side)) for side in SIDES}
    return Items(pool, shuffled(pool, assessor), words)


def _ids(pool: pl.DataFrame, side: str) -> list[str]:
    """Return the pooled texts or images, as queries or as documents, sorted."""
    ids = set[str]()
    for (task,), own in pool.partition_by("task", as_dict=True).items():
        cell = Cell("", "", str(task))
        ids |= set(own["query_id" if cell.query_side == side else "doc_id"])
    return sorted(ids)


def shuffled(pool: pl.DataFrame, assessor: str) -> list[Query]:
    """Return the queries in the order of their ids, so that assessors grade the same ones first.

    Candidates are in an order of each assessor's own, the same each time: it shows neither ranks
    nor systems, and which candidates come first differs between assessors.
    """
    grouped = pool.sort("task", "query_id").partition_by(
        "task", "query_id", as_dict=True, maintain_order=True
    )
    return [
        Query(str(task), str(query), _in_own_order(own["doc_id"].to_list(), f"{assessor}:{query}"))
        for (task, query), own in grouped.items()
    ]


def _in_own_order(ids: Sequence[str], seed: str) -> tuple[str, ...]:
    return tuple(sorted(ids, key=lambda i: hashlib.sha256(f"{seed}:{i}".encode()).digest()))


def _words(root: Path, collection: str, side: str, ids: Sequence[str]) -> dict[str, dict[str, str]]:
    table = root / f"data/collect/{collection}/{side}.parquet"
    if not table.is_file():
        raise MissingFile(table, "no such table", "run `snakemake --cores all collect`")
    key, fields = id_column(side), _FIELDS[side]
    rows = pl.scan_parquet(table).filter(pl.col(key).is_in(ids)).select(key, *fields).collect()
    return {row[key]: _readable(row, fields) for row in rows.iter_rows(named=True)}


def _readable(
    row: Mapping[str, str | list[str] | None], fields: Mapping[str, str]
) -> dict[str, str]:
    values = {name: _joined(row[column]) for column, name in fields.items()}
    if "File" in values:
        values["File"] = unquote(values["File"].rpartition("/")[2]).replace("_", " ")
    return {name: value for name, value in values.items() if value}


def _joined(value: _Value) -> str:
    parts = [value] if isinstance(value, str) else value or []
    return " | ".join(dict.fromkeys(p.strip() for p in parts if p and p.strip()))


class Pictures:
    """Pooled images as small WebP pictures, from the shards of the crawl."""

    def __init__(self, shards: Sequence[Path], ids: Collection[str]) -> None:
        """Find which shard has each of `ids`."""
        self._shards: dict[str, str] = {}
        if shards:
            lazy = pl.scan_parquet(list(shards), include_file_paths="shard").select(
                "image_id", "shard"
            )
            self._shards = dict(lazy.filter(pl.col("image_id").is_in(ids)).collect().iter_rows())

    def __contains__(self, image_id: object) -> bool:
        """Tell whether the picture's pixels were crawled."""
        return image_id in self._shards

    def webp(self, image_id: str) -> bytes:
        """Return the picture within SIDE_PX squared.

        Raises:
            KeyError: no pixels of that image.
            CorruptFile, TruncatedFile, MissingFile: as `pixels`.
        """
        shard = Path(self._shards[image_id])
        _, webp = next(iter_pixels([shard], {image_id}))
        picture, small = decode(webp, where=f"{shard}: {image_id}"), io.BytesIO()
        picture.thumbnail((SIDE_PX, SIDE_PX), Image.Resampling.LANCZOS)
        picture.save(small, "WEBP", quality=_QUALITY)
        return small.getvalue()


class Worklist(Generic[Item, Grade]):
    """The items of each page, with the ledger of their grades."""

    def __init__(self, pages: Sequence[Sequence[Item]], ledger: Ledger[Item, Grade]) -> None:
        """Show `ledger`, which may have grades of items that are no longer on a page."""
        self.pages, self.ledger = pages, ledger
        self._numbers = {item: n for n, items in enumerate(pages) for item in items}

    def turn_to(self, number: int) -> None:
        """Read the grades of other tabs, before a page is shown.

        Raises:
            IndexError: no page of that number.
            CorruptFile: as `Ledger.refresh`.
        """
        if not 0 <= number < len(self.pages):
            raise IndexError(number)
        self.ledger.refresh()

    def progress(self, after: int = 0) -> dict[str, int | None]:
        """Return items graded and in all, pages, and the first one from `after` on with work."""
        grades = self.ledger.grades
        return {
            "done": sum(item in self._numbers for item in list(grades)),
            "total": len(self._numbers),
            "queries": len(self.pages),
            "next": self._next(after),
        }

    def _next(self, after: int) -> int | None:
        pages, grades = self.pages, self.ledger.grades
        order = (*range(after, len(pages)), *range(min(after, len(pages))))
        return next((n for n in order if any(i not in grades for i in pages[n])), None)

    def give(self, item: Item, grade: Grade | None, *, expected: Grade | None) -> dict[str, Any]:
        """Save a grade; return the current one, which another page may have given.

        Raises:
            KeyError: an item of no page.
            DiskFull, CorruptFile: as `Ledger.give`.
        """
        number = self._numbers[item]
        current = self.ledger.give(item, grade, expected=expected)
        return {"grade": current, "progress": self.progress(number)}


_GRADED = {
    "task": pl.String,
    "query_id": pl.String,
    "doc_id": pl.String,
    "grade": pl.Int32,
    "assessor": pl.String,
}


class PoolSession:
    """One assessor at the pool of one collection."""

    def __init__(
        self,
        collection: str,
        assessor: str,
        items: Items,
        pictures: Pictures,
        folder: Path = FOLDER,
    ) -> None:
        """Open the assessor's file below `folder`, which is made with the first grade.

        Raises:
            BadParams: a name that can't be a file's.
            CorruptFile: as `Ledger`.
            BrokenPromise: grades by the same name in a sheet.
        """
        self.collection, self.assessor = collection, assessor
        self.items, self.pictures = items, pictures
        self.folder = folder
        self.ledger = Ledger(grades_file(folder / collection, assessor), assessor, PAIRS)
        work = Worklist([q.pairs for q in items.queries], self.ledger)
        self.progress, self.give, self._turn_to = work.progress, work.give, work.turn_to
        self._refuse_namesake()

    def _refuse_namesake(self) -> None:
        try:
            grades = self._others().filter(assessor=self.assessor).height
        except IsotopeError:
            # A broken sheet of another assessor is shown on the page and does not stop the server.
            return
        if grades:
            found = f"{grades:,} grades by {self.assessor!r} in other sheets"
            remedy = "take another name, or remove them there"
            raise BrokenPromise(self.folder / self.collection, found, remedy)

    def query(self, number: int) -> dict[str, Any]:
        """Return a query with its candidates and their grades.

        Raises:
            IndexError: no query of that number.
            CorruptFile: as `Ledger.refresh`.
        """
        self._turn_to(number)
        query = self.items.queries[number]
        cell = Cell("", "", query.task)
        return {
            "number": number,
            "task": query.task,
            "query_id": query.query_id,
            "query": self._described(cell.query_side, query.query_id),
            "candidates": self._candidates(query, cell.document_side),
            "progress": self.progress(number),
        }

    def _candidates(self, query: Query, side: str) -> list[dict[str, Any]]:
        grades = self.ledger.grades
        return [
            {"doc_id": p.doc_id, "grade": grades.get(p), **self._described(side, p.doc_id)}
            for p in query.pairs
        ]

    def _described(self, side: str, ident: str) -> dict[str, Any]:
        picture = f"/picture/{quote(ident, safe='')}" if ident in self.pictures else None
        fields = self.items.words[side].get(ident, {"Id": ident})
        return {"fields": fields, "picture": picture, "pictured": side == "images"}

    def agreement(self) -> dict[str, Any]:
        """Return kappa and shared pairs with each other assessor; `error` for a broken sheet."""
        try:
            others = self._others()
        except IsotopeError as error:
            return {"others": [], "error": str(error)}
        rows = [(*p, grade, self.assessor) for p, grade in list(self.ledger.grades.items())]
        mine = pl.DataFrame(rows, schema=_GRADED, orient="row")
        tables = [agreement(pl.concat([mine, o])) for o in others.partition_by("assessor")]
        rows = [
            _agreement_with(self.assessor, row) for t in tables for row in t.iter_rows(named=True)
        ]
        return {"others": rows, "error": None}

    def _others(self) -> pl.DataFrame:
        """Return the grades in all sheets but the assessor's own file."""
        own = str(self.ledger.path)
        paths = [Path(p) for p in sheet_paths(self.collection, folder=self.folder) if p != own]
        try:
            return read_sheets(paths, self.items.pool)
        except EmptyTable:
            return pl.DataFrame(schema=_GRADED)


def _agreement_with(assessor: str, row: Mapping[str, Any]) -> dict[str, Any]:
    other = row["other"] if row["assessor"] == assessor else row["assessor"]
    return {"other": other, **{k: row[k] for k in ("pairs", "same_share", "kappa")}}


_ROLES = {"query_id": "asked", "truth_id": "right", "found_id": "found"}


class SheetSession:
    """One assessor at a sheet of failures of one collection."""

    def __init__(
        self,
        collection: str,
        assessor: str,
        sheet: Sheet,
        pictures: Pictures,
        folder: Path = FOLDER,
    ) -> None:
        """Open the assessor's file below `folder`, which is made with the first verdict.

        Raises:
            BadParams: a name that can't be a file's.
            CorruptFile: as `Ledger`.
            BrokenPromise: verdicts by the same name on a sheet that has come back as csv.
        """
        self.collection, self.assessor = f"{collection}/{sheet.name}", assessor
        self.sheet, self.pictures = sheet, pictures
        path = grades_file(folder / collection / sheet.name, assessor)
        self.ledger = Ledger(path, assessor, VERDICTS)
        self._work = Worklist([[row["lot"]] for row in sheet.rows], self.ledger)
        self.progress = self._work.progress
        if path.with_suffix(".csv").exists():
            found = f"a sheet that {assessor!r} has filled in by hand"
            raise BrokenPromise(path.with_suffix(".csv"), found, "take another name, or move it")

    def query(self, number: int) -> dict[str, Any]:
        """Return a failure, without the system that it is of, and its verdict.

        Raises:
            IndexError: no failure of that number.
            CorruptFile: as `Ledger.refresh`.
        """
        self._work.turn_to(number)
        row = self.sheet.rows[number]
        return {
            "number": number,
            "lot": row["lot"],
            "query": row["query"],
            "pictures": self._pictures(row),
            "grade": verdict_json(self.ledger.grades.get(row["lot"])),
            "progress": self.progress(number),
        }

    def _pictures(self, row: Mapping[str, Any]) -> list[dict[str, str]]:
        return [
            {"role": role, "picture": f"/picture/{quote(row[column], safe='')}"}
            for column, role in _ROLES.items()
            if row[column] in self.pictures
        ]

    def give(
        self, item_id: str, grade: Verdict | None, *, expected: Verdict | None
    ) -> dict[str, Any]:
        """Save a verdict; return the current one, which another page may have given.

        Raises:
            KeyError, DiskFull, CorruptFile: as `Worklist.give`.
        """
        answer = self._work.give(item_id, grade, expected=expected)
        return {**answer, "grade": verdict_json(answer["grade"])}
