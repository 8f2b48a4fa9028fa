"""BM25's cost by pool: core seconds of indexing, search and the nearest document, by engine.

Text and indexes are those of `pools`. Sections ask captions and captions ask sections for a
thousand hits, and copies of sections, edited, ask for the section nearest to them. What starting
costs is left out: seconds of many queries less those of one.
"""

import csv
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pools
import searchers
from common import Timing, alone, spent
from corpus import Corpus
from rates import Line, line
from rates import keep as keep_rates

from isotope.bm25 import postings
from isotope.bm25 import search as native
from isotope.bm25.nearest import find_nearest
from isotope.bm25.words import counted
from isotope.core import lucene

ENGINES = ("native", "lucene")
DEPTH, K1, B, MEMORY_MB = 1_000, searchers.K1, searchers.B, 2_048
CORES = os.cpu_count() or 1
# Captions or sections are asked, and how many queries ask: fewer of what takes long.
SIDES = {"images": "captions", "texts": "sections"}
MOST_QUERIES, QUERIES_X_POOL = 1_000, {"native": 1e9, "lucene": 2e8}
MOST_COPIES, COPIES_X_POOL = 5_000, {"native": 5e10, "lucene": 5e8}
# Lucene is asked up to pools of so many.
LARGEST = {"native": 10**9, "lucene": 10**6}
INDEXERS = {"native": searchers.index_native, "lucene": searchers.index_lucene}
SAMPLED = 10_000
# Of a wiki's pair so many texts ask, of so many words (AToMiC, section 4.2; the words are assumed).
ASKING, WORDS = 0.769, 180
POINT = ["engine", "work", "pool", "queries", "words", "length", "postings", "hits", "s"]
Point = dict[str, Any]


def queries(work: str, pool: int, engine: str) -> list[tuple[str, str]]:
    """Return queries of a work: texts of the other side, or edited copies of what is searched."""
    if work == "nearest":
        count = min(MOST_COPIES, round(COPIES_X_POOL[engine] / pool), pool)
        return [*pools.copies(pool, count).select("id", "text").iter_rows()]
    count = min(MOST_QUERIES, round(QUERIES_X_POOL[engine] / pool))
    kind = SIDES["texts" if work.endswith("images") else "images"]
    texts = getattr(Corpus(pools.SEED + 1), kind)(count, 0, mean=pools.MEANS[kind])
    return [(f"q{n:06d}", text) for n, text in enumerate(texts)]


def mean_words(texts: Sequence[str]) -> float:
    """Return the words of a text, in the mean."""
    return sum(len(text.split()) for text in texts) / len(texts)


def first_texts(folder: Path) -> list[str]:
    """Return the first texts of a folder."""
    return pl.read_parquet(min(folder.glob("*.parquet")))["text"].head(SAMPLED).to_list()


def ask(engine: str, work: str, asked: Sequence[tuple[str, str]], place: Path) -> Timing:
    """Ask an index; return core seconds and hits."""
    hits = 1 if work == "nearest" else DEPTH
    limits: dict[str, Any] = {"threads": CORES, "memory_mb": MEMORY_MB}
    before = spent()
    if engine == "lucene":
        model = lucene.Bm25Parameters(K1, B, memory_mb=MEMORY_MB)
        count = lucene.search(place, asked, model, hits=hits, threads=CORES).height
    else:
        analyzer = lucene.analyzer("en") or "default"
        opened = postings.open_index(place, analyzer=analyzer)
        if work == "nearest":
            count = find_nearest(opened, asked, k1=K1, b=B, **limits).height
        else:
            found = native.search(opened, asked, k1=K1, b=B, hits=hits, **limits)
            count = sum(table.height for table in found)
    return {"s": spent() - before, "hits": float(count)}


def touched(asked: Sequence[tuple[str, str]], place: Path) -> Timing:
    """Return the postings that a query touches, in the mean, in an index of native."""
    analyzer = lucene.analyzer("en") or "default"
    opened = postings.open_index(place, analyzer=analyzer)
    held = opened.terms["documents"].to_numpy()
    texts = [lucene.topic(text) for _, text in asked]
    limits: dict[str, Any] = {"threads": CORES, "memory_mb": MEMORY_MB}
    with counted(texts, place.parent, words=analyzer, **limits) as counts:
        terms = native.in_terms(opened, counts).terms
    return {"postings": float(held[terms].sum()) / len(asked)}


def measured(pool: int, root: Path, *, nearest: bool = False) -> Iterator[Point]:
    """Yield the points of one size of pool; or of the nearest by native alone."""
    for side, kind in [("texts", SIDES["texts"])] if nearest else SIDES.items():
        works = [] if nearest else [f"search in {side}"]
        works += ["nearest"] if side == "texts" else []
        texts, folder = root / kind, root / f"{kind}-{pool}"
        folder.mkdir(exist_ok=True)
        pools.write_texts(texts, kind, pool)
        touches: dict[str, Mapping[str, float]] = {}
        length = mean_words(first_texts(texts))
        engines = ENGINES[:1] if nearest else ENGINES
        for engine in (engine for engine in engines if pool <= LARGEST[engine]):
            place = folder / engine
            own = {"engine": engine, "pool": pool, "length": length}
            if not nearest:
                made = pools.built(place, INDEXERS[engine], texts, pool)
                took = {"s": made["used_s"], "words": length * pool, "queries": 1}
                yield {**own, "work": "index", **took}
            for work in works:
                asked = queries(work, pool, engine)
                if (engine, work) == ("native", "nearest"):
                    place = folder / "by-upper-bound"
                    pools.built(place, searchers.index_by_upper_bound, texts, pool)
                # Impacts comes first.
                if work not in touches:
                    touches[work] = alone(touched, asked, place)
                words = mean_words([text for _, text in asked])
                of_work = {"work": work, "queries": len(asked), "words": words}
                yield {**own, **of_work, **_each(engine, work, asked, place), **touches[work]}


