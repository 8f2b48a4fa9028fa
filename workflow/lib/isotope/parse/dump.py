"""Snapshots of a wiki, of any kind, to the table of sections, in parallel, in their order."""

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import cast

import pyarrow as pa

from isotope.acquire.manifest import placed
from isotope.core import sql, store
from isotope.core.errors import MissingFile
from isotope.core.files import is_zim, labels, open_zim
from isotope.core.parallel import ordered_map
from isotope.core.progress import Progress, log
from isotope.core.store import WHOLE, Part, bounds, gather, grouped
from isotope.parse import enterprise, streams, zim
from isotope.parse.articles import REASONS, Parsed
from isotope.parse.enterprise import Records
from isotope.parse.pages import parse_batch
from isotope.parse.site import Site, read_site
from isotope.parse.streams import Chunk, Span
from isotope.parse.tables import INFOBOXES, INLINKS, LINKS, PICTURES, REJECTED, SECTIONS
from isotope.parse.zim import Entries

_COMMONEST = 5
_LONGEST = 40
_LINKED = ("link", "gallery")
_ADD = "docs/wiki_words.py makes a list of a wiki's own words from its siteinfo"


class WordsAccount:
    """Sums over all pieces of a snapshot."""

    def __init__(self) -> None:
        self._words: dict[str, str | None] = {}
        self._pictures, self._unread = Counter[str](), Counter[str]()
        self._parts = Counter[tuple[str, str]]()

    def enter(
        self, wikis: Mapping[str, str | None], pictures: Sequence[Mapping[str, object]]
    ) -> None:
        """Count a piece: its wikis with whose words they have, None for none of their own.

        `pictures` are rows of `tables.PICTURES`.
        """
        self._words.update(wikis)
        for picture in pictures:
            if picture["origin"] in _LINKED:
                wiki, parts = str(picture["wiki"]), cast(tuple[str, ...], picture["unread"])
                self._pictures[wiki] += 1
                self._unread[wiki] += bool(parts)
                self._parts.update((wiki, part) for part in parts)

    def warnings(self) -> Iterator[str]:
        """Yield a line for each wiki without words of its own."""
        for wiki in sorted(wiki for wiki, words in self._words.items() if words is None):
            read = "English ones, and those of the nearest language, were read"
            told = f"{self._pictures[wiki]:,} pictures, {self._unread[wiki]:,} with parts unread"
            yield f"no words of the wiki {wiki} are known: {read}; {told}; {_ADD}"

    def lines(self) -> Iterator[str]:
        """Yield a line for each wiki with parts that no word explains, the commonest named."""
        for wiki in sorted(self._unread):
            if self._unread[wiki]:
                of = f"{self._unread[wiki]:,} of {self._pictures[wiki]:,} pictures of {wiki}"
                yield f"{of} have parts that no word explains: {', '.join(self._commonest(wiki))}"

    def _commonest(self, wiki: str) -> list[str]:
        own = [(part, n) for (name, part), n in self._parts.items() if name == wiki]
        first = sorted(own, key=lambda counted: (-counted[1], counted[0]))[:_COMMONEST]
        return [f"{part[:_LONGEST]!r} ({n:,})" for part, n in first]


Task = tuple[Site, Span | Chunk] | Records | Entries
# What there is to do for the bytes from the first number to before the second one.
Cut = Callable[[int, int], Iterator[Task]]
_RECORDS = (".ndjson", ".ndjson.gz", ".tar.gz", ".tgz")


def prepared(path: Path) -> Cut:
    """Open a snapshot as far as is needed to refuse what is none; return how it is cut.

    A dump is cut by the bytes of its streams, a ZIM file by its entries; a file of Enterprise
    belongs as a whole to the slice that has its first byte.

    Raises:
        MissingFile: no such file, or not all pieces of a split one.
        CorruptFile, TruncatedFile: a file that is not what its name says.
    """
    if not path.is_file():
        raise MissingFile(path, "no such file", "check the path, or run `acquire` first")
    if is_zim(path):
        open_zim(path)
        return partial(zim.batches, path)
    if path.name.endswith(_RECORDS):
        return partial(_of_records, path)
    return partial(_of_xml, path, read_site(path, streams.unpacked(path)))


