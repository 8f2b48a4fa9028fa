"""Dense systems that search an index of FAISS, each with the recall it was measured to have."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import faiss
import numpy as np
import numpy.typing as npt
import polars as pl

from isotope.core import crc
from isotope.core.errors import MissingFile
from isotope.core.exact import Encoded, Rows, Vectors, top_k
from isotope.core.grid import RunKey
from isotope.core.runs import empty
from isotope.core.store import aside
from isotope.core.vectors import read_sealed
from isotope.search.kinds.approximate import Approximate
from isotope.search.systems import fill

COLUMNS = (
    *("collection", "system", "setting", "split", "task"),
    *("documents", "bytes", "flat_bytes", "queries", "k", "recall"),
)
_CUTS = (1, 10, 100, 1000)
# Queries of each cell that are also searched exactly, to measure the recall.
_SAMPLE = 200


def search_approximate(  # noqa: PLR0913
    *,
    qrels: Path,
    encoded: Mapping[str, Sequence[Path]],
    indexes: Sequence[Path],
    runs: Sequence[Path],
    recall: Path,
    spec: Approximate,
    collection: str,
    system: str,
    depth: int,
    memory_mb: int,
    device: str = "auto",
) -> None:
    """Search the indexes of `index_approximate`; check some queries a cell by `exact.top_k`.

    `recall` gets a CSV of COLUMNS: the share of the exact first k, k from 1 to 1,000, that is among
    the first k of the index, the mean over these queries; the bytes of the index in memory, and
    those of the vectors that it stands for.

    Raises:
        MissingFile: an index that is not there.
        CorruptFile: vectors or an index with other bytes than were written.
    """
    vectors, lines = Encoded(encoded), list[dict[str, object]]()
    folders = {folder.parts[-2]: folder for folder in indexes}

    def answer(cell: RunKey) -> pl.DataFrame:
        index_file = folders[cell.setting] / cell.pool / f"{cell.document_side}.faiss"
        rows = read_sealed(index_file.with_suffix(".npy"))
        ids, queries = vectors.queries(qrels, cell)
        if not len(ids) or not len(rows):
            return empty()
        scores, hits = nearest(_read(index_file), queries, rows, depth, spec)
        some = _sample(len(ids), _SAMPLE)
        documents = vectors.shards[cell.document_side]
        _, exact = top_k(queries[some], documents, rows, depth, memory_mb, device=device)
        labels = {"collection": collection, "system": system}
        labels |= {"setting": cell.setting, "split": cell.split, "task": cell.task}
        sizes = {"bytes": index_file.stat().st_size, "flat_bytes": len(rows) * documents.row_bytes}
        counts = {"documents": len(rows), **sizes, "queries": len(some)}
        # A split may be searched twice, for its judged queries and for all.
        is_noted = any(labels.items() <= line.items() for line in lines)
        for k in (k for k in _CUTS if not is_noted and k <= min(depth, len(rows))):
            share = recall_at(k, hits[some], exact)
            lines.append({**labels, **counts, "k": k, "recall": f"{share:.6f}"})
        return vectors.hits(cell, ids, scores, hits)

    fill(runs, answer)
    _write(lines, recall)


def nearest(
    index: Any,  # noqa: ANN401
    queries: Vectors,
    rows: Rows,
    k: int,
    spec: Approximate,
) -> tuple[npt.NDArray[np.float32], Rows]:
    """Return scores and rows, both [queries, k'], of k' = min(k, len(rows)); row -1 is none."""
    k = min(k, len(rows))
    if spec.method == "hnsw":
        index.hnsw.efSearch = max(spec.width, k)
    else:
        index.nprobe = spec.probes
    scores, local = index.search(queries, k)
    return scores, np.where(local < 0, -1, rows[local])


def recall_at(k: int, approximate: Rows, exact: Rows) -> float:
    """Return the share of the exact first k that are among the first k found; rows [queries, n]."""
    k = min(k, exact.shape[1])
    pairs = zip(approximate[:, :k], exact[:, :k], strict=True)
    return float(np.mean([len(np.intersect1d(f, e)) / k for f, e in pairs]))


def _read(index_file: Path) -> Any:  # noqa: ANN401
    if not index_file.is_file():
        raise MissingFile(index_file, "no such index", "run the phase index")
    crc.demand(index_file, "remove the index and run the phase index again")
    return faiss.read_index(str(index_file))


def _sample(queries: int, size: int) -> npt.NDArray[np.int64]:
    return np.unique(np.linspace(0, queries - 1, min(queries, size)).astype(np.int64))


def _write(lines: Sequence[Mapping[str, object]], path: Path) -> None:
    with aside(path) as part, part.open("w", newline="") as file:
        out = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        out.writeheader()
        out.writerows(lines)
