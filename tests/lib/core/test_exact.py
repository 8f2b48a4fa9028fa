"""Exact search: one answer, whatever the blocks, the shards, the device; bounded memory."""

import multiprocessing
import resource
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.core import exact
from isotope.core.errors import BadParams
from isotope.core.exact import VectorShards, decoded, keys_of, largest, top_k

DIM = 33


def vectors(rows: int, seed: int, kind: type = np.float32) -> np.ndarray:
    """Unit vectors, every seventh of which is a copy of the first: ties that no score breaks."""
    block = np.random.default_rng(seed).normal(size=(rows, DIM)).astype(np.float32)
    block /= np.linalg.norm(block, axis=1, keepdims=True)
    block[::7] = block[0]
    return block.astype(kind)


def saved(folder: Path, stored: np.ndarray, parts: int) -> VectorShards:
    paths = []
    for n, part in enumerate(np.array_split(stored, parts)):
        paths.append(folder / f"{parts}-{n}.npy")
        np.save(paths[-1], part)
    return VectorShards(paths)


@pytest.mark.parametrize("kind", [np.float32, np.float16])
@pytest.mark.parametrize("k", [1, 10, 200])
def test_blocks_shards_groups_and_devices_do_not_change_a_bit(tmp_path, monkeypatch, kind, k):
    stored, asked = vectors(900, 1, kind), vectors(50, 2)
    stored[3] = asked[0].astype(kind)
    rows = np.flatnonzero(np.arange(900) % 5)
    wanted = top_k(asked, saved(tmp_path, stored, 1), rows, k, 64, device="cpu")
    monkeypatch.setattr("isotope.core.exact._MB", 1 << 10)
    for parts in (3, 16):
        shards = saved(tmp_path, stored, parts)
        for memory_mb, device in ((16, "cpu"), (37, "torch-cpu"), (400, "torch-cpu")):
            found = top_k(asked, shards, rows, k, memory_mb, device=device)
            assert found[0].tobytes() == wanted[0].tobytes()
            np.testing.assert_array_equal(found[1], wanted[1])


def test_of_equal_scores_the_last_rows_win_even_when_more_tie_than_are_looked_at(tmp_path):
    stored = np.repeat(vectors(1, 0), 5_000, axis=0)
    found = top_k(stored[:2], saved(tmp_path, stored, 3), np.arange(5_000), 10, 16)
    assert found[1].tolist() == [list(range(4_999, 4_989, -1))] * 2


def test_the_answer_is_that_of_sorting_all_scores_in_double_precision(tmp_path):
    stored, asked = vectors(2_000, 3), vectors(30, 4)
    asked[0] = stored[0]
    scores, rows = top_k(asked, saved(tmp_path, stored, 4), np.arange(2_000), 50, 16)
    true = asked.astype(np.float64) @ stored.T.astype(np.float64)
    np.testing.assert_allclose(scores, np.take_along_axis(true, rows, 1), atol=1e-6)
    np.testing.assert_allclose(scores, -np.sort(-true, axis=1)[:, :50], atol=1e-6)
    equal = scores[:, 1:] == scores[:, :-1]
    assert equal.any()
    assert (rows[:, 1:] < rows[:, :-1])[equal].all()


def test_one_query_alone_scores_as_among_many(tmp_path):
    """FAISS itself computes few queries in another way than many."""
    shards, asked = saved(tmp_path, vectors(700, 5), 2), vectors(64, 6)
    together = top_k(asked, shards, np.arange(700), 20, 16)
    alone = [top_k(one[None], shards, np.arange(700), 20, 16) for one in asked]
    for part, whole in zip(zip(*alone, strict=True), together, strict=True):
        assert np.concatenate(part).tobytes() == whole.tobytes()


_FLOATS = st.floats(width=32, allow_nan=False)


