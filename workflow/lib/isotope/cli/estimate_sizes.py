"""How large a source will be, judged by its params before anything is fetched."""

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from isotope.params.resolve import expand_files

FILE = Path(__file__).with_name("estimate_curves.csv")
COLUMNS = ("phase", "unit", "start_s", "unit_s", "power", "cores", "upto", "largest", "machine")


class Curve(NamedTuple):
    """Seconds = start_s + unit_s * units ** power, where `cores` worked (0: cores don't matter).

    `upto` so many units were measured.
    """

    start_s: float
    unit_s: float
    power: float
    cores: int
    upto: float = math.inf

    def seconds(self, units: float, cores: int = 1) -> float:
        """Return the seconds for so many units on so many cores.

        ASSUME cores share the work above the start, where they matter at all; the points of one
        machine do not say.
        """
        return self.start_s + self.work(units, cores)

    def work(self, units: float, cores: int = 1) -> float:
        """Return the seconds above the start.

        ASSUME beyond what was measured a unit costs what it cost there, or more as it did: warm
        caches and code, which make a power below 1, are warm by then; no measurement says.
        """
        share = self.cores / cores if self.cores else 1.0
        within = self.unit_s * min(units, self.upto) ** self.power * share
        return within * max(units / self.upto, 1.0) ** max(self.power, 1.0)


@cache
def curves() -> Mapping[str, Curve]:
    """Return the curve of each phase measured.

    Units: rows of WIT (parse_wit), bytes of XML (parse_dump), pairs (project), texts and images
    (collect), hits (search), hits times measures (score), texts (tabulate).
    """
    with FILE.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    names = ("start_s", "unit_s", "power", "cores", "upto")
    numbers = {row["phase"]: [float(row[name]) for name in names] for row in rows}
    return {
        phase: Curve(start, unit, power, int(cores), upto)
        for phase, (start, unit, power, cores, upto) in numbers.items()
    }


GIB = 2**30
# ASSUME the embedded encyclopedia keeps the proportions of its 400 pages: 3.9 sections, 1.55
# images, 1.65 associations, 1.5 judgements, 2.2 kB of XML and 10 kB of upstream files a page; of
# other sizes no measurement says.
_TOY = {"texts": 3.9, "images": 1.55, "associations": 1.65, "pairs": 1.5, "bytes": 10_000}
_TOY_XML, _TOY_ZIPPED = 2_200, 400
# ASSUME bz2 makes a dump 4.5 times smaller (enwiki: 90 GB in 20 GB); no paper says.
_ZIPPED = 4.5
# AToMiC's judged pairs, all of English and of sections (Table 1), among WIT's 37.6 M rows (section
# 4.1), and its texts (Table 1) by pair. ASSUME other snapshots and other large languages are alike;
# no paper says.
_PAIRS = 4_401_903 + 17_801 + 9_873
_ONE_LANGUAGE = _PAIRS / 37_600_000
_TEXTS_A_PAIR = (3_002_458 + 17_173 + 9_873 + 7_105_240) / _PAIRS
# ASSUME 680 bytes a row (25 GB of tsv.gz) and 0.31 addresses of images a row, of which AToMiC found
# 0.29 alive (11.0 M, Table 1); the paper does not say how many it asked for.
_ROW_BYTES, _IMAGES_A_ROW = 680, 0.31
# ASSUME WIT's files have 2.5 GB (training) or 0.1 GB (others), a dump 20 GB, where the params do
# not say.
_UNTOLD = (("train.all", 2_500_000_000), ("wit_v1", 100_000_000), ("xml", 20_000_000_000))
# ASSUME a crawled picture is 16 kB of WebP (on its hub AToMiC has 180 GB for 11 M) and 300 kB on
# its way here, or 4 kB and 4 kB when it is drawn here; the paper does not say.
_WEB_PICTURE, _DRAWN_PICTURE = (16_000, 300_000), (4_000, 4_000)
# ASSUME a thumbnail is two thirds as high as it is wide and takes a quarter of a byte a pixel on
# its way here (42 kB at 500 pixels), and never more than the original; no paper says.
_THUMBNAIL_HEIGHT, _THUMBNAIL_PIXEL = 2 / 3, 0.25


@dataclass(frozen=True)
class Size:
    """Rows and bytes of a source and of the collection made of it."""

    texts: int
    images: int
    associations: int
    pairs: int
    upstream: int
    dump: int
    xml: int
    files: int
    picture: int
    fetched_picture: int


def size(spec: Mapping[str, Any], pictures: str | None = None) -> Size:
    """Estimate a source from its entry of `acquire`; local and published sizes are exact.

    `pictures` is the part whose files are pictures, of a data set that brought some along.

    Raises:
        MissingFile: a local pattern that matches nothing.
    """
    if "generate" in spec:
        pages = spec["generate"]["pages"]
        n = {name: round(each * pages) for name, each in _TOY.items()}
        rows = (n["texts"], n["images"], n["associations"], n["pairs"])
        dump = (_TOY_ZIPPED * pages, _TOY_XML * pages)
        return Size(*rows, n["bytes"], *dump, 0, *_DRAWN_PICTURE)
    listed = expand_files(spec["files"])
    sizes = {folder: sum(map(_bytes, files)) for folder, files in listed.items()}
    files = sum("://" in f["url"] for entries in listed.values() for f in entries)
    if "wit" not in listed:
        return _published(sizes, len(listed.get(pictures or "", [])), pictures, files)
    rows = sizes["wit"] // _ROW_BYTES
    spoken = round(rows * _ONE_LANGUAGE) if rows > 1_000_000 else rows  # noqa: PLR2004
    images = round(rows * _IMAGES_A_ROW) if rows > 1_000_000 else rows  # noqa: PLR2004
    texts = round(spoken * _TEXTS_A_PAIR)
    zipped = sizes.get("dump", 0)
    dump = (zipped, round(zipped * _ZIPPED))
    counts = (texts, images, rows, spoken, sum(sizes.values()), *dump, files)
    return Size(*counts, *_WEB_PICTURE)


def thumbnails(of: Size, width: int) -> Size:
    """Return the size of a source whose pictures are fetched as thumbnails, `width` in pixels."""
    each = round(width * width * _THUMBNAIL_HEIGHT * _THUMBNAIL_PIXEL)
    return replace(of, fetched_picture=min(of.fetched_picture, each))


def _published(sizes: Mapping[str, int], files: int, pictures: str | None, urls: int) -> Size:
    """Return the size of a data set that is no snapshot; a picture file is one picture, or many."""
    stored = sizes.get(pictures or "", 0)
    images = max(files, stored // _WEB_PICTURE[1])
    upstream = sum(sizes.values())
    texts = (upstream - stored) // _ROW_BYTES
    picture = stored // images if images else 0
    return Size(texts, images, texts, texts, upstream, 0, 0, urls, picture, 0)


def _bytes(file: Mapping[str, Any]) -> int:
    path = Path(file["url"])
    if "bytes" in file:
        return int(file["bytes"])
    if path.is_file():
        return path.stat().st_size
    return next((n for part, n in _UNTOLD if part in file["url"]), 0)
