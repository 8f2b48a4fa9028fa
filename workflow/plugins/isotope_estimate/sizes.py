"""How much a source has of each unit, judged by its params before anything is fetched.

A page of the embedded encyclopedia, a row of WIT and a byte of a dump bring so many texts and
pictures, as `estimate.csv` says: the one table of what is measured, published and assumed. Files on
this disk are counted, and the heads of WIT's shards and of dumps tell what theirs bring.
"""

import bz2
import csv
import gzip
import math
import re
import zlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from functools import cache
from pathlib import Path
from typing import NamedTuple

from isotope.core.grid import JUDGED
from isotope.core.languages import is_spoken
from isotope.core.patterns import Stated, expand, is_pattern
from isotope.intake.tables import parquet_file
from isotope.params.acquire import Source
from isotope.params.crawl import Crawl
from isotope.params.links import sources
from isotope.params.pairs import DATA
from isotope.params.root import Params

# How much there is of each unit.
Bag = dict[str, float]
GIB, TABLE = 2**30, Path(__file__).with_name("estimate.csv")
# So much of a file is read, unpacked.
_BYTES = 1 << 24
_BY_LINE = (".csv", ".tsv", ".jsonl", ".ndjson", ".txt", ".token")
_SECTION = re.compile(r"^(?:<text[^>]*>)?==+[^=\n].*?==+\s*$|<ns>0</ns>", re.MULTILINE)


class Row(NamedTuple):
    """A figure; or core seconds of a unit, a share `serial`, and bytes kept and MB held."""

    unit: str
    value: float
    serial: float
    start_s: float
    disk: float
    unit_mb: float
    start_mb: float
    basis: str


@cache
def table() -> Mapping[str, list[Row]]:
    """Return the rows of `estimate.csv` by each of their names."""
    rows_by_name: dict[str, list[Row]] = {}
    with TABLE.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            numbers = [float(row[name] or 0) for name in Row._fields[1:-1]]
            for name in row["what"].split():
                measured = Row._make((row["unit"], *numbers, row["basis"]))
                rows_by_name.setdefault(name, []).append(measured)
    return rows_by_name


def figure(name: str, subject: str = "") -> float:
    """Return the value of a figure, of the first `name.PART` whose part `subject` contains."""
    start = f"{name}."
    parts = (n for n in table() if n.startswith(start) and n.removeprefix(start) in subject)
    return table()[next(parts, name)][0].value


def brought(by: str) -> Bag:
    """Return what one of a kind brings, by unit."""
    return {row.unit: row.value for row in table()[by]}


def together(*bags: Bag, count: float = 1) -> Bag:
    """Return what several sources have, or so many of a kind bring; nothing of any other unit."""
    totals = defaultdict[str, float](float)
    for unit, amount in (item for bag in bags for item in bag.items()):
        totals[unit] += amount * count
    return totals


def of_splits(bag: Bag, side: str, splits: Sequence[str]) -> float:
    """Return the items of a side in some splits, `other` among them, as AToMiC has them."""
    total, fewest = bag[side.removesuffix("s")], figure("split.fewest")
    held = {s: min(total, max(figure(f"split.{s}") * total, fewest)) for s in JUDGED}
    held["other"] = max(0, total - sum(held.values()))
    return sum(held.get(split, 0) for split in splits)


def sizes(params: Params) -> dict[str, Bag]:
    """Return the size of each source of the collections that are built, texts in their language.

    Raises:
        MissingFile: a local pattern that matches nothing.
    """
    return {
        source: size_of(
            params.acquire[source], params.crawl.get(source), params.collect[name].language
        )
        for name in params.build
        for source in sources(params, name)
    }


def size_of(source: Source, crawl: Crawl | None, language: str) -> Bag:
    """Return the size of a source, as `sizes` does."""
    if source.generate:
        counts = together(brought("toy"), count=source.generate.pages)
        return counts | {"section": counts["text"], "request": counts["image"]}
    listed = files_of(source)
    all_files = [file for files in listed.values() for file in files]
    served = [file for file in all_files if "://" in file.url]
    bag = _snapshot(listed, crawl, language) if "wit" in listed else _published(listed, crawl)
    bag |= {"file": len(served), "byte of a server": bytes_of(served), "byte": bytes_of(all_files)}
    return bag | {"byte of Wikidata": bytes_of(listed.get("wikidata", ()))}


