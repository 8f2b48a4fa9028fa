"""The two roads of a crawl with bulk sources: files that are read whole, and polite requests."""

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow.parquet as pq

from isotope.cli.estimate_sizes import GIB, Size
from isotope.core.patterns import is_pattern
from isotope.params.resolve import expand_files
from isotope.params.sections import Params
from isotope.tabulate.table import plain

# Seconds of a decoder for a picture of 300 x 225 pixels that is read, matched and written:
# benchmarks/bulk.py with 4,000 of them, 32 s.
PICTURE_S = 0.008
# What is on the hub: files, bytes and pictures, by the pages of the data sets and AToMiC's Table 1.
# ASSUME AToMiC's files have 466 MB each, as those of its medium set; no file of the large set says.
_PUBLISHED = (
    ("wit_base", 330, 308_000_000_000, 6_000_000),
    ("AToMiC-Images", 386, 180_000_000_000, 3_386_183 + 16_131 + 8_605 + 7_608_283),
)
# ASSUME a row of another source takes 47 kB until it can be counted, as wit_base's do, and that
# each row is a picture that is wanted, until they are matched; no measurement says.
_ROW_BYTES = 47_000


class Road(NamedTuple):
    """A way to pictures: bytes to read, pictures or requests at most, and hours.

    None is what can't be told before the files are here.
    """

    crawl: str
    road: str
    files: int
    gib: float | None
    pictures: int | None
    requests: int
    hours: float | None


class Bulk(NamedTuple):
    """What a bulk source has: files, bytes, those of them that are fetched, and pictures."""

    name: str
    files: int
    bytes: int
    fetched: int
    pictures: int | None


def roads(params: Mapping[str, Any], sizes: Mapping[str, Size], cores: int) -> list[Road]:
    """Return the roads of each crawl with bulk sources: every source, and the network.

    The network is asked for all pictures if no source has one (`network alone`), and for the rest
    if each row of a source is wanted and whole (`network after bulk`).
    """
    found: list[Road] = []
    for name, of in sizes.items():
        spec = params["crawl"].get(name, {})
        sources = [bulk(item, params) for item in spec.get("bulk", [])]
        left = of.images
        for each in sources:
            most = None if each.pictures is None else min(each.pictures, left)
            left -= most or 0
            hours = None if most is None else _read_s(most, spec, cores) / 3_600
            gib = each.bytes / GIB if each.bytes else None
            found.append(Road(name, each.name, each.files, gib, most, 0, hours))
        for road, requests in (("network alone", of.images), ("network after bulk", left)):
            if sources:
                hours = _polite_s(requests, of.fetched_picture, spec) / 3_600
                found.append(Road(name, road, 0, None, requests, requests, hours))
    return found


def acquired(params: Mapping[str, Any], sizes: Mapping[str, Size]) -> Iterator[Bulk]:
    """Yield what is acquired for its pictures alone, each source once."""
    crawls = (params["crawl"].get(name, {}) for name in sizes)
    items = {
        (item["source"], item["part"]): item
        for spec in crawls
        for item in spec.get("bulk", [])
        if "source" in item and item["source"] not in sizes
    }
    yield from (bulk(item, params) for item in items.values())


def bulk(item: Mapping[str, Any], params: Params | Mapping[str, Any]) -> Bulk:
    """Return what a bulk source has, as far as it can be told before it is read.

    Rows of Parquet files that are here are counted, and so are an earlier crawl's pictures.
    """
    if "folder" in item:
        return Bulk(f"folder {item['folder']}", 1, 0, 0, None)
    if "crawl" in item:
        shards = sorted(Path("data/crawl", item["crawl"]).glob("shard-*.parquet"))
        size = sum(path.stat().st_size for path in shards)
        return Bulk(f"crawl {item['crawl']}", len(shards), size, 0, _rows(shards))
    files = expand_files(params["acquire"][item["source"]]["files"])[item["part"]]
    told = [_told(file) for file in files]
    count, size, rows = (sum(column) for column in zip(*told, strict=True))
    remote = zip(files, told, strict=True)
    fetched = sum(each[1] for file, each in remote if "://" in str(file["url"]))
    here = [Path(file["url"]) for file in files]
    counted = all(path.suffix == ".parquet" and path.is_file() for path in here)
    most = _rows(here) if counted else rows or None
    return Bulk(f"{item['source']}/{item['part']}", count, size, fetched, most)


def _told(file: Mapping[str, Any]) -> tuple[int, int, int]:
    """Return how many files an entry names, their bytes, and their rows by these."""
    url = str(file["url"])
    for part, files, size, rows in _PUBLISHED:
        if part in url and "://" in url:
            count = files if is_pattern(url) else 1
            return count, round(size * count / files), round(rows * count / files)
    path = Path(url)
    size = int(file.get("bytes") or (path.stat().st_size if path.is_file() else 0))
    return 1, size, round(size / _ROW_BYTES)


def _rows(files: Sequence[Path]) -> int | None:
    """Return the rows of Parquet files, None where one can't be read."""
    try:
        return sum(pq.read_metadata(path).num_rows for path in files)
    except (OSError, ValueError):
        return None


def _read_s(pictures: int, spec: Mapping[str, Any], cores: int) -> float:
    return pictures * PICTURE_S / max(1, min(spec.get("decoders", 1), cores))


def _polite_s(requests: int, picture: int, spec: Mapping[str, Any]) -> float:
    if "serve" in spec:
        return 0.0
    bits = requests * picture * 8e-6
    return max(requests / spec["rate_per_s"], bits / spec["megabits_per_s"])


def text(found: Sequence[Road]) -> str:
    """Return the roads as a table; nothing without bulk sources."""
    if not found:
        return ""
    rows = [
        (
            *each[:3],
            *("?" if v is None else v for v in (_short(each.gib), each.pictures)),
            each.requests,
            "?" if each.hours is None else round(each.hours, 3),
        )
        for each in found
    ]
    columns = ("crawl", "road", "files", "read_gib", "pictures_at_most", "requests", "hours")
    note = f"read: {1 / PICTURE_S:.0f} pictures a second and decoder, measured (docs/benchmarks.md)"
    return "\n" + plain(rows, columns) + note + "; requests: at crawl's own limits\n"


def _short(gib: float | None) -> float | None:
    return None if gib is None or math.isnan(gib) else round(gib, 3)
