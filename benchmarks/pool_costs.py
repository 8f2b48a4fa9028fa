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

import numpy as np
import polars as pl
import pools
import searchers
from common import Timing, alone, spent, this_machine
from corpus import Corpus
from curves import fit
from scipy.optimize import nnls

from isotope.bm25 import postings
from isotope.bm25 import search as impacts
from isotope.bm25.nearest import find_nearest
from isotope.bm25.words import counted
from isotope.cli.estimate_curves import BM25_COLUMNS, ENGINES, Bm25Curve, offers
from isotope.core import lucene

DEPTH, K1, B, MEMORY_MB = 1_000, searchers.K1, searchers.B, 2_048
CORES = os.cpu_count() or 1
# Captions or sections are asked, and how many queries ask: fewer of what takes long.
SIDES = {"images": "captions", "texts": "sections"}
MOST_QUERIES, QUERIES_X_POOL = 1_000, {"impacts": 1e9, "lucene": 2e8}
MOST_COPIES, COPIES_X_POOL = 5_000, {"impacts": 5e10, "lucene": 5e8}
# Lucene is asked up to pools of so many.
LARGEST = {"impacts": 10**9, "lucene": 10**6}
INDEXERS = {"impacts": searchers.index_impacts, "lucene": searchers.index_lucene}
SAMPLED = 10_000
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
        model = lucene.Bm25(K1, B, memory_mb=MEMORY_MB)
        count = lucene.search(place, asked, model, hits=hits, threads=CORES).height
    else:
        analyzer = lucene.analyzer("en") or "default"
        opened = postings.open_index(place, analyzer=analyzer)
        if work == "nearest":
            count = find_nearest(opened, asked, k1=K1, b=B, **limits).height
        else:
            found = impacts.search(opened, asked, k1=K1, b=B, hits=hits, **limits)
            count = sum(table.height for table in found)
    return {"s": spent() - before, "hits": float(count)}


def touched(asked: Sequence[tuple[str, str]], place: Path) -> Timing:
    """Return the postings that a query touches, in the mean, in an index of impacts."""
    analyzer = lucene.analyzer("en") or "default"
    opened = postings.open_index(place, analyzer=analyzer)
    held = opened.terms["documents"].to_numpy()
    texts = [lucene.topic(text) for _, text in asked]
    limits: dict[str, Any] = {"threads": CORES, "memory_mb": MEMORY_MB}
    with counted(texts, place.parent, words=analyzer, **limits) as counts:
        terms = impacts.in_terms(opened, counts).terms
    return {"postings": float(held[terms].sum()) / len(asked)}


def measured(pool: int, root: Path, *, nearest: bool = False) -> Iterator[Point]:
    """Yield the points of one size of pool; or of the nearest by impacts alone."""
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
                if (engine, work) == ("impacts", "nearest"):
                    place = folder / "by-room"
                    pools.built(place, searchers.index_by_room, texts, pool)
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


def drawn(points: Sequence[Point]) -> dict[tuple[str, str], Bm25Curve]:
    """Return the curve of each engine's work."""
    curves: dict[tuple[str, str], Bm25Curve] = {}
    for engine in ENGINES:
        for work in ("index", "nearest", *(f"search in {side}" for side in SIDES)):
            own = [p for p in points if (p["engine"], p["work"]) == (engine, work)]
            if own:
                curves[engine, work] = CURVES[work.partition(" ")[0]](own)
    return curves


def _of_index(own: Sequence[Point]) -> Bm25Curve:
    # A start there is, of Java and of Python: it is in the rule's curve.
    columns = [[1.0] * len(own), [p["words"] for p in own], [p["pool"] for p in own]]
    (_, word, document), _ = _line(columns, [p["s"] for p in own])
    return Bm25Curve(0.0, word, 1.0, document, upto=max(p["pool"] for p in own))


def _of_nearest(own: Sequence[Point]) -> Bm25Curve:
    curve = fit([p["words"] * p["pool"] for p in own], [p["s"] for p in own], powers=(0.1, 1.5))
    return Bm25Curve(curve.start_s, curve.unit_s, curve.power, upto=max(p["pool"] for p in own))


