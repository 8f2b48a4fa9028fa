"""Codes find what exact search finds, to the last bit, whatever the vectors are."""

import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.core.errors import CorruptFile, MissingFile
from isotope.core.exact import VectorShards, top_k
from isotope.core.vectors import created
from isotope_suggest.ask import codes
from isotope_suggest.ask.codes import Codes
from isotope_suggest.ask.dense import Side


def written(vectors: np.ndarray, folder: Path, parts: int = 1) -> tuple[list[Path], list[Path]]:
    """Write vectors in shards; return these and their ids."""
    shards, ids = list[Path](), list[Path]()
    for n, block in enumerate(np.array_split(vectors, parts)):
        shard = folder / f"shard-{n:05d}.npy"
        np.save(shard, block)
        names = pl.DataFrame({"id": [f"{n}-{row}" for row in range(len(block))]})
        names.write_parquet(shard.with_suffix(".ids.parquet"))
        shards.append(shard)
        ids.append(shard.with_suffix(".ids.parquet"))
    return shards, ids


def equal(vectors: np.ndarray, queries: np.ndarray, k: int, folder: Path, parts: int = 1) -> bool:
    shards, ids = written(vectors, folder, parts)
    scores, rows = Codes.load(shards, ids, folder / "cache").top_k(queries, k, threads=2)
    numbers = np.arange(len(vectors))
    exact, exact_rows = top_k(queries, VectorShards(shards), numbers, k, 64, device="cpu")
    return bool((rows == exact_rows).all() and (scores == exact).all())


@settings(max_examples=25)
@given(
    seed=st.integers(0, 2**16),
    count=st.integers(1, 1_500),
    dim=st.sampled_from([2, 8, 33, 64]),
    k=st.integers(1, 40),
    scale=st.sampled_from([1e-3, 1.0, 30.0]),
)
def test_the_best_are_those_of_exact_search_with_the_same_scores(  # noqa: PLR0913, PLR0917
    tmp_path_factory, seed, count, dim, k, scale
):
    rng = np.random.default_rng(seed)
    vectors = (rng.standard_normal((count, dim)) * scale).astype(np.float32)
    # Many of equal scores, a component of which all have much, and one that nobody has.
    vectors[count // 2 :] = vectors[: count - count // 2]
    vectors[:, 0] += 5 * scale
    vectors[:, 1] = 0
    queries = rng.standard_normal((3, dim)).astype(np.float32)
    assert equal(vectors, queries, k, tmp_path_factory.mktemp("codes"), parts=2)


def test_vectors_of_clips_size_are_found_alike_near_a_query_that_is_one_of_them(tmp_path):
    rng = np.random.default_rng(1)
    vectors = rng.standard_normal((20_000, 512)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    assert equal(vectors, vectors[[3, 19_999]], 50, tmp_path)


def test_a_query_of_zeros_finds_what_exact_search_does(tmp_path):
    vectors = np.eye(40, 8, dtype=np.float32)
    assert equal(vectors, np.zeros((1, 8), np.float32), 7, tmp_path)


def test_large_codes_are_written_once_and_mapped_until_the_vectors_change(tmp_path, monkeypatch):
    monkeypatch.setattr(codes, "_SMALL_BYTES", 0)
    vectors = np.random.default_rng(0).standard_normal((300, 16)).astype(np.float32)
    assert equal(vectors, vectors[:2], 5, tmp_path)
    [folder] = (tmp_path / "cache").iterdir()
    before = (folder / "codes.npy").stat().st_mtime_ns
    shards, ids = [tmp_path / "shard-00000.npy"], [tmp_path / "shard-00000.ids.parquet"]
    assert isinstance(Codes.load(shards, ids, tmp_path / "cache").codes, np.memmap)
    assert (folder / "codes.npy").stat().st_mtime_ns == before
    assert equal(-vectors, vectors[:2], 5, tmp_path)
    assert len([*(tmp_path / "cache").iterdir()]) == 2


def test_codes_that_were_not_written_to_their_end_are_not_there(tmp_path, monkeypatch):
    monkeypatch.setattr(codes, "_SMALL_BYTES", 0)
    shards, ids = written(np.eye(9, 4, dtype=np.float32), tmp_path)

    def killed(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(codes, "_quantise", killed)
        with pytest.raises(KeyboardInterrupt):
            Codes.load(shards, ids, tmp_path / "cache")
    assert not [*(tmp_path / "cache").iterdir()]
    assert len(Codes.load(shards, ids, tmp_path / "cache")) == 9


def test_vectors_that_are_not_there_are_named(tmp_path):
    with pytest.raises(MissingFile, match=r"shard-9\.npy.*run the encode phase"):
        Codes.load([tmp_path / "shard-9.npy"], [tmp_path / "x"], tmp_path)


@pytest.mark.parametrize("name", ["codes.npy", "scales.npy", "codes.json"])
def test_codes_with_a_turned_bit_are_made_anew_and_said(tmp_path, monkeypatch, caplog, name):
    monkeypatch.setattr(codes, "_SMALL_BYTES", 0)
    rng = np.random.default_rng(3)
    shards, ids = written(rng.standard_normal((300, 16)).astype(np.float32), tmp_path)
    original = Codes.load(shards, ids, tmp_path / "cache")
    expected = np.array(original.codes), np.array(original.means)
    [path] = (tmp_path / "cache").rglob(name)
    before = path.read_bytes()
    for position in random.Random(0).sample(range(len(before)), 25):
        turned = bytearray(before)
        turned[position] ^= 1 << position % 8
        path.write_bytes(turned)
        caplog.clear()
        again = Codes.load(shards, ids, tmp_path / "cache")
        assert (again.codes == expected[0]).all()
        assert (again.means == expected[1]).all()
        assert (again.error, again.widest) == (original.error, original.widest)
        assert "made anew" in caplog.text
        assert path.read_bytes() == before


def test_a_turned_bit_of_a_vector_is_refused_before_it_is_searched(tmp_path, monkeypatch):
    monkeypatch.setattr(codes, "_SMALL_BYTES", 0)
    vectors = np.random.default_rng(4).standard_normal((300, 16)).astype(np.float32)
    shards, ids = written(vectors, tmp_path)
    with created(shards[0], vectors.shape) as block:
        block[:] = vectors
    Codes.load(shards, ids, tmp_path / "cache")
    turned = bytearray(shards[0].read_bytes())
    turned[1_000] ^= 1
    shards[0].write_bytes(turned)
    with pytest.raises(CorruptFile, match="not those that were written"):
        Side(shards, ids, tmp_path / "cache")
