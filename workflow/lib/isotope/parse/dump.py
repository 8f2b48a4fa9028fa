"""Snapshots of a wiki, of any kind, to the tables of sections, links, pictures and associations.

Pieces of a snapshot are parsed in parallel and written in their order. From the tables of all
pieces come the links to each article, and the associations that the snapshot itself has: the
pictures of its sections, in WIT's columns.
"""

import json
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TypeVar, cast

import numpy as np
import polars as pl
import pyarrow as pa

from isotope.core import sql, store
from isotope.core.errors import MissingFile
from isotope.core.files import is_zim, labels, open_zim
from isotope.core.manifest import placed, placed_if_any
from isotope.core.parallel import ordered_map
from isotope.core.progress import Progress, log
from isotope.core.store import UNDIVIDED, Part, bounds, gather, grouped
from isotope.intake.wiki_files import read_files
from isotope.parse import html_snapshots, settle, xml_dump
from isotope.parse.articles import REASONS, ParsedBatch, ParsedTables
from isotope.parse.html_snapshots import Entries, SnapshotLines
from isotope.parse.site import Site, read_site
from isotope.parse.xml_dump import Chunk, StreamSpan
from isotope.schemas.parse import (
    ASSOCIATIONS,
    INFOBOXES,
    INLINKS,
    LINKS,
    OUTLINE,
    PICTURES,
    REJECTED,
    SECTIONS,
)

PAGES = "pages_of_files"
# What counts the sections that are no texts of a collection.
WITHOUT_TEXT = "sections_without_text"
_COUNTS = ("pages", "articles", "sections", WITHOUT_TEXT, *REASONS, settle.REDIRECTED)
_TABLES = {
    "sections": SECTIONS,
    "links": LINKS,
    "outline": OUTLINE,
    "rejected": REJECTED,
    "infoboxes": INFOBOXES,
    "pictures": PICTURES,
}
_MOST_COMMON = 5
_LONGEST = 40
_LINK_ORIGINS = ("link", "gallery")
_REMEDY = "a checkout makes a list of a wiki's own words from its siteinfo by docs/wiki_words.py"
_STEPS = sql.SQL / "parse" / "wikitext"
Task = tuple[Site, StreamSpan | Chunk] | SnapshotLines | Entries
_Task = TypeVar("_Task")
# Yields the tasks for the bytes from the first number to before the second one.
Cutter = Callable[[int, int], Iterator[Task]]


def parse_source(  # noqa: PLR0913
    *,
    manifest: Path,
    template_table: Path,
    sections: Path,
    links: Path,
    outline: Path,
    rejected: Path,
    infoboxes: Path,
    pictures: Path,
    counts: Path,
    part: Part,
    threads: int,
    variant: str | None,
) -> None:
    """Parse part (i, n) of the acquired part `dump`: see `parse_dump`."""
    parse_dump(
        placed(manifest, "dump"),
        out=sections,
        links=links,
        outline=outline,
        rejected=rejected,
        infoboxes=infoboxes,
        pictures=pictures,
        counts=counts,
        workers=threads,
        part=part,
        templates=template_table,
        variant=variant,
    )


