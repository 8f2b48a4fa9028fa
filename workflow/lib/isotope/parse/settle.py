"""What only a whole snapshot tells: which pages are in it twice, and which files lead to others.

A piece is a run of rows in each table that has each page once: a batch of `parse_dump`, or one of
its parts. Of a page that is in several pieces the newest revision counts, or else the first one.
A File: page that is a redirect is in `rejected`, with its target; what shows it shows the target.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core.errors import CorruptFile
from isotope.core.uploads import upload_url
from isotope.parse.articles import REPEATED

Mend = Callable[[int, pa.Table], pa.Table]
FILE_REDIRECT = "file_redirect"
# What counts the pictures whose file leads to another one.
REDIRECTED = "redirected_pictures"
CHANGED = ("sections", "links", "outline", "infoboxes", "pictures")
_LEADS = ("page_id", "revision_id")


class Settlement:
    """What becomes of the rows of each piece: some pages go, some files have another name.

    `dropped` are the revisions of the pages to leave out, by page id and by piece; `files` are the
    targets of redirects by their names. `counts` are what the rows seen by `mend` change.
    """

    def __init__(self, dropped: Mapping[int, Mapping[int, int]], files: Mapping[str, str]) -> None:
        self.dropped, self.files = dropped, files
        self.counts = Counter[str]()
        self.titles: dict[tuple[int, int], str] = {}
        self._names = pl.Series(list(files), dtype=pl.String).implode()
        self._contested = {page for pages in dropped.values() for page in pages}
        self._wikis: dict[int, str] = {}

    @property
    def is_idle(self) -> bool:
        """Tell whether all rows stay as they are."""
        return not self.dropped and not self.files

    def mend(self, table: str) -> Mend:
        """Return what makes the rows of a piece of this table those that stay.

        Raises:
            CorruptFile: two wikis have a page of one number, by the function that is returned.
        """

        def mended(piece: int, rows: pa.Table) -> pa.Table:
            if table == "sections" and self._contested:
                self._note(piece, rows)
            dropped = self.dropped.get(piece)
            if dropped:
                rows = rows.filter(pa.array(~_is_in(rows["page_id"], dropped)))
            return self._renamed(table, rows) if self.files else rows

        return mended

    def rejected(self, at: Callable[[int, int], tuple[str, int]]) -> list[dict[str, object]]:
        """Return rows of `schemas.REJECTED` of the pages left out; `mend` has seen all sections.

        `at` tells a page's file and its ordinal there, by piece and page id.
        """
        rows: list[dict[str, object]] = []
        for piece, pages in self.dropped.items():
            for page, revision in pages.items():
                file, row = at(piece, page)
                reason = {"reason": REPEATED, "detail": self.titles[piece, page]}
                rows.append({"file": file, "row": row, **reason, "raw": f"revision {revision}"})
        return sorted(rows, key=lambda row: (str(row["file"]), int(str(row["row"]))))

    def _note(self, piece: int, rows: pa.Table) -> None:
        """Count the sections that go, and check that their pages are all of one wiki."""
        dropped = self.dropped.get(piece, {})
        names = ("page_id", "page_url", "page_title", "section", "context_section_description")
        some = rows.select(names).filter(pa.array(_is_in(rows["page_id"], self._contested)))
        for row in some.to_pylist():
            page, is_lead = row["page_id"], row["section"] == 0
            wiki = row["page_url"].partition("/wiki/")[0]
            if self._wikis.setdefault(page, wiki) != wiki:
                problem = f"page {page} is in {self._wikis[page]} and in {wiki}"
                remedy = "make each wiki a source of its own, and a union of their collections"
                raise CorruptFile("dump", problem, remedy)
            if page in dropped:
                bare = not row["context_section_description"]
                self.counts.update(sections=-1, sections_without_text=-bare)
            if page in dropped and is_lead:
                self.titles[piece, page] = row["page_title"]
                self.counts.update({"articles": -1, REPEATED: 1})

    def _renamed(self, table: str, rows: pa.Table) -> pa.Table:
        shown = {"sections": "media", "pictures": "file", "infoboxes": "file"}.get(table)
        if shown is None:
            return rows
        names = pl.Series(rows[shown])
        is_list = names.dtype == pl.List
        led = int((names.explode() if is_list else names).is_in(self._names).sum())
        if not led:
            return rows
        if table == "pictures":
            self.counts[REDIRECTED] += led
        if is_list:
            return _replaced(rows, shown, lambda names: [self.files.get(n, n) for n in names])
        rows = _replaced(rows, shown, lambda name: self.files.get(name, name))
        if table == "infoboxes":
            urls = [upload_url(name) for name in rows[shown].to_pylist()]
            rows = _with(rows, "image_url", urls)
        return rows


def repeated(pieces: Sequence[tuple[np.ndarray, np.ndarray]]) -> dict[int, dict[int, int]]:
    """Return what `Settlement.dropped` is, of the (n,) page ids and revision ids of each piece."""
    pages, revisions = (
        np.concatenate([piece[k] for piece in pieces]) if pieces else np.empty(0, np.int64)
        for k in (0, 1)
    )
    if len(np.unique(pages)) == len(pages):
        return {}
    numbers = np.repeat(np.arange(len(pieces)), [len(ids) for ids, _ in pieces])
    order = np.lexsort((np.arange(len(pages)), -revisions, pages))
    again = order[1:][pages[order][1:] == pages[order][:-1]]
    dropped: dict[int, dict[int, int]] = {}
    for n in np.sort(again).tolist():
        dropped.setdefault(int(numbers[n]), {})[int(pages[n])] = int(revisions[n])
    return dropped


def leads(sections: pa.Table) -> tuple[np.ndarray, np.ndarray]:
    """Return the (n,) page ids and revision ids of the articles in a table of sections."""
    first = sections.select([*_LEADS, "section"]).filter(pa.array(_is_in(sections["section"], [0])))
    page, revision = (pl.Series(first[name]).fill_null(0).to_numpy() for name in _LEADS)
    return page, revision


def leads_in(sections: Path) -> tuple[np.ndarray, np.ndarray]:
    """Return `leads` of a table in a file, of which only numbers are read."""
    with pq.ParquetFile(sections) as file:
        batches = file.iter_batches(columns=[*_LEADS, "section"])
        pieces = [leads(pa.Table.from_batches([batch])) for batch in batches]
    empty = np.empty(0, np.int64)
    page, revision = (np.concatenate([empty, *(p[k] for p in pieces)]) for k in (0, 1))
    return page, revision


def file_redirects(rejected: Sequence[Path]) -> dict[str, str]:
    """Return where files that are redirects lead, by the names of both; one step is followed.

    MediaWiki follows no more (`$wgMaxRedirects`).
    """
    targets: dict[str, str] = {}
    for path in rejected:
        rows = pl.scan_parquet(path, glob=False).filter(pl.col("reason") == FILE_REDIRECT)
        for name, target in rows.select("detail", "raw").collect().iter_rows():
            file = target.partition(":")[2]
            if file:
                targets[name.partition(":")[2]] = file
    return targets


def by_rows(mend: Mend, sizes: Sequence[int]) -> Mend:
    """Return `mend` for one table that holds all pieces, which have so many rows each."""
    ends, at = list(accumulate(sizes)), 0

    def mended(_: int, rows: pa.Table) -> pa.Table:
        nonlocal at
        parts, stop = list[pa.Table](), at + len(rows)
        begin = at
        while begin < stop:
            piece = bisect_right(ends, begin)
            end = min(ends[piece], stop)
            parts.append(mend(piece, rows.slice(begin - at, end - begin)))
            begin = end
        at = stop
        return pa.concat_tables(parts) if parts else rows

    return mended


def article_rows(rejected: Path, pages: Mapping[str, int]) -> Iterator[tuple[str, int]]:
    """Yield file and ordinal of every article of a part: each page that is not rejected is one.

    `pages` are the numbers of pages of each file, in the order of `schemas.SECTIONS`.
    """
    left_out = pl.read_parquet(rejected, columns=["file", "row"], glob=False)
    for file, count in pages.items():
        is_article = np.ones(count + 1, dtype=bool)
        is_article[0] = False
        is_article[left_out.filter(pl.col("file") == file)["row"].to_numpy()] = False
        yield from ((file, row) for row in np.flatnonzero(is_article).tolist())


def _is_in(column: pa.ChunkedArray, values: Iterable[int]) -> np.ndarray:
    return np.isin(column.to_numpy(), list(values))


def _replaced(rows: pa.Table, name: str, new: Callable[..., object]) -> pa.Table:
    return _with(rows, name, [new(value) for value in rows[name].to_pylist()])


def _with(rows: pa.Table, name: str, values: Sequence[object]) -> pa.Table:
    at = rows.schema.get_field_index(name)
    field = rows.schema.field(at)
    return rows.set_column(at, field, [pa.array(values, field.type)])
