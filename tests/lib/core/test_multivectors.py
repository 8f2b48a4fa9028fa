"""Many vectors an item on disk: what a byte a component loses, and files that do not fit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays

from isotope.core.errors import CorruptFile, MissingFile, TruncatedFile
from isotope.core.multivectors import (
    MultiVectors,
    VectorSpan,
    codes_of,
    pooled,
    quantised,
    write_items,
    written,
)

VECTORS = arrays(
    np.float32,
    array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=9),
    elements=st.floats(-4, 4, width=32, allow_subnormal=False),
)


def units(n, dim, seed=0):
    block = np.random.default_rng(seed).normal(size=(n, dim)).astype(np.float32)
    return block / np.linalg.norm(block, axis=1, keepdims=True)


@given(VECTORS)
def test_no_component_is_off_by_more_than_half_a_level(vectors):
    restored = codes_of(quantised(vectors)).vectors()
    limit = np.abs(vectors).max(axis=1, keepdims=True) / 254
    assert (np.abs(restored - vectors) <= limit * (1 + 1e-4) + 1e-30).all()


def test_a_vector_takes_a_byte_a_component_and_four():
    assert quantised(units(3, 128)).shape == (3, 132)


def test_inner_products_of_unit_vectors_lose_less_than_half_a_percent():
    """128 components, as ColPali has: products of a whole lie between -1 and 1."""
    queries, documents = units(300, 128), units(300, 128, seed=1)
    kept = codes_of(quantised(queries)).vectors() @ codes_of(quantised(documents)).vectors().T
    assert 0 < np.abs(kept - queries @ documents.T).max() < 0.005


def test_zeros_stay_zeros():
    assert not codes_of(quantised(np.zeros((2, 4), np.float32))).vectors().any()


@pytest.fixture
def side(tmp_path):
    """Two shards of four items, of which the first has another form as a query."""
    blocks = [units(n, 6, seed=n) for n in (3, 1, 2, 5, 4)]
    files, tables = [], []
    for shard, ids in enumerate((("a", "b"), ("c", "d"))):
        files.append(tmp_path / f"{shard}.tokens.npy")
        tables.append(tmp_path / f"{shard}.tokens.parquet")
        with written(files[-1], 6) as out:
            spans = [out.add(blocks[2 * shard + n]) for n in (1, 0)][::-1]
            queries = [None, None] if shard else [out.add(blocks[4]), None]
        write_items(ids, spans, queries, tables[-1])
    return files, tables, blocks


def test_items_are_read_back_from_any_shard_in_any_order(side):
    files, tables, blocks = side
    read = MultiVectors(files, tables)
    rows = np.array([3, 0, 2])
    assert (len(read), read.dim) == (4, 6)
    assert read.counts(rows).tolist() == [5, 3, 2]
    expected = quantised(np.vstack([blocks[3], blocks[0], blocks[2]]))
    np.testing.assert_array_equal(read.take(rows), expected)


def test_an_item_may_have_other_vectors_as_a_query(side):
    files, tables, blocks = side
    read = MultiVectors(files, tables)
    rows = np.array([0, 1])
    assert read.counts(rows, queries=True).tolist() == [4, 1]
    expected = quantised(np.vstack([blocks[4], blocks[1]]))
    np.testing.assert_array_equal(read.take(rows, queries=True), expected)


def test_numpy_reads_a_file_that_grew_behind_its_header(side):
    for file, count in zip(side[0], (8, 7), strict=True):
        assert np.load(file).shape == (count, 10)


def test_a_file_that_lacks_vectors_of_its_table_is_refused(side):
    files, tables, _ = side
    with written(files[1], 6) as out:
        out.add(units(1, 6))
    with pytest.raises(CorruptFile, match=r"1\.tokens\.npy: 1 vectors, where its table has 7"):
        MultiVectors(files, tables)


def test_a_file_of_floats_is_no_file_of_records(side):
    files, tables, _ = side
    np.save(files[0], units(8, 6))
    with pytest.raises(CorruptFile, match="not records of vectors"):
        MultiVectors(files, tables)


@pytest.mark.parametrize(("which", "what"), [(0, "no such shard"), (1, "no table beside")])
def test_a_missing_file_is_named(side, which, what):
    side[which][1].unlink()
    with pytest.raises(MissingFile, match=what):
        MultiVectors(*side[:2])


@pytest.mark.parametrize("which", [0, 1])
def test_a_cut_file_is_named(side, which):
    path = side[which][0]
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(TruncatedFile, match=path.name):
        MultiVectors(*side[:2])


def test_a_killed_job_leaves_no_half_file(tmp_path):
    def kill():
        with written(tmp_path / "x.npy", 4) as out:
            out.add(units(2, 4))
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kill()
    assert not [*tmp_path.iterdir()]


@settings(max_examples=20)
@given(VECTORS)
def test_the_pooled_vector_is_the_mean_of_length_one(vectors):
    mean = vectors.astype(np.float64).mean(axis=0)
    length = np.linalg.norm(mean)
    expected = mean / length if length > 1e-6 else np.zeros_like(mean)
    if length > 1e-6 or not vectors.any():
        np.testing.assert_allclose(pooled(vectors), expected, atol=1e-5)


def test_an_item_without_vectors_is_allowed(tmp_path):
    with written(tmp_path / "x.npy", 4) as out:
        out.add(units(2, 4))
    write_items(["a"], [VectorSpan(0, 0)], [None], tmp_path / "x.parquet")
    read = MultiVectors([tmp_path / "x.npy"], [tmp_path / "x.parquet"])
    assert read.take(np.array([0])).shape == (0, 8)
