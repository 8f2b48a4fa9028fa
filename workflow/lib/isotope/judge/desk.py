"""An assessor's desk: which queries are there, what is graded, what the others think."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

import polars as pl

from isotope.core.errors import BrokenPromise, EmptyTable, IsotopeError
from isotope.core.grid import Cell
from isotope.judge import sheets
from isotope.judge.agreement import agreement
from isotope.judge.items import Items, Query
from isotope.judge.ledger import Ledger
from isotope.judge.lines import PAIRS, place
from isotope.judge.pictures import Pictures
from isotope.judge.work import Work

_GRADED = {
    "task": pl.String,
    "query_id": pl.String,
    "doc_id": pl.String,
    "grade": pl.Int32,
    "assessor": pl.String,
}


class Desk:
    """One assessor at the pool of one collection; every answer is ready for JSON."""

    def __init__(
        self,
        collection: str,
        assessor: str,
        items: Items,
        pictures: Pictures,
        folder: Path = sheets.FOLDER,
    ) -> None:
        """Take up the assessor's file below `folder`, which is made with the first grade.

        Raises:
            BadParams: a name that can't be a file's.
            CorruptFile: as `Ledger`.
            BrokenPromise: grades by the same name in a sheet.
        """
        self.collection, self.assessor = collection, assessor
        self.items, self.pictures = items, pictures
        self.folder = folder
        self.ledger = Ledger(place(folder / collection, assessor), assessor, PAIRS)
        work = Work([q.pairs for q in items.queries], self.ledger)
        self.progress, self.give, self._turn_to = work.progress, work.give, work.turn_to
        self._refuse_twin()

    def _refuse_twin(self) -> None:
        try:
            twins = self._others().filter(assessor=self.assessor).height
        except IsotopeError:
            # Somebody else's broken sheet stops nobody: the page tells of it.
            return
        if twins:
            found = f"{twins:,} grades by {self.assessor!r} in other sheets"
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
            "query": self._shown(cell.query_side, query.query_id),
            "candidates": self._candidates(query, cell.document_side),
            "progress": self.progress(number),
        }

    def _candidates(self, query: Query, side: str) -> list[dict[str, Any]]:
        grades = self.ledger.grades
        return [
            {"doc_id": p.doc_id, "grade": grades.get(p), **self._shown(side, p.doc_id)}
            for p in query.pairs
        ]

    def _shown(self, side: str, ident: str) -> dict[str, Any]:
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
        found = [_seen_from(self.assessor, row) for t in tables for row in t.iter_rows(named=True)]
        return {"others": found, "error": None}

    def _others(self) -> pl.DataFrame:
        """Return the grades in all sheets but the assessor's own file."""
        own = str(self.ledger.path)
        paths = [Path(p) for p in sheets.found_sheets(self.collection, self.folder) if p != own]
        try:
            return sheets.read_sheets(paths, self.items.pool)
        except EmptyTable:
            return pl.DataFrame(schema=_GRADED)


def _seen_from(assessor: str, row: Mapping[str, Any]) -> dict[str, Any]:
    other = row["other"] if row["assessor"] == assessor else row["assessor"]
    return {"other": other, **{k: row[k] for k in ("pairs", "same_share", "kappa")}}