def parse_dump(  # noqa: PLR0913
    files: Sequence[Path],
    *,
    out: Path,
    links: Path,
    outline: Path,
    rejected: Path,
    infoboxes: Path,
    pictures: Path,
    counts: Path,
    workers: int,
    part: Part = UNDIVIDED,
    templates: Path | None = None,
    variant: str | None = None,
) -> None:
    """Read `pages-articles` dumps, snapshots of Wikimedia Enterprise, and ZIM files.

    Of all bytes only part (i, n) of n slices is read; `gather_dump` joins the parts. `templates`,
    `schemas.TEMPLATES`, says what templates show; without it only what isotope remembers is known.
    `variant` is the code of a variant of the wiki's language (`variants`), None the usual one.
    The bytes of the outputs do not depend on `workers`:

    * `out`, `schemas.SECTIONS`: every section of every article, empty ones too, the lead as section
      0 with the title of `languages.lead_title`.
    * `links`, `schemas.LINKS`: each page's targets once (`articles.article_titles`).
    * `outline`, `schemas.OUTLINE`: each section's place in its page, and what its markup has.
    * `rejected`, `schemas.REJECTED`: the pages left out, with their ordinal in the file, reason
      (`articles.REASONS`), title, and a redirect's target.
    * `infoboxes`, `schemas.INFOBOXES`: the first picture of each article's infobox.
    * `pictures`, `schemas.PICTURES`: every file that an article shows, of any kind, with its
      section and the parts of its link that are no word of the wiki, which the log counts by wiki.
    * `counts`: a JSON object with pages, articles, sections, those of them without text, one number
      a reason, the pictures whose file leads to another one, of Structured Contents what they name
      and lack, and of a part PAGES, the pages of each file.

    Of a page that comes again the newest revision counts, or else the first; the others are
    rejected. A picture whose file is a redirect of the snapshot has the name of its target.

    Raises:
        MissingFile: no files given, or one that is not there.
        BadParams: a wiki whose language has no such variant.
        CorruptFile, TruncatedFile: damaged data, with the byte if it is known; records of HTML
            beside Structured Contents, or of Wikidata; nothing is written.
    """
    if not files:
        raise MissingFile("dump", "no files", "name at least one pages-articles file in the params")
    tables = {
        **{"sections": out, "links": links, "outline": outline, "rejected": rejected},
        **{"infoboxes": infoboxes, "pictures": pictures},
    }
    paths = [Path(path) for path in files]
    cutters = [open_snapshot(path, templates, variant) for path in paths]
    html_snapshots.demand_one_kind(path for path in paths if html_snapshots.is_of_records(path))
    totals, pieces = _Totals(labels(paths)), _Pieces()
    with (
        grouped(out, SECTIONS) as good,
        grouped(links, LINKS) as link_rows,
        grouped(outline, OUTLINE) as outline_rows,
        grouped(rejected, REJECTED) as bad,
        grouped(infoboxes, INFOBOXES) as boxes,
        grouped(pictures, PICTURES) as picture_rows,
    ):
        for sections, targets, outlines, parsed in ordered_map(
            parse_task, tasks(paths, cutters, part), workers
        ):
            pieces.add(parsed, sections, targets, totals.before(parsed))
            bad.add(totals.add(parsed, sections))
            link_rows.add(targets)
            outline_rows.add(outlines)
            good.add(sections)
            boxes.add(pa.Table.from_pylist(parsed.infoboxes, schema=INFOBOXES))
            picture_rows.add(pa.Table.from_pylist(parsed.pictures, schema=PICTURES))
    totals.change(_settle(tables, pieces, is_whole=part == UNDIVIDED))
    with store.aside(counts) as aside:
        counted = (
            totals.counts() if part == UNDIVIDED else {**totals.counts(), PAGES: totals.pages()}
        )
        aside.write_text(json.dumps(counted, indent=2) + "\n", "utf-8")
    totals.progress.finish()
    log.info("dump: %s", totals.counts())
    for line in totals.words.lines():
        log.info(line)
    for line in totals.words.warnings():
        log.warning(line)


def tasks(
    paths: Sequence[Path], cutters: Sequence[Callable[[int, int], Iterator[_Task]]], part: Part
) -> Iterator[_Task]:
    """Yield the tasks for part (i, n) of the bytes of files; each file has a cutter."""
    sizes = [path.stat().st_size for path in paths]
    start, stop = bounds(sum(sizes), part)
    for cutter, size in zip(cutters, sizes, strict=True):
        if start < size and stop > 0:
            yield from cutter(max(start, 0), min(stop, size))
        start, stop = start - size, stop - size


def is_export(path: Path) -> bool:
    """Tell whether a file is a MediaWiki export, which has wikitext, and no snapshot of HTML."""
    return not is_zim(path) and not html_snapshots.is_of_records(path)


def open_snapshot(path: Path, templates: Path | None = None, variant: str | None = None) -> Cutter:
    """Check that a file is a snapshot; return the function that cuts it into tasks.

    A dump is cut by the bytes of its streams, a ZIM file by its entries; a file of Enterprise
    belongs as a whole to the slice that has its first byte.

    Raises:
        MissingFile: no such file, or not all pieces of a split one.
        BadParams: a wiki whose language has no such variant; of records it is met at the first.
        CorruptFile, TruncatedFile: a file that is not what its name says.
    """
    if not path.is_file():
        raise MissingFile(path, "no such file", "check the path, or run `acquire` first")
    if is_zim(path):
        open_zim(path)
        html_snapshots.site_of(path).in_variant(variant)
        return partial(html_snapshots.entry_batches, path, variant)
    if html_snapshots.is_of_records(path):
        return partial(_record_tasks, path, variant)
    site = read_site(path, xml_dump.decompress(path)).in_variant(variant)
    return partial(
        export_tasks, path, site if templates is None else site.with_templates(templates)
    )


