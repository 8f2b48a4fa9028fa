"""One assessor's session: the pages to judge, the grades so far, agreement with other assessors.

A session is at a pool (pairs of query and document get a grade) or at a sheet of failures (each
failure gets a verdict). Its methods return what the page draws, ready for JSON.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Generic
from urllib.parse import quote

import polars as pl

from isotope.core.errors import EmptyTable, IntegrityError, IsotopeError
from isotope.core.grid import RunKey
from isotope.params.files import demand_collection
from isotope.params.links import sources
from isotope.params.root import Params
from isotope_judge import study
from isotope_judge.display import Items, PooledPictures, Query, load_items
from isotope_judge.ledger import (
    FOLDER,
    PAIRS,
    Grade,
    Item,
    Ledger,
    grades_file,
    sheet_paths,
)
from isotope_judge.params import Judge
from isotope_judge.pool import agreement, read_sheets
from isotope_judge.study import VERDICTS, FailureVerdict, Sheet, verdict_json


def open_pool(collection: str, assessor: str, params: Params) -> "PoolSession":
    """Return an assessor's session at the pool of a collection in the working directory.

    Raises:
        BadParams: a collection that the params lack, or a bad name.
        MissingFile: no pool, as `load_items`.
        IntegrityError, CorruptFile: as `PoolSession`.
    """
    demand_collection(collection, params)
    # What people say of some queries corrects a model only if those are a random sample.
    judge = params.section("judge", Judge)
    items = load_items(collection, assessor, by_chance=bool(judge and judge.models))
    pictures = PooledPictures(shards(collection, params), set(items.words["images"]))
    return PoolSession(collection, assessor, items, pictures)


def open_sheet(collection: str, assessor: str, name: str, params: Params) -> "SheetSession":
    """Return an assessor's session at the sheet `name`, such as failures.

    Raises:
        BadParams: a collection or a sheet that the params lack, or a bad name.
        MissingFile: no sheet, as `study.load`.
        IntegrityError, CorruptFile: as `SheetSession`.
    """
    demand_collection(collection, params)
    sheet = study.load(collection, name, params)
    ids = {row[c] for row in sheet.rows for c in ("query_id", "truth_id", "found_id")}
    pictures = PooledPictures(shards(collection, params), ids)
    return SheetSession(collection, assessor, sheet, pictures)


def shards(collection: str, params: Params) -> list[Path]:
    """Return the files with the pixels of a collection in the working directory."""
    crawls = [Path(f"data/crawl/{source}") for source in sources(params, collection)]
    return sorted(shard for crawl in crawls for shard in crawl.glob("shard-*.parquet"))


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

    def page_after(self, number: int) -> int:
        """Return the next page with work after `number`; `number` if no other has any.

        Raises:
            As `turn_to`.
        """
        self.turn_to(number)
        following = self._next(number)
        return number if following is None else following

    def progress(self, present: int = -1) -> dict[str, int | None]:
        """Return how many items are graded (`done`) and how many there are (`total`).

        Of the pages (`queries`), those whose items are all graded are `finished`, those that have
        others too are `partial`. `next` is the first page with work after `present`, from the last
        on to the first, and `present` after all others; it is None when all items are graded.
        """
        grades = list(self.ledger.grades)
        done = Counter(self._numbers[item] for item in grades if item in self._numbers)
        finished = sum(count == len(self.pages[number]) for number, count in done.items())
        return {
            "done": done.total(),
            "total": len(self._numbers),
            "queries": len(self.pages),
            "finished": finished,
            "partial": len(done) - finished,
            "next": self._next(present),
        }

    def _next(self, present: int) -> int | None:
        pages, grades = self.pages, self.ledger.grades
        order = (*range(present + 1, len(pages)), *range(present + 1))
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
        pictures: PooledPictures,
        folder: Path = FOLDER,
    ) -> None:
        """Open the assessor's file below `folder`, which is made with the first grade.

        Raises:
            BadParams: a name that can't be a file's.
            CorruptFile: as `Ledger`.
            IntegrityError: grades by the same name in a sheet.
        """
        self.collection, self.assessor = collection, assessor
        self.items, self.pictures = items, pictures
        self.folder = folder
        self.ledger = Ledger(grades_file(folder / collection, assessor), assessor, PAIRS)
        self._work = Worklist([q.pairs for q in items.queries], self.ledger)
        self.progress, self.give = self._work.progress, self._work.give
        self.page_after = self._work.page_after
        self._refuse_namesake()

    def _refuse_namesake(self) -> None:
        try:
            grades = self._other_grades().filter(assessor=self.assessor).height
        except IsotopeError:
            # A broken sheet of another assessor is shown on the page and does not stop the server.
            return
        if grades:
            problem = f"{grades:,} grades by {self.assessor!r} in other sheets"
            remedy = "take another name, or remove them there"
            raise IntegrityError(self.folder / self.collection, problem, remedy)

    def query(self, number: int) -> dict[str, Any]:
        """Return a query with its candidates and their grades.

        Raises:
            IndexError: no query of that number.
            CorruptFile: as `Ledger.refresh`.
        """
        self._work.turn_to(number)
        query = self.items.queries[number]
        cell = RunKey("", "", query.task)
        return {
            "number": number,
            "task": query.task,
            "query_id": query.query_id,
            "query": self._described(cell.query_side, query.query_id),
            "candidates": self._candidates(query, cell.document_side),
            "progress": self.progress(number),
        }

    def summary(self) -> str:
        """Return a sentence: how many queries and pairs are judged, by whom, in which file."""
        progress = self.progress()
        partial = f", {progress['partial']:,} in part" if progress["partial"] else ""
        return (
            f"{progress['finished']:,} of {progress['queries']:,} queries judged{partial}; "
            f"{progress['done']:,} of {progress['total']:,} pairs graded by {self.assessor} "
            f"in {self.ledger.path}"
        )

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
            other_grades = self._other_grades()
        except IsotopeError as error:
            return {"others": [], "error": str(error)}
        rows = [(*p, grade, self.assessor) for p, grade in list(self.ledger.grades.items())]
        mine = pl.DataFrame(rows, schema=_GRADED, orient="row")
        tables = [agreement(pl.concat([mine, o])) for o in other_grades.partition_by("assessor")]
        rows = [
            agreement_with(self.assessor, row) for t in tables for row in t.iter_rows(named=True)
        ]
        return {"others": rows, "error": None}

    def _other_grades(self) -> pl.DataFrame:
        """Return the grades in all sheets but the assessor's own file."""
        ledger_path = str(self.ledger.path)
        paths = [
            Path(p) for p in sheet_paths(self.collection, folder=self.folder) if p != ledger_path
        ]
        try:
            return read_sheets(paths, self.items.pool)
        except EmptyTable:
            return pl.DataFrame(schema=_GRADED)


