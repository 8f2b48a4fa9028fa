"""Snapshots of a wiki, of any kind, to the table of sections, in parallel, in their order."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pyarrow as pa

from isotope import tables
from isotope.core import store
from isotope.core.errors import MissingFile
from isotope.core.file_labels import labels
from isotope.core.parallel import ordered_map
from isotope.core.progress import Progress, log
from isotope.core.row_groups import grouped
from isotope.core.shards import WHOLE, Part, bounds
from isotope.parse.articles import REASONS, Parsed
from isotope.parse.kinds import Cut, Task, parse_task, prepared
from isotope.parse.picture_words import WordsAccount

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
        grouped(out, tables.SECTIONS) as good,
        grouped(links, tables.LINKS) as linked,
        grouped(rejected, tables.REJECTED) as bad,
        grouped(infoboxes, tables.INFOBOXES) as boxes,
        grouped(pictures, tables.PICTURES) as pictured,
    ):
        for sections, found, parsed in ordered_map(parse_task, _tasks(paths, cuts, part), workers):
            bad.add(account.enter(parsed, len(sections)))
            linked.add(found)
            good.add(sections)
            boxes.add(pa.Table.from_pylist(parsed.infoboxes, schema=tables.INFOBOXES))
            pictured.add(pa.Table.from_pylist(parsed.pictures, schema=tables.PICTURES))
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
        return pa.Table.from_pylist(rows, schema=tables.REJECTED)

    def counts(self) -> dict[str, int]:
        """Return pages, articles, sections and one number a reason, zeros included."""
        return {name: self._sums[name] for name in ("pages", "articles", "sections", *REASONS)}

    def pages(self) -> dict[str, int]:
        """Return the pages of each file."""
        return {self._named[path]: n for path, n in self._pages_before.items()}
