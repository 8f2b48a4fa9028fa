"""BM25 is Lucene's, with its analyzers or plain words; vectors are searched exactly."""

import math
from collections import Counter

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import isotope
from isotope.bm25 import search as engine
from isotope.bm25.postings import open_index, write_index
from isotope.bm25.words import analyzer
from isotope.core.errors import BadArgument, EmptyTable, IntegrityError, MissingColumn
from isotope.core.runs import ranked

WORDS = ["boat", "dog", "sea", "red", "two", "run"]
texts = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


def by_hand(query: str, documents: dict[str, str], k1: float, b: float) -> dict[str, float]:
    """BM25 as Lucene defines it: Robertson's idf plus one, no (k1 + 1); lengths of under 40 words
    are stored as they are.
    """
    bags = {key: Counter(text.split()) for key, text in documents.items()}
    filled = [bag for bag in bags.values() if bag]
    average = sum(map(Counter.total, filled)) / max(1, len(filled))
    scores: dict[str, float] = {}
    for key, bag in bags.items():
        for word, times in Counter(query.split()).items():
            if word in bag:
                held = sum(word in bag for bag in filled)
                inverse = math.log(1 + (len(filled) - held + 0.5) / (held + 0.5))
                norm = k1 * (1 - b + b * bag.total() / average)
                gain = times * inverse * bag[word] / (bag[word] + norm)
                scores[key] = scores.get(key, 0.0) + gain
    return scores


@settings(max_examples=40, deadline=None)
@given(
    queries=st.lists(texts, min_size=1, max_size=4),
    documents=st.lists(texts, min_size=1, max_size=8).filter(any),
    k1=st.floats(0.1, 2),
    b=st.floats(0, 1),
)
@example(queries=["boat"], documents=["boat", ""], k1=1.0, b=1.0)
def test_scores_are_those_of_the_formula(queries, documents, k1, b):
    asked = {f"q{n}": text for n, text in enumerate(queries)}
    pool = {f"d{n}": text for n, text in enumerate(documents)}
    run = isotope.search(asked, pool, k1=k1, b=b)
    scores = {(q, d): s for q, d, _, s in run.iter_rows()}
    expected = {
        (key, doc): score
        for key, text in asked.items()
        for doc, score in by_hand(text, pool, k1, b).items()
    }
    assert scores.keys() == expected.keys()
    for pair, score in scores.items():
        # Anserini rounds to four digits, and lowers ties.
        assert score == pytest.approx(expected[pair], abs=2e-4)


def test_words_are_cut_at_what_is_no_letter_or_digit_and_are_lower_case():
    documents = {"a": "Straße-Ecke, 1984!", "b": "東京タワー", "c": "", "d": "ឆ្កែក្រហម", "e": "𠀀𠀁"}
    for query, ids in (
        ("ecke", ["a"]),
        ("1984", ["a"]),
        ("STRASSE", []),
        ("京", ["b"]),
        ("ឆ្កែ", ["d"]),
        ("𠀀", ["e"]),
    ):
        assert isotope.search({"q": query}, documents)["doc_id"].to_list() == ids


def test_a_language_is_searched_as_the_workflow_does(tmp_path):
    documents = {"d1": "The boats are running", "d2": "a boat ran", "d3": "dogs"}
    queries = {"q1": "boat runs", "q2": "the dog's"}
    run = isotope.search(queries, documents, language="en", depth=2)
    write_index(documents.items(), tmp_path / "index", analyzer=analyzer("en"), threads=1)
    index = open_index(tmp_path / "index", analyzer=analyzer("en"))
    hits = engine.search(index, queries.items(), k1=0.9, b=0.4, hits=2, threads=1)
    assert run.equals(ranked(pl.concat(hits)))
    # Stems, which plain words are not.
    assert run.filter(query_id="q1")["doc_id"].to_list() == ["d1", "d2"]
    plain = isotope.search(queries, documents)
    assert plain.filter(query_id="q1")["doc_id"].to_list() == ["d2"]


