"""Indexes of FAISS that look at some vectors only, and how much of the exact answer they find."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt

from isotope.core.errors import BadParams
from isotope.core.exact import Encoded, Rows, Shards, Vectors
from isotope.core.progress import Progress, log
from isotope.core.store import aside

_BLOCK = 65_536
# FAISS asks for 39 vectors to place a centroid and uses no more than 256.
_LEAST, _MOST = 39, 256
DEFAULTS = {"lists": 4096, "probes": 64, "links": 32, "width": 200, "sample": 200, "codes": 64}
_BITS = 8


def build(shards: Shards, rows: Rows, spec: Mapping[str, Any]) -> Any:  # noqa: ANN401
    """Index the vectors of `rows` for inner products, by the `method` of a system's params.

    `ivf` (Sivic and Zisserman, 2003; Jégou et al., 2011) cuts the space into `lists` cells, fewer
    where vectors are few, and visits `probes` of them; `ivfpq` (Jégou et al., 2011) keeps `codes`
    bytes of each vector there, by product quantisation; `hnsw` (Malkov and Yashunin, 2016) is a
    graph of `links` neighbours, searched with a front of `width`. Same input, same index: the
    graph is built by one thread.

    Raises:
        BadParams: another method.
    """
    given = {**DEFAULTS, **spec}
    if spec["method"] == "hnsw":
        index = faiss.IndexHNSWFlat(shards.dim, given["links"], faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = given["width"]
        with _threads(1):
            _add(index, shards, rows)
        return index
    if spec["method"] not in ("ivf", "ivfpq"):
        raise BadParams("systems", f"no method {spec['method']!r}", "use ivf, ivfpq or hnsw")
    lists = max(1, min(given["lists"], len(rows) // _LEAST))
    index = _cells(shards.dim, lists, given, len(rows))
    wanted = _MOST * (lists if spec["method"] == "ivf" else max(lists, 1 << _BITS))
    some = rows[:: max(1, len(rows) // wanted)]
    index.train(shards.take(np.resize(some, max(2, len(some)))))
    _add(index, shards, rows)
    log.info("%d vectors in %d lists", len(rows), lists)
    return index


def _cells(dim: int, lists: int, given: Mapping[str, Any], rows: int) -> Any:  # noqa: ANN401
    cells = faiss.IndexFlatIP(dim)
    if given["method"] == "ivf":
        index = faiss.IndexIVFFlat(cells, dim, lists, faiss.METRIC_INNER_PRODUCT)
    else:
        codes = max(n for n in range(1, min(given["codes"], dim) + 1) if dim % n == 0)
        bits = int(np.clip(np.log2(max(rows // _LEAST, 2)), 1, _BITS))
        index = faiss.IndexIVFPQ(cells, dim, lists, codes, bits, faiss.METRIC_INNER_PRODUCT)
        index.pq.cp.min_points_per_centroid = 1
    index.cp.min_points_per_centroid = 1
    return index


def _add(index: Any, shards: Shards, rows: Rows) -> None:  # noqa: ANN401
    progress = Progress("vectors indexed", len(rows))
    for start in range(0, len(rows), _BLOCK):
        block = rows[start : start + _BLOCK]
        index.add(shards.take(block))
        progress.add(len(block))
    progress.finish()


@contextmanager
def _threads(n: int) -> Iterator[None]:
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(n)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)


def index_approximate(
    encoded: Mapping[str, Sequence[Path]], folders: Sequence[Path], spec: Mapping[str, Any]
) -> None:
    """Put `<side>.faiss` beside each `<side>.npy` that `index.index_dense` wrote in the folders.

    Raises:
        BadParams: see `build`.
    """
    vectors = Encoded(encoded)
    for rows_file in sorted(path for folder in folders for path in folder.glob("*/*.npy")):
        rows = np.load(rows_file)
        if len(rows):
            with aside(rows_file.with_suffix(".faiss")) as part:
                faiss.write_index(build(vectors.shards[rows_file.stem], rows, spec), str(part))


def nearest(
    index: Any,  # noqa: ANN401
    queries: Vectors,
    rows: Rows,
    k: int,
    spec: Mapping[str, Any],
) -> tuple[npt.NDArray[np.float32], Rows]:
    """Return scores and rows, both [queries, k'], of k' = min(k, len(rows)); row -1 is none."""
    given, k = {**DEFAULTS, **spec}, min(k, len(rows))
    if spec["method"] == "hnsw":
        index.hnsw.efSearch = max(given["width"], k)
    else:
        index.nprobe = given["probes"]
    scores, local = index.search(queries, k)
    return scores, np.where(local < 0, -1, rows[local])


def recall_at(k: int, found: Rows, exact: Rows) -> float:
    """Return the share of the exact first k that are among the first k found; rows [queries, n]."""
    k = min(k, exact.shape[1])
    pairs = zip(found[:, :k], exact[:, :k], strict=True)
    return float(np.mean([len(np.intersect1d(f, e)) / k for f, e in pairs]))