def export_tasks(
    path: Path, site: Site, start: int, stop: int
) -> Iterator[tuple[Site, StreamSpan | Chunk]]:
    """Yield the pieces of an export from byte `start` to before byte `stop`, with its site."""
    for batch in xml_dump.batches(path, start, stop):
        yield site, batch


def _record_tasks(path: Path, variant: str | None, start: int, stop: int) -> Iterator[Task]:
    if start == 0 and stop > 0:
        yield from html_snapshots.record_batches(path, variant)


def parse_task(task: Task) -> ParsedTables:
    """Return sections, links, outline and the rest of a batch, as `ParsedBatch.as_tables` does.

    Raises:
        CorruptFile, TruncatedFile: the piece can't be unpacked.
    """
    if isinstance(task, SnapshotLines):
        return html_snapshots.parse_records(task)
    if isinstance(task, Entries):
        return html_snapshots.parse_entries(task)
    return xml_dump.parse_batch(task)


class _Totals:
    """Sums over all pieces, and the ordinals of pages within their files."""

    def __init__(self, labels_by_path: Mapping[Path, str]) -> None:
        self.progress, self.words = Progress("dump pages"), _UnreadWords()
        self._labels = labels_by_path
        self._sums, self._unsaid = Counter[str](), Counter[str]()
        self._pages_before = Counter[Path]()

    def before(self, parsed: ParsedBatch) -> tuple[str, int]:
        """Return the name of a piece's file, and how many pages of it came before."""
        return self._labels[parsed.path], self._pages_before[parsed.path]

    def change(self, counts: Mapping[str, int]) -> None:
        """Add to the counts, which may go down by that."""
        for name, n in counts.items():
            self._sums[name] += n

    def add(self, parsed: ParsedBatch, sections: pa.Table) -> pa.Table:
        """Count a piece, and return its rejected pages with file and ordinal in the file."""
        before = self._pages_before[parsed.path]
        self._pages_before[parsed.path] += parsed.pages
        self._sums.update(pages=parsed.pages, articles=parsed.articles, sections=len(sections))
        bare = pl.Series(sections["context_section_description"]) == ""
        self._sums[WITHOUT_TEXT] += int(bare.sum())
        self._sums.update(str(row["reason"]) for row in parsed.rejected)
        self._unsaid += parsed.unsaid
        self.progress.add(parsed.pages)
        self.words.add(parsed.wikis, parsed.pictures)
        rows = [
            {**row, "file": self._labels[parsed.path], "row": before + int(str(row["row"]))}
            for row in parsed.rejected
        ]
        return pa.Table.from_pylist(rows, schema=REJECTED)

    def counts(self) -> dict[str, int]:
        """Return pages, articles, sections and one number a reason, zeros included.

        What Structured Contents lack is there where they lack it.
        """
        return _in_order({name: self._sums[name] for name in _COUNTS} | self._unsaid)

    def pages(self) -> dict[str, int]:
        """Return the pages of each file."""
        return {self._labels[path]: n for path, n in self._pages_before.items()}


class _Pieces:
    """The batches of a part: the articles of each, and how many rows it has in each table."""

    def __init__(self) -> None:
        self.leads: list[tuple[np.ndarray, np.ndarray]] = []
        self.sizes = {name: list[int]() for name in _TABLES}
        self._ordinals: list[np.ndarray] = []
        self._before: list[tuple[str, int]] = []

    def add(
        self, parsed: ParsedBatch, sections: pa.Table, links: pa.Table, before: tuple[str, int]
    ) -> None:
        """Add a batch; `before` are its file and how many pages of it came before."""
        ids = [(page, *numbers) for page, numbers in parsed.added.items()]
        added = np.array(ids, np.int64).reshape(-1, 3)
        self.leads.append((added[:, 0], added[:, 1]))
        self._ordinals.append(added[:, 2])
        self._before.append(before)
        sizes = {"sections": len(sections), "links": len(links), "outline": len(sections)}
        sizes |= {"infoboxes": len(parsed.infoboxes), "pictures": len(parsed.pictures)}
        for name, size in sizes.items():
            self.sizes[name].append(size)

    def row(self, piece: int, page: int) -> tuple[str, int]:
        """Return the file of a page and its ordinal there."""
        (file, before), (pages, _) = self._before[piece], self.leads[piece]
        return file, before + int(self._ordinals[piece][pages == page][0])


