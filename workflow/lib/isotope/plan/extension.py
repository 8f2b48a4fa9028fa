"""What a plug-in adds to the plan of a run."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from isotope.report.notes import Note

if TYPE_CHECKING:
    from isotope.plan.collections import Files
    from isotope.plan.plan import Plan


class ReportPage(NamedTuple):
    """A page of a collection's report that a plug-in writes.

    `about` says in a line what stands there; `beside` is the page, if any, that leads to it, too.
    """

    heading: str
    about: str
    beside: str = ""


class Extension:
    """What a plug-in adds to a plan; a class of its own says it.

    Rules find it in `plan.extensions`, by the name of the plug-in.
    """

    def __init__(self, plan: "Plan") -> None:
        """Of a plan, whose objects it may ask."""
        self.plan = plan

    def ends(self, collection: str) -> Sequence[str]:
        """Return the files that a collection ends with, by what the plug-in makes of it."""
        del collection
        return ()

    def last(self, collection: str) -> Sequence[str]:
        """Return the files that come after the pages of a collection's report."""
        del collection
        return ()

    def pages(self, collection: str) -> Mapping[str, ReportPage]:
        """Return the pages of a collection's report that it writes, by name without suffix."""
        del collection
        return {}

    def note(self, collection: str) -> Note | None:
        """Return what it says on the first pages of a collection's report."""
        del collection
        return None

    def relations(self, subject: str) -> "Mapping[str, Files]":
        """Return the files behind each relation that exhibits of a collection may read."""
        del subject
        return {}

    def tables(self, collection: str) -> Sequence[str]:
        """Return the files of exhibits that rules of its own make, for the report to show."""
        del collection
        return ()

    def values(self, subject: str) -> Mapping[str, Any]:
        """Return the values behind parameters of a collection's exhibits."""
        del subject
        return {}

    def paths(self) -> Sequence[str]:
        """Return files and folders that its params name: what is gone of them is made again."""
        return ()
