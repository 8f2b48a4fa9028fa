"""What a form of data is: how files are recognised, read as rows, and asked for their pictures.

A form is how a data set of pictures and texts lies on a disk: a CSV file, COCO's JSON, tars of
WebDataset. Its reader yields rows as they stand there; what a column means, its role, is said by
the form where all data of this form agree, and by the user elsewhere.

A row may be partial: one with a text alone is a text, one with a picture alone a picture, and one
with both, or with the ids of both, says that they belong together. Rows that share an id speak of
the same thing, and for each column the first that says anything counts. So tables of BEIR, where
documents, queries and judgements stand apart, are read without joining them.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa

from isotope.core.errors import CorruptFile

# `caption` is words that stand for the picture in systems that read text alone; `title`, `section`
# and `page_url` are those of the page that a text is from; the others are what a collection asks of
# its rows.
ROLES = (
    *("image", "image_id", "text", "text_id", "title", "split", "relevance"),
    *("language", "date", "licence", "objects", "caption", "section", "page_url"),
)
# What forms alone say: who made a picture and how large it is, and which of its texts a row has.
FORM_ROLES = ("credit", "width", "height", "number")
# Where a row stands: the file's name (`core.files.labels`) and the row in it. A user's table often
# has a `file` of its own.
FILE, ROW = "_file", "_row"
# Of published sets, a column of texts' ids that name the set, too.
QUERY_ID = "query_id"
WHERE = pa.schema([(FILE, pa.string()), (ROW, pa.int64())])
# A record that isn't used: a row of schemas.parse.REJECTED.
Rejection = dict[str, object]
Picture = tuple[str, Callable[[], bytes]]
UNREADABLE = "unreadable"
_LONGEST_RAW = 500


class Form(ABC):
    """A form of data."""

    # As params say it.
    name: str
    # Role -> column, where the form itself says so.
    roles: ClassVar[Mapping[str, str]] = {}
    # What `options` may hold, with a sentence on each.
    options: ClassVar[Mapping[str, str]] = {}
    # Files are shown to forms of smaller turns first, and to forms that take most files last.
    turn: ClassVar[int] = 1
    # Columns that travel along with `image` and with `text`, beside those that the user keeps.
    keeps: ClassVar[Mapping[str, Sequence[str]]] = {}
    # Whether pictures are files, called by their paths below the folder of all.
    has_files: ClassVar[bool] = False
    # Of a form with too many rows for Python: the folder of queries that make its pairs of the
    # parts of a source, and the records `image_own` and `text_own` as these give them.
    queries: ClassVar[Path | None] = None
    records: ClassVar[Sequence[pa.Field]] = ()

    def recognises(self, paths: Sequence[Path]) -> bool:
        """Tell whether files or folders are of this form, by their names and first bytes.

        No files are of a form that has to be named.
        """
        del paths
        return False

    @abstractmethod
    def read(
        self,
        paths: Sequence[Path],
        options: Mapping[str, Any],
        rejected: list[Rejection] | None = None,
    ) -> Iterator[pa.RecordBatch]:
        """Yield rows in the order of the files, all batches with one schema, a few in memory.

        Columns are `_file` (its name, or its path below the folder that holds all), `_row` (int64:
        the line of a text file where the record begins, the number of the record elsewhere, both
        from 1), then the form's own, typed as in the data. A column of pictures' bytes comes as
        the names that `pictures` gives them. Records that can't be read go to `rejected`.

        Raises:
            CorruptFile: a file that can't be read on, with the row; without `rejected`, also the
                first record that can't be read.
            MissingFile, MissingColumn, EmptyTable: what the form needs and the data lacks.
        """

    def pictures(self, paths: Sequence[Path], options: Mapping[str, Any]) -> Iterator[Picture]:
        """Yield the name of each picture within the data, as `read` has it, and its reader.

        A reader is good until the next picture is asked for. A name may come again, with the same
        bytes. Nothing where pictures lie apart or are URLs.
        """
        del paths, options
        yield from ()


def refuse(
    rejected: list[Rejection] | None, where: tuple[str, int], problem: str, raw: str
) -> None:
    """Set aside the record of `where`, a file and row, with why and what it was.

    Raises:
        CorruptFile: there is no list to set it aside.
    """
    if rejected is None:
        file, row = where
        raise CorruptFile(f"{file}, row {row}", problem, "mend the record or take it out")
    set_aside(rejected, where, (UNREADABLE, problem, raw))


def set_aside(
    rejected: list[Rejection] | None, where: tuple[str, int], why: tuple[str, str, str]
) -> None:
    """Note why the record of `where`, a file and row, is not used: reason, detail, what it was."""
    reason, detail, raw = why
    cut = raw if len(raw) <= _LONGEST_RAW else f"{raw[: _LONGEST_RAW - 1]}…"
    if rejected is not None:
        location = dict(zip(("file", "row"), where, strict=True))
        rejected.append({**location, "reason": reason, "detail": detail, "raw": cut})
