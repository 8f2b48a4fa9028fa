"""Exact inner-product search over memory-mapped vector shards, in bounded memory.

The answer is a function of the vectors alone: every hit's score is computed pair by pair in one
way, and equal scores are told apart by the row, so neither blocks, shards, threads nor the device
that looks for candidates can change it.
"""

import mmap
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt
import polars as pl
from numpy.typing import NDArray

from isotope.core.errors import BadParams, CorruptFile
from isotope.core.grid import SIDES, RunKey, query_ids
from isotope.core.progress import Progress
from isotope.core.vectors import AGAIN, data_at, opened

Vectors = NDArray[np.float32]
Nearest = tuple[NDArray[np.float32], NDArray[np.int64]]
# Queries and k to scores and places in the block, both [queries, k], in no order.
Ask = Callable[[Vectors, int], Nearest]
Seek = Callable[[Vectors], Ask]
_SCORES = 1 << 28


def seeker(device: str) -> Seek:
    """Return what takes a block of documents and looks for its nearest ones to queries.

    `cpu` is FAISS; any other name is a device of torch's, `torch-cpu` its processor; `auto` is the
    GPU where torch sees one, else FAISS.

    Raises:
        BadParams: a device that is not there.
    """
    if device == "auto":
        device = "cuda" if _driver() and _torch().cuda.is_available() else "cpu"
    if device == "cpu":
        return by_faiss
    torch = _torch()
    try:
        target = torch.device(device.removeprefix("torch-"))
        torch.empty(1, device=target)
    except (AssertionError, RuntimeError) as error:
        raise BadParams("search.device", f"no device {device!r}", "use auto or cpu") from error
    return lambda documents: by_torch(documents, target)


def by_faiss(documents: Vectors) -> Ask:
    """Search by the blocked matrix products of FAISS."""

    def ask(queries: Vectors, k: int) -> Nearest:
        return faiss.knn(queries, documents, k, metric=faiss.METRIC_INNER_PRODUCT)

    return ask


