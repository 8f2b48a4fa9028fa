"""The vector cache: what an earlier collection has encoded is copied, not encoded again.

Beside every shard of vectors stands a table with the SHA-256 of what each row was made of, and a
key of all that made it: params, weights, code, packages. Where content and key agree, so does the
vector. Nothing that is declared tells all of the key (a hub's newest revision, a driver, another
processor), so the model's vectors of a few fixed items are part of it.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import cycle, islice
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt
import polars as pl
from PIL import Image

from isotope.core import provenance
from isotope.core.progress import log
from isotope.core.syntax import located
from isotope.core.vectors import FloatArray, contents_of, load_vectors
from isotope.models.encoders import Encoder
from isotope.params.references import local_names
from isotope.params.sections import ModelKind

DIGEST_BYTES = 32
_HEAD_BYTES = 8
_T = TypeVar("_T")
_PACKAGES = ("numpy", "pillow", "torch", "torchvision", "open_clip_torch", "transformers", "timm")
# What turns an item into its vector, besides the code of the model's kind.
_ENCODING = (
    *("models.encoders:load", "core.pixels:decode"),
    *("models.encoders:ShapeBatches", "models.encoders:means", "models.encoders:lines"),
)
# Params that choose what is encoded: part of the contents, not of the key.
_NOT_HOW = frozenset({"fields", "images", "summary"})
_SENTENCES = ("", "isotope", "Ein Bild, 一张图片")
_SIDES_PX = ((300, 200), (64, 64), (120, 260))


class Encoding(NamedTuple):
    """How a shard is encoded: by which model, in which batches and precision, and which shard."""

    model: ModelKind
    weights: Path | None
    batch: int
    precision: str = "float32"
    shard: int = 0
    shards: int = 1

    @property
    def position(self) -> str:
        """Which shard of how many, counted from 1."""
        return f"shard {self.shard + 1} of {self.shards}"


class VectorCache:
    """Shards of vectors, found by the SHA-256 of what they were made of, under one key."""

    def __init__(self, vectors: Sequence[Path], key: str) -> None:
        """Map the shards; vectors under another key, and all where it is empty, are left out.

        Memory: 48 bytes a vector.

        Raises:
            MissingFile, TruncatedFile, CorruptFile: as `core.vectors.load_vectors`.
        """
        contents = [contents_of(path) for path in vectors]
        self._blocks = load_vectors(vectors, contents).blocks if vectors and key else []
        self._starts = np.cumsum([0, *map(len, self._blocks)])
        digests, rows = _read(contents if self._blocks else [], key)
        heads = np.ascontiguousarray(digests[:, :_HEAD_BYTES]).view(np.uint64).ravel()
        order = np.argsort(heads, kind="stable")
        self._heads, self._digests, self._rows = heads[order], digests[order], rows[order]

    def __len__(self) -> int:
        return len(self._heads)

    def vector(self, content: bytes) -> FloatArray | None:
        """Return the vector [dim] made of a content, by its SHA-256; None where there is none."""
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
        table = pl.read_parquet(path, columns=["model", "content"], glob=False).with_row_index(
            "row", start
        )
        start += table.height
        of_model = table.filter((pl.col("model") == key) & pl.col("content").is_not_null())
        joined = b"".join(of_model["content"].str.decode("hex").to_list())
        digests.append(np.frombuffer(joined, np.uint8).reshape(-1, DIGEST_BYTES))
        rows.append(of_model["row"].cast(pl.Int64).to_numpy())
    return np.concatenate(digests), np.concatenate(rows)


def text_key(encoder: Encoder, encoding: Encoding) -> str:
    """Return the key of the vectors that a model makes of texts, empty where none can be reused."""
    return _key("texts", encoding, encoder.encode_texts, list(_SENTENCES))


def picture_key(encoder: Encoder, encoding: Encoding) -> str:
    """Return the key of the vectors that a model makes of pictures; likewise."""
    return _key("pictures", encoding, encoder.encode_images, [_picture(*px) for px in _SIDES_PX])


def _key(
    encoded: str, encoding: Encoding, encode: Callable[[list[_T]], FloatArray], items: list[_T]
) -> str:
    sample = _sample(encode, items, encoding.batch)
    if sample is None:
        log.warning(
            "a vector of %s depends on its place in a batch: none is reused", encoding.model.spec()
        )
        return ""
    parts = {
        "of": encoded,
        "model": {k: v for k, v in encoding.model.spec().items() if k not in _NOT_HOW},
        "weights": digest(*_files(encoding)),
        "batch": encoding.batch,
        "precision": encoding.precision,
        "packages": {name: _version(name) for name in _PACKAGES},
        "code": digest(*(located(file) for file in code_of(encoding.model))),
        "answer": hashlib.sha256(sample.tobytes()).hexdigest(),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def code_of(model: ModelKind) -> list[str]:
    """Return the files that make vectors of a kind of model; no other kind's are among them."""
    return provenance.closure(*_ENCODING, *model.roots())


def digest(*files: Path) -> str:
    """Return the SHA-256 of files, one after the other."""
    total = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            total.update(hashlib.file_digest(file, "sha256").digest())
    return total.hexdigest()


def _sample(
    encode: Callable[[list[_T]], FloatArray], items: list[_T], batch: int
) -> FloatArray | None:
    """Return the vectors of the items; None where one differs with its place in the batch."""
    items = items[: max(1, batch // 2)]
    vectors = encode(list(islice(cycle(items), batch)))
    expected = np.resize(vectors[: len(items)], vectors.shape)
    return vectors[: len(items)] if vectors.tobytes() == expected.tobytes() else None


def _files(encoding: Encoding) -> list[Path]:
    """Return the files with a model's weights, where the params name any."""
    named = map(Path, local_names(encoding.model))
    files = [
        p
        for named_path in named
        for p in ([named_path] if named_path.is_file() else sorted(named_path.rglob("*")))
    ]
    return [p for p in (*([encoding.weights] if encoding.weights else []), *files) if p.is_file()]


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


def _picture(width: int, height: int) -> Image.Image:
    ramp = np.add.outer(np.arange(height) * 3, np.arange(width) * 5)
    return Image.fromarray(np.stack([ramp, ramp * 7, ramp // 2], axis=-1).astype(np.uint8))
