"""Pools, exact search and the cells of the grid."""

import tempfile
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests import entries

from isotope.core import store
from isotope.core.exact import VectorShards, top_k
from isotope.core.grid import JOINT, RunKey, document_ids, pool_splits, query_ids
from isotope.core.lucene import contents
from isotope.core.runs import read_run
from isotope.core.schemas import FIVE_FIELDS
from isotope.index.bm25 import index_bm25
from isotope.index.dense import index_dense
from isotope.schemas.collect import IMAGES, QRELS, TEXTS
from isotope.search import systems
from isotope.search.bm25 import search_bm25

SPLITS = ["train", "validation", "test", "other"]


@pytest.fixture(scope="module")
def collection(tmp_path_factory) -> dict[str, Path]:
    """Eight texts and eight images, two of each in every split; text i goes with image i."""
    folder = tmp_path_factory.mktemp("collection")
    texts, images, qrels = [], [], []
    for i in range(8):
        split = SPLITS[i // 2]
        word = f"word{i}"
        texts.append(
            dict.fromkeys(FIVE_FIELDS, "")
            | {"text_id": f"t{i}", "page_title": f"Page {word}", "section_title": "Introduction"}
            | {"split": split, "language": "en", "category": []}
        )
        images.append(
            {"image_id": f"i{i}", "image_url": f"https://x.org/{i}.png", "split": split}
            | {"language": ["de", "en"], "caption_reference_description": ["Bild", word]}
            | {"caption_alt_text_description": ["", ""]}
            | {"caption_attribution_description": ["", "English: a picture"]}
        )
        if split != "other":
            row = {"text_id": f"t{i}", "image_id": f"i{i}", "relevance": 1, "split": split}
            qrels.append(row)
    paths = {name: folder / f"{name}.parquet" for name in ("texts", "images", "qrels")}
    store.write_rows(texts, paths["texts"], TEXTS)
    store.write_rows(images, paths["images"], IMAGES)
    store.write_rows(qrels, paths["qrels"], QRELS)
    return paths


def outputs(folder: Path, system: str) -> list[Path]:
    return [
        folder / setting / split / task / f"{system}.parquet"
        for setting in ("small", "base", "large")
        for split in ("validation", "test")
        for task in ("t2m", "m2t")
    ]


def test_small_is_the_split_base_the_judged_ones_large_everything(collection):
    assert {*pool_splits("small", "test")} - {*JOINT} == {"test"}
    sizes = {
        setting: len(document_ids(collection["images"], RunKey(setting, "test", "t2m")))
        for setting in ("small", "base", "large")
    }
    assert sizes == {"small": 2, "base": 6, "large": 8}


def test_queries_are_the_judged_items_of_the_split(collection):
    assert query_ids(collection["qrels"], RunKey("large", "test", "m2t")) == ["i4", "i5"]


def test_of_a_split_only_the_items_that_something_is_attached_to_ask(collection, tmp_path):
    for name in ("texts", "images"):
        (tmp_path / f"{name}.parquet").write_bytes(collection[name].read_bytes())
    qrels = tmp_path / "qrels.parquet"
    pl.read_parquet(collection["qrels"]).filter(pl.col("text_id") != "t4").write_parquet(qrels)
    assert query_ids(qrels, RunKey("large", "test", "t2m")) == ["t5"]
    assert query_ids(qrels, RunKey("large", "test", "m2t")) == ["i5"]


def test_contents_join_the_fields_that_have_words(collection):
    words = contents("texts", collection["texts"], language="en")
    assert words["contents"][3] == "Page word3 Introduction"


def test_a_subset_of_fields_can_be_chosen_in_any_order(collection):
    chosen = ["section_title", "page_title"]
    words = contents("texts", collection["texts"], language="en", fields=chosen)
    assert words["contents"][3] == "Introduction Page word3"


def test_the_oracle_sees_captions_in_one_language(collection):
    words = contents("images", collection["images"], language="en")
    assert words["contents"][3] == "word3 English: a picture"


def test_bm25_finds_the_match_in_every_cell(collection, tmp_path):
    folders = [tmp_path / "index" / s / "bm25" for s in ("small", "base", "large")]
    splits = ["validation", "test"]
    tables = {side: collection[side] for side in ("texts", "images")}
    index_bm25(**tables, folders=folders, splits=splits, language="en", threads=1)
    paths = outputs(tmp_path / "runs", "bm25")
    spec = entries.system_of("bm25", prepare="none")
    search_bm25(
        **collection, indexes=folders, runs=paths, spec=spec, language="en", depth=5, threads=1
    )
    for path in paths:
        run = read_run(path).filter(pl.col("rank") == 1)
        assert run.height == 2
        assert [q[1:] for q in run["query_id"]] == [d[1:] for d in run["doc_id"]]


def test_dense_search_stays_inside_the_pool_and_finds_the_match(collection, tmp_path):
    vectors = np.eye(8, dtype=np.float32) + 0.01
    encoded = {}
    for side, key in (("texts", "t"), ("images", "i")):
        encoded[side], encoded[f"{side}_ids"] = [], []
        for n, rows in enumerate(np.array_split(np.arange(8), 3)):
            np.save(tmp_path / f"{side}-{n}.npy", vectors[rows])
            ids = tmp_path / f"{side}-{n}.ids.parquet"
            pl.DataFrame({"id": [f"{key}{i}" for i in rows]}).write_parquet(ids)
            encoded[side].append(tmp_path / f"{side}-{n}.npy")
            encoded[f"{side}_ids"].append(ids)
    folders = [tmp_path / "index" / s / "clip" for s in ("small", "base", "large")]
    tables = {side: collection[side] for side in ("texts", "images")}
    ids = {"text_ids": encoded["texts_ids"], "image_ids": encoded["images_ids"]}
    index_dense(**tables, **ids, folders=folders, splits=["validation", "test"])
    paths = outputs(tmp_path / "runs", "clip")
    files: dict[str, Any] = {"qrels": collection["qrels"], "encoded": encoded, "indexes": folders}
    systems.search_dense(**files, runs=paths, depth=100, memory_mb=16)
    sizes = {"small": 2, "base": 6, "large": 8}
    for path in paths:
        run = read_run(path)
        cell = RunKey.from_path(path)
        assert run.height == 2 * sizes[cell.setting]
        top = run.filter(pl.col("rank") == 1)
        assert [q[1:] for q in top["query_id"]] == [d[1:] for d in top["doc_id"]]


def test_random_and_fused_runs_fill_every_cell(collection, tmp_path):
    parts = []
    for seed, name in enumerate(("a", "b")):
        paths = outputs(tmp_path, name)
        shuffle = entries.system_of("random", seed=seed)
        systems.search_random(**collection, runs=paths, depth=4, spec=shuffle)
        parts += paths
    for spec in (
        entries.system_of("rrf", of=["a", "b"]),
        entries.system_of("wsum", of=["b", "a"], weights=[1, 2]),
    ):
        fused = outputs(tmp_path, spec.kind)
        systems.search_fused(parts=parts, runs=fused, spec=spec, depth=3)
        assert all(read_run(p)["rank"].max() in (2, 3) for p in fused)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(1, 60),
    st.integers(1, 9),
    st.integers(1, 12),
    st.integers(0, 10_000),
    st.integers(1, 4),
)
def test_exact_search_equals_sorting_everything(documents, queries, k, seed, parts):
    make = np.random.default_rng(seed)
    stored = make.integers(-2, 3, (documents, 5)).astype(np.float32)
    asked = make.integers(-2, 3, (queries, 5)).astype(np.float32)
    rows = np.sort(make.choice(documents, make.integers(1, documents + 1), replace=False))
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for n, part in enumerate(np.array_split(stored, min(parts, documents))):
            paths.append(Path(folder) / f"{n}.npy")
            np.save(paths[-1], part)
        scores, found = top_k(asked, VectorShards(paths), rows.astype(np.int64), k, 16)
    truth = asked @ stored[rows].T
    expected = -np.sort(-truth, axis=1)[:, :k]
    np.testing.assert_allclose(scores, expected)
    again = np.take_along_axis(asked @ stored.T, found, 1)
    np.testing.assert_allclose(again, scores)
    assert all(len(set(row)) == len(row) for row in found)