def by_torch(documents: Vectors, device: Any) -> Ask:  # noqa: ANN401
    """Search by torch on one of its devices, which holds the block until the last query."""
    torch = _torch()
    on_device = torch.tensor(documents, device=device).T
    size = max(1, _SCORES // max(1, len(documents)))

    def ask(queries: Vectors, k: int) -> Nearest:
        vectors = torch.from_numpy(np.ascontiguousarray(queries))
        with _in_single_precision(torch):
            tops = [
                torch.topk(part.to(device) @ on_device, k, sorted=False)
                for part in vectors.split(size)
            ]
        scores, places = (torch.cat(parts).cpu().numpy() for parts in zip(*tops, strict=True))
        return scores, places

    return ask


@contextmanager
def _in_single_precision(torch: Any) -> Iterator[None]:  # noqa: ANN401
    """Multiply in single precision whatever the program has chosen for products on a GPU.

    TensorFloat-32 keeps 10 bits of a factor: its error is beyond the one that `improve` allows for.
    """
    products = torch.backends.cuda.matmul
    chosen, products.fp32_precision = products.fp32_precision, "ieee"
    try:
        yield
    finally:
        products.fp32_precision = chosen


def _driver() -> bool:
    """Tell whether an NVIDIA driver is loaded; torch takes seconds to report that none is."""
    return any(Path("/dev").glob("nvidia[0-9]*"))


def _torch() -> Any:  # noqa: ANN401
    # By name: a GPU, or a device that the params name, needs it, and no search does.
    return import_module("torch")


Keys = NDArray[np.uint64]
_SIGN = np.uint32(1 << 31)
_ROW_BITS = np.uint64(32)
_ROW = np.uint64((1 << 32) - 1)


def keys_of(scores: NDArray[np.float32], rows: NDArray[np.int64]) -> Keys:
    """Return keys of float32 scores and rows below 2**32; they sort by score, then by row.

    The bits of a positive float grow with it, those of a negative one shrink (IEEE 754, 5.10).
    """
    bits = (scores + np.float32(0)).view(np.uint32)
    ordered = np.where(bits & _SIGN, ~bits, bits | _SIGN)
    return (ordered.astype(np.uint64) << _ROW_BITS) | rows.astype(np.uint64)


def decoded(keys: Keys) -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """Return the scores and rows of keys; key 0, which no score has, gives NaN."""
    ordered = (keys >> _ROW_BITS).astype(np.uint32)
    bits = np.where(ordered & _SIGN, ordered & ~_SIGN, ~ordered)
    return bits.view(np.float32), (keys & _ROW).astype(np.int64)


def largest(keys: Keys, k: int) -> Keys:
    """Return the k largest keys of each row, the largest first."""
    top = np.partition(keys, keys.shape[1] - k, axis=1)[:, keys.shape[1] - k :]
    top.sort(axis=1)
    return np.ascontiguousarray(top[:, ::-1])


Rows = NDArray[np.int64]
_FAISS: Any = faiss
_MB = 1 << 20
_QUERIES = 4_096
_WORKERS = min(8, os.cpu_count() or 1)
_LIMIT = 1 << 32
# Candidates beyond k; where these do not prove the answer complete, twice as many are looked at.
_SPARE, _SPARE_SHARE = 16, 16
_ROUNDING = 2.0**-24


class VectorShards:
    """Vector shards as one array; only requested rows are read."""

    def __init__(self, paths: Sequence[Path]) -> None:
        """Map the files; every shard is float32 or float16 [rows, dim] with the same dim."""
        self._paths = list(paths)
        mapped = [opened(path) for path in paths]
        self.parts: list[NDArray[np.floating]] = [part for part, _ in mapped]
        self._sums = [sums for _, sums in mapped]
        self.starts = np.cumsum([0, *(len(p) for p in self.parts)])
        self.dim = int(self.parts[0].shape[1])
        self.row_bytes = self.dim * self.parts[0].itemsize

    @contextmanager
    def block(self, rows: Rows) -> Iterator[Vectors]:
        """Yield what `take` returns: the mapped file itself where it can serve, until the end."""
        n = int(np.searchsorted(self.starts, rows[0], side="right") - 1)
        part, last = self.parts[n], int(rows[-1] - self.starts[n])
        if part.dtype != np.float32 or last >= len(part) or not _is_run(rows):
            yield self.take(rows)
            return
        self._demand(n, rows)
        yield np.asarray(part[last + 1 - len(rows) : last + 1])
        _forget(part)

    def take(self, rows: Rows) -> Vectors:
        """Return float32 [len(rows), dim] in the order of `rows`; no page stays mapped.

        Raises:
            CorruptFile: bytes of these rows that are not those that were written.
        """
        out = np.empty((len(rows), self.dim), np.float32)
        part = np.searchsorted(self.starts, rows, side="right") - 1
        for n in np.unique(part):
            positions = np.flatnonzero(part == n)
            self._demand(int(n), rows[positions])
            _copy(self.parts[n], rows[positions] - self.starts[n], out, positions)
            _forget(self.parts[n])
        if not np.isfinite(out.sum(dtype=np.float64)):
            self.refuse(out, rows)
        return out

    def refuse(self, vectors: Vectors, rows: Rows) -> None:
        """Name the first of the vectors of these rows that no search can answer.

        Raises:
            CorruptFile: with its file and row.
        """
        lengths = np.linalg.norm(vectors, axis=1)
        bad = rows[~np.isfinite(lengths)]
        if len(bad):
            n = int(np.searchsorted(self.starts, bad[0], side="right") - 1)
            where = f"{self._paths[n]}, row {bad[0] - self.starts[n]}"
            problem = f"a vector whose length is NaN or infinite, one of {len(bad):,}"
            raise CorruptFile(where, problem, AGAIN)

    def _demand(self, n: int, rows: Rows) -> None:
        """Compare the bytes of rows of a part with their sums."""
        starts = data_at(self.parts[n]) + (rows - self.starts[n]) * self.row_bytes
        self._sums[n].demand(starts, self.row_bytes)


def _copy(part: NDArray[np.floating], rows: Rows, out: Vectors, positions: Rows) -> None:
    """Copy rows of a part to places of `out`, as slices where both are runs of neighbours."""
    if _is_run(rows) and _is_run(positions):
        out[positions[0] : positions[-1] + 1] = part[rows[0] : rows[-1] + 1]
    else:
        out[positions] = part[rows]


def _is_run(rows: Rows) -> bool:
    return bool(rows[-1] - rows[0] + 1 == len(rows) and (np.diff(rows) == 1).all())


def _forget(part: NDArray[np.floating]) -> None:
    """Give mapped pages back: they would count as this process's memory until it ends."""
    if isinstance(part.base, mmap.mmap):
        part.base.madvise(mmap.MADV_DONTNEED)


def top_k(  # noqa: PLR0913
    queries: Vectors,
    shards: VectorShards,
    rows: Rows,
    k: int,
    memory_mb: int,
    *,
    device: str = "auto",
) -> tuple[NDArray[np.float32], Rows]:
    """Return scores and rows, both [queries, k'], of the k' = min(k, len(rows)) best documents.

    Of equal scores the greater row comes first: ids are sorted, and trec_eval prefers the last.
    Documents pass through once, in blocks, so that vectors and candidates hold about `memory_mb`
    MiB beside the answer (12 bytes a hit). `device` is torch's name of one, `cpu` for FAISS, or
    `auto`: the GPU where there is one.

    Raises:
        BadParams: more than 2**32 rows, or a device that is not there.
        CorruptFile: a document's vector, or a query's, with a component that is NaN or infinite.
    """
    if not np.isfinite(queries.sum(dtype=np.float64)):
        bad = int(np.flatnonzero(~np.isfinite(queries).all(axis=1))[0])
        raise CorruptFile(f"query {bad}", "its vector is NaN or infinite", AGAIN)
    if shards.starts[-1] > _LIMIT:
        raise BadParams("exact search", f"{shards.starts[-1]:,} vectors", "search in several pools")
    k = min(k, len(rows))
    best = np.zeros((len(queries), k), np.uint64)
    progress = Progress("query-document pairs", len(queries) * len(rows))
    seek = seeker(device)
    # FAISS has threads itself; beside a GPU, one thread would sort what it finds for minutes.
    workers = 1 if seek is by_faiss else _WORKERS
    groups = list(_groups(len(queries), k, memory_mb // workers))
    with ThreadPoolExecutor(workers) as pool:
        for block in _blocks(rows, max(memory_mb * _MB // 2 // (4 * shards.dim), k, 1)):
            with shards.block(block) as documents:
                search = _Block(documents, block, seek(documents))
                if not np.isfinite(search.norm):
                    shards.refuse(documents, block)

                def improve(group: slice, searched: _Block = search) -> int:
                    searched.improve(queries[group], best[group])
                    return len(best[group])

                for count in pool.map(improve, groups):
                    progress.add(count * len(block))
    progress.finish()
    return decoded(best)


def _blocks(rows: Rows, size: int) -> Iterator[Rows]:
    for start in range(0, len(rows), size):
        yield rows[start : start + size]


def _groups(queries: int, k: int, memory_mb: int) -> Iterator[slice]:
    bytes_per_query = 4 * 12 * (k + _SPARE + k // _SPARE_SHARE)
    size = int(np.clip(memory_mb * _MB // 2 // bytes_per_query, 1, _QUERIES))
    for start in range(0, queries, size):
        yield slice(start, start + size)


class _Block:
    """Some documents, and what looks for candidates among them."""

    def __init__(self, documents: Vectors, rows: Rows, ask: Ask) -> None:
        self.documents, self.rows, self.ask = documents, rows, ask
        norms = np.empty(len(documents), np.float32)
        pointers = map(faiss.swig_ptr, (norms, documents))
        _FAISS.fvec_norms_L2sqr(*pointers, *documents.shape[::-1])
        self.norm = float(np.sqrt(norms.max()))

    def improve(self, queries: Vectors, best: Keys) -> None:
        """Put this block's hits among the best ones of each query, [queries, k], best first.

        A document is passed over only where its true score, within the error that any order of
        summation can make (Higham, Accuracy and Stability of Numerical Algorithms, section 3.1), is
        below the k-th.
        """
        k, dim = best.shape[1], queries.shape[1]
        error = 2 * dim * _ROUNDING / (1 - dim * _ROUNDING) * self.norm
        slack = error * np.linalg.norm(queries.astype(np.float64), axis=1)[:, None]
        left = np.arange(len(queries))
        count = min(k + _SPARE + k // _SPARE_SHARE, len(self.rows))
        while len(left):
            near, places = self.ask(queries[left], count)
            most = near + slack[left]
            hopeless = most < decoded(best[left, -1:])[0]
            keys = self._exact(queries[left], np.where(hopeless, -1, places))
            merged = largest(np.hstack([best[left], keys]), k)
            sure = decoded(merged[:, -1])[0] > most.min(axis=1)
            done = sure | (count == len(self.rows))
            best[left[done]] = merged[done]
            left, count = left[~done], min(2 * count, len(self.rows))

    def _exact(self, queries: Vectors, places: Rows) -> Keys:
        """Return the keys of documents at `places`, [queries, n]; -1 scores minus infinity."""
        scores = np.empty(places.shape, np.float32)
        queries = np.ascontiguousarray(queries)
        pointers = map(faiss.swig_ptr, (scores, queries, self.documents, places))
        _FAISS.fvec_inner_products_by_idx(*pointers, queries.shape[1], *places.shape)
        return keys_of(scores, self.rows[places])


class Encoded:
    """The shards of vectors (texts, images) and of their ids (texts_ids, images_ids)."""

    def __init__(self, files: Mapping[str, Sequence[Path]]) -> None:
        """Map the vectors and read the ids."""
        self.shards = {side: VectorShards(files[side]) for side in SIDES}
        self.ids = {
            side: pl.concat([pl.read_parquet(p, glob=False) for p in files[f"{side}_ids"]])["id"]
            for side in SIDES
        }

    def queries(self, qrels: Path, cell: RunKey) -> tuple[pl.Series, Vectors]:
        """Return the ids of the cell's queries and their vectors, float32 [queries, dim]."""
        ids, rows = self.asked(qrels, cell)
        return ids, self.shards[cell.query_side].take(rows)

    def asked(self, qrels: Path, cell: RunKey) -> tuple[pl.Series, Rows]:
        """Return the ids of the cell's queries and their rows in the shards of their side."""
        ids = pl.DataFrame({"id": query_ids(qrels, cell)}, schema={"id": pl.String})
        places = pl.DataFrame({"id": self.ids[cell.query_side]}).with_row_index("row")
        at = ids.join(places, on="id", maintain_order="left")
        return at["id"], at["row"].cast(pl.Int64).to_numpy()

    def hits(
        self, cell: RunKey, queries: pl.Series, scores: npt.NDArray[np.float32], rows: Rows
    ) -> pl.DataFrame:
        """Return query_id, doc_id and score for scores and rows [queries, k]; row -1 is none."""
        flat, width = rows.ravel(), rows.shape[1]
        is_hit = flat >= 0
        return pl.DataFrame(
            {
                "query_id": queries.gather(np.repeat(np.arange(len(queries)), width)[is_hit]),
                "doc_id": self.ids[cell.document_side].gather(flat[is_hit]),
                "score": scores.ravel()[is_hit].astype(np.float64),
            }
        )