def _settle(tables: Mapping[str, Path], pieces: _Pieces, *, is_whole: bool) -> Mapping[str, int]:
    """Take the pages that come again out of the tables of a part, and return what that changes.

    Files that are redirects are replaced once the whole snapshot is there.
    """
    files = settle.file_redirects([tables["rejected"]]) if is_whole else {}
    settlement = settle.Settlement(settle.repeated(pieces.leads), files)
    if settlement.is_idle:
        return {}
    for name in settle.CHANGED:
        mend = settle.by_rows(settlement.mend(name), pieces.sizes[name])
        gather([tables[name]], tables[name], _TABLES[name], mend)
    _reject([tables["rejected"]], tables["rejected"], settlement.rejected(pieces.row))
    return settlement.counts


def _reject(
    parts: Sequence[Path],
    out: Path,
    rows: Sequence[Mapping[str, object]],
    mend: settle.Mend = lambda _, rows: rows,
) -> None:
    """Gather the rejected pages of all parts, which `mend` sees, and these rows after them."""
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".rejected-") as folder:
        more = Path(folder) / "more.parquet"
        store.write_rows(rows, more, REJECTED)
        gather([*parts, more], out, REJECTED, lambda n, t: mend(n, t) if n < len(parts) else t)


class _UnreadWords:
    """Counts, by wiki, of the parts of picture links that are no word of the wiki."""

    def __init__(self) -> None:
        self._words: dict[str, str | None] = {}
        self._pictures, self._unread = Counter[str](), Counter[str]()
        self._parts = Counter[tuple[str, str]]()

    def add(
        self, wikis: Mapping[str, str | None], pictures: Sequence[Mapping[str, object]]
    ) -> None:
        """Count a batch: its wikis with the wiki whose words they have, None for none of their own.

        `pictures` are rows of `schemas.PICTURES`.
        """
        self._words.update(wikis)
        for picture in pictures:
            if picture["origin"] in _LINK_ORIGINS:
                wiki, parts = str(picture["wiki"]), cast(tuple[str, ...], picture["unread"])
                self._pictures[wiki] += 1
                self._unread[wiki] += bool(parts)
                self._parts.update((wiki, part) for part in parts)

    def warnings(self) -> Iterator[str]:
        """Yield a line for each wiki without words of its own."""
        for wiki in sorted(wiki for wiki, words in self._words.items() if words is None):
            words = "English ones, and those of the nearest language, were read"
            counts = f"{self._pictures[wiki]:,} pictures, {self._unread[wiki]:,} with parts unread"
            yield f"no words of the wiki {wiki} are known: {words}; {counts}; {_REMEDY}"

    def lines(self) -> Iterator[str]:
        """Yield a line for each wiki with parts that are no words, and the most common of them."""
        for wiki in sorted(self._unread):
            if self._unread[wiki]:
                count = f"{self._unread[wiki]:,} of {self._pictures[wiki]:,} pictures of {wiki}"
                words = ", ".join(self._most_common(wiki))
                yield f"{count} have parts that no word explains: {words}"

    def _most_common(self, wiki: str) -> list[str]:
        counts = [(part, n) for (name, part), n in self._parts.items() if name == wiki]
        first = sorted(counts, key=lambda pair: (-pair[1], pair[0]))[:_MOST_COMMON]
        return [f"{part[:_LONGEST]!r} ({n:,})" for part, n in first]