def _of_search(own: Sequence[Point]) -> Bm25Curve:
    """Return start + c * postings ** power + h * offers of least relative error."""
    share = sum(p["postings"] / (p["words"] * p["pool"] * p["length"]) for p in own) / len(own)
    offered = [offers(p["hits"], p["postings"]) for p in own]
    found: list[tuple[float, Bm25Curve]] = []
    for power in POWERS:
        columns = [[1.0] * len(own), [p["postings"] ** power for p in own], offered]
        (start, unit, each), missed = _line(columns, [p["s"] for p in own])
        cost = missed**2 + PRIOR * (power - 1) ** 2
        upto = max(p["pool"] for p in own)
        found.append((cost, Bm25Curve(start, unit, float(power), each, share, upto)))
    return min(found, key=lambda pair: pair[0])[1]


def _line(columns: Sequence[Sequence[float]], taken: Sequence[float]) -> tuple[list[float], float]:
    """Return what each column counts for, none below zero, by relative error; and the error."""
    terms = np.column_stack(columns) / np.array(taken)[:, None]
    scale = terms.max(axis=0)
    found, missed = nnls(terms / scale, np.ones(len(taken)))
    return [float(x) for x in found / scale], float(missed)


# Around what an accumulator does; skipping takes less.
POWERS, PRIOR = np.arange(0.6, 1.11, 0.02), 0.2
CURVES: dict[str, Callable[[Sequence[Point]], Bm25Curve]] = {
    "index": _of_index,
    "nearest": _of_nearest,
    "search": _of_search,
}
UNITS = {"index": "word", "nearest": "word x document", "search": "posting"}


def seconds(curve: Bm25Curve, point: Point) -> float:
    """Return what a curve says of a point."""
    kind = point["work"].partition(" ")[0]
    if kind == "index":
        return curve.seconds(point["words"], point["pool"])
    if kind == "nearest":
        return curve.seconds(point["words"] * point["pool"])
    postings_of = point["words"] * point["pool"] * point["length"] * curve.share
    return curve.seconds(postings_of, offers(point["hits"], postings_of))


def save(curves: Mapping[tuple[str, str], Bm25Curve], points: Sequence[Point], path: Path) -> None:
    """Write the curves of the estimate."""
    with path.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(BM25_COLUMNS)
        for (engine, work), c in curves.items():
            own = [p for p in points if (p["engine"], p["work"]) == (engine, work)]
            numbers = [f"{x:.4g}" for x in c]
            out.writerow(
                [engine, work, UNITS[work.partition(" ")[0]], *numbers, len(own), this_machine()]
            )


def table(points: Sequence[Point]) -> list[str]:
    """Return a row for each point, what a curve without the largest size foretells beside it.

    That size is foretold within a quarter, or the row says no.
    """
    largest: dict[tuple[str, str], float] = {}
    for p in points:
        key = p["engine"], p["work"]
        largest[key] = max(p["pool"], largest.get(key, 0))
    known = [p for p in points if p["pool"] < largest[p["engine"], p["work"]]]
    curves = drawn(known)
    head = ["engine", "work", "pool", "words", "postings", "core ms", "foretold", "within 25%"]
    lines = [f"| {' | '.join(head)} |", "|---|---|---:|---:|---:|---:|---:|---|"]
    for p in points:
        told = f"{p['engine']} | {p['work']} | {p['pool']:,.0f} | {p['words']:,.0f}"
        told += f" | {p['postings']:,.0f}" if "postings" in p else " | "
        end = " | "
        key = p["engine"], p["work"]
        if p["pool"] == largest[key] and key in curves:
            guess = seconds(curves[key], p)
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

    Of points of an earlier run those of the nearest by impacts are measured anew, the others kept.
    """
    anew = ("impacts", "nearest")
    points = [point for point in only if (point["engine"], point["work"]) != anew]
    for size in sorted(sizes):
        for point in measured(size, root, nearest=bool(only)):
            points.append(point)
            done(points)
