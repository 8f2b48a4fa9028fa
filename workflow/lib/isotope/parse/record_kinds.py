"""What the JSON records of a snapshot are: pages as HTML, as Structured Contents, or Wikidata's."""

from collections.abc import Mapping
from typing import Any, cast

from isotope.core.errors import CorruptFile
from isotope.parse.structured import is_structured

HTML, STRUCTURED, ENTITIES = "html", "structured", "entities"
_NAMES = {HTML: "a page's HTML", STRUCTURED: "a page's Structured Contents"}
# Of an entity of Wikidata: in its own dumps, and in the records of Enterprise.
_OF_WIKIDATA = frozenset(("claims", "statements", "sitelinks", "entity"))


def kind_of(record: object) -> str | None:
    """Return HTML, STRUCTURED or ENTITIES by what a record has; None where nothing tells."""
    if not isinstance(record, dict):
        return None
    if "article_body" in record:
        return HTML
    fields = cast(Mapping[str, Any], record)
    if is_structured(fields):
        return STRUCTURED
    return ENTITIES if _OF_WIKIDATA.intersection(fields) else None


class RecordKinds:
    """The kind of the records of pages seen so far, and where the first one stands."""

    def __init__(self) -> None:
        """Know of no record."""
        self.kind, self._first = "", ""

    def demand(self, record: object, where: str) -> bool:
        """Check that a record is of the kind that is known; return whether it tells one at all.

        Raises:
            CorruptFile: it is of another kind, or of Wikidata.
        """
        kind = kind_of(record)
        if kind is None:
            return False
        if kind == ENTITIES:
            remedy = "name the file in the part wikidata, and not in dump"
            raise CorruptFile(where, "an entity of Wikidata, which is no page", remedy)
        if self.kind and kind != self.kind:
            problem = f"{_NAMES[kind]}, while {self._first} has {_NAMES[self.kind]}"
            raise CorruptFile(where, problem, "give snapshots of one kind in the part dump")
        self.kind, self._first = self.kind or kind, self._first or where
        return True