def gather_dump(pieces: Mapping[str, Sequence[Path]], outputs: Mapping[str, Path]) -> None:
    """Write the tables and counts of all parts of `parse_dump`.

    A rejected page's row, its ordinal in its file, goes on from the part before. Pages that come
    again in another part, and files that are redirects, are settled as `parse_dump` says.

    Raises:
        CorruptFile: parts of two wikis.
    """
    parts = [json.loads(path.read_text("utf-8")) for path in pieces["counts"]]
    pages: list[Mapping[str, int]] = [counts.pop(PAGES, {}) for counts in parts]
    before = [Counter[str]()]
    for pages_of_part in pages:
        before.append(before[-1] + Counter(pages_of_part))
    leads = [settle.leads_in(path) for path in pieces["sections"]]
    files = settle.file_redirects(pieces["rejected"])
    settlement = settle.Settlement(settle.repeated(leads), files)

    def numbered(part: int, rows: pa.Table) -> pa.Table:
        row = [
            r + before[part][f]
            for r, f in zip(rows["row"].to_pylist(), rows["file"].to_pylist(), strict=True)
        ]
        at = rows.schema.get_field_index("row")
        return rows.set_column(
            at, rows.schema.field(at), [pa.array(row, rows.schema.field(at).type)]
        )

    def row(part: int, page: int) -> tuple[str, int]:
        nth = int(np.flatnonzero(leads[part][0] == page)[0])
        articles = settle.article_rows(pieces["rejected"][part], pages[part])
        file, ordinal = next(islice(articles, nth, None))
        return file, before[part][file] + ordinal

    for name in settle.CHANGED:
        gather(pieces[name], outputs[name], _TABLES[name], settlement.mend(name))
    _reject(pieces["rejected"], outputs["rejected"], settlement.rejected(row), numbered)
    names = {name for counts in parts for name in counts}
    counted = {name: sum(counts.get(name, 0) for counts in parts) for name in names}
    sums = _in_order({name: n + settlement.counts[name] for name, n in counted.items()})
    with store.aside(outputs["counts"]) as part:
        part.write_text(json.dumps(sums, indent=2) + "\n", "utf-8")
    log.info("dump: %s", sums)


def _in_order(counts: Mapping[str, int]) -> dict[str, int]:
    """Return the counts that every snapshot has, and then others by name."""
    return {name: counts[name] for name in (*_COUNTS, *sorted({*counts} - {*_COUNTS}))}


def count_inlinks(*, sections: Path, links: Path, rejected: Path, inlinks: Path) -> None:
    """Write schemas.INLINKS: the links to each article, those by its redirects included."""
    tables = {"sections": sections, "links": links, "rejected": rejected}
    sql.query(sql.SQL / "parse/inlinks.sql", tables, {}, out=inlinks, schema=INLINKS)


def associate_source(  # noqa: PLR0913
    *,
    manifest: Path,
    pictures: Path,
    sections: Path,
    wit: Sequence[Path],
    wit_rejected: Sequence[Path],
    splits: Mapping[str, float],
    outputs: Mapping[str, Path],
) -> None:
    """Write the associations of a source's own pictures: see `associate`.

    Its file tables are those of the acquired part `files`.
    """
    parsed = {"pictures": pictures, "sections": sections}
    of_wit = {"wit": wit, "wit_rejected": wit_rejected}
    associate(parsed, of_wit, placed_if_any(manifest, "files"), splits, outputs)


def associate(
    parsed: Mapping[str, Path],
    wit: Mapping[str, Sequence[Path]],
    files: Sequence[Path],
    ratios: Mapping[str, float],
    outputs: Mapping[str, Path],
) -> None:
    """Write schemas.ASSOCIATIONS and schemas.REJECTED of a snapshot's own pictures.

    `parsed` are `pictures` and `sections`; `wit` are the tables of WIT's own rows, `wit` and
    `wit_rejected`, or nothing: they come first, and their splits win. `files` are tables as
    `intake.wiki_files.read_files` reads them. `ratios` are the shares of test and validation among
    the pages that WIT lacks; the others are training pages. `outputs` are `associations` and
    `rejected`.

    Raises:
        MissingColumn, CorruptFile: as `intake.wiki_files.read_files`.
        MissingFile: a table that was not parsed.
    """
    parent = outputs["associations"].parent
    parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=parent, prefix=".associations-") as folder:
        relations: dict[str, sql.Files] = {**parsed, "wit": _wit_or_empty(wit["wit"], Path(folder))}
        relations["files"] = Path(folder) / "files.parquet"
        is_complete = read_files(files, Path(folder) / "files.parquet")
        params = {"is_complete": is_complete, **ratios}
        sql.run_chain(sorted(_STEPS.glob("*.sql")), relations, Path(folder), params=params)
        for name, table, schema in (
            ("associations", "wit", ASSOCIATIONS),
            ("rejected", "wit_rejected", REJECTED),
        ):
            made_here = Path(folder) / f"{name}.parquet"
            gather([*wit[table], made_here], outputs[name], schema)


def _wit_or_empty(tables: Sequence[Path], folder: Path) -> Sequence[Path]:
    if tables:
        return tables
    empty = folder / "wit.parquet"
    store.write_rows([], empty, ASSOCIATIONS)
    return [empty]
