"""What a page's reader asks of the templates of its wiki, by the name in a call.

A process reads the table once for each wiki, and of it what differs from the default: a template
that nobody knows leaves nothing.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from isotope.core.errors import MissingFile
from isotope.parse.transclusion.tree import Nodes, parse
from isotope.parse.transclusion.words import rule_of

NOTHING, TEXT, BOX, UNKNOWN = "nothing", "text", "box", "unknown"
# In `known_by`, before what of a template is not read.
PARTLY = ", but for "
_COLUMNS = (
    "wiki",
    "template",
    "redirect_to",
    "prints",
    "shows",
    "pictures",
    "is_infobox",
    "known_by",
)


@dataclass(frozen=True)
class Slots:
    """Where a call has a picture: the names of its parameters, the first given one counts.

    `name` is that of a file that is always the same.
    """

    file: tuple[str, ...]
    caption: tuple[str, ...] = ()
    alt: tuple[str, ...] = ()
    name: str = ""
    is_framed: bool = False


@dataclass(eq=False)
class Template:
    """What a template leaves; of text there is the tree of what it shows.

    One that its page does not tell of is known by hand, if at all, by its own `title`.
    """

    title: str
    prints: str
    shows: str = ""
    pictures: tuple[Slots, ...] = ()
    is_infobox: bool = False

    @cached_property
    def tree(self) -> Nodes:
        """The tree of what it shows, read when it is first asked for."""
        return parse(self.shows)

    @cached_property
    def slots(self) -> Mapping[str, Slots]:
        """The pictures by each of their parameters."""
        return {name: one for one in reversed(self.pictures) for name in one.file}


@dataclass(frozen=True)
class Templates:
    """The templates of a wiki; without a path none is known.

    It goes to worker processes as its path, with the file's size and time as of `load`, so that a
    table that was written again is read again.
    """

    path: Path | None = None
    wiki: str = ""
    stamp: tuple[int, int] = (0, 0)

    @classmethod
    def load(cls, path: Path, wiki: str) -> "Templates":
        """Return those of a wiki in a file of `tables.TEMPLATES` (Parquet).

        Raises:
            MissingFile: no such file.
        """
        if not path.is_file():
            raise MissingFile(path, "no such file", "run the rule that reads templates first")
        state = path.stat()
        return cls(path, wiki, (state.st_size, state.st_mtime_ns))

    @property
    def by_title(self) -> Mapping[str, Template]:
        """The templates by title, redirects included."""
        return _NONE if self.path is None else _read(self.path, self.wiki, self.stamp)


NO_TEMPLATES = Templates()
_NONE: Mapping[str, Template] = {}


@lru_cache(maxsize=4)
def _read(path: Path, wiki: str, stamp: tuple[int, int]) -> Mapping[str, Template]:
    """Read a table; `stamp` is of no use but to tell a table that was written again."""
    rows: dict[str, Template] = {}
    redirects: dict[str, str] = {}
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(columns=list(_COLUMNS)):
            for row in batch.to_pylist():
                if row["wiki"] != wiki:
                    continue
                if row["redirect_to"]:
                    redirects[row["template"]] = row["redirect_to"]
                elif _differs(row):
                    rows[row["template"]] = _template(row)
    for title, target in redirects.items():
        if target in rows:
            rows[title] = rows[target]
        elif rule_of(target):
            rows[title] = Template(target, UNKNOWN)
    return rows


def _differs(row: dict[str, Any]) -> bool:
    """Tell whether a row says other than what holds of a template that nobody knows."""
    if row["prints"] == TEXT or row["pictures"] or row["is_infobox"]:
        return True
    return row["prints"] != UNKNOWN and rule_of(row["template"]) is not None


def _template(row: dict[str, Any]) -> Template:
    pictures = tuple(map(_slots, row["pictures"]))
    is_partial = row["prints"] == TEXT and PARTLY in row["known_by"]
    prints = UNKNOWN if is_partial and rule_of(row["template"]) else row["prints"]
    return Template(row["template"], prints, row["shows"], pictures, row["is_infobox"])


def _slots(picture: dict[str, Any]) -> Slots:
    file, caption, alt = (tuple(picture[what]) for what in ("file", "caption", "alt"))
    return Slots(file, caption, alt, picture["name"] or "", picture["is_framed"])