def test_a_collection_is_searched_by_what_it_returns():
    rows = {
        "image": ["a", "b"],
        "text": ["a red boat", "two dogs"],
        "caption": ["boat", "dog dogs"],
    }
    collection = isotope.read_collection(rows)
    run = isotope.search(collection.queries("t2m"), collection.documents("t2m"))
    assert isotope.score(run, collection.judgements("t2m"), "MRR@10")["value"].to_list() == [
        1.0,
        1.0,
    ]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), depth=st.integers(1, 30))
def test_vectors_are_ranked_by_their_products(seed, depth):
    rng = np.random.default_rng(seed)
    queries, documents = rng.normal(size=(3, 8)), rng.normal(size=(20, 8))
    ids = [f"d{n:02d}" for n in rng.permutation(20)]
    run = isotope.search((["a", "b", "c"], queries), (ids, documents), depth=depth)
    exact = queries.astype(np.float32) @ documents.astype(np.float32).T
    for query, scores in zip("abc", exact, strict=True):
        hits = run.filter(query_id=query)
        best = np.argsort(-scores)[:depth]
        assert hits["doc_id"].to_list() == [ids[n] for n in best]
        assert hits["score"].to_numpy() == pytest.approx(scores[best], abs=1e-5)


def test_equal_vectors_are_ranked_by_id_from_the_last():
    run = isotope.search({"q": [1.0]}, {"b": [1.0], "c": [1.0], "a": [1.0]}, depth=2)
    assert run["doc_id"].to_list() == ["c", "b"]


@pytest.mark.parametrize(
    ("queries", "documents", "how", "error", "message"),
    [
        ({"q": "a"}, {}, {}, EmptyTable, "^documents: no document"),
        ({"q": "a"}, {"d": [1.0]}, {}, BadArgument, "texts on one side, vectors on the other"),
        ({"q": [1.0]}, {"d": [1.0, 2.0]}, {}, BadArgument, "of 1 components, documents of 2"),
        ({"q": [1.0]}, {"d": [float("nan")]}, {}, IntegrityError, "vector of 'd' is NaN"),
        ({"q": [1.0]}, (["a", "a"], np.ones((2, 1))), {}, IntegrityError, "'a' is null or there"),
        ({"q": [1.0]}, (["a"], np.ones((2, 1))), {}, BadArgument, "1 ids, and numbers"),
        ({"q": [1.0]}, {"a": [1.0], "b": [1.0, 2.0]}, {}, BadArgument, "no vectors"),
        ({"q": "a"}, {"d": "a"}, {"depth": 0}, BadArgument, "^depth: 0"),
        ({"q": "a"}, {"d": "a"}, {"b": 2}, BadArgument, "b = 2"),
        ({"q": "a"}, {"d": "a"}, {"k1": -1}, BadArgument, "k1 = -1"),
        ({"q": "a"}, {"d": "a"}, {"k1": float("nan")}, BadArgument, "k1 = nan"),
        ({"q": "a"}, {"d": "a"}, {"language": "German"}, BadArgument, "'German' is no code"),
        ({"q": "a"}, pl.DataFrame({"id": ["d"]}), {}, MissingColumn, "no column 'text'"),
        ({"q": "a"}, pl.DataFrame({"id": ["d"] * 2, "text": "a"}), {}, IntegrityError, "twice"),
    ],
)
def test_bad_input_is_named(queries, documents, how, error, message):
    with pytest.raises(error, match=message):
        isotope.search(queries, documents, **how)


def test_nothing_that_is_asked_finds_nothing():
    assert isotope.search({"q": "cat", "r": ""}, {"d": "dog"}).is_empty()
    assert isotope.search({}, {"d": "dog"}).is_empty()


def test_tables_of_pyterrier_are_searched():
    queries = pl.DataFrame({"qid": ["1"], "query": ["red dog"]})
    documents = pl.DataFrame({"docno": ["a", "b"], "text": ["a dog", "a cat"]})
    assert isotope.search(queries, documents).select("query_id", "doc_id").rows() == [("1", "a")]
