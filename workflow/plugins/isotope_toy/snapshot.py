"""The embedded snapshot: a small invented encyclopedia in the exact formats of the real ones.

Every page is made from (seed, number) alone and written at once, so a million rows need no more
memory than a hundred, and the same arguments give the same bytes.
"""

import csv
import random
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from isotope.core import store
from isotope.core.errors import BadParams
from isotope.core.progress import Progress
from isotope.schemas.acquire import OBJECTS
from isotope_toy import scenes, words
from isotope_toy.dump import multistream, page_id, wiki_pages
from isotope_toy.edition import Entry, entries
from isotope_toy.pages import Picture
from isotope_toy.templates import template_pages
from isotope_toy.wit import SHARDS
from isotope_toy.wit import shards as wit_shards

FAULTS = ("not_found", "gone", "rate_limited", "truncated", "html", "redirect")
_ABSENT = ("not_found", "gone")
_PAGES_PER_FAULT = 22
_EACH_TWICE = 2 * len(FAULTS)
_PAGES_PER_STREAM = 25
_OBJECTS_PER_GROUP = 20_000
# Topics of the bulk predictions, and the kinds of places that surely have them.
_TOPICS = {
    "Culture.Performing_arts": "Theatre",
    "Culture.Philosophy_and_religion": "Abbey Chapel",
    "Culture.Visual_arts.Architecture": "Hall Lodge Tower",
    "Geography.Geographical": "",
    "History_and_Society.Business_and_economics": "Arcade Bakery Dairy Inn Market Mill",
    "History_and_Society.Education": "Library School",
    "History_and_Society.Politics_and_government": "Court",
    "History_and_Society.Transportation": "Bridge Ferry Harbour Station",
    "STEM.Biology": "Garden",
}
_GEOGRAPHY = 0.3
_UNLIKELY, _LIKELY = (0.0, 0.45), (0.55, 1.0)
_MOST_VIEWS_LOG10 = 5


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

    `pages` articles have about 4 sections and 1.55 pictures each; `shards` counts WIT files a
    split; `date` (YYYYMMDD) is the dump's. Without `draw` no picture is written.
    A second `edition`, a month later, has `revisions.csv` too: page_id and what became of the page.
    `objects.parquet` holds schemas.OBJECTS; `faults.csv` has path (under images/) and fault.
    `topics.csv` and `views.csv` are of `write_topics` and `write_views`, `wordnet/` of
    `words.write_wordnet`.

    Raises:
        BadParams: a split that WIT lacks, a split without a shard, a date that is not one.
    """
    counts = _counts(shards or {})
    progress = Progress("toy pages", pages)
    broken = pages // 40 * 20
    with ExitStack() as stack:
        wit = stack.enter_context(wit_shards(out / "wit", counts, broken))
        dump = stack.enter_context(multistream(out / "dump", date, _PAGES_PER_STREAM, edition))
        truth = stack.enter_context(_objects(out / "objects.parquet"))
        faults = stack.enter_context(_faults(out / "faults.csv", pages))
        for template in template_pages():
            dump.add(template)
        for entry in entries(seed, pages, edition):
            for page in filter(None, [entry.now]):
                wit.add(page, seed)
                for wiki_page in wiki_pages(page, seed):
                    dump.add(wiki_page)
            truth.add(entry.pictures)
            absent = faults.add(entry)
            if draw:
                _draw(out / "images", [p for p in entry.pictures if p.path != absent])
            progress.add()
    if edition > 1:
        write_revisions(out, entries(seed, pages, edition))
    write_topics(out, pages, seed)
    write_views(out, pages, seed)
    words.write_wordnet(out / "wordnet")
    progress.finish()


def _counts(shards: Mapping[str, int]) -> dict[str, int]:
    wrong = {k: n for k, n in shards.items() if k not in SHARDS or n < 1}
    if wrong:
        remedy = f"give {', '.join(SHARDS)} at least one shard each, and no other split"
        raise BadParams("the toy's shards", f"{wrong}", remedy)
    return {**SHARDS, **shards}


def _draw(folder: Path, pictures: list[Picture]) -> None:
    for picture in pictures:
        with store.aside(folder / picture.path.lstrip("/")) as part:
            part.write_bytes(scenes.encode(picture.scene, picture.mime_type))


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
    """Gives one picture in about thirty a fault: each kind in turn, twice if there are enough."""

    def __init__(self, file: TextIO, pages: int) -> None:
        self._csv = csv.writer(file, lineterminator="\n")
        self._csv.writerow(("path", "fault"))
        self._step = max(1, min(_PAGES_PER_FAULT, pages // _EACH_TWICE))

    def add(self, entry: Entry) -> str:
        """Record a fault of the page's first picture, if due; return its path if it has no file."""
        page = entry.before or entry.now
        turn, position = divmod(page.number if page else 0, self._step)
        if page is None or position != self._step // 2:
            return ""
        fault, path = FAULTS[turn % len(FAULTS)], page.own_pictures[0].path
        self._csv.writerow((path, fault))
        return path if fault in _ABSENT else ""


@contextmanager
def _faults(path: Path, pages: int) -> Generator[_Faults, None, None]:
    with store.aside(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        yield _Faults(file, pages)


def write_topics(out: Path, pages: int, seed: int) -> None:
    """Write `topics.csv` under `out`, a row an article.

    Its columns are those of Wikimedia's bulk article-topic predictions: wiki_db, qid, pid,
    num_outlinks, then a probability for each topic.
    """
    head = ("wiki_db", "qid", "pid", "num_outlinks", *_TOPICS)
    _csv(out / "topics.csv", head, _topics(pages, seed))


def write_views(out: Path, pages: int, seed: int) -> None:
    """Write `views.csv` under `out`: page_id and views, a row an article."""
    _csv(out / "views.csv", ("page_id", "views"), _views(pages, seed))


def write_revisions(out: Path, changes: Iterable[Entry]) -> None:
    """Write `revisions.csv` under `out`: page_id and what became of the page, where it changed."""
    pages = ((entry.before or entry.now, entry.revision) for entry in changes if entry.revision)
    rows = ((page_id(page.number), revision) for page, revision in pages if page)
    _csv(out / "revisions.csv", ("page_id", "revision"), rows)


def _topics(pages: int, seed: int) -> Iterator[list[object]]:
    for number in range(pages):
        rng = random.Random(f"{seed}/{number}/topics")
        title = words.title(number).split()
        links = rng.randint(1, 9)
        yield ["enwiki", f"Q{number + 1}", page_id(number), links, *_odds(rng, title)]


def _odds(rng: random.Random, title: Sequence[str]) -> Iterator[str]:
    for kinds in _TOPICS.values():
        fits = any(word in kinds.split() for word in title)
        likely = fits or (not kinds and rng.random() < _GEOGRAPHY)
        yield f"{rng.uniform(*(_LIKELY if likely else _UNLIKELY)):.3f}"


def _views(pages: int, seed: int) -> Iterator[list[object]]:
    for number in range(pages):
        rng = random.Random(f"{seed}/{number}/views")
        yield [page_id(number), int(10 ** rng.uniform(0, _MOST_VIEWS_LOG10))]


def _csv(path: Path, head: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    with store.aside(path) as part, part.open("w", encoding="utf-8", newline="") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(head)
        lines.writerows(rows)