def _each(engine: str, work: str, asked: Sequence[tuple[str, str]], place: Path) -> Timing:
    """Return core seconds and hits of a query, without what starting takes."""
    alone(ask, engine, work, asked[:1], place)
    one, many = (alone(ask, engine, work, some, place) for some in (asked[:1], asked))
    seconds = max(many["s"] - one["s"], 1e-6) / (len(asked) - 1)
    return {"s": seconds, "hits": many["hits"] / len(asked)}


def units(point: Point) -> float:
    """Return what the seconds of a point grow with: words, postings, or words times words."""
    work = point["work"].partition(" ")[0]
    words = float(point["words"])
    return {"index": words, "nearest": words * point["pool"]}.get(work) or point["postings"]


def drawn(points: Sequence[Point]) -> dict[tuple[str, str], Line]:
    """Return the line of each engine's work over its units; of an index what a word takes."""
    lines: dict[tuple[str, str], Line] = {}
    for engine, work in {(p["engine"], p["work"]) for p in points}:
        own = [p for p in points if (p["engine"], p["work"]) == (engine, work)]
        if work == "index":
            most = max(p["pool"] for p in own)
            last = [p for p in own if p["pool"] == most]
            # A start there is, of Java and of Python: it is in the rule's row.
            lines[engine, work] = Line(0.0, sum(p["s"] for p in last) / sum(map(units, last)))
        else:
            lines[engine, work] = line([*map(units, own)], [p["s"] for p in own])
    return lines


def save(points: Sequence[Point]) -> None:
    """Write the rates of the estimate: what a query and a document took in the largest pool.

    A search is taken for as dear as among captions, where it takes longest.
    """
    rows: list[Mapping[str, object]] = []
    for engine in ENGINES:
        search, nearest = (each(points, engine, work) for work in ("search in images", "nearest"))
        rows.append({"what": "search suggest", "unit": f"pair by {engine}", "value": search})
        asked = nearest * ASKING * WORDS / pools.MEANS[SIDES["texts"]]
        rows.append({"what": "project", "unit": f"section asked by {engine}", "value": asked})
    indexed = each(points, "lucene", "index")
    keep_rates([*rows, {"what": "tabulate", "unit": "item verified", "value": indexed}])


def each(points: Sequence[Point], engine: str, work: str) -> float:
    """Return the seconds of a work for a document of its largest pool, in the mean of its texts."""
    own = [p for p in points if (p["engine"], p["work"]) == (engine, work)]
    most = max(p["pool"] for p in own)
    last = [p["s"] / most for p in own if p["pool"] == most]
    return sum(last) / len(last)


def table(points: Sequence[Point]) -> list[str]:
    """Return a row for each point, what a line without the largest size foretells beside it.

    That size is foretold within a quarter, or the row says no.
    """
    largest: dict[tuple[str, str], float] = {}
    for p in points:
        key = p["engine"], p["work"]
        largest[key] = max(p["pool"], largest.get(key, 0))
    known = [p for p in points if p["pool"] < largest[p["engine"], p["work"]]]
    lines_of = drawn(known)
    head = ["engine", "work", "pool", "words", "postings", "core ms", "foretold", "within 25%"]
    lines = [f"| {' | '.join(head)} |", "|---|---|---:|---:|---:|---:|---:|---|"]
    for p in points:
        told = f"{p['engine']} | {p['work']} | {p['pool']:,.0f} | {p['words']:,.0f}"
        told += f" | {p['postings']:,.0f}" if "postings" in p else " | "
        end = " | "
        key = p["engine"], p["work"]
        if p["pool"] == largest[key] and key in lines_of:
            guess = lines_of[key].at(units(p))
            near = "yes" if abs(guess - p["s"]) <= 0.25 * p["s"] else "no"
            end = f"{guess * 1e3:,.2f} | {near}"
        lines.append(f"| {told} | {p['s'] * 1e3:,.2f} | {end} |")
    return lines


def keep(points: Sequence[Point], path: Path) -> None:
    """Write every point."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.DictWriter(file, POINT, restval="", lineterminator="\n")
        out.writeheader()
        for p in points:
            told = {k: f"{v:.5g}" if isinstance(v, float) else v for k, v in p.items()}
            out.writerow({k: told.get(k, "") for k in POINT})


def load(path: Path, named: Sequence[str]) -> list[Point]:
    """Return the points that a file keeps: numbers but for the columns `named`."""
    with path.open(newline="", encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    return [{k: v if k in named else float(v) for k, v in row.items() if v} for row in rows]


def measure(
    sizes: Sequence[int],
    root: Path,
    done: Callable[[list[Point]], None],
    only: Sequence[Point] = (),
) -> None:
    """Measure pools of these sizes, and hand what is known after each point to `done`.

    Of points of an earlier run those of the nearest by native are measured anew, the others kept.
    """
    anew = ("native", "nearest")
    points = [point for point in only if (point["engine"], point["work"]) != anew]
    for size in sorted(sizes):
        for point in measured(size, root, nearest=bool(only)):
            points.append(point)
            done(points)