def agreement_with(assessor: str, row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row of schemas.AGREEMENT as an assessor sees it, ready for JSON."""
    other = row["other"] if row["assessor"] == assessor else row["assessor"]
    return {"other": other, **{k: row[k] for k in ("pairs", "same_share", "kappa")}}


_ROLES = {"query_id": "query", "truth_id": "truth", "found_id": "found"}


class SheetSession:
    """One assessor at a sheet of failures of one collection."""

    def __init__(
        self,
        collection: str,
        assessor: str,
        sheet: Sheet,
        pictures: PooledPictures,
        folder: Path = FOLDER,
    ) -> None:
        """Open the assessor's file below `folder`, which is made with the first verdict.

        Raises:
            BadParams: a name that can't be a file's.
            CorruptFile: as `Ledger`.
            IntegrityError: verdicts by the same name on a sheet that has come back as csv.
        """
        self.collection, self.assessor = f"{collection}/{sheet.name}", assessor
        self.sheet, self.pictures = sheet, pictures
        path = grades_file(folder / collection / sheet.name, assessor)
        self.ledger = Ledger(path, assessor, VERDICTS)
        self._work = Worklist([[row["lot"]] for row in sheet.rows], self.ledger)
        self.progress, self.page_after = self._work.progress, self._work.page_after
        if path.with_suffix(".csv").exists():
            problem = f"a sheet that {assessor!r} has filled in by hand"
            raise IntegrityError(path.with_suffix(".csv"), problem, "take another name, or move it")

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

    def summary(self) -> str:
        """Return a sentence: how many failures are judged, by whom, in which file."""
        progress = self.progress()
        return (
            f"{progress['done']:,} of {progress['total']:,} failures judged by {self.assessor} "
            f"in {self.ledger.path}"
        )

    def _pictures(self, row: Mapping[str, Any]) -> list[dict[str, str]]:
        """Return role and address of each picture that was kept, under its first role only."""
        roles: dict[str, str] = {}
        for column, role in _ROLES.items():
            roles.setdefault(row[column], role)
        return [
            {"role": role, "picture": f"/picture/{quote(ident, safe='')}"}
            for ident, role in roles.items()
            if ident in self.pictures
        ]

    def give(
        self, item_id: str, grade: FailureVerdict | None, *, expected: FailureVerdict | None
    ) -> dict[str, Any]:
        """Save a verdict; return the current one, which another page may have given.

        Raises:
            KeyError, DiskFull, CorruptFile: as `Worklist.give`.
        """
        answer = self._work.give(item_id, grade, expected=expected)
        return {**answer, "grade": verdict_json(answer["grade"])}
