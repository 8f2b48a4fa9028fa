"""Claim: dense search costs at most a tenth more than FAISS called directly on one array.

    python benchmarks/dense.py [DOCUMENTS] [QUERIES] [MILLIONS] [FOLDER]  (default 200000 1000 10)

isotope searches a shard of the file system and settles ties by document; FAISS and numpy get the
same vectors as one array in memory. All three answers are compared. Then isotope alone searches
MILLIONS of half-precision vectors in four shards, written to FOLDER and removed again, and its peak
memory is told. The result is benchmarks/results/dense.md.
"""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import faiss
import numpy as np
from common import Claim, Timing, alone, machine, verdicts, write

from isotope.core.exact import VectorShards, top_k

DIM, DEPTH, DEEP, ROUNDS, MEMORY_MB, LIMIT_GIB = 768, 100, 1_000, 5, 512, 8
SHARDS, FEW, MILLION, TOLERANCE = 4, 20, 1_000_000, 1e-5
OURS, FAISS, AT_LEAST = "isotope", "FAISS, IndexFlatIP", 0.91


def unit(rows: int, seed: int) -> np.ndarray[Any, Any]:
    """Return random unit vectors."""
    block = np.random.default_rng(seed).standard_normal((rows, DIM), dtype=np.float32)
    return block / np.linalg.norm(block, axis=1, keepdims=True)


