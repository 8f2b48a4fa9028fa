"""An assessor's desk for a sheet of failures: one failure a page, and what is said of it."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from isotope.core.errors import BrokenPromise
from isotope.judge import study
from isotope.judge.failure_sheets import VERDICTS, Sheet, Verdict, told
from isotope.judge.ledger import Ledger
from isotope.judge.lines import place
from isotope.judge.pictures import Pictures
from isotope.judge.work import Work

_SHOWN = {"query_id": "asked", "truth_id": "right", "found_id": "found"}


class SheetDesk:
    """One assessor at a sheet of one collection; every answer is ready for JSON."""

    def __init__(
        self,
        collection: str,
        assessor: str,
        sheet: Sheet,
        pictures: Pictures,
        folder: Path = study.FOLDER,
    ) -> None:
        """Take up the assessor's file below `folder`, which is made with the first verdict.

        Raises:
            BadParams: a name that can't be a file's.
            CorruptFile: as `Ledger`.
            BrokenPromise: verdicts by the same name on a sheet that has come back as csv.
        """
        self.collection, self.assessor = f"{collection}/{sheet.name}", assessor
        self.sheet, self.pictures = sheet, pictures
        path = place(folder / collection / sheet.name, assessor)
        self.ledger = Ledger(path, assessor, VERDICTS)
        self._work = Work([[row["lot"]] for row in sheet.rows], self.ledger)
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
            "grade": told(self.ledger.grades.get(row["lot"])),
            "progress": self.progress(number),
        }

    def _pictures(self, row: Mapping[str, Any]) -> list[dict[str, str]]:
        return [
            {"role": role, "picture": f"/picture/{quote(row[column], safe='')}"}
            for column, role in _SHOWN.items()
            if row[column] in self.pictures
        ]

    def give(self, lot: str, grade: Verdict | None, *, seen: Verdict | None) -> dict[str, Any]:
        """Keep a verdict; return the one that holds, which another page may have given.

        Raises:
            KeyError, DiskFull, CorruptFile: as `Work.give`.
        """
        kept = self._work.give(lot, grade, seen=seen)
        return {**kept, "grade": told(kept["grade"])}
