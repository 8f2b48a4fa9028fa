"""Approximate search gives what exact search gives when it looks everywhere, and says how much."""

from pathlib import Path
from typing import Any

import faiss
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import entries

from isotope.core import store
from isotope.core.errors import BadParams, MissingFile
from isotope.core.exact import VectorShards, top_k
from isotope.core.runs import read_run
from isotope.core.vectors import IDS
from isotope.index import dense
from isotope.schemas.collect import QRELS
from isotope.search import approximate as search_approximate
from isotope.search.kinds.approximate import Approximate
from isotope.tabulate.exhibits import recipe, write_exhibit

DOCUMENTS, QUERIES, DIM = 3_000, 40, 24


def full(spec: dict[str, Any]) -> Approximate:
    """Return the entry of a system as its job gets it."""
    return entries.system_of(**{"kind": "approximate", "model": "m", **spec})


def made_by(spec: Approximate) -> dense.Method:
    """Return what its index is made by."""
    return dense.Method(spec.method, spec.lists, spec.width)


def unit(rows: int, seed: int) -> np.ndarray:
    block = np.random.default_rng(seed).normal(size=(rows, DIM)).astype(np.float32)
    return block / np.linalg.norm(block, axis=1, keepdims=True)


@pytest.fixture(scope="module")
def encoded(tmp_path_factory) -> dict[str, list[Path]]:
    """Texts to find and images that ask, with their ids."""
    folder = tmp_path_factory.mktemp("encoded")
    files = {}
    for side, rows, seed in (("texts", DOCUMENTS, 0), ("images", QUERIES, 1)):
        np.save(folder / f"{side}.npy", unit(rows, seed))
        ids = [{"id": f"{side[0]}{i:05d}"} for i in range(rows)]
        store.write_rows(ids, folder / f"{side}.ids.parquet", IDS)
        files |= {side: [folder / f"{side}.npy"], f"{side}_ids": [folder / f"{side}.ids.parquet"]}
    return files


@pytest.mark.parametrize(
    "spec",
    [
        {"method": "ivf", "lists": 16, "probes": 16},
        {"method": "hnsw", "width": 3_000},
    ],
)
def test_looking_everywhere_is_exact(encoded, spec):
    shards, queries = VectorShards(encoded["texts"]), unit(QUERIES, 1)
    rows = np.arange(0, DOCUMENTS, 3)
    scores, exact = top_k(queries, shards, rows, 10, 64)
    index = dense.build(shards, rows, made_by(full(spec)))
    near, found = search_approximate.nearest(index, queries, rows, 10, full(spec))
    assert search_approximate.recall_at(10, found, exact) > 0.99
    np.testing.assert_allclose(np.sort(near)[:, -5:], np.sort(scores)[:, -5:], atol=1e-5)


def test_fewer_probes_find_less(encoded):
    shards, queries, rows = VectorShards(encoded["texts"]), unit(QUERIES, 1), np.arange(DOCUMENTS)
    exact = top_k(queries, shards, rows, 10, 64)[1]
    index = dense.build(shards, rows, made_by(full({"method": "ivf", "lists": 32})))
    found = {
        n: search_approximate.nearest(
            index, queries, rows, 10, full({"method": "ivf", "probes": n})
        )[1]
        for n in (1, 8, 32)
    }
    shares = [search_approximate.recall_at(10, hits, exact) for hits in found.values()]
    assert shares[0] < shares[1] < shares[2] == 1


@settings(max_examples=30, deadline=None)
@given(st.integers(1, 6), st.integers(1, 12), st.randoms(use_true_random=False))
def test_recall_is_the_mean_share_of_shared_rows(queries, k, random):
    exact = np.array([random.sample(range(30), 10) for _ in range(queries)])
    found = np.array([random.sample(range(30), 10) for _ in range(queries)])
    cut = min(k, 10)
    shared = [len({*f[:cut]} & {*e[:cut]}) / cut for f, e in zip(found, exact, strict=True)]
    assert search_approximate.recall_at(k, found, exact) == pytest.approx(np.mean(shared))
    assert search_approximate.recall_at(k, exact, exact) == 1


def test_same_vectors_same_index(encoded):
    shards, rows = VectorShards(encoded["texts"]), np.arange(500)
    for method in ("ivf", "ivfpq", "hnsw"):
        spec = {"method": method, "lists": 4}
        first, second = (
            faiss.serialize_index(dense.build(shards, rows, made_by(full(spec)))) for _ in range(2)
        )
        assert np.array_equal(first, second)


