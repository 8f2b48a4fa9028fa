"""A vector that is no number is refused by its item where it is made, and where it is read."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import polars as pl
import pytest

from isotope.core import vectors
from isotope.core.errors import CorruptFile, IntegrityError
from isotope.core.exact import VectorShards, top_k
from isotope.core.multivectors import codes_of, quantised
from isotope.encode.late import _Filling
from isotope.models.sparse import SparseEncoder

BAD = [np.nan, np.inf, -np.inf]


def some(rows: int = 40, dim: int = 8) -> Any:
    return np.random.default_rng(0).normal(size=(rows, dim)).astype(np.float32)


def saved(folder: Path, block: Any, name: str = "shard-00000.npy") -> Path:
    np.save(folder / name, block)
    return folder / name


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("precision", ["float32", "float16"])
def test_a_block_with_a_component_that_is_no_number_is_not_written(tmp_path, value, precision):
    ids = pl.Series([f"i{n}" for n in range(40)])
    values = some()
    values[7, 3] = value
    with (
        pytest.raises(IntegrityError, match=r"item 'i7': 1 of 8 components"),
        vectors.created(tmp_path / "shard.npy", (40, 8), precision, ids) as block,
    ):
        block[:] = values
    assert [*tmp_path.iterdir()] == []


@pytest.mark.filterwarnings("ignore:overflow encountered in cast:RuntimeWarning")
def test_what_overflows_in_half_precision_is_named(tmp_path):
    values = some()
    values[3, 1] = 70_000
    with (
        pytest.raises(IntegrityError, match=r"item 'c'.*float16 ends at 65,504"),
        vectors.created(tmp_path / "s.npy", (40, 8), "float16", ["a", "b", "", "c"] * 10) as block,
    ):
        block[:] = values


def test_every_item_that_is_no_number_is_counted(tmp_path):
    block = np.zeros((10_000, 4), np.float32)
    block[[4_100, 9_999]] = np.nan
    with pytest.raises(IntegrityError, match=r"row 4100: 4 of 4 .* so for 2 of 10,000 items"):
        vectors.demand_finite(block, tmp_path)


def test_vectors_of_zeros_are_counted_and_kept(tmp_path, caplog):
    with (
        caplog.at_level("INFO"),
        vectors.created(tmp_path / "s.npy", (3, 4), ids=["a", "b", "c"]) as block,
    ):
        block[0] = 1
    assert "2 vectors of zeros, such as item 'b'" in caplog.text


@pytest.mark.parametrize("value", BAD)
@pytest.mark.parametrize("kind", [np.float32, np.float16])
@pytest.mark.parametrize("memory_mb", [1, 64])
def test_exact_search_names_the_file_and_row_of_a_document_that_is_no_number(
    tmp_path, value, kind, memory_mb
):
    block = some().astype(kind)
    block[7, 0] = value
    paths = [saved(tmp_path, some().astype(kind), "a.npy"), saved(tmp_path, block, "b.npy")]
    with pytest.raises(CorruptFile, match=r"b\.npy, row 7: a vector .* one of 1"):
        top_k(some(3), VectorShards(paths), np.arange(80), 5, memory_mb, device="cpu")


def test_exact_search_refuses_a_pool_of_no_numbers_and_one_smaller_than_the_depth(tmp_path):
    shards = VectorShards([saved(tmp_path, np.full((6, 8), np.nan, np.float32))])
    with pytest.raises(CorruptFile, match="one of 6"):
        top_k(some(2), shards, np.arange(6), 10, 64, device="cpu")


@pytest.mark.parametrize("value", BAD)
def test_exact_search_refuses_a_query_that_is_no_number(tmp_path, value):
    queries = some(3)
    queries[1, 2] = value
    with pytest.raises(CorruptFile, match="query 1"):
        top_k(queries, VectorShards([saved(tmp_path, some())]), np.arange(40), 5, 64, device="cpu")


def test_a_query_that_is_no_number_is_named_by_its_row_where_vectors_are_taken(tmp_path):
    block = some()
    block[7] = np.nan
    with pytest.raises(CorruptFile, match="row 7"):
        VectorShards([saved(tmp_path, block)]).take(np.array([3, 7, 9]))


def test_exact_search_takes_zeros_on_either_side(tmp_path):
    block, queries = some(), some(2)
    block[7], queries[1] = 0, 0
    scores, rows = top_k(queries, VectorShards([saved(tmp_path, block)]), np.arange(40), 40, 64)
    assert np.isfinite(scores).all()
    assert sorted(rows[0]) == [*range(40)]
    assert [*rows[1]] == [*range(39, -1, -1)]


@pytest.mark.parametrize("value", BAD)
def test_late_interaction_names_the_item_whose_vectors_are_no_numbers(value):
    written = SimpleNamespace(add=lambda _: pytest.fail("written"))
    filled = _Filling(np.zeros((2, 8), np.float32), written, pl.Series(["a", "b"]))  # pyright: ignore
    one = some(3)
    one[2, 2] = value
    with pytest.raises(IntegrityError, match="item 'b'"):
        filled.put([1], one)
    with pytest.raises(IntegrityError, match="item 'a' as a query"):
        filled.put_query([0], one)


def test_records_of_late_interaction_are_refused_where_they_are_read():
    records = quantised(some(3))
    records[1, :4] = np.array([np.nan], np.float32).view(np.uint8)
    with pytest.raises(CorruptFile, match="1 are NaN"):
        codes_of(records)


@pytest.mark.parametrize("value", BAD)
def test_a_sparse_encoder_names_the_text_whose_weights_are_no_numbers(monkeypatch, value):
    weights = np.abs(some(2))
    weights[1, 4] = value
    encoder = SparseEncoder.__new__(SparseEncoder)
    monkeypatch.setattr(encoder, "weights", lambda _: weights)
    with pytest.raises(IntegrityError, match="the text 'bad words': 1 of 2 texts"):
        encoder.documents(["fine", "bad words"])