@settings(max_examples=200)
@given(st.lists(st.tuples(_FLOATS, st.integers(0, 2**32 - 1)), min_size=1, max_size=20))
def test_keys_sort_by_score_then_by_row(pairs):
    scores, rows = np.array([s for s, _ in pairs], np.float32), np.array([r for _, r in pairs])
    keys = keys_of(scores, rows)
    found = decoded(largest(keys[None], len(pairs))[0])
    assert list(zip(*found, strict=True)) == sorted(pairs, reverse=True)


def test_more_rows_than_a_key_can_hold_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("isotope.core.exact._LIMIT", 100)
    with pytest.raises(BadParams, match="several pools"):
        top_k(vectors(1, 0), saved(tmp_path, vectors(101, 0), 1), np.arange(9), 5, 16)


def test_a_device_that_is_not_there_is_named(tmp_path):
    with pytest.raises(BadParams, match="no device 'cuda:77'"):
        top_k(
            vectors(1, 0), saved(tmp_path, vectors(9, 0), 1), np.arange(9), 5, 16, device="cuda:77"
        )


def peak_kib(place: str) -> int:
    """The memory of a process that searches a file, beyond what it had before."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    shards = VectorShards([Path(place)])
    exact.top_k(np.ones((20, 256), np.float32), shards, np.arange(600_000), 100, 32)
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return (after - before) // (1 if sys.platform == "linux" else 1024)


@pytest.mark.long
def test_pages_of_the_file_do_not_stay_in_memory(tmp_path):
    """300 MB of half floats pass through 32 MB, counted as the system counts: mapped pages too."""
    stored = np.lib.format.open_memmap(tmp_path / "v.npy", "w+", np.float16, (600_000, 256))
    some = np.random.default_rng(0).random((6_000, 256), np.float32)
    for start in range(0, len(stored), len(some)):
        stored[start : start + len(some)] = some
    stored.flush()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.apply(peak_kib, (str(tmp_path / "v.npy"),)) < 120 << 10


GPU = pytest.mark.gpu


def assert_same(found: exact.Nearest, wanted: exact.Nearest) -> None:
    assert found[0].tobytes() == wanted[0].tobytes()
    np.testing.assert_array_equal(found[1], wanted[1])


@GPU
@pytest.mark.parametrize("kind", [np.float16, np.float32])
@pytest.mark.parametrize("k", [1, 100, 3_000])
def test_a_gpu_gives_the_same_bits(tmp_path, kind, k):
    stored, asked = vectors(20_000, 8, kind), vectors(300, 9)
    shards = saved(tmp_path, stored, 3)
    wanted = top_k(asked, shards, np.arange(20_000), k, 64, device="cpu")
    for memory_mb in (16, 256):
        for device in ("cuda", "auto"):
            assert_same(
                top_k(asked, shards, np.arange(20_000), k, memory_mb, device=device), wanted
            )


@GPU
def test_of_equal_scores_a_gpu_puts_the_last_rows_first(tmp_path):
    stored = np.repeat(vectors(1, 0), 5_000, axis=0)
    shards = saved(tmp_path, stored, 3)
    found = top_k(stored[:2], shards, np.arange(5_000), 10, 16, device="cuda")
    assert found[1].tolist() == [list(range(4_999, 4_989, -1))] * 2


@GPU
@pytest.mark.parametrize("chosen", ["highest", "high"])
def test_products_of_lower_precision_in_the_program_do_not_change_what_a_gpu_finds(
    tmp_path, chosen
):
    """Scores that differ in the seventh digit, of which TensorFloat-32 has three."""
    torch = pytest.importorskip("torch")
    random = np.random.default_rng(3)
    near = vectors(1, 0) + random.normal(0, 1e-5, (20_000, DIM)).astype(np.float32)
    shards, asked = saved(tmp_path, near, 2), vectors(20, 0)[1:]
    asked = np.concatenate([asked, near[:20]])
    wanted = top_k(asked, shards, np.arange(20_000), 50, 64, device="cpu")
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision(chosen)
    try:
        assert_same(top_k(asked, shards, np.arange(20_000), 50, 64, device="cuda"), wanted)
        assert torch.get_float32_matmul_precision() == chosen, "left as it was"
    finally:
        torch.set_float32_matmul_precision(before)
