"""Two systems, query by query: who answers which query better, and which words matched.

A page lists the queries on which two systems differ most, the first one's greatest gains first,
with both lists of hits. Words match where a query and a document share a term of Lucene's analyzer;
a term weighs what BM25 gives it, so that one sees what BM25 saw where a model saw none of it.
"""

import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from isotope.bm25.format import Index, open_index
from isotope.core import lucene, sql
from isotope.core.grid import TASKS, RunKey, document_side, query_side
from isotope.core.measures import percentiles, resampled_means
from isotope.report.content import MarkedTerm, Scope, ShownItem, TextPiece, items, marked_excerpt
from isotope.report.site import write_page
from isotope.tabulate.strata import USUAL
from isotope.tabulate.table import rows

_SQL = sql.SQL / "tabulate/report"
# Queries of each task on the page, each of about 20 kB, and hits of each list: 2 to 4 MB, which a
# browser opens at once. Of the queries those with the greatest differences are shown, as many gains
# as losses, a tenth of them equal.
SHOWN, HITS = 100, 5
PICTURE_PX = 96
QUERY_CHARACTERS = 420
HIT_CHARACTERS = 150
ANSWERS = 5
_DIGITS = 9
_UNANSWERED: Mapping[str, Any] = {"first_rank": None, "first_other_rank": None, "answers": 0}


class ListedHit(NamedTuple):
    """A document: its ranks here and in the other list, its grade (None: not judged), its words.

    `words` are those that it shares with the query, the heaviest first; `weight` is their sum.
    """

    ranks: tuple[int | None, int | None]
    grade: int | None
    item: ShownItem
    picture: int | None
    excerpt: list[TextPiece]
    words: list[str]
    weight: float


@dataclass(frozen=True)
class ComparedQuery:
    """A query: both systems' values, first right ranks and lists, and its right answers.

    `answers` are the first by rank; `more` are not shown.
    """

    difference: float
    sign: int
    values: tuple[float, float]
    firsts: tuple[int | None, int | None]
    item: ShownItem
    picture: int | None
    excerpt: list[TextPiece]
    answers: list[ListedHit]
    more: int
    sides: tuple[list[ListedHit], list[ListedHit]]


class Means(NamedTuple):
    """The means of both systems, and the interval and p of their difference.

    None is an interval that the queries do not tell (`measures.percentiles`), a p not tested.
    """

    values: tuple[float, float]
    interval: tuple[float, float] | None
    p: float | None


@dataclass(frozen=True)
class Comparison:
    """A task: how many queries go which way (1, 0, -1), all and shown, and those that are shown."""

    task: str
    counts: dict[int, int]
    shown: dict[int, int]
    means: Means
    is_graded: bool
    queries: list[ComparedQuery]


class Lists(NamedTuple):
    """A task's queries with a value by each system, those that are shown, their hits and answers.

    `all_queries` and `shown` have query_id, value, other_value, difference and sign (1, 0 or -1).
    """

    task: str
    all_queries: pl.DataFrame
    shown: pl.DataFrame
    hits: pl.DataFrame
    answers: pl.DataFrame

    def pairs(self) -> pl.DataFrame:
        """Return each query with each document that is shown for it: query_id, doc_id."""
        both = [table.select("query_id", "doc_id") for table in (self.hits, self.answers)]
        return pl.concat(both).unique().sort(pl.all())


class MatchedWords(NamedTuple):
    """Texts as BM25 reads them, where terms stand in each, and what a query and a document share.

    The shared terms of a pair have their weights, the heaviest first.
    """

    contents: Mapping[str, str]
    places: Mapping[tuple[str, str], list[tuple[int, int]]]
    shared: Mapping[tuple[str, str], list[tuple[str, float]]]


@dataclass(frozen=True)
class ItemShelf:
    """What a page shows texts and images by: items, numbers of pictures, and the words."""

    items: Mapping[str, ShownItem]
    pictures: Mapping[str, int]
    words: MatchedWords


@dataclass(frozen=True)
class Bm25Reading:
    """How BM25 reads words, and the system whose `index` has the numbers of documents.

    Without an index those on the page count. `language` is that of captions.
    """

    language: str
    texts_language: str
    fields: Sequence[str]
    prepare: str
    k1: float
    b: float
    engine: str
    index: str | None


class SystemPair(NamedTuple):
    """Two systems, and what is shown of them: queries of a task, and hits of a list."""

    systems: Sequence[str]
    setting: str
    measure: str
    shown: int
    hits: int
    words: Bm25Reading


