"""BM25's rankings, recomputed by Anserini as Pyserini ships it.

Anserini's own programs do all of it: IndexCollection indexes the words of a pool, SearchCollection
answers a sample of its queries. Nothing of isotope.bm25, by which the runs were made, takes part.
Documents, their order and their scores must be the same. Anserini sorts hits with equal scores by
their ids and lowers their scores step by step; where two are still printed alike, its run is read
as trec_eval reads any run, the greater id first, as ours was written. No other tie is tolerated.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import polars as pl

from isotope.core import lucene
from isotope.core.grid import RunKey, pool_splits
from isotope.core.prepare import NONE
from isotope.core.runs import ranked
from isotope.core.schemas import FIVE_FIELDS
from isotope.search.kinds.bm25 import Bm25
from isotope.search.kinds.dense import Dense
from isotope.search.kinds.rrf import Rrf
from isotope.search.kinds.wsum import Wsum
from isotope_verify.outcome import Check, ItemSample
from isotope_verify.subject import Subject

_SEARCHER = "io.anserini.search.SearchCollection"
# `isotope_verify.dense` and `isotope_verify.fusions` have these.
_ELSEWHERE = (Dense, Rrf, Wsum)
_FORM = {"query_id": pl.String(), "q0": pl.String(), "doc_id": pl.String(), "rank": pl.Int64()}
# Anserini prints six digits.
_TOLERANCE = 5.01e-7
_MEMORY_MB = 1_024


class _Pool(NamedTuple):
    """The documents that an index has: a side of a collection in the splits of a pool."""

    setting: str
    pool: str
    side: str
    fields: tuple[str, ...]
    prepare: str


@dataclass(frozen=True)
class _Search:
    """A run to check: its name, cell, params, hits by query, and the sampled queries."""

    name: str
    cell: RunKey
    entry: Bm25
    hits: pl.DataFrame
    queries: list[str]

    @property
    def pool(self) -> _Pool:
        """The pool that it searched; captions are the same whatever fields of texts are read."""
        side, fields = self.cell.document_side, tuple(self.entry.fields)
        searched_fields = fields if side == "texts" else FIVE_FIELDS
        return _Pool(
            self.cell.setting, self.cell.pool, side, searched_fields, self.entry.prepare or NONE
        )


def check_rankings(subject: Subject, sample: ItemSample) -> list[Check]:
    """Search a sample of the queries of every BM25 system again, one query a run at least.

    Raises:
        ToolFailed: Anserini could not index or search.
        As `Subject.words` and `Subject.hits`.
    """
    check = Check("rankings", f"Pyserini {lucene.jar().stem}", "hits", _TOLERANCE)
    searches = [*_searches(check, subject, sample)]
    if searches:
        with TemporaryDirectory(prefix="isotope-verify-") as folder:
            _search(check, subject, searches, Path(folder))
    return [check]


def _searches(check: Check, subject: Subject, sample: ItemSample) -> Iterator[_Search]:
    entries = subject.entries()
    for (cell, system), path in subject.runs().items():
        entry = entries.get(system)
        if isinstance(entry, _ELSEWHERE):
            continue
        if not isinstance(entry, Bm25):
            kind = f"kind {entry.kind_name()}" if entry else "unknown kinds"
            check.skip(f"runs of {kind}: no outside tool makes them")
            continue
        hits, name = subject.hits(path), f"{cell.setting} {cell.split} {cell.task} {system}"
        check.total += hits.height
        chosen = sample.choose(subject.qrels(cell)["query_id"], name)
        # What says nothing was made before words were prepared.
        yield _Search(name, cell, entry.on(NONE), hits, chosen)


def _search(check: Check, subject: Subject, searches: list[_Search], folder: Path) -> None:
    words = _Words(subject)
    pools = {pool: folder / f"index-{n}" for n, pool in enumerate({s.pool: 0 for s in searches})}
    filled = (
        lucene.Documents(path, rows.iter_rows(), subject.languages[pool.side])
        for pool, path in pools.items()
        if (rows := words.documents(pool)).height
    )
    lucene.build_indexes(filled, threads=2, memory_mb=_MEMORY_MB)
    runs, outputs = list[list[str | Path]](), dict[int, Path]()
    for n, search in enumerate(searches):
        topics, pool_folder = folder / f"{n}.topics", pools[search.pool]
        if pool_folder.exists() and lucene.write_topics(words.queries(search), topics):
            outputs[n] = folder / f"{n}.run"
            language = lucene.analysis(subject.languages[search.cell.document_side])
            runs.append([*_arguments(search, pool_folder, topics, outputs[n]), *language])
    if runs:
        lucene.run_tools(_SEARCHER, runs, memory_mb=_MEMORY_MB)
    for n, search in enumerate(searches):
        _compare(check, search, _read(outputs[n]) if n in outputs else _nothing())


class _Words:
    """What BM25 reads, asked once for each side, list of fields and preparation."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject
        self._sides: dict[tuple[str, tuple[str, ...], str], pl.DataFrame] = {}

    def _side(self, side: str, fields: tuple[str, ...], prepare: str) -> pl.DataFrame:
        key = side, fields, prepare
        if key not in self._sides:
            words = self._subject.words(side, [*fields], prepare)
            self._sides[key] = words.with_columns(pl.col("contents").fill_null(""))
        return self._sides[key]

    def documents(self, pool: _Pool) -> pl.DataFrame:
        """The documents of a pool: id, contents."""
        inside = pl.col("split").is_in(pool_splits(pool.setting, pool.pool))
        words = self._side(pool.side, pool.fields, pool.prepare)
        return words.filter(inside).select("id", "contents")

    def queries(self, search: _Search) -> list[tuple[str, str]]:
        """The sampled queries of a run: id, words."""
        side = search.cell.query_side
        fields = tuple(search.entry.fields) if side == "texts" else FIVE_FIELDS
        chosen = pl.col("id").is_in(search.queries)
        words = self._side(side, fields, search.entry.prepare or NONE)
        return words.filter(chosen).sort("id").select("id", "contents").rows()


