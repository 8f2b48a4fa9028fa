"""Vectors and indexes carry sums of their blocks, which are compared as they are read."""

import zlib
from pathlib import Path

import faiss
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.core import crc
from isotope.core.errors import CorruptFile, TruncatedFile
from isotope.core.exact import VectorShards
from isotope.core.multivectors import MultiVectors, write_items, written
from isotope.core.vectors import created, load_vectors, read_sealed, write_ids

ROWS, DIM = 3_000, 32


def flip(path: Path, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[bit // 8] ^= 1 << bit % 8
    path.write_bytes(content)


@pytest.fixture(scope="module")
def shard(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("crc") / "shard-00000.npy"
    with created(path, (ROWS, DIM)) as block:
        block[:] = np.random.default_rng(0).standard_normal((ROWS, DIM))
    write_ids(pl.Series([f"{n:05d}" for n in range(ROWS)]), path.with_suffix(".ids.parquet"))
    return path


def test_sums_are_those_of_zlib_and_numpy_reads_the_file_as_before(shard: Path):
    content = shard.read_bytes()
    size = 128 + 4 * ROWS * DIM
    blocks = [content[at : min(at + crc.BLOCK, size)] for at in range(0, size, crc.BLOCK)]
    stored = np.frombuffer(content[size : size + 4 * len(blocks)], "<u4")
    assert stored.tolist() == [zlib.crc32(block) for block in blocks]
    assert len(content) == size + 4 * len(blocks) + 24
    mapped, whole = np.load(shard, mmap_mode="r"), np.load(shard)
    assert whole.shape == (ROWS, DIM)
    np.testing.assert_array_equal(mapped, whole)


@settings(max_examples=60)
@given(share=st.floats(0, 1, exclude_max=True))
def test_every_flipped_bit_of_a_shard_is_found(shard: Path, share: float):
    bit = int(share * 8 * shard.stat().st_size)
    flip(shard, bit)
    try:
        with pytest.raises((CorruptFile, TruncatedFile)):
            load_vectors([shard], [shard.with_suffix(".ids.parquet")])
    finally:
        flip(shard, bit)
    assert len(load_vectors([shard], [shard.with_suffix(".ids.parquet")])) == ROWS


@pytest.mark.parametrize("byte", [-1, -5, -10, -20, -30])
def test_damaged_sums_are_damage_and_not_a_file_without_sums(shard: Path, byte: int):
    bit = 8 * (shard.stat().st_size + byte)
    flip(shard, bit)
    try:
        with pytest.raises(CorruptFile, match="sums"):
            VectorShards([shard])
    finally:
        flip(shard, bit)


@settings(max_examples=60)
@given(share=st.floats(0, 1, exclude_max=True))
def test_a_shard_that_is_cut_off_anywhere_is_truncated(shard: Path, share: float):
    """But where the cut leaves all data and no sum, as in a file that was written without sums."""
    content = shard.read_bytes()
    kept = int(share * len(content))
    whole = 128 + 4 * ROWS * DIM
    cut = shard.with_name("cut.npy")
    for size in {kept, whole + kept % (len(content) - whole)} - {whole}:
        cut.write_bytes(content[:size])
        with pytest.raises(TruncatedFile):
            load_vectors([cut], [shard.with_suffix(".ids.parquet")])


def test_only_the_blocks_that_hold_the_asked_rows_are_compared(shard: Path, tmp_path: Path):
    damaged = tmp_path / "damaged.npy"
    damaged.write_bytes(shard.read_bytes())
    # In the second block; a row has 128 bytes.
    flip(damaged, 8 * (crc.BLOCK + 1_000))
    shards, whole = VectorShards([damaged]), VectorShards([shard])
    first, last = np.array([3, 400]), np.array([1_500, 2_999])
    np.testing.assert_array_equal(shards.take(first), whole.take(first))
    np.testing.assert_array_equal(shards.take(last), whole.take(last))
    row = np.array([(crc.BLOCK + 1_000 - 128) // 128])
    found = r"damaged\.npy: bytes 65,536 to 131,071 are not those that were written \(CRC-32\)"
    with pytest.raises(CorruptFile, match=found):
        shards.take(row)
    with pytest.raises(CorruptFile), shards.block(np.arange(1_000)):
        pass


def test_a_row_over_the_edge_of_blocks_needs_both(shard: Path, tmp_path: Path):
    rows = np.arange(ROWS)
    begin, end = 128 + rows * 128, 128 + rows * 128 + 127
    edge = rows[begin // crc.BLOCK != end // crc.BLOCK]
    for row in edge:
        damaged = tmp_path / f"{row}.npy"
        damaged.write_bytes(shard.read_bytes())
        flip(damaged, 8 * int(end[row] // crc.BLOCK) * crc.BLOCK + 8 * 500)
        with pytest.raises(CorruptFile):
            VectorShards([damaged]).take(np.array([row]))
    assert all(128 % n == 0 for n in (1, 2, 4))


def test_vectors_without_sums_are_read_as_they_are(tmp_path: Path):
    old = tmp_path / "old.npy"
    np.save(old, np.ones((3, 2), np.float32))
    assert VectorShards([old]).take(np.array([0, 2])).tolist() == [[1, 1], [1, 1]]
    assert read_sealed(old).shape == (3, 2)


def test_no_vectors_have_sums_too(tmp_path: Path):
    with created(tmp_path / "none.npy", (0, 4)):
        pass
    assert np.load(tmp_path / "none.npy").shape == (0, 4)
    flip(tmp_path / "none.npy", 500)
    with pytest.raises(CorruptFile):
        read_sealed(tmp_path / "none.npy")


def test_many_vectors_of_an_item_are_compared_when_they_are_taken(tmp_path: Path):
    path, table = tmp_path / "a.tokens.npy", tmp_path / "a.tokens.parquet"
    draw = np.random.default_rng(0)
    with written(path, 64) as writer:
        spans = [writer.add(draw.standard_normal((9, 64)).astype(np.float32)) for _ in range(300)]
    write_items([f"{n:03d}" for n in range(300)], spans, [None] * 300, table)
    clean = MultiVectors([path], [table]).take(np.array([7, 299]))
    flip(path, 8 * (path.stat().st_size - 2_000))
    vectors = MultiVectors([path], [table])
    np.testing.assert_array_equal(vectors.take(np.array([7])), clean[:9])
    with pytest.raises(CorruptFile, match="not those that were written"):
        vectors.take(np.array([299]))


def test_faiss_reads_an_index_with_sums(tmp_path: Path):
    index = faiss.IndexFlatIP(8)
    index.add(np.eye(8, dtype=np.float32))
    faiss.write_index(index, str(tmp_path / "a.faiss"))
    crc.seal(tmp_path / "a.faiss")
    assert faiss.read_index(str(tmp_path / "a.faiss")).ntotal == 8
    crc.demand(tmp_path / "a.faiss", "build it again")
    flip(tmp_path / "a.faiss", 901)
    with pytest.raises(CorruptFile, match="build it again"):
        crc.demand(tmp_path / "a.faiss", "build it again")