def build(scope: Scope, pair: SystemPair, tables: Mapping[str, Path], page: Path) -> None:
    """Write `page`; same input, same bytes. `tables` are `scores` and `significance`.

    Raises:
        ToolFailed: as `lucene.analyse`.
        CorruptFile, MissingFile: an index that can't be read.
    """
    pool = replace(scope, setting=pair.setting)
    lists_of_tasks = [
        lists(pool, task, pair, tables["scores"])
        for task in TASKS
        if all(run.is_file() for run in runs(pool, task, pair.systems))
    ]
    ids = {
        i for lists_of_task in lists_of_tasks for pair in lists_of_task.pairs().rows() for i in pair
    }
    ids |= {query for lists_of_task in lists_of_tasks for query in lists_of_task.shown["query_id"]}
    by_id = items(pool, ids, PICTURE_PX)
    pictures = {i: n for n, i in enumerate(i for i in sorted(ids) if by_id[i].picture)}
    words = words_of(pool, lists_of_tasks, pair.words)
    compared = [
        comparison(
            lists_of_task,
            means_of(pool, lists_of_task, pair, tables["significance"]),
            ItemShelf(by_id, pictures, words_of_task),
        )
        for lists_of_task, words_of_task in zip(lists_of_tasks, words, strict=True)
    ]
    drawn = [by_id[i].picture for i in pictures]
    shown = {"compared": compared, "pictures": drawn, "pair": pair, "level": USUAL.level}
    write_page("queries", page, up="", scope=scope, pool=pool, **shown)


def runs(scope: Scope, task: str, systems: Sequence[str]) -> list[Path]:
    """Return the files of both systems' runs."""
    return [replace(scope, system=system).run(task) for system in systems]


def lists(scope: Scope, task: str, pair: SystemPair, scores: Path) -> Lists:
    """Return the queries of a task in the scope's pool, and what both systems return for some."""
    first, two = pair.systems
    cell = {"setting": scope.setting, "split": scope.split, "task": task}
    values = {**cell, "measure": pair.measure, "one": first, "two": two}
    differences = rows(_SQL / "differences.sql", {"scores": scores}, values)
    # Sums of floats in another order may differ by less.
    differences = differences.with_columns(
        sign=pl.col("difference").round(_DIGITS).sign().cast(pl.Int8)
    )
    shown = choose(differences, pair.shown)
    files = dict(zip(("one", "two"), runs(scope, task, pair.systems), strict=True))
    relations = {**files, "qrels": scope.table("qrels")}
    asked = {"queries": shown["query_id"].to_list()}
    hits = rows(_SQL / "lists.sql", relations, {**asked, "most": pair.hits})
    answers = rows(_SQL / "right_answers.sql", relations, {**asked, "most": ANSWERS})
    return Lists(task, differences, shown, hits, answers)