def test_blocks_do_not_change_the_answer(monkeypatch, tmp_path):
    make = np.random.default_rng(7)
    stored = make.normal(size=(1_000, 16)).astype(np.float32)
    asked = make.normal(size=(37, 16)).astype(np.float32)
    np.save(tmp_path / "v.npy", stored)
    rows = np.arange(1_000)
    whole = top_k(asked, VectorShards([tmp_path / "v.npy"]), rows, 10, 512)
    monkeypatch.setattr("isotope.core.exact._MB", 256)
    pieces = top_k(asked, VectorShards([tmp_path / "v.npy"]), rows, 10, 16)
    np.testing.assert_array_equal(whole[1], pieces[1])
    np.testing.assert_allclose(whole[0], pieces[0], rtol=1e-5)


def test_memory_stays_within_its_bound(tmp_path):
    """150 MB of vectors pass through 16 MB; a few MB of candidates and blocks come on top."""
    stored = np.lib.format.open_memmap(tmp_path / "v.npy", "w+", np.float32, (300_000, 128))
    stored[:] = np.random.default_rng(0).random((300_000, 128), np.float32)
    stored.flush()
    asked = np.ones((20, 128), np.float32)
    rows = np.arange(300_000)
    tracemalloc.start()
    top_k(asked, VectorShards([tmp_path / "v.npy"]), rows, 100, 16)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 40 * 2**20