def files_of(source: Source) -> dict[str, list[Stated]]:
    """Return the files of each part of a source, those of local patterns one by one.

    Raises:
        MissingFile: a local pattern that matches nothing.
    """
    stated = source.stated().items()
    return {
        part: [expanded.stated for file in urls for expanded in expand(file)]
        for part, urls in stated
    }


def bytes_of(files: Sequence[Stated]) -> float:
    """Return the bytes of files: as the params say, on this disk, or as published."""
    total = 0.0
    for url, stated in ((file.url, file.bytes) for file in files):
        usual = figure("hub" if is_pattern(url) else "file", url)
        size = Path(url).stat().st_size if Path(url).is_file() else usual
        total += size if stated is None else stated
    return total


def _snapshot(listed: Mapping[str, Sequence[Stated]], crawl: Crawl | None, language: str) -> Bag:
    """Return what WIT's shards and a dump bring, by the heads of those that are here."""
    shards, dumps = listed["wit"], listed.get("dump", ())
    packed, text = _head([Path(shard.url) for shard in shards])
    wit, rows = brought("wit"), text.splitlines()[1:]
    # WIT's first column is the language.
    if matching := sum(is_spoken(row.partition("\t")[0], language) for row in rows):
        wit |= {"byte": packed / len(rows), "pair": matching / len(rows)}
    packed, text = _head([Path(part.url) for part in dumps])
    dump, sections = brought("dump"), len(_SECTION.findall(text)) - text.count("<redirect")
    if sections > 0:
        dump |= {"byte of XML": len(text.encode()) / packed, "section": sections / packed}
    counts = together(wit, count=bytes_of(shards) / wit["byte"])
    counts |= together(dump, count=bytes_of(dumps)) if dumps else {"section": counts["pair"]}
    counts["text"] = min(counts["pair"] * figure("wit.texts_a_pair"), counts["section"])
    width, side = (crawl.width, crawl.side_px) if crawl else (None, None)
    original, by_side = figure("picture.fetched"), figure("picture.by_side")
    fetched = min(original, (width or math.inf) ** 2 * figure("picture.thumbnail"))
    webp = fetched * figure("picture.webp", "thumbnail" if fetched < original else "")
    stored = min(webp, figure("picture.stored") * ((side or math.inf) / 256) ** by_side)
    pictures = {"request": 1, "byte fetched": fetched, "byte stored": stored}
    return counts | together(pictures, count=counts["image"])


def _published(listed: Mapping[str, Sequence[Stated]], crawl: Crawl | None) -> Bag:
    """Return what a data set has that is no snapshot, by files of pictures and rows of tables."""
    part = crawl.pictures.part if crawl and crawl.pictures else ""
    files, data = listed.get(part, ()), [Path(f.url) for f in listed.get(DATA, ())]
    stored = bytes_of(files)
    images = max(len(files), stored // figure("picture.fetched"))
    other_files = [file for name, files in listed.items() if name != part for file in files]
    texts, rows = bytes_of(other_files) / brought("wit")["byte"], sum(map(rows_of, data))
    if data and (rows or not any(path.suffix in _BY_LINE for path in data)):
        texts = max(rows, images) or texts
        images = texts if part == DATA or not images else images
    counts: Bag = {"text": texts, "pair": texts, "section": texts, "image": images}
    return together(counts, {"byte stored": stored})


def rows_of(path: Path) -> int:
    """Return about how many rows a table has, as Parquet says or a line a row; 0 of no table here.

    Raises:
        CorruptFile: as `intake.tables.parquet_file`.
    """
    if path.suffix == ".parquet" and path.is_file():
        with parquet_file(path) as file:
            return file.metadata.num_rows
    packed, text = _head([path]) if path.suffix in _BY_LINE else (0, "")
    return round(text.count("\n") * path.stat().st_size / packed) if packed else 0


def _head(paths: Sequence[Path]) -> tuple[int, str]:
    """Return packed bytes and whole lines of the largest file's head; none of a damaged one."""
    if paths and all(path.is_file() for path in paths):
        path = max(paths, key=lambda path: path.stat().st_size)
        unpack = {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, nullcontext)
        errors = suppress(OSError, EOFError, zlib.error)
        with errors, path.open("rb") as raw, unpack(raw) as file:
            head = file.read(_BYTES)
            lines = head if len(head) < _BYTES else head[: head.rfind(b"\n") + 1]
            return raw.tell(), lines.decode("utf-8", "replace")
    return 0, ""
