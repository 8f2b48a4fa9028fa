"""What was measured: seconds and memory of each rule over its units, and BM25's own curves.

`estimate_curves.csv` has a row for each rule (`benchmarks/calibrate.py` writes it, from small
rehearsals), `estimate_bm25.csv` one for each engine and work (`benchmarks/scaling.py` writes it).
"""

import csv
import math
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

from isotope.core.errors import BadParams

FILE = Path(__file__).with_name("estimate_curves.csv")
BM25_FILE = Path(__file__).with_name("estimate_bm25.csv")
COLUMNS = (
    *("rule", "unit", "start_s", "unit_s", "power", "upto", "threads"),
    *("start_mb", "unit_mb", "mb_power", "points", "machine"),
)
BM25_COLUMNS = (
    *("engine", "work", "unit", "start_s", "unit_s", "power", "each_s", "share", "upto"),
    *("points", "machine"),
)
ENGINES = ("impacts", "lucene")
# Snakemake itself, by the jobs of a call.
SNAKEMAKE = "snakemake"


class Curve(NamedTuple):
    """Seconds of a job = start_s + unit_s * units ** power, and MB likewise.

    `threads` worked on it; 1 where more don't help. `upto` so many units were measured.
    """

    start_s: float
    unit_s: float
    power: float
    upto: float = math.inf
    threads: int = 1
    start_mb: float = 0.0
    unit_mb: float = 0.0
    mb_power: float = 1.0

    def seconds(self, units: float, threads: int = 1) -> float:
        """Return the seconds for so many units on so many threads.

        ASSUME threads share the work above the start evenly, where they share it at all; the points
        of one machine do not say.
        """
        share = self.threads / threads if self.threads > 1 else 1.0
        return self.start_s + self.work(units) * share

    def work(self, units: float) -> float:
        """Return the seconds above the start.

        ASSUME beyond what was measured a unit costs what it cost there, or more as it did: warm
        caches and code, which make a power below 1, are warm by then; no measurement says.
        """
        within = self.unit_s * min(units, self.upto) ** self.power
        return within * max(units / self.upto, 1.0) ** max(self.power, 1.0)

    def mb(self, units: float) -> float:
        """Return the megabytes that a job with so many units holds."""
        return self.start_mb + self.unit_mb * units**self.mb_power


class Bm25Curve(NamedTuple):
    """Seconds of one core = start_s + unit_s * units ** power + each_s * items.

    Of a search units are postings and items offers to the best (`offers`); of an index words and
    documents; of the nearest document words x documents. `share` of the documents have a word of a
    query, in the mean, for each word of a document. `upto` so many documents were measured.
    """

    start_s: float
    unit_s: float
    power: float
    each_s: float = 0.0
    share: float = 0.0
    upto: float = math.inf

    def seconds(self, units: float, items: float = 0.0) -> float:
        """Return the seconds of one query, or of an index."""
        return self.start_s + self.unit_s * units**self.power + self.each_s * items


def offers(hits: float, postings: float) -> float:
    """Return how often a document is among the best so far, when they come in any order.

    The n-th of N is among the best k with probability k / n (n > k), which makes k (1 + ln(N / k))
    in all. N is taken to be the postings.
    """
    return hits * (1 + math.log(max(1.0, postings / max(hits, 1.0))))


@cache
def curves() -> Mapping[str, Curve]:
    """Return the curve of each rule measured."""
    names = ("start_s", "unit_s", "power", "upto", "threads", "start_mb", "unit_mb", "mb_power")
    found: dict[str, Curve] = {}
    with FILE.open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            start, unit, power, upto, threads, *mb = (float(row[name]) for name in names)
            found[row["rule"]] = Curve(start, unit, power, upto, int(threads), *mb)
    return found


@cache
def bm25_curves() -> Mapping[tuple[str, str], Bm25Curve]:
    """Return the curve of each engine and work that was measured."""
    names = ("start_s", "unit_s", "power", "each_s", "share", "upto")
    with BM25_FILE.open(newline="", encoding="utf-8") as file:
        return {
            (row["engine"], row["work"]): Bm25Curve(*(float(row[name]) for name in names))
            for row in csv.DictReader(file)
        }


def bm25(engine: str, work: str) -> Bm25Curve:
    """Return the curve of an engine's work: index, nearest, or search in texts or images.

    Raises:
        BadParams: an engine that was not measured.
    """
    if engine not in ENGINES:
        raise BadParams("engine", f"no engine {engine!r}", f"one of {', '.join(ENGINES)}")
    return bm25_curves()[engine, work]


def index_s(engine: str, words: float, documents: float) -> float:
    """Return the core seconds that an index takes."""
    return bm25(engine, "index").seconds(words, documents)


def search_s(engine: str, side: str, asked: "Asked") -> float:
    """Return the core seconds of a search: queries x (start + postings x c + offers x h).

    The postings that a query touches are words x pool x mean share of the documents with a word.
    """
    curve = bm25(engine, f"search in {side}")
    postings = asked.words * asked.pool * asked.length * curve.share
    hits = min(asked.depth, asked.pool)
    return asked.queries * curve.seconds(postings, offers(hits, postings))


def nearest_s(engine: str, asked: "Asked") -> float:
    """Return the core seconds in which each query finds the one document nearest to it."""
    curve = bm25(engine, "nearest")
    return asked.queries * curve.seconds(asked.words * asked.pool)


class Asked(NamedTuple):
    """Queries of so many words each, documents of the pool of so many words each, hits a query."""

    queries: float
    words: float
    pool: float
    length: float
    depth: int = 1
