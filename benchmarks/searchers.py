"""Five ways to search by BM25: how each makes its index, and what its search takes.

The engine `native`, isotope's program on Lucene (BatchSearch), Pyserini's batch search, bm25s and
PISA. A search begins with texts in memory and ends with a table of query_id, doc_id and score.
bm25s and PISA get the words that Lucene's analyzer makes of the texts, ready, with spaces between.
"""

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pools
from common import Timing, anonymous, spent, timed
from peers import batch_search, searcher

from isotope.bm25 import postings, search
from isotope.bm25.words import analyzer, counted
from isotope.core import lucene

K1, B, WORDS = 0.9, 0.4, analyzer("en")
THREADS = os.cpu_count() or 1
# The Python that has pyterrier-pisa and all that it brings.
PISA = os.environ.get("ISOTOPE_PISA", "")
PROFILED = ("counted", "answers", "table_of")
_ROWS = 100_000
NAMES = ("isotope", "BatchSearch", "Pyserini's batch search", "bm25s", "PISA")
PARTS = ("words (Java)", "sums", "heap", "table", "rest")
_KEYS: dict[str, str] = dict(
    zip(NAMES, ("native", "lucene", "pyserini", "bm25s", "pisa"), strict=True)
)


class Task(NamedTuple):
    """The first `number` of the queries of a table (id, text, words) ask a pool for `hits`."""

    pool: Path
    queries: Path
    number: int
    hits: int

    def asked(self) -> pl.DataFrame:
        """Return the queries."""
        return pl.read_parquet(self.queries).head(self.number)

    def answers(self, tool: str) -> Path:
        """Return where the hits of a tool go."""
        return self.pool / f"{self.queries.stem}.{_KEYS[tool]}.hits"


def kept(task: Task, tool: str, hits: pl.DataFrame, s: float, used: float) -> Timing:
    """Write the hits, and return milliseconds a query and processor milliseconds."""
    hits.write_parquet(task.answers(tool))
    return {"ms": 1000 * s / task.number, "cpu_ms": 1000 * used / task.number}


def measured(task: Task, tool: str, work: Callable[[pl.DataFrame], pl.DataFrame]) -> Timing:
    """Search for two queries, twice, and then for all."""
    asked = task.asked()
    work(asked.head(2))
    start, _ = timed(lambda: work(asked.head(2)))
    with anonymous() as memory:
        before = spent()
        s, hits = timed(lambda: work(asked))
        used = spent() - before
    result = kept(task, tool, hits, s, used)
    return {**result, "start_s": start, "anonymous_gib": memory.peak_gib}


# The engine.


def index_native(place: Path, texts: Path, documents: int) -> None:
    """Index the first documents."""
    rows = pools.read_texts(texts, documents)
    postings.write_index(rows, place, analyzer=WORDS, threads=THREADS)


def index_by_upper_bound(place: Path, texts: Path, documents: int) -> None:
    """Index the first documents as phase project does."""
    rows = pools.read_texts(texts, documents)
    postings.write_index(rows, place, analyzer=WORDS, threads=THREADS, by_bound=True)


def search_native(index: Path, asked: pl.DataFrame, hits: int) -> pl.DataFrame:
    """Return the hits; the index is opened here."""
    opened, rows = (
        postings.open_index(index, analyzer=WORDS),
        asked.select("id", "text").iter_rows(),
    )
    found = search.search(opened, rows, k1=K1, b=B, hits=hits, threads=THREADS)
    return pl.concat(found)


def by_native(task: Task) -> Timing:
    """Search through the engine; the start of the Java that counts terms is within the time."""
    index = task.pool / "native"
    return measured(task, NAMES[0], lambda asked: search_native(index, asked, task.hits))


# Lucene.


def index_lucene(place: Path, texts: Path, documents: int) -> None:
    """Index the first documents."""
    lucene.build_index(pools.read_texts(texts, documents), place, threads=THREADS)