def parse_task(task: Task) -> tuple[pa.Table, pa.Table, Parsed]:
    """Return sections, links, and the rest of what a piece holds.

    Raises:
        CorruptFile, TruncatedFile: the piece can't be unpacked.
    """
    if isinstance(task, Records):
        return enterprise.parse_records(task)
    return zim.parse_entries(task) if isinstance(task, Entries) else parse_batch(task)


def _of_xml(path: Path, site: Site, start: int, stop: int) -> Iterator[Task]:
    for batch in streams.batches(path, start, stop):
        yield site, batch


def _of_records(path: Path, start: int, stop: int) -> Iterator[Task]:
    if start == 0 and stop > 0:
        yield from enterprise.batches(path)


PAGES = "pages_of_files"


def parse_dump(  # noqa: PLR0913
    files: Sequence[Path],
    *,
    out: Path,
    links: Path,
    rejected: Path,
    infoboxes: Path,
    pictures: Path,
    counts: Path,
    workers: int,
    part: Part = WHOLE,
) -> None:
    """Read `pages-articles` dumps, snapshots of Wikimedia Enterprise, ZIM files: see `dump_kinds`.

    `out` gets `tables.SECTIONS`, every section of every article, empty ones too, the lead as
    section 0 by the name of `dump_leads`; `links` gets `tables.LINKS`, each page's targets once
    (see `dump_links`); `rejected` the pages left out with their ordinal in the file, reason
    (`dump_parsed.REASONS`), title, and a redirect's target; `infoboxes` gets `tables.INFOBOXES`,
    the first picture of each article's infobox; `pictures` gets `tables.PICTURES`, every file that
    an article shows, of any kind, with its section and the parts of its link that no word of the
    wiki explains, which the log counts by wiki; `counts` a JSON object with pages, articles,
    sections, one number a reason, and of a part PAGES, the pages of each file. Of all bytes
    only part (i, n) of n slices is read; `dump_gather` makes one of them. The bytes do not depend
    on `workers`.

    Raises:
        MissingFile: no files given, or one that is not there.
        CorruptFile, TruncatedFile: damaged data, with the byte if it is told; nothing is written.
    """
    if not files:
        raise MissingFile("dump", "no files", "name at least one pages-articles file in the params")
    paths = [Path(path) for path in files]
    cuts = [prepared(path) for path in paths]
    account = _Account(labels(paths))
    with (
        grouped(out, SECTIONS) as good,
        grouped(links, LINKS) as linked,
        grouped(rejected, REJECTED) as bad,
        grouped(infoboxes, INFOBOXES) as boxes,
        grouped(pictures, PICTURES) as pictured,
    ):
        for sections, found, parsed in ordered_map(parse_task, _tasks(paths, cuts, part), workers):
            bad.add(account.enter(parsed, len(sections)))
            linked.add(found)
            good.add(sections)
            boxes.add(pa.Table.from_pylist(parsed.infoboxes, schema=INFOBOXES))
            pictured.add(pa.Table.from_pylist(parsed.pictures, schema=PICTURES))
    with store.aside(counts) as aside:
        own = account.counts() if part == WHOLE else {**account.counts(), PAGES: account.pages()}
        aside.write_text(json.dumps(own, indent=2) + "\n", "utf-8")
    account.progress.finish()
    log.info("dump: %s", account.counts())
    for line in account.words.lines():
        log.info(line)
    for line in account.words.warnings():
        log.warning(line)


def _tasks(paths: list[Path], cuts: list[Cut], part: Part) -> Iterator[Task]:
    sizes = [path.stat().st_size for path in paths]
    start, stop = bounds(sum(sizes), part)
    for cut, size in zip(cuts, sizes, strict=True):
        if start < size and stop > 0:
            yield from cut(max(start, 0), min(stop, size))
        start, stop = start - size, stop - size


