"""Late interaction: MaxSim against its formula, whole pools against candidates."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import entries

from isotope.core import store
from isotope.core.exact import decoded
from isotope.core.grid import RunKey
from isotope.core.multivectors import (
    MultiVectors,
    codes_of,
    pooled,
    quantised,
    write_items,
    written,
)
from isotope.core.runs import read_run
from isotope.core.vectors import created, write_ids
from isotope.index.dense import index_dense
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.search.late import EXACT_DIM, MaxSim, search_late
from isotope.search.systems import gather_runs

DIM = 16


def unit(generator, n, dim=DIM):
    block = generator.normal(size=(n, dim)).astype(np.float32)
    return block / np.linalg.norm(block, axis=1, keepdims=True)


def side(folder, name, counts, seed, *, dim=DIM, shards=1):  # noqa: PLR0913
    """Write items with so many vectors each; return the reader and the vectors."""
    generator = np.random.default_rng(seed)
    items = [unit(generator, n, dim) for n in counts]
    cuts = np.linspace(0, len(items), shards + 1).astype(int)
    files, tables = [], []
    for shard, (low, high) in enumerate(pairwise(cuts)):
        files.append(folder / f"{name}{shard}.tokens.npy")
        tables.append(folder / f"{name}{shard}.tokens.parquet")
        with written(files[-1], dim) as out:
            spans = [out.add(item) for item in items[low:high]]
        ids = [f"{name}{n:03d}" for n in range(low, high)]
        write_items(ids, spans, [None] * len(ids), tables[-1])
    return MultiVectors(files, tables), items


def naive(query, document):
    """ColBERT, section 3.3, equation 3: the sum of the largest inner products."""
    return (query.astype(np.float64) @ document.T).max(axis=1).sum() if len(document) else 0.0


def kept(vectors):
    return codes_of(quantised(vectors)).vectors()


COUNTS = st.lists(st.integers(1, 7), min_size=1, max_size=9)


@settings(max_examples=40, deadline=None)
@given(queries=COUNTS, documents=COUNTS, dim=st.sampled_from([1, 3, 16]), seed=st.integers(0, 99))
def test_scores_equal_the_formula(queries, documents, dim, seed, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sides")
    asked, query_items = side(folder, "q", queries, seed, dim=dim)
    pool, items = side(folder, "d", documents, seed + 1, dim=dim)
    rows = np.arange(len(items))
    scores, found = decoded(MaxSim(asked, pool, 16).best_of_all(np.arange(len(queries)), rows, 5))
    assert found.shape == (len(queries), min(5, len(items)))
    for n, query in enumerate(query_items):
        expected = np.array([naive(kept(query), kept(item)) for item in items])
        np.testing.assert_allclose(scores[n], expected[found[n]], rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(scores[n], np.sort(expected)[::-1][:5], rtol=1e-5, atol=1e-5)


def test_what_a_byte_a_component_loses_of_a_score_is_small(tmp_path):
    """Of 128 components and 32 query vectors, as ColBERT has them: below half a percent."""
    asked, query_items = side(tmp_path, "q", [32] * 5, 0, dim=128)
    pool, items = side(tmp_path, "d", [60] * 200, 1, dim=128)
    scores, found = decoded(MaxSim(asked, pool, 16).best_of_all(np.arange(5), np.arange(200), 200))
    true = np.array(
        [[naive(q, items[d]) for d in row] for q, row in zip(query_items, found, strict=True)]
    )
    assert 0 < np.abs(scores / true - 1).max() < 0.005


def test_candidates_that_are_the_whole_pool_give_its_ranking(tmp_path):
    asked, _ = side(tmp_path, "q", [3, 1, 8], 0)
    pool, items = side(tmp_path, "d", [2, 5, 1, 9, 3] * 6, 1)
    search, rows, queries = MaxSim(asked, pool, 16), np.arange(len(items)), np.arange(3)
    shuffled = np.stack([np.random.default_rng(n).permutation(rows) for n in queries])
    np.testing.assert_array_equal(
        search.chosen(queries, shuffled, 10), search.best_of_all(queries, rows, 10)
    )


def test_blocks_threads_and_the_queries_beside_change_no_bit(tmp_path, monkeypatch):
    asked, _ = side(tmp_path, "q", [3, 1, 8, 5], 0)
    pool, items = side(tmp_path, "d", [2, 5, 1, 9, 3] * 6, 1, shards=3)
    rows = np.arange(len(items))
    expected = MaxSim(asked, pool, 16).best_of_all(np.arange(4), rows, 10)
    alone = [
        MaxSim(asked, pool, 16, threads=3).best_of_all(np.array([n]), rows, 10) for n in range(4)
    ]
    np.testing.assert_array_equal(np.vstack(alone), expected)
    for vectors in (1, 7, 40):
        monkeypatch.setattr("isotope.search.late._BLOCK_VECTORS", vectors)
        np.testing.assert_array_equal(
            MaxSim(asked, pool, 16, threads=2).best_of_all(np.arange(4), rows, 10), expected
        )


def test_vectors_longer_than_single_precision_can_add_are_added_in_parts(tmp_path):
    dim = 2 * EXACT_DIM + 5
    asked, query_items = side(tmp_path, "q", [2], 0, dim=dim)
    pool, items = side(tmp_path, "d", [3, 2], 1, dim=dim)
    scores, found = decoded(MaxSim(asked, pool, 16).best_of_all(np.array([0]), np.arange(2), 2))
    expected = [naive(kept(query_items[0]), kept(items[d])) for d in found[0]]
    np.testing.assert_allclose(scores[0], expected, rtol=1e-6)


def test_products_of_codes_of_the_most_components_are_exact():
    assert EXACT_DIM == 1040
    ones = np.full((1, EXACT_DIM), 127, np.float32)
    assert int((ones @ ones.T).item()) == 127 * 127 * EXACT_DIM < 1 << 24


def test_of_equal_scores_the_greater_row_comes_first(tmp_path):
    asked, _ = side(tmp_path, "q", [2], 0)
    item = unit(np.random.default_rng(5), 3)
    with written(tmp_path / "d.npy", DIM) as out:
        spans = [out.add(item) for _ in range(4)]
    write_items(list("abcd"), spans, [None] * 4, tmp_path / "d.parquet")
    pool = MultiVectors([tmp_path / "d.npy"], [tmp_path / "d.parquet"])
    _, found = decoded(MaxSim(asked, pool, 16).best_of_all(np.array([0]), np.arange(4), 3))
    assert found[0].tolist() == [3, 2, 1]


N = 12


@pytest.fixture
def collection(tmp_path) -> dict[str, Any]:
    """Twelve texts and images, all in the split test, in two shards of vectors."""
    rows = [{"text_id": f"texts{n:03d}", "split": "test"} for n in range(N)]
    store.write_rows(
        [dict.fromkeys(TEXTS.names) | r for r in rows], tmp_path / "texts.parquet", TEXTS
    )
    rows = [{"image_id": f"images{n:03d}", "split": "test"} for n in range(N)]
    store.write_rows(
        [dict.fromkeys(IMAGES.names) | r for r in rows], tmp_path / "images.parquet", IMAGES
    )
    pairs = [{"text_id": f"texts{n:03d}", "image_id": f"images{n:03d}"} for n in range(N)]
    qrels = [{**pair, "relevance": 1, "split": "test"} for pair in pairs]
    store.write_rows(qrels, tmp_path / "qrels.parquet", QRELS)
    files: dict[str, Any] = {"encoded": {}, "vectors": {}, "items": {}}
    for seed, name in enumerate(("texts", "images")):
        counts = [1 + (n * 7 + seed) % 5 for n in range(N)]
        _, items = side(tmp_path, name, counts, seed, shards=2)
        files["items"][name] = items
        files["vectors"][f"{name}_tokens"] = [tmp_path / f"{name}{s}.tokens.npy" for s in range(2)]
        files["vectors"][f"{name}_items"] = [
            tmp_path / f"{name}{s}.tokens.parquet" for s in range(2)
        ]
        files["encoded"][name] = [tmp_path / f"{name}{s}.npy" for s in range(2)]
        files["encoded"][f"{name}_ids"] = [tmp_path / f"{name}{s}.ids.parquet" for s in range(2)]
        for s, own in enumerate((items[: N // 2], items[N // 2 :])):
            with created(files["encoded"][name][s], (len(own), DIM)) as block:
                block[:] = [pooled(item) for item in own]
            ids = [f"{name}{n:03d}" for n in range(s * N // 2, (s + 1) * N // 2)]
            write_ids(pl.Series(ids), files["encoded"][f"{name}_ids"][s])
    index = tmp_path / "index" / "small" / "late"
    index_dense(
        texts=tmp_path / "texts.parquet",
        images=tmp_path / "images.parquet",
        text_ids=files["encoded"]["texts_ids"],
        image_ids=files["encoded"]["images_ids"],
        folders=[index],
        splits=["test"],
    )
    return {**files, "index": index, "qrels": tmp_path / "qrels.parquet"}


def searched(collection, runs, exact_up_to, candidates, depth=5):
    search_late(
        qrels=collection["qrels"],
        encoded=collection["encoded"],
        vectors=collection["vectors"],
        indexes=[collection["index"]],
        runs=runs,
        spec=entries.system_of("late", model="m", exact_up_to=exact_up_to, candidates=candidates),
        depth=depth,
        memory_mb=16,
        threads=2,
    )
    return [read_run(path) for path in runs]


def runs_in(folder, *parts):
    return [Path(folder, *parts, "small", "test", task, "late.parquet") for task in ("t2m", "m2t")]


def test_both_tasks_are_ranked_by_the_formula(collection, tmp_path):
    runs = runs_in(tmp_path / "runs")
    for run, path in zip(searched(collection, runs, 100, 5), runs, strict=True):
        cell = RunKey.from_path(path)
        asked, pool = (collection["items"][s] for s in (cell.query_side, cell.document_side))
        assert run.height == N * 5
        for n, query in enumerate(asked):
            own = run.filter(query_id=f"{cell.query_side}{n:03d}")
            scores = np.array([naive(kept(query), kept(item)) for item in pool])
            best = np.argsort(-scores)[:5]
            assert own["doc_id"].to_list() == [f"{cell.document_side}{d:03d}" for d in best]
            np.testing.assert_allclose(own["score"], scores[best], rtol=1e-6)


def test_a_pool_above_the_limit_is_ranked_among_the_nearest_pooled_vectors(collection, tmp_path):
    runs = runs_in(tmp_path / "runs")
    for run, path in zip(searched(collection, runs, N - 1, 4), runs, strict=True):
        cell = RunKey.from_path(path)
        asked, pool = (collection["items"][s] for s in (cell.query_side, cell.document_side))
        for n, query in enumerate(asked):
            near = np.argsort([-float(pooled(kept(query)) @ pooled(item)) for item in pool])[:4]
            scores = np.array([naive(kept(query), kept(pool[d])) for d in near])
            own = run.filter(query_id=f"{cell.query_side}{n:03d}")
            expected = [f"{cell.document_side}{d:03d}" for d in near[np.argsort(-scores)]]
            assert own["doc_id"].to_list() == expected


def test_as_many_candidates_as_documents_give_the_exact_run(collection, tmp_path):
    exact = searched(collection, runs_in(tmp_path / "exact"), N, 1)
    candidates = searched(collection, runs_in(tmp_path / "candidates"), 1, N)
    assert all(a.equals(b) for a, b in zip(exact, candidates, strict=True))


def test_slices_of_the_queries_make_the_same_run(collection, tmp_path):
    whole = searched(collection, runs_in(tmp_path / "whole"), 100, 5)
    pieces = [runs_in(tmp_path / "pieces", f"0000{n}-of-00003") for n in range(3)]
    for piece in pieces:
        searched(collection, piece, 100, 5)
    gathered = runs_in(tmp_path / "gathered")
    gather_runs(pieces=[path for piece in pieces for path in piece], runs=gathered)
    assert all(a.equals(read_run(b)) for a, b in zip(whole, gathered, strict=True))
