"""What an assessor has to do, and has done: items page by page, and their grades on the disk."""

from collections.abc import Sequence
from typing import Any, Generic

from isotope.judge.ledger import Ledger
from isotope.judge.lines import Grade, Item


class Work(Generic[Item, Grade]):
    """The items of each page, with the ledger of their grades."""

    def __init__(self, pages: Sequence[Sequence[Item]], ledger: Ledger[Item, Grade]) -> None:
        """Take up `ledger`, which may have grades of items that are on no page (any more)."""
        self.pages, self.ledger = pages, ledger
        self._places = {item: n for n, items in enumerate(pages) for item in items}

    def turn_to(self, number: int) -> None:
        """Take in what other tabs have given, before a page is shown.

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
            "done": sum(item in self._places for item in list(grades)),
            "total": len(self._places),
            "queries": len(self.pages),
            "next": self._next(after),
        }

    def _next(self, after: int) -> int | None:
        every, grades = self.pages, self.ledger.grades
        order = (*range(after, len(every)), *range(min(after, len(every))))
        return next((n for n in order if any(i not in grades for i in every[n])), None)

    def give(self, item: Item, grade: Grade | None, *, seen: Grade | None) -> dict[str, Any]:
        """Keep a grade; return the one that holds, which another page may have given.

        Raises:
            KeyError: an item of no page.
            DiskFull, CorruptFile: as `Ledger.give`.
        """
        number = self._places[item]
        return {
            "grade": self.ledger.give(item, grade, seen=seen),
            "progress": self.progress(number),
        }