def by_batch_search(task: Task) -> Timing:
    """Search through isotope's program on Lucene; the start of Java is within the time."""
    index, model = task.pool / "lucene", lucene.Bm25Parameters(K1, B)
    limits = {"hits": task.hits, "threads": THREADS}

    def work(asked: pl.DataFrame) -> pl.DataFrame:
        return lucene.search(index, asked.select("id", "text").iter_rows(), model, **limits)

    return measured(task, NAMES[1], work)


def by_pyserini(task: Task) -> Timing:
    """Search through Pyserini's batch search, whose Java runs already."""
    found = searcher(task.pool / "lucene", K1, B)

    def work(asked: pl.DataFrame) -> pl.DataFrame:
        topics = asked.select("text", source_text_id="id")
        return batch_search(found, topics, task.hits, THREADS)

    return measured(task, NAMES[2], work)


# Words for bm25s and PISA.


def in_words(texts: list[str], beside: Path) -> list[str]:
    """Return the terms of texts by Lucene's analyzer, as often as they are there, with spaces."""
    with counted(texts, beside, words=WORDS, threads=THREADS) as counts:
        terms, starts = counts.terms.to_list(), counts.starts.tolist()
        numbers = np.array(counts.numbers)
    found = list[str]()
    for start in starts:
        pairs = numbers[start : start + 2 * int(numbers[start - 1])].reshape(-1, 2).tolist()
        found.append(" ".join([terms[term] for term, times in pairs for _ in range(times)]))
    return found


def write_words(place: Path, texts: Path, documents: int) -> None:
    """Write id and words of the first documents as a table."""
    ids, contents = zip(*pools.read_texts(texts, documents), strict=True)
    words = list[str]()
    for start in range(0, documents, _ROWS):
        words += in_words(list(contents[start : start + _ROWS]), place)
    pl.DataFrame({"id": ids, "words": words}).write_parquet(place)


# bm25s.


def _tokens(words: list[str]) -> Any:  # noqa: ANN401
    import bm25s  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    plain: dict[str, Any] = {"stopwords": [], "token_pattern": r"\S+", "lower": False}
    return bm25s.tokenize(words, show_progress=False, **plain)


def index_bm25s(place: Path, words: Path) -> None:
    """Index documents, by the same formula as Lucene's."""
    import bm25s  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    index = bm25s.BM25(k1=K1, b=B, method="lucene", backend="numba")
    index.index(_tokens(pl.read_parquet(words)["words"].to_list()), show_progress=False)
    index.save(place, show_progress=False)


def by_bm25s(task: Task) -> Timing:
    """Search through bm25s; its index is in memory and its loops are compiled."""
    import bm25s  # noqa: PLC0415  # pyright: ignore[reportMissingImports]

    index: Any = bm25s.BM25.load(task.pool / "bm25s", load_corpus=False)
    index.backend = "numba"
    ids = pl.read_parquet(task.pool / "words", columns=["id"])["id"]

    def work(asked: pl.DataFrame) -> pl.DataFrame:
        limits: dict[str, Any] = {"k": task.hits, "n_threads": THREADS, "show_progress": False}
        found = index.retrieve(_tokens(asked["words"].to_list()), **limits)
        query = asked["id"].gather(np.repeat(np.arange(asked.height), task.hits))
        document = ids.gather(found.documents.ravel())
        score = pl.Series("score", found.scores.ravel())
        table = [query.alias("query_id"), document.alias("doc_id"), score]
        return pl.DataFrame(table).filter(pl.col("score") > 0)

    return measured(task, NAMES[3], work)


# PISA, in a Python of its own.


@cache
def has_pisa() -> bool:
    """Tell whether the Python of PISA has it."""
    command = [PISA, "-c", "import pyterrier_pisa"]
    return bool(PISA) and not subprocess.run(command, check=False, capture_output=True).returncode