class _Account:
    """Sums over all pieces, and the ordinals of pages within their files."""

    def __init__(self, named: Mapping[Path, str]) -> None:
        self.progress, self.words = Progress("dump pages"), WordsAccount()
        self._named = named
        self._sums = Counter[str]()
        self._pages_before = Counter[Path]()

    def enter(self, parsed: Parsed, sections: int) -> pa.Table:
        """Count a piece, and return its rejected pages with file and ordinal in the file."""
        before = self._pages_before[parsed.path]
        self._pages_before[parsed.path] += parsed.pages
        self._sums.update(pages=parsed.pages, articles=parsed.articles, sections=sections)
        self._sums.update(str(row["reason"]) for row in parsed.rejected)
        self.progress.add(parsed.pages)
        self.words.enter(parsed.wikis, parsed.pictures)
        rows = [
            {**row, "file": self._named[parsed.path], "row": before + int(str(row["row"]))}
            for row in parsed.rejected
        ]
        return pa.Table.from_pylist(rows, schema=REJECTED)

    def counts(self) -> dict[str, int]:
        """Return pages, articles, sections and one number a reason, zeros included."""
        return {name: self._sums[name] for name in ("pages", "articles", "sections", *REASONS)}

    def pages(self) -> dict[str, int]:
        """Return the pages of each file."""
        return {self._named[path]: n for path, n in self._pages_before.items()}


_TABLES = {
    "sections": SECTIONS,
    "links": LINKS,
    "rejected": REJECTED,
    "infoboxes": INFOBOXES,
    "pictures": PICTURES,
}


def gather_dump(pieces: Mapping[str, Sequence[Path]], outputs: Mapping[str, Path]) -> None:
    """Write the tables and counts of all shards of `dump.parse_dump`.

    A rejected page's row, its ordinal in its file, goes on from the shard before.
    """
    told = [json.loads(path.read_text("utf-8")) for path in pieces["counts"]]
    before = [Counter[str]()]
    for counts in told:
        before.append(before[-1] + Counter(counts.pop(PAGES, {})))

    def numbered(part: int, rows: pa.Table) -> pa.Table:
        row = [
            r + before[part][f]
            for r, f in zip(rows["row"].to_pylist(), rows["file"].to_pylist(), strict=True)
        ]
        at = rows.schema.get_field_index("row")
        return rows.set_column(
            at, rows.schema.field(at), [pa.array(row, rows.schema.field(at).type)]
        )

    for name, schema in _TABLES.items():
        mended = {"mend": numbered} if name == "rejected" else {}
        gather(pieces[name], outputs[name], schema, **mended)
    sums = {name: sum(counts[name] for counts in told) for name in told[0]}
    with store.aside(outputs["counts"]) as part:
        part.write_text(json.dumps(sums, indent=2) + "\n", "utf-8")
    log.info("dump: %s", sums)


def parse_source(  # noqa: PLR0913
    *,
    manifest: Path,
    sections: Path,
    links: Path,
    rejected: Path,
    infoboxes: Path,
    pictures: Path,
    counts: Path,
    part: Part,
    threads: int,
) -> None:
    """Parse part (i, n) of the acquired part `dump`: see `parse_dump`."""
    parse_dump(
        placed(manifest, "dump"),
        out=sections,
        links=links,
        rejected=rejected,
        infoboxes=infoboxes,
        pictures=pictures,
        counts=counts,
        workers=threads,
        part=part,
    )


def count_inlinks(*, sections: Path, links: Path, rejected: Path, inlinks: Path) -> None:
    """Write tables.INLINKS: the links to each article, those by its redirects included."""
    tables = {"sections": sections, "links": links, "rejected": rejected}
    sql.query(sql.SQL / "parse/inlinks.sql", tables, {}, out=inlinks, schema=INLINKS)
