"""What a page's reader asks of the templates of its wiki, by the name in a call.

A process reads the table once for each wiki, and of it what differs from the default: a template
that nobody knows leaves nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
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
        return {name: picture for picture in reversed(self.pictures) for name in picture.file}


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
        """Return those of a wiki in a file of `schemas.TEMPLATES` (Parquet).

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
            rows_of_wiki = batch.filter(pc.call_function("equal", [batch["wiki"], wiki]))
            redirects |= {title: to for title, to in _pairs(rows_of_wiki, "redirect_to") if to}
            tells = _tells(rows_of_wiki)
            rows |= {
                row["template"]: _template(row) for row in rows_of_wiki.filter(tells).to_pylist()
            }
            silent = _pairs(rows_of_wiki.filter(pc.call_function("invert", [tells])), "prints")
            rows |= {
                title: Template(title, kind) for title, kind in silent if _is_news(title, kind)
            }
    for title, target in redirects.items():
        if target in rows:
            rows[title] = rows[target]
        elif rule_of(target):
            rows[title] = Template(target, UNKNOWN)
    return rows


def _pairs(rows: pa.RecordBatch, column: str) -> Iterator[tuple[str, str]]:
    return zip(rows["template"].to_pylist(), rows[column].to_pylist(), strict=True)


def _tells(rows: pa.RecordBatch) -> pa.Array:
    """Tell which rows say more than that a template prints nothing, or that nobody knows it."""
    pictures = pc.call_function("list_value_length", [rows["pictures"]])
    either = pc.call_function(
        "or", [rows["is_infobox"], pc.call_function("greater", [pictures, 0])]
    )
    return pc.call_function("or", [either, pc.call_function("equal", [rows["prints"], TEXT])])


def _is_news(title: str, prints: str) -> bool:
    """Tell whether a template prints nothing that a rule by hand would have print words."""
    return prints in (NOTHING, BOX) and rule_of(title) is not None


def _template(row: dict[str, Any]) -> Template:
    pictures = tuple(map(_slots, row["pictures"]))
    is_partial = row["prints"] == TEXT and PARTLY in row["known_by"]
    prints = UNKNOWN if is_partial and rule_of(row["template"]) else row["prints"]
    return Template(row["template"], prints, row["shows"], pictures, row["is_infobox"])


def _slots(picture: dict[str, Any]) -> Slots:
    file, caption, alt = (tuple(picture[column]) for column in ("file", "caption", "alt"))
    return Slots(file, caption, alt, picture["name"] or "", picture["is_framed"])