def _by_pisa(*arguments: str | Path) -> str:
    command = [PISA, str(Path(__file__).with_name("pisa.py")), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(f"{' '.join(command)}: {done.stderr[-2000:]}")
    return done.stdout.splitlines()[-1]


def index_pisa(place: Path, words: Path) -> None:
    """Index documents; PISA reads a line each."""
    lines = place.with_name("pisa.documents")
    with lines.open("w", encoding="utf-8") as out:
        out.writelines(f"{key}\t{text}\n" for key, text in pools.read_rows(words, "id", "words"))
    _by_pisa("index", lines, place, str(THREADS))
    lines.unlink()


def by_pisa(task: Task) -> Timing:
    """Search through PISA by the fastest of its algorithms; its index is mapped, and was read."""
    asked, hits = task.pool / "pisa.queries", task.pool / "pisa.hits"
    asked.write_text("".join(f"{key}\t{w}\n" for key, w in _words_of(task)), "utf-8")
    limits = map(str, (task.hits, THREADS, K1, B))
    found = json.loads(_by_pisa("search", task.pool / "pisa", asked, hits, *limits))
    names = ["query_id", "doc_id", "score"]
    types = dict(zip(names, (pl.String, pl.String, pl.Float64), strict=True))
    table = pl.read_csv(hits, separator="\t", has_header=False, schema=types, quote_char=None)
    result = kept(task, NAMES[4], table, found["s"], found["used_s"])
    return {**result, "algorithm": found["algorithm"]}


def _words_of(task: Task) -> Iterator[tuple[Any, ...]]:
    return task.asked().select("id", "words").iter_rows()


# Where the engine's time goes.


def profile(task: Task) -> Timing:
    """Return the engine's processor milliseconds a query, part by part.

    Java counts terms; scores are added up as for one hit; what more hits take beyond that is the
    heap's; then a table is made. The rest is opening the index, and looking terms up.
    """
    asked, index = task.asked(), task.pool / "native"
    search_native(index, asked.head(2), task.hits)
    whole, parts = profiled(lambda: search_native(index, asked, task.hits), search, PROFILED)
    _, one = profiled(lambda: search_native(index, asked, 1), search, PROFILED)
    kernel = min(one["answers"], parts["answers"])
    steps = [parts["counted"], kernel, parts["answers"] - kernel, parts["table_of"]]
    known = dict(zip(PARTS, (*steps, whole - sum(steps)), strict=True))
    return {part: 1000 * seconds / task.number for part, seconds in known.items()}


def profiled(
    work: Callable[[], Any], module: ModuleType, names: Sequence[str]
) -> tuple[float, dict[str, float]]:
    """Return the processor seconds of `work`, and of functions of a module in it, by name."""
    functions = {name: getattr(module, name) for name in names}
    used = dict.fromkeys(names, 0.0)
    for name, function in functions.items():
        wrap = _entered if name == "counted" else _called
        setattr(module, name, wrap(function, used, name))
    try:
        before = spent()
        work()
        return spent() - before, used
    finally:
        for name, function in functions.items():
            setattr(module, name, function)


def _called(function: Callable[..., Any], used: dict[str, float], name: str) -> Callable[..., Any]:
    def call(*given: Any, **options: Any) -> Any:  # noqa: ANN401
        before = spent()
        try:
            return function(*given, **options)
        finally:
            used[name] += spent() - before

    return call


def _entered(function: Callable[..., Any], used: dict[str, float], name: str) -> Callable[..., Any]:
    """Count what a context takes to enter: the counts of terms are made there."""

    @contextmanager
    def enter(*given: Any, **options: Any) -> Iterator[Any]:  # noqa: ANN401
        before = spent()
        with function(*given, **options) as counts:
            used[name] += spent() - before
            yield counts

    return enter


TOOLS: dict[str, Callable[[Task], Timing]] = dict(
    zip(NAMES, (by_native, by_batch_search, by_pyserini, by_bm25s, by_pisa), strict=True)
)