def by_numpy(queries: np.ndarray[Any, Any], stored: np.ndarray[Any, Any]) -> Any:  # noqa: ANN401
    """Search by one matrix product for each hundred queries and a partial sort."""
    scores, rows = [], []
    for some in np.array_split(queries, max(1, len(queries) // 100)):
        every = some @ stored.T
        top = np.argpartition(every, -DEPTH, axis=1)[:, -DEPTH:]
        best = np.take_along_axis(every, top, 1)
        order = np.argsort(-best, axis=1)
        scores.append(np.take_along_axis(best, order, 1))
        rows.append(np.take_along_axis(top, order, 1))
    return np.concatenate(scores), np.concatenate(rows)


def spent(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return the processor and wall seconds that `work` took, and what it returned."""
    start, wall = time.process_time(), time.perf_counter()
    found = work()
    return time.process_time() - start, time.perf_counter() - wall, found


def compared(documents: int, queries: int) -> Timing:
    """Time the three in turns; return the median seconds of each."""
    stored, asked = unit(documents, 1), unit(queries, 2)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "shard.npy", stored)
        shards, every = VectorShards([Path(folder) / "shard.npy"]), np.arange(documents)
        flat = faiss.IndexFlatIP(DIM)
        flat.add(stored)
        tools = {
            FAISS: lambda: flat.search(asked, DEPTH),
            OURS: lambda: top_k(asked, shards, every, DEPTH, MEMORY_MB, device="cpu"),
            "numpy": lambda: by_numpy(asked, stored),
        }
        rounds = [{tool: spent(work) for tool, work in tools.items()} for _ in range(ROUNDS)]
        on_gpu = gpu_s(shards, asked, rounds[0][OURS][2])
    first = rounds[0][FAISS]
    for tool in tools:
        scores, rows = rounds[0][tool][2]
        assert np.abs(scores - first[2][0]).max() < TOLERANCE, tool
        apart = rows != first[2][1]
        assert np.abs(first[2][0] - scores)[apart].max(initial=0) < TOLERANCE, tool
        assert apart.mean() < TOLERANCE * DEPTH, tool
    timed = {
        tool: {
            "cpu_s": median(r[tool][0] for r in rounds),
            "wall_s": median(r[tool][1] for r in rounds),
        }
        for tool in tools
    }
    return {**timed, "gpu_s": on_gpu}


def gpu_s(shards: VectorShards, asked: np.ndarray[Any, Any], wanted: Any) -> float | None:  # noqa: ANN401
    """Return isotope's median wall seconds on the GPU for the same bits; None without a GPU."""
    import torch  # noqa: PLC0415

    if not torch.cuda.is_available():
        return None
    every, seconds = np.arange(shards.starts[-1]), list[float]()
    for _ in range(1 + ROUNDS):
        _, wall_s, (scores, rows) = spent(
            lambda: top_k(asked, shards, every, DEPTH, MEMORY_MB, device="cuda")
        )
        assert scores.tobytes() == wanted[0].tobytes()
        assert (rows == wanted[1]).all()
        seconds.append(wall_s)
    return median(seconds[1:])


def made(folder: Path, rows: int) -> list[Path]:
    """Write half-precision shards: one random block, its columns turned each time."""
    block = unit(50_000, 3).astype(np.float16)
    paths = [folder / f"shard-{n}.npy" for n in range(SHARDS)]
    for n, path in enumerate(paths):
        size = rows // SHARDS
        head = {"descr": "<f2", "fortran_order": False, "shape": (size, DIM)}
        with path.open("wb") as file:
            np.lib.format.write_array_header_1_0(file, head)
            for i, start in enumerate(range(0, size, len(block))):
                turned = np.roll(block, n * (size // len(block) + 1) + i, axis=1)
                turned[: size - start].tofile(file)
    return paths


def searched(paths: list[Path], rows: int) -> Timing:
    """Search the shards; the vectors of some documents ask, so each must find itself first."""
    shards, places = VectorShards(paths), np.linspace(0, rows - 1, FEW).astype(np.int64)
    asked = shards.take(places)
    cpu_s, wall_s, (_, found) = spent(
        lambda: top_k(asked, shards, np.arange(rows), DEEP, MEMORY_MB, device="cpu")
    )
    assert (found[:, 0] == places).all()
    return {"search_cpu_s": cpu_s, "wall_s": wall_s}


def main(
    documents: int = 200_000, queries: int = 1_000, millions: int = 10, folder: str | None = None
) -> None:
    """Compare, measure the memory, and report."""
    found = alone(compared, documents, queries)
    given = f"{queries:,} queries for {DEPTH} of {documents:,} vectors of {DIM} components"
    timed = {tool: found[tool] for tool in (OURS, FAISS, "numpy")}
    ours, theirs, slow = (told["cpu_s"] for told in timed.values())
    claims = [
        Claim("search", given, FAISS, ours, theirs, AT_LEAST, unit="CPU s"),
        Claim("search", given, "numpy", ours, slow, None, unit="CPU s"),
    ]
    lines = ["# Dense search, beside FAISS and numpy", "", verdicts(claims).rstrip()]
    clock = ", ".join(f"{tool} {told['wall_s']:.2f} s" for tool, told in timed.items())
    lines += ["", f"By the clock: {clock}."]
    if found["gpu_s"] is not None:
        rate = queries / found["gpu_s"]
        lines[-1] += f" isotope on the GPU: {found['gpu_s']:.3f} s, {rate:,.0f} queries a second."
    print("\n".join(lines), file=sys.stderr, flush=True)
    rows = millions * MILLION
    with tempfile.TemporaryDirectory(dir=folder) as place:
        paths = made(Path(place), rows)
        size = sum(path.stat().st_size for path in paths)
        deep = alone(searched, paths, rows)
    assert deep["peak_gib"] < LIMIT_GIB, deep
    lines += [
        "",
        f"{queries:,} queries for {DEPTH} of {documents:,} random unit vectors of {DIM} components,"
        f" single precision; medians of {ROUNDS} rounds in which the tools take turns. isotope maps"
        f" the file and holds {MEMORY_MB} MiB, the others hold all vectors. The three give the same"
        " documents; where two scores differ by less than single precision tells, isotope's order"
        " is by document.",
        "",
        "## In bounded memory",
        "",
        f"{FEW} queries for {DEEP:,} of {rows:,} vectors of {DIM} components, half precision,"
        f" {size / 1e9:.1f} GB in {SHARDS} files: {deep['wall_s']:.0f} s,"
        f" {deep['search_cpu_s']:.0f} s of the processor, peak memory of the process"
        f" {deep['peak_gib']:.2f} GiB, mapped pages included. Every query, itself one of the"
        " documents, found itself first.",
        "",
        machine(["faiss-cpu", "numpy"]),
    ]
    write("dense", "\n".join(lines), claims)


if __name__ == "__main__":
    numbers, place = [int(word) for word in sys.argv[1:4]], sys.argv[4:5]
    main(*numbers, folder=place[0] if place else None)