def _arguments(search: _Search, index: Path, topics: Path, out: Path) -> list[str | Path]:
    # A query with fewer hits than another one has no more of them, whatever the depth was.
    depth = search.hits["rank"].max() or 1
    return [
        *("-index", index, "-topics", topics, "-topicReader", "TsvString", "-output", out),
        *("-bm25", "-bm25.k1", str(search.entry.k1), "-bm25.b", str(search.entry.b)),
        *("-hits", str(depth), "-threads", "1"),
    ]


def _nothing() -> pl.DataFrame:
    return pl.DataFrame(
        schema={"query_id": pl.String(), "doc_id": pl.String(), "score": pl.Float64()}
    )


def _read(path: Path) -> pl.DataFrame:
    if not path.stat().st_size:
        return _nothing()
    schema = {**_FORM, "score": pl.Float64(), "tag": pl.String()}
    plain: dict[str, Any] = {"separator": " ", "has_header": False, "quote_char": None}
    return pl.read_csv(path, schema=schema, **plain, glob=False).select(
        "query_id", "doc_id", "score"
    )


def _compare(check: Check, search: _Search, recomputed: pl.DataFrame) -> None:
    """Compare hits rank by rank: first the documents, then their scores."""
    published = search.hits.filter(pl.col("query_id").is_in(search.queries))
    both = published.join(ranked(recomputed), on=["query_id", "rank"], how="full", coalesce=True)
    both = both.sort("query_id", "rank")
    same = pl.col("doc_id").eq_missing(pl.col("doc_id_right"))
    for row in both.filter(~same).iter_rows(named=True):
        cell = f"{search.name} {row['query_id']} rank {row['rank']}"
        check.words(cell, row["doc_id"], row["doc_id_right"])
    alike = both.filter(same)
    labels = alike.select(pl.lit(search.name).alias("run"), "query_id", "doc_id")
    scores = alike.select(published="score", recomputed="score_right")
    check.numbers(pl.concat([labels, scores], how="horizontal"))
