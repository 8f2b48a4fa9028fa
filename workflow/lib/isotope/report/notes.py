"""What plug-ins say of a collection on the first pages of its report."""

from pathlib import Path
from typing import NamedTuple

from isotope.core.resources import function


class Note(NamedTuple):
    """What a plug-in says: `call` names the function that returns the HTML of a collection, a page
    and the `file`, None for an empty one. It stands below `heading`.
    """

    heading: str
    call: str
    file: str = ""

    def written(self, collection: str, page: str) -> str:
        """Return the HTML that a page has of it."""
        return str(function(self.call)(collection, page, Path(self.file) if self.file else None))
