"""Indexes over vectors: row numbers of the encoded shards for exact search, FAISS beside them.

`index_dense` says which rows of a model's shards each pool has. An approximate system has the same
rows, and for each of them an index of FAISS that compares a query with some vectors only.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import faiss
import numpy as np
import polars as pl

from isotope.core import crc
from isotope.core.exact import Rows, VectorShards
from isotope.core.grid import SIDES, id_column, pool_splits
from isotope.core.progress import Progress, log
from isotope.core.store import aside
from isotope.core.vectors import read_sealed
from isotope.index.bm25 import filled, pools_of

_BLOCK = 65_536
# FAISS asks for 39 vectors to place a centroid and uses no more than 256.
_LEAST, _MOST = 39, 256
_BITS = 8


class Method(NamedTuple):
    """How FAISS indexes vectors, by the keys of a system of kind `approximate`.

    `codes` are the bytes that ivfpq stores of a vector at most; the largest number that divides its
    components is used. `links` are the neighbours in the graph of hnsw, as FAISS has them.
    """

    method: str
    lists: int
    width: int
    codes: int = 64
    links: int = 32


def index_dense(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    text_ids: Sequence[Path],
    image_ids: Sequence[Path],
    folders: Sequence[Path],
    splits: Sequence[str],
) -> None:
    """Fill each folder with `<pool>/<side>.npy`: int64 rows of the encoded shards in that pool."""
    tables, shards = {"texts": texts, "images": images}, {"texts": text_ids, "images": image_ids}
    with filled(folders) as parts:
        for side in SIDES:
            key = id_column(side)
            encoded = pl.concat(
                [pl.read_parquet(p, glob=False) for p in shards[side]]
            ).with_row_index("row")
            table = pl.read_parquet(tables[side], columns=[key, "split"], glob=False)
            rows = encoded.join(
                table, left_on="id", right_on=key, how="inner", maintain_order="left"
            )
            for setting, pool, part in pools_of(parts, splits):
                rows_of_pool = rows.filter(pl.col("split").is_in(pool_splits(setting, pool)))["row"]
                np.save(part / pool / f"{side}.npy", rows_of_pool.cast(pl.Int64).to_numpy())
                crc.seal(part / pool / f"{side}.npy")


def index_approximate(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    text_vectors: Sequence[Path],
    image_vectors: Sequence[Path],
    text_ids: Sequence[Path],
    image_ids: Sequence[Path],
    folders: Sequence[Path],
    splits: Sequence[str],
    method: str,
    lists: int,
    width: int,
) -> None:
    """Fill each folder as `index_dense` does, with `<side>.faiss` beside each `<side>.npy`.

    The other arguments are those of `Method`.
    """
    ids: dict[str, Any] = {"text_ids": text_ids, "image_ids": image_ids}
    index_dense(texts=texts, images=images, **ids, folders=folders, splits=splits)
    spec = Method(method, lists, width)
    write_approximate({"texts": text_vectors, "images": image_vectors}, folders, spec)


def write_approximate(
    vectors: Mapping[str, Sequence[Path]], folders: Sequence[Path], spec: Method
) -> None:
    """Put `<side>.faiss` beside each `<side>.npy` of the folders that has rows."""
    shards = {side: VectorShards(vectors[side]) for side in SIDES}
    for rows_file in sorted(path for folder in folders for path in folder.glob("*/*.npy")):
        rows = read_sealed(rows_file)
        if len(rows):
            with aside(rows_file.with_suffix(".faiss")) as part:
                faiss.write_index(build(shards[rows_file.stem], rows, spec), str(part))
                crc.seal(part)


def build(shards: VectorShards, rows: Rows, spec: Method) -> Any:  # noqa: ANN401
    """Index the vectors of `rows` for inner products, by the `method` of a system's params.

    `ivf` (Sivic and Zisserman, 2003; Jégou et al., 2011) cuts the space into `lists` cells, fewer
    where vectors are few, and visits `probes` of them; `ivfpq` (Jégou et al., 2011) keeps `codes`
    bytes of each vector there, by product quantisation; `hnsw` (Malkov and Yashunin, 2016) is a
    graph of `links` neighbours, searched with a front of `width`. Same input, same index: the
    graph is built by one thread.
    """
    if spec.method == "hnsw":
        index = faiss.IndexHNSWFlat(shards.dim, spec.links, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction = spec.width
        with _threads(1):
            _add(index, shards, rows)
        return index
    lists = max(1, min(spec.lists, len(rows) // _LEAST))
    index = _cells(shards.dim, lists, spec, len(rows))
    enough = _MOST * (lists if spec.method == "ivf" else max(lists, 1 << _BITS))
    some = rows[:: max(1, len(rows) // enough)]
    index.train(shards.take(np.resize(some, max(2, len(some)))))
    _add(index, shards, rows)
    log.info("%d vectors in %d lists", len(rows), lists)
    return index


def _cells(dim: int, lists: int, spec: Method, rows: int) -> Any:  # noqa: ANN401
    cells = faiss.IndexFlatIP(dim)
    if spec.method == "ivf":
        index = faiss.IndexIVFFlat(cells, dim, lists, faiss.METRIC_INNER_PRODUCT)
    else:
        codes = max(n for n in range(1, min(spec.codes, dim) + 1) if dim % n == 0)
        bits = int(np.clip(np.log2(max(rows // _LEAST, 2)), 1, _BITS))
        index = faiss.IndexIVFPQ(cells, dim, lists, codes, bits, faiss.METRIC_INNER_PRODUCT)
        index.pq.cp.min_points_per_centroid = 1
    index.cp.min_points_per_centroid = 1
    return index


def _add(index: Any, shards: VectorShards, rows: Rows) -> None:  # noqa: ANN401
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
