"""The embedded snapshot: a small invented encyclopedia in the exact formats of the real ones.

Every page is made from (seed, number) alone and written at once, so a million rows need no more
memory than a hundred, and the same arguments give the same bytes.
"""

import csv
from collections.abc import Generator, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import store
from isotope.core.errors import BadParams
from isotope.core.progress import Progress
from isotope.explain.tables import OBJECTS
from isotope.toy import dump as toy_dump
from isotope.toy import edition as toy_edition
from isotope.toy import facts, scenes, wiki, wordnet
from isotope.toy import scenes as toy_draw
from isotope.toy import wit as toy_wit
from isotope.toy.edition import Entry
from isotope.toy.pages import Picture

FAULTS = ("not_found", "gone", "rate_limited", "truncated", "html", "redirect")
_ABSENT = ("not_found", "gone")
_PAGES_PER_FAULT = 22
_EACH_TWICE = 2 * len(FAULTS)
_PAGES_PER_STREAM = 25
_OBJECTS_PER_GROUP = 20_000


def generate(  # noqa: PLR0913
    out: Path,
    *,
    pages: int = 400,
    seed: int = 0,
    date: str = "20230101",
    edition: int = 1,
    shards: Mapping[str, int] | None = None,
    draw: bool = True,
) -> None:
    """Write `wit/`, `dump/`, `images/`, `wordnet/`, objects.parquet and three `.csv` under `out`.

    `pages` articles have about 3.75 sections and 1.55 pictures each; `shards` counts WIT files a
    split; `date` (YYYYMMDD) is the dump's. Without `draw` no picture is written.
    A second `edition`, a month later, has `revisions.csv` too: page_id and what became of the page.
    `objects.parquet` holds tables.OBJECTS; `faults.csv` has path (under images/) and fault.
    `topics.csv` and `views.csv` are those of `toy_facts`, `wordnet/` is that of `toy_wordnet`.

    Raises:
        BadParams: a split that WIT lacks, a split without a shard, a date that is none.
    """
    counts = _counts(shards or {})
    progress = Progress("toy pages", pages)
    broken = pages // 40 * 20
    with ExitStack() as stack:
        wit = stack.enter_context(toy_wit.shards(out / "wit", counts, broken))
        dump = stack.enter_context(
            toy_dump.multistream(out / "dump", date, _PAGES_PER_STREAM, edition)
        )
        truth = stack.enter_context(_objects(out / "objects.parquet"))
        faults = stack.enter_context(_faults(out / "faults.csv", pages))
        for entry in toy_edition.entries(seed, pages, edition):
            for page in filter(None, [entry.now]):
                wit.add(page, seed)
                for wiki_page in wiki.wiki_pages(page, seed):
                    dump.add(wiki_page)
            truth.add(entry.made)
            absent = faults.add(entry)
            if draw:
                _draw(out / "images", [p for p in entry.made if p.path != absent])
            progress.add()
    if edition > 1:
        facts.write_revisions(out, toy_edition.entries(seed, pages, edition))
    facts.write(out, pages, seed)
    wordnet.write(out / "wordnet")
    progress.finish()


def _counts(shards: Mapping[str, int]) -> dict[str, int]:
    wrong = {k: n for k, n in shards.items() if k not in toy_wit.SHARDS or n < 1}
    if wrong:
        remedy = f"give {', '.join(toy_wit.SHARDS)} at least one shard each, and no other split"
        raise BadParams("the toy's shards", f"{wrong}", remedy)
    return {**toy_wit.SHARDS, **shards}


def _draw(folder: Path, pictures: list[Picture]) -> None:
    for picture in pictures:
        with store.aside(folder / picture.path.lstrip("/")) as part:
            part.write_bytes(toy_draw.encode(picture.scene, picture.mime_type))


class _Objects:
    """Buffers rows of the objects table and writes them a row group at a time."""

    def __init__(self, out: pq.ParquetWriter) -> None:
        self._out = out
        self._rows: list[dict[str, object]] = []

    def add(self, pictures: list[Picture]) -> None:
        for picture in pictures:
            self._rows.extend(_object_rows(picture))
        if len(self._rows) >= _OBJECTS_PER_GROUP:
            self.flush()

    def flush(self) -> None:
        self._out.write_table(pa.Table.from_pylist(self._rows, schema=OBJECTS))
        self._rows.clear()


def _object_rows(picture: Picture) -> Iterator[dict[str, object]]:
    for group, box in scenes.objects(picture.scene):
        kind = {
            "synset": scenes.SYNSETS[group.shape],
            "colour": group.colour,
            "size": group.size,
        }
        corners = zip(("x_min", "y_min", "x_max", "y_max"), box, strict=True)
        yield {"image_url": picture.url, **kind, **dict(corners)}


@contextmanager
def _objects(path: Path) -> Generator[_Objects, None, None]:
    with store.writer(path, OBJECTS) as out:
        objects = _Objects(out)
        yield objects
        objects.flush()


class _Faults:
    """Names a fault for one picture in about thirty, each kind in turn and, if it can, twice."""

    def __init__(self, file: TextIO, pages: int) -> None:
        self._csv = csv.writer(file, lineterminator="\n")
        self._csv.writerow(("path", "fault"))
        self._step = max(1, min(_PAGES_PER_FAULT, pages // _EACH_TWICE))

    def add(self, entry: Entry) -> str:
        """Record the fault of the page's first picture, if due; return it if it has no file."""
        page = entry.before or entry.now
        turn, place = divmod(page.number if page else 0, self._step)
        if page is None or place != self._step // 2:
            return ""
        fault, path = FAULTS[turn % len(FAULTS)], page.made[0].path
        self._csv.writerow((path, fault))
        return path if fault in _ABSENT else ""


@contextmanager
def _faults(path: Path, pages: int) -> Generator[_Faults, None, None]:
    with store.aside(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield _Faults(file, pages)