def choose(differences: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return at most `most` queries in their order: those with the greatest differences.

    Gains and losses have the same number of places, and each takes what the other leaves; equal
    values have a tenth of the places, and what both leave.
    """
    better, equal, worse = (differences.filter(pl.col("sign") == sign) for sign in (1, 0, -1))
    ties = min(equal.height, max(most // 10, most - better.height - worse.height))
    places = most - ties
    gains = min(better.height, max(places - places // 2, places - worse.height))
    losses = min(worse.height, places - gains)
    return pl.concat([better.head(gains), equal.head(ties), worse.tail(losses)])


def means_of(scope: Scope, lists_of_task: Lists, pair: SystemPair, significance: Path) -> Means:
    """Return what can be said of all queries of a task: a bootstrap, and the paired t-test."""
    how, systems = USUAL, pair.systems
    values = lists_of_task.all_queries.select("value", "other_value", "difference").to_numpy()
    if not len(values):
        return Means((0.0, 0.0), None, None)
    generator = np.random.default_rng(how.seed)
    drawn = resampled_means(values[:, 2:], how.samples, generator)
    low, high = (float(end[0]) for end in percentiles(drawn, how.level))
    cell = {"setting": scope.setting, "split": scope.split, "task": lists_of_task.task}
    key = {**cell, "measure": pair.measure, "system": systems[0], "other": systems[1]}
    comparison_rows = pl.scan_parquet(significance, glob=False).filter(
        pl.col(k) == v for k, v in key.items()
    )
    p = comparison_rows.select("p_bonferroni").collect().to_series().to_list()
    mean, other = values[:, :2].mean(axis=0).tolist()
    interval = None if np.isnan(low) else (low, high)
    return Means((mean, other), interval, p[0] if p else None)


def words_of(
    scope: Scope, lists_of_tasks: Sequence[Lists], reads: Bm25Reading
) -> list[MatchedWords]:
    """Return the words of each task, read as BM25 reads them when it searches."""
    texts = [_contents(scope, lists_of_task, reads) for lists_of_task in lists_of_tasks]
    asked = list[lucene.LuceneTexts]()
    for lists_of_task, texts_of_task in zip(lists_of_tasks, texts, strict=True):
        cell, index = RunKey.from_path(runs(scope, lists_of_task.task, [scope.system])[0]), None
        if reads.index:
            folder = scope.root / "data/index" / scope.collection / scope.setting / reads.index
            index = folder / cell.pool / cell.document_side
        # Queries are read as the documents that they look for.
        is_text = document_side(lists_of_task.task) == "texts"
        language = reads.texts_language if is_text else reads.language
        asked.append(lucene.LuceneTexts(list(texts_of_task.items()), language, index))
    analysed = _analysed(asked, reads.engine) if asked else []
    parts_of_tasks = zip(lists_of_tasks, texts, analysed, strict=True)
    return [
        _words(lists_of_task, texts_of_task, terms, reads)
        for lists_of_task, texts_of_task, terms in parts_of_tasks
    ]


def _analysed(asked: Sequence[lucene.LuceneTexts], engine: str) -> list[lucene.Terms]:
    """Return the terms of each list of texts, with the numbers of its index."""
    if engine == "lucene":
        return lucene.analyse(asked)
    from isotope.bm25.words import analyzer  # noqa: PLC0415 (slow to import)

    analysed = lucene.analyse([texts._replace(folder=None) for texts in asked])
    return [
        _in_index(terms, open_index(texts.folder, analyzer=analyzer(texts.language)))
        if texts.folder
        else terms
        for texts, terms in zip(asked, analysed, strict=True)
    ]


def _in_index(terms: lucene.Terms, index: Index) -> lucene.Terms:
    """Return terms with the numbers of documents of an index."""
    held = index.terms.select("term", held="documents")
    joined = terms.rows.join(held, on="term", how="left", maintain_order="left")
    documents = pl.col("held").fill_null(0)
    rows = joined.with_columns(documents=documents).select(terms.rows.columns)
    return lucene.Terms(rows, index.with_terms, index.length)


def matches(pairs: pl.DataFrame, terms: lucene.Terms, k1: float, b: float) -> pl.DataFrame:
    """Return query_id, doc_id, term and weight of the terms that a query and a document share.

    The weights of a pair, the heaviest first, add up to Lucene's BM25 but for the lengths of
    documents, which an index rounds. Without an index the documents of `pairs` are the pool.
    """
    counts = terms.rows.group_by("id", "term").agg(pl.len().alias("count"), pl.first("documents"))
    docs = counts.filter(pl.col("id").is_in(pairs["doc_id"].unique().implode()))
    lengths = docs.group_by("id").agg(length=pl.col("count").sum())
    size, length = terms.size, terms.length
    if not size:
        size, length = max(lengths.height, 1), lengths["length"].sum()
        docs = docs.with_columns(documents=pl.len().over("term"))
    holders, count = pl.col("documents"), pl.col("count")
    rarity = (1 + (size - holders + 0.5) / (holders + 0.5)).log()
    norm = k1 * (1 - b + b * pl.col("length") * size / max(length, 1))
    weighed = docs.join(lengths, on="id").with_columns(weight=rarity * count / (count + norm))
    asked = counts.select("term", query_id="id", times="count")
    both = pairs.join(asked, on="query_id").join(
        weighed.select("term", "weight", doc_id="id"), on=["doc_id", "term"]
    )
    shared = both.with_columns(weight=pl.col("weight") * pl.col("times"))
    order = ["query_id", "doc_id", "weight", "term"]
    return shared.select(order).sort(order, descending=[False, False, True, False])


def comparison(lists_of_task: Lists, means: Means, shelf: ItemShelf) -> Comparison:
    """Return what the page says of a task."""
    hits = _by_query(lists_of_task.hits)
    answers = _by_query(lists_of_task.answers)
    grades = {
        *lists_of_task.answers["grade"].drop_nulls(),
        *lists_of_task.hits["grade"].drop_nulls(),
    }
    return Comparison(
        task=lists_of_task.task,
        counts=_signs(lists_of_task.all_queries),
        shown=_signs(lists_of_task.shown),
        means=means,
        is_graded=max(grades, default=1) > 1,
        queries=[
            _compared(row, hits.get(row["query_id"], []), answers.get(row["query_id"], []), shelf)
            for row in lists_of_task.shown.iter_rows(named=True)
        ],
    )


def _contents(scope: Scope, lists_of_task: Lists, reads: Bm25Reading) -> dict[str, str]:
    """Return what BM25 reads of the queries and documents that are shown, each on one line.

    Long queries are cut as for a search.
    """
    one_line = {
        query_side(lists_of_task.task): lucene.topic,
        document_side(lists_of_task.task): _one_line,
    }
    ids = {
        query_side(lists_of_task.task): lists_of_task.shown["query_id"],
        document_side(lists_of_task.task): lists_of_task.pairs()["doc_id"],
    }
    contents = dict[str, str]()
    with tempfile.TemporaryDirectory(prefix="isotope-words-") as folder:
        for side, ids_of_side in ids.items():
            as_bm25 = {n: getattr(reads, n) for n in ("language", "fields", "prepare")}
            words = lucene.contents_of(
                side, scope.table(side), ids_of_side, Path(folder), **as_bm25
            )
            for ident, text in words.iter_rows():
                contents[ident] = one_line[side](text)
    return contents


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _words(
    lists_of_task: Lists, texts: Mapping[str, str], terms: lucene.Terms, reads: Bm25Reading
) -> MatchedWords:
    matched = matches(lists_of_task.pairs(), terms, reads.k1, reads.b)
    shared = dict[tuple[str, str], list[tuple[str, float]]]()
    for query, doc, weight, term in matched.iter_rows():
        shared.setdefault((query, doc), []).append((term, weight))
    marked = pl.concat(
        [matched.select("term", id=key).unique() for key in ("query_id", "doc_id")]
    ).unique()
    where = dict[tuple[str, str], list[tuple[int, int]]]()
    marked_rows = terms.rows.join(marked, on=["id", "term"], how="semi")
    for ident, term, start, end in marked_rows.select("id", "term", "start", "end").iter_rows():
        where.setdefault((ident, term), []).append((start, end))
    return MatchedWords(texts, where, shared)


def _signs(queries: pl.DataFrame) -> dict[int, int]:
    counts = dict(queries["sign"].value_counts().iter_rows())
    return {sign: counts.get(sign, 0) for sign in (1, 0, -1)}


def _by_query(frame: pl.DataFrame) -> dict[str, list[dict[str, Any]]]:
    by_query = dict[str, list[dict[str, Any]]]()
    for row in frame.iter_rows(named=True):
        by_query.setdefault(row["query_id"], []).append(row)
    return by_query


def _compared(
    row: Mapping[str, Any],
    hits: Sequence[Mapping[str, Any]],
    answers: Sequence[Mapping[str, Any]],
    shelf: ItemShelf,
) -> ComparedQuery:
    query = row["query_id"]
    first = answers[0] if answers else _UNANSWERED
    right = {answer["doc_id"] for answer in answers}
    places = _query_places(query, [*right, *(h["doc_id"] for h in hits)], right, shelf.words)
    return ComparedQuery(
        difference=row["difference"],
        sign=row["sign"],
        values=(row["value"], row["other_value"]),
        firsts=(first["first_rank"], first["first_other_rank"]),
        item=shelf.items[query],
        picture=shelf.pictures.get(query),
        excerpt=marked_excerpt(shelf.words.contents.get(query, ""), places, QUERY_CHARACTERS),
        answers=[_hit(query, answer, shelf) for answer in answers],
        more=first["answers"] - len(answers),
        sides=(_side(query, hits, 0, shelf), _side(query, hits, 1, shelf)),
    )


def _side(
    query: str, hits: Sequence[Mapping[str, Any]], side: int, shelf: ItemShelf
) -> list[ListedHit]:
    return [_hit(query, hit, shelf) for hit in hits if hit["side"] == side]


def _query_places(
    query: str, docs: Iterable[str], right: set[str], words: MatchedWords
) -> list[MarkedTerm]:
    """Return where the query has terms of its hits; those of right answers come first."""
    weights = dict[str, tuple[str, float]]()
    for doc in docs:
        for term, weight in words.shared.get((query, doc), ()):
            weighted = ("right" if doc in right else "hit", weight)
            best = weights.get(term, weighted)
            weights[term] = max(best, weighted)
    return [
        MarkedTerm(start, end, weight * (2 if mark == "right" else 1), mark)
        for term, (mark, weight) in weights.items()
        for start, end in words.places[query, term]
    ]


def _hit(query: str, row: Mapping[str, Any], shelf: ItemShelf) -> ListedHit:
    doc, words = row["doc_id"], shelf.words
    shared = words.shared.get((query, doc), [])
    mark = "right" if (row["grade"] or 0) > 0 else "hit"
    places = [MarkedTerm(*p, weight, mark) for t, weight in shared for p in words.places[doc, t]]
    asked = words.contents.get(query, "")
    return ListedHit(
        ranks=(row["rank"], row["other_rank"]),
        grade=row["grade"],
        item=shelf.items[doc],
        picture=shelf.pictures.get(doc),
        excerpt=marked_excerpt(words.contents.get(doc, ""), places, HIT_CHARACTERS),
        words=[asked[slice(*words.places[query, term][0])] for term, _ in shared],
        weight=sum(weight for _, weight in shared),
    )
