"""A block of vectors, filled row by row: with what is known, else by batches of one shape.

A vector must not tell what was encoded beside it, or reusing one would change its neighbours. The
sums of a matrix product are ordered by the shape of the product, so every batch has the same shape;
the last one is filled up with its last item.
"""

import hashlib
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import polars as pl
import pyarrow as pa

from isotope.core import store
from isotope.core.progress import log
from isotope.core.vectors import FloatArray, contents_of, created, load_vectors, write_ids
from isotope.encode.tables import CONTENTS
from isotope.models.encoders import Encoder

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
    store.write(pa.table(columns), contents_of(out.vectors), CONTENTS)


Floats = npt.NDArray[np.float32]
WHOLE, LINES = "whole", "lines"


@runtime_checkable
class SentenceVectors(Protocol):
    """An encoder that tells the vectors of sentences in their own lengths."""

    def encode_sentences(self, texts: list[str]) -> Floats:
        """Return float32 [n, dim], as the model leaves them."""
        ...


def means(said: Sequence[Sequence[str]], encoder: Encoder, batch: int) -> Floats:
    """Return the mean of each group's vectors, L2-normalised float32 [groups, dim].

    What is averaged is what the model makes of each sentence, of any length where the encoder tells
    it (`SentenceVectors`), else of length 1. `batch` sentences are encoded at a time; no group is
    empty.

    Raises:
        IsotopeError: what the encoder raises.
    """
    texts = [sentence for group in said for sentence in group]
    vectors = np.empty((len(texts), encoder.dim), np.float32)
    waiting = Batches(vectors, _encoding(encoder), batch)
    for place, shape in enumerate(encoder.shapes(texts)):
        waiting.add([place], texts[place], shape)
    waiting.finish()
    first = np.cumsum([0, *map(len, said[:-1])])
    sums = np.add.reduceat(vectors.astype(np.float64), first, axis=0)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    # ASSUME sentences that cancel out exactly mean nothing: their vector stays zero; no paper says.
    return (sums / np.where(lengths == 0, 1.0, lengths)).astype(np.float32)


def lines(text: str) -> list[str]:
    """Return the lines of a text that have words; an empty text is one empty line."""
    return [line.strip() for line in text.splitlines() if line.strip()] or [""]


def _encoding(encoder: Encoder) -> Encode:
    told = isinstance(encoder, SentenceVectors)
    return encoder.encode_sentences if told else encoder.encode_texts
