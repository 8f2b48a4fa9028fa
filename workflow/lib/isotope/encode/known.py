"""Vectors of an earlier collection, found by the content that they were made of."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from isotope.core.vectors import FloatArray, contents_of, load_vectors

DIGEST_BYTES = 32
_HEAD_BYTES = 8


class Known:
    """What shards of vectors, and the tables of contents beside them, have of one key."""

    def __init__(self, vectors: Sequence[Path], key: str) -> None:
        """Map the shards; vectors that another key made, and all where it is empty, are unknown.

        Memory: 48 bytes a vector.

        Raises:
            MissingFile, TruncatedFile, CorruptFile: as `encode_store.load_vectors`.
        """
        contents = [contents_of(path) for path in vectors]
        self._blocks = load_vectors(vectors, contents).blocks if vectors and key else []
        self._starts = np.cumsum([0, *map(len, self._blocks)])
        digests, rows = _read(contents if self._blocks else [], key)
        heads = np.ascontiguousarray(digests[:, :_HEAD_BYTES]).view(np.uint64).ravel()
        order = np.argsort(heads, kind="stable")
        self._heads, self._digests, self._rows = heads[order], digests[order], rows[order]

    def vector(self, content: bytes) -> FloatArray | None:
        """Return the vector [dim] made of a content, by its SHA-256; None where it is unknown."""
        head = np.frombuffer(content[:_HEAD_BYTES], np.uint64)[0]
        at = int(np.searchsorted(self._heads, head))
        while at < len(self._heads) and self._heads[at] == head:
            if self._digests[at].tobytes() == content:
                return self._row(int(self._rows[at]))
            at += 1
        return None

    def _row(self, row: int) -> FloatArray:
        shard = int(np.searchsorted(self._starts, row, side="right")) - 1
        return self._blocks[shard][row - self._starts[shard]]


def _read(
    contents: Sequence[Path], key: str
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.int64]]:
    """Return the digests [n, 32] and the rows of the vectors that this key made."""
    digests, rows, start = [np.empty((0, DIGEST_BYTES), np.uint8)], [np.empty(0, np.int64)], 0
    for path in contents:
        table = pl.read_parquet(path, columns=["model", "content"]).with_row_index("row", start)
        start += table.height
        kept = table.filter((pl.col("model") == key) & pl.col("content").is_not_null())
        found = b"".join(kept["content"].str.decode("hex").to_list())
        digests.append(np.frombuffer(found, np.uint8).reshape(-1, DIGEST_BYTES))
        rows.append(kept["row"].cast(pl.Int64).to_numpy())
    return np.concatenate(digests), np.concatenate(rows)
