"""Which record isotope's own code failed on: without it a traceback of a job that ran for hours
says where in the code, and not where in the data."""

from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from isotope.core.errors import IsotopeError

_Item = TypeVar("_Item")


@contextmanager
def naming(record: Callable[[], str]) -> Generator[None]:
    """Add to whatever isotope itself raises a note with the record that it was at.

    `record` is called for an error alone. What a user can mend, an IsotopeError, names its place
    itself. The first note is of the innermost record; notes cross the border of a process.
    """
    try:
        yield
    except IsotopeError:
        raise
    except Exception as error:
        error.add_note(f"at {record()}")
        raise


def named_after(items: Iterable[_Item], record: Callable[[_Item], str]) -> Iterator[_Item]:
    """Yield items; where making one fails, the error names the record before it."""
    last: list[_Item] = []
    with naming(lambda: f"the record after {record(last[0])}" if last else "the first record"):
        for item in items:
            last[:] = [item]
            yield item


def record_of(error: BaseException) -> str:
    """Return where isotope's own code failed, as ` at page 7`; nothing where that is not known."""
    notes: list[str] = getattr(error, "__notes__", [])
    return next((f" {note}" for note in notes if note.startswith("at ")), "")