def test_more_codes_find_more_and_hold_more_but_less_than_the_vectors(encoded):
    shards, queries, rows = VectorShards(encoded["texts"]), unit(QUERIES, 1), np.arange(DOCUMENTS)
    exact = top_k(queries, shards, rows, 10, 64)[1]
    shares, sizes = [], []
    for codes in (3, 12, 100):
        spec = {"method": "ivfpq", "lists": 8, "probes": 8}
        index = dense.build(shards, rows, made_by(full(spec))._replace(codes=codes))
        near = search_approximate.nearest(index, queries, rows, 10, full(spec))[1]
        shares.append(search_approximate.recall_at(10, near, exact))
        sizes.append(len(faiss.serialize_index(index)))
    flat = len(faiss.serialize_index(dense.build(shards, rows, made_by(full({"method": "ivf"})))))
    assert 0.05 < shares[0] < shares[1] < shares[2] <= 1
    assert sizes[0] < sizes[1] < sizes[2] < flat


@pytest.mark.parametrize("documents", [1, 3, 60])
def test_few_vectors_are_quantised_coarsely(encoded, documents):
    spec = {"method": "ivfpq"}
    rows = np.arange(documents)
    made = made_by(full(spec))._replace(codes=5)
    index = dense.build(VectorShards(encoded["texts"]), rows, made)
    found = search_approximate.nearest(index, unit(QUERIES, 1), rows, 10, full(spec))[1]
    assert [sorted(set(row) - {-1}) for row in found.tolist()] == [
        sorted(row) for row in found.tolist()
    ]
    assert found.shape == (QUERIES, min(10, documents))


def test_an_unknown_method_is_refused():
    with pytest.raises(BadParams, match=r"'lsh' is none.*hnsw, ivf, ivfpq"):
        full({"method": "lsh"})


@pytest.fixture
def seven_sampled(monkeypatch):
    monkeypatch.setattr(search_approximate, "_SAMPLE", 7)


@pytest.mark.usefixtures("seven_sampled")
def test_a_system_writes_its_runs_and_the_table_of_its_recall(encoded, tmp_path):
    folder, qrels = tmp_path / "large/near", tmp_path / "qrels.parquet"
    (folder / "all").mkdir(parents=True)
    np.save(folder / "all/texts.npy", np.arange(DOCUMENTS))
    np.save(folder / "all/images.npy", np.arange(0))
    pairs = [
        {"text_id": f"t{i:05d}", "image_id": f"i{i:05d}", "relevance": 1, "split": "test"}
        for i in range(QUERIES)
    ]
    store.write_rows(pairs, qrels, QRELS)
    spec = full({"method": "ivf", "lists": 32, "probes": 4})
    dense.write_approximate(encoded, [folder], made_by(spec))
    run, table = tmp_path / "run/large/test/m2t/near.parquet", tmp_path / "recall.csv"
    # A split whose answers are known in part is searched twice, and its recall is told once.
    apart = tmp_path / "run/unjudged/large/test/m2t/near.parquet"
    asked = {"image_id": [f"i{i:05d}" for i in range(QUERIES)], "split": "test"}
    pl.DataFrame(asked).write_parquet(tmp_path / "images.parquet")
    search_approximate.search_approximate(
        qrels=qrels,
        encoded=encoded,
        indexes=[folder],
        runs=[run, apart],
        recall=table,
        spec=spec,
        collection="c",
        system="near",
        depth=20,
        memory_mb=64,
    )
    assert read_run(run).group_by("query_id").len()["len"].to_list() == [20] * QUERIES
    assert read_run(apart).equals(read_run(run))
    told = pl.read_csv(table)
    assert told.select("queries", "k").rows() == [(7, 1), (7, 10)]
    assert told["bytes"].unique().to_list() == [(folder / "all/texts.faiss").stat().st_size]
    assert told["flat_bytes"].unique().to_list() == [DOCUMENTS * DIM * 4]
    made = recipe("recall", {"recall": [str(table)]}, {"systems": ["near"]})
    write_exhibit(made, tmp_path / "recall", tmp_path / "recall.svg")
    shown = pl.read_csv(tmp_path / "recall.csv")
    assert shown.select("system", "recall @1", "recall @10").rows() == [("near", *told["recall"])]
    assert shown["score_flat_mb"].item() == DOCUMENTS * DIM * 4 / 1e6
    assert told["recall"].is_between(0.2, 1).all()


def test_an_index_that_is_not_there_is_named(encoded, tmp_path):
    with pytest.raises(MissingFile, match="phase index"):
        search_approximate._read(tmp_path / "texts.faiss")
