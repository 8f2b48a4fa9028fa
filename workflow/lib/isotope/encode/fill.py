"""A block of vectors, filled row by row: with what is known, else by batches of one shape.

A vector must not tell what was encoded beside it, or reusing one would change its neighbours. The
sums of a matrix product are ordered by the shape of the product, so every batch has the same shape;
the last one is filled up with its last item.
"""

import hashlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from isotope import tables
from isotope.core import store
from isotope.core.progress import log
from isotope.core.vectors import FloatArray, contents_of, created, write_ids
from isotope.encode.known import DIGEST_BYTES, Known

Encode = Callable[[list[Any]], FloatArray]


class Out(NamedTuple):
    """Where the vectors of the rows `ids` go, in which precision, and what made them."""

    vectors: Path
    ids_file: Path
    ids: pl.Series
    precision: str
    key: str


class Batches:
    """Items that wait for a batch of their shape to be full."""

    def __init__(self, block: npt.NDArray[np.floating], encode: Encode, size: int) -> None:
        """Fill `block` [n, dim] with what `encode` makes of `size` items at a time."""
        self._block, self._encode, self._size = block, encode, size
        self._waiting: dict[int, list[tuple[Sequence[int], Any]]] = {}

    def add(self, places: Sequence[int], item: Any, shape: int = 0) -> None:  # noqa: ANN401
        """Encode an item for these rows; only items of one shape share a batch."""
        waiting = self._waiting.setdefault(shape, [])
        waiting.append((places, item))
        if len(waiting) == self._size:
            self._flush(shape)

    def finish(self) -> None:
        """Encode what is left."""
        for shape in sorted(self._waiting):
            self._flush(shape)

    def _flush(self, shape: int) -> None:
        some = self._waiting.pop(shape)
        items = [item for _, item in some]
        vectors = self._encode(items + items[-1:] * (self._size - len(items)))
        for (places, _), vector in zip(some, vectors[: len(some)], strict=True):
            self._block[places] = vector


class Filling:
    """Batches whose items have contents: what an earlier collection has is not encoded again."""

    def __init__(self, block: FloatArray, known: Known) -> None:
        """Fill `block` [n, dim]."""
        self.block, self._known, self.reused = block, known, 0
        self.contents = np.zeros((len(block), DIGEST_BYTES), np.uint8)
        self.filled = np.zeros(len(block), bool)

    def has(self, places: Sequence[int], content: bytes) -> bool:
        """Note what rows are made of; fill them and return True where its vector is known."""
        told = hashlib.sha256(content).digest()
        self.contents[places] = np.frombuffer(told, np.uint8)
        self.filled[places] = True
        vector = self._known.vector(told)
        if vector is not None:
            self.block[places] = vector
            self.reused += len(places)
        return vector is not None


@contextmanager
def filling(out: Out, dim: int, earlier: Sequence[Path]) -> Generator[Filling]:
    """Yield what fills the files of `out`; they get their names when it is complete.

    `earlier` are shards of vectors of another collection, with their contents beside them.

    Raises:
        MissingFile, TruncatedFile, CorruptFile: as `encode_known.Known`.
    """
    known = Known(earlier, out.key)
    with created(out.vectors, (len(out.ids), dim), out.precision) as block:
        made = Filling(block, known)
        yield made
    _write_contents(out, made)
    write_ids(out.ids, out.ids_file)
    if earlier:
        log.info("%d of %d vectors reused", made.reused, len(out.ids))


def _write_contents(out: Out, made: Filling) -> None:
    told = made.contents.tobytes().hex()
    width = 2 * DIGEST_BYTES
    contents = [told[width * n : width * (n + 1)] if f else None for n, f in enumerate(made.filled)]
    columns = {"id": out.ids.to_arrow(), "content": pa.array(contents, pa.string())}
    columns["model"] = pa.array([out.key] * len(contents), pa.string())
    store.write(pa.table(columns), contents_of(out.vectors), tables.CONTENTS)
