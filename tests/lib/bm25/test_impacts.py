"""Search over stored impacts: the ranking of the inner product, to the last place."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.bm25 import impacts, postings
from isotope.bm25.format import open_index
from isotope.core.errors import IntegrityError
from isotope.index.sparse import counted

TERMS = st.dictionaries(st.sampled_from("abcdefgh"), st.integers(1, 400), max_size=6)
ROWS = st.lists(TERMS, min_size=1, max_size=30)


def frame(rows):
    columns: dict[str, Any] = {"id": [f"d{n:04d}" for n in range(len(rows))]}
    columns["terms"], columns["impacts"] = [list(r) for r in rows], [list(r.values()) for r in rows]
    types = {"id": pl.String, "terms": pl.List(pl.String), "impacts": pl.List(pl.Int32)}
    return pl.DataFrame(columns, schema=types)


def indexed(folder: Path, rows, pieces=1):
    documents = frame(rows)
    cuts = np.linspace(0, len(rows), pieces + 1).astype(int)
    parts = [documents[low:high] for low, high in pairwise(cuts) if high > low]
    side = postings.IndexJob((), impacts.ANALYZER, {folder / "index": None})
    keyed = ((part.select("id", split=pl.lit("")), counted(part)) for part in parts)
    postings.write_counted(side, keyed)
    return open_index(folder / "index", analyzer=impacts.ANALYZER)


def answers(index, queries, depth, threads=1):
    asked = frame(queries)
    hits = impacts.best(
        index, impacts.asked(index, asked["terms"], asked["impacts"]), depth, threads
    )
    return [
        list(zip(hits.documents[n, :count].tolist(), hits.scores[n, :count].tolist(), strict=True))
        for n, count in enumerate(hits.counts)
    ]


def products(queries, documents, depth):
    """The inner products above 0; of equal ones the later document first."""
    rows = []
    for query in queries:
        scores = [sum(w * d.get(t, 0) for t, w in query.items()) for d in documents]
        order = sorted(range(len(documents)), key=lambda n: (-scores[n], -n))
        rows.append([(n, scores[n]) for n in order if scores[n]][:depth])
    return rows


@settings(max_examples=60, deadline=None)
@given(documents=ROWS, queries=ROWS, depth=st.integers(1, 12), pieces=st.integers(1, 3))
def test_the_ranking_is_that_of_the_inner_product(
    documents, queries, depth, pieces, tmp_path_factory
):
    index = indexed(tmp_path_factory.mktemp("impacts"), documents, pieces)
    depth = min(depth, index.documents)
    assert answers(index, queries, depth) == products(queries, documents, depth)


def test_many_documents_in_several_blocks_and_threads(tmp_path, monkeypatch):
    monkeypatch.setattr(postings, "BLOCK", 64)
    generator = np.random.default_rng(0)
    draw = lambda n: {  # noqa: E731
        f"t{t}": int(w)
        for t, w in zip(
            generator.choice(40, n, replace=False), generator.integers(1, 300, n), strict=True
        )
    }
    documents, queries = [draw(9) for _ in range(1000)], [draw(15) for _ in range(30)]
    index = indexed(tmp_path, documents, 2)
    assert len(index.block_document) > 10
    expected = products(queries, documents, 25)
    for threads in (1, 3):
        assert answers(index, queries, 25, threads) == expected


def test_a_query_without_a_term_of_the_index_has_no_hits(tmp_path):
    index = indexed(tmp_path, [{"a": 3}, {}, {"b": 1}])
    assert answers(index, [{}, {"z": 5}, {"b": 2}], 3) == [[], [], [(2, 2)]]


def test_a_document_without_terms_is_never_a_hit(tmp_path):
    index = indexed(tmp_path, [{}, {"a": 1}, {}])
    assert index.documents == 3
    assert answers(index, [{"a": 1}], 3) == [[(1, 1)]]


def test_scores_above_single_precision_are_told_apart(tmp_path):
    """2**24 + 1 is no float32; both documents would score alike."""
    index = indexed(tmp_path, [{"a": 4097, "b": 1}, {"a": 4097}])
    assert answers(index, [{"a": 4096, "b": 1}], 2) == [[(0, 4097 * 4096 + 1), (1, 4097 * 4096)]]


def test_impacts_that_could_exceed_32_bits_of_a_score_are_refused(tmp_path):
    index = indexed(tmp_path, [{"a": 70_000}])
    with pytest.raises(IntegrityError, match="4,900,000,000"):
        answers(index, [{"a": 70_000}], 1)
