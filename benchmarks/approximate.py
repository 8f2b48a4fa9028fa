"""Approximate search against exact search: what it saves, and how much of the answer it keeps."""

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import faiss
import numpy as np
from common import ELSEWHERE, Timing, alone, machine, write

from isotope.core.exact import VectorShards, top_k
from isotope.index import dense
from isotope.search.approximate import nearest, recall_at
from isotope.search.kinds.approximate import Approximate

DIM, CENTRES, SPREAD, QUERIES, DEPTH = 256, 2_000, 0.7, 200, 100
MEMORY_MB = 512
SETTINGS = [
    *({"method": "ivf", "lists": 1024, "probes": p} for p in (1, 8, 64)),
    *({"method": "hnsw", "links": 32, "width": w} for w in (100, 200)),
]


def vectors(rows: int, seed: int) -> np.ndarray[Any, Any]:
    """Return unit vectors around some centres, as those of entities lie by kind."""
    random = np.random.default_rng(seed)
    centres = np.random.default_rng(0).normal(size=(CENTRES, DIM)).astype(np.float32)
    noise = random.normal(size=(rows, DIM)).astype(np.float32)
    block = centres[random.integers(0, CENTRES, rows)] + SPREAD * noise
    return block / np.linalg.norm(block, axis=1, keepdims=True)


def spent(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the processor seconds that `work` took, and what it returned."""
    start = time.process_time()
    found = work()
    return time.process_time() - start, found


def compared(rows: int, spec: dict[str, Any]) -> Timing:
    """Time one way of searching `rows` documents beside the exact one, on one thread."""
    spec = {**Approximate.defaults(), **spec}
    method = dense.Method(**{key: spec[key] for key in dense.Method._fields})
    own = Approximate.of_spec({"kind": "approximate", "model": "m", **spec})
    faiss.omp_set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "shard.npy", vectors(rows, 1))
        shards, every, asked = (
            VectorShards([Path(folder) / "shard.npy"]),
            np.arange(rows),
            vectors(QUERIES, 2),
        )
        exact_s, (_, exact) = spent(lambda: top_k(asked, shards, every, DEPTH, MEMORY_MB))
        build_s, index = spent(lambda: dense.build(shards, every, method))
        near_s, (_, near) = spent(lambda: nearest(index, asked, every, DEPTH, own))
    shares = {k: recall_at(k, near, exact) for k in (1, 10, DEPTH)}
    return {"exact": exact_s, "build": build_s, "near": near_s, "recall": shares}


def main(ivf: int = 200_000, hnsw: int = 30_000) -> None:
    """Compare every setting, and report."""
    lines = [
        "# Approximate search",
        "",
        "| index | documents | build, s | ms a query | exact, ms a query | recall@1 | @10 | @100 |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for spec in SETTINGS:
        rows = ivf if spec["method"] == "ivf" else hnsw
        found = alone(compared, rows, spec)
        assert ELSEWHERE or found["near"] < found["exact"], found
        named = ", ".join(f"{k} {v}" for k, v in spec.items() if k != "method")
        told = [f"{1000 * found[k] / QUERIES:.2f}" for k in ("near", "exact")]
        told += [f"{share:.3f}" for share in found["recall"].values()]
        start = f"| {spec['method']}: {named} | {rows:,} | {found['build']:.1f} | "
        lines.append(start + " | ".join(told) + " |")
        print(lines[-1], file=sys.stderr, flush=True)
    lines += [
        "",
        f"{QUERIES} queries for {DEPTH} documents of {DIM} components, one thread, processor time;"
        f" random vectors around {CENTRES:,} centres.",
        "",
        machine(["faiss-cpu", "numpy"]),
    ]
    write("approximate", "\n".join(lines))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
