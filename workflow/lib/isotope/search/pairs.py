"""The cache of scores of pairs: what a reranker has scored once is not scored again.

A score is found by what it was made of: a key of the model (`key_of`), and a digest of the
instruction, the query's content and the document's. So other settings share pairs, and so do later
runs and other snapshots in which a text and a picture are the same, while another revision of a
model, another weight or another line of the code that scores finds nothing.

Scores lie in `.isotope/pairs/<key>/`, in Parquet files of which each is written once: a job that is
killed goes on after its last one, and jobs side by side, also on several machines, need no lock.
"""

import hashlib
import io
import json
import os
import time
from collections.abc import Sequence
from contextlib import suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from uuid import uuid4

import numpy as np
import polars as pl
import pyarrow as pa
from PIL import Image

from isotope.core import provenance, store
from isotope.core.progress import log
from isotope.core.syntax import located
from isotope.models.kinds.reranker import Reranker as Entry
from isotope.models.pairs import PairScorer, ScoredPair
from isotope.schemas.search import SCORED_PAIR

PAIRS = Path(".isotope/pairs")
DIGEST = {"head": pl.UInt64, "tail": pl.UInt64}
_SCORED = {**DIGEST, "score": pl.Float32}
_BYTES = 16
_EVERY_S = 20.0
# Megabytes of scores that are kept after a job, of all models: 50 million pairs.
CACHE_MB = 1024
_PACKAGES = ("numpy", "pillow", "torch", "torchvision", "transformers", "tokenizers")
_SCORING = ("models.rerankers:load", "core.pixels:decode")
# Keys that choose what is scored, which the digests tell, or what is kept.
_NOT_HOW = frozenset({"fields", "images", "instruction"})
_SAMPLE = (("isotope", "Ein Bild, 一张图片"), ("a dog on a field", "isotope"), ("isotope", ""))


def content(side: str | bytes) -> bytes:
    """Return the SHA-256 of a side of a pair; a text never has that of a picture."""
    kind, data = ("text", side.encode()) if isinstance(side, str) else ("picture", side)
    return hashlib.sha256(kind.encode() + b"\0" + data).digest()


def digest(instruction: str, query: bytes, document: bytes) -> tuple[int, int]:
    """Return the digest of a pair by the `content` of its sides, as two numbers of 64 bits."""
    words = hashlib.sha256(instruction.encode()).digest()
    total = hashlib.sha256(words + query + document).digest()[:_BYTES]
    return int.from_bytes(total[:8], "little"), int.from_bytes(total[8:], "little")


def key_of(model: Entry, reranker: PairScorer) -> str:
    """Return the key of what a model scores; empty where its scores can't be used again.

    Nothing that is declared tells all of it, such as the newest revision of a hub, a driver or a
    processor, so the scores of a few fixed pairs are part of it.
    """
    sample = _sample(reranker, model)
    if sample is None:
        log.warning("a score of %s depends on its place in a batch: none is reused", model.name)
        return ""
    parts = {
        "model": {k: v for k, v in model.spec().items() if k not in _NOT_HOW},
        "files": _digests(Path(model.name)),
        "packages": {name: _version(name) for name in _PACKAGES},
        "code": [_digest(located(file)) for file in provenance.closure(*_SCORING)],
        "answer": hashlib.sha256(sample).hexdigest(),
    }
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[: 2 * _BYTES]


def _sample(reranker: PairScorer, model: Entry) -> bytes | None:
    """Return the scores of fixed pairs, as bytes; None where its place in a batch changes one."""
    pairs, scores = [ScoredPair(*sides) for sides in _SAMPLE], list[bytes]()
    if model.images == "pixels":
        pairs.append(ScoredPair(_SAMPLE[0][0], _picture()))
    for ready in reranker.prepare(pairs):
        same = reranker.scores([ready] * model.batch)
        if (same != same[0]).any():
            return None
        scores.append(same[:1].tobytes())
    return b"".join(scores)


def _picture() -> bytes:
    ramp = np.add.outer(np.arange(80) * 3, np.arange(120) * 2)
    image = Image.fromarray(np.stack([ramp, ramp * 7, ramp // 2], axis=-1).astype(np.uint8))
    file = io.BytesIO()
    image.save(file, "WEBP", lossless=True)
    return file.getvalue()


def _digests(model_path: Path) -> list[str]:
    files = (
        [model_path]
        if model_path.is_file()
        else sorted(p for p in model_path.rglob("*") if p.is_file())
    )
    return [_digest(path) for path in files]


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return ""


class PairCache:
    """Scores by digest, read once, and added to as they are made."""

    def __init__(self, key: str, root: Path = PAIRS) -> None:
        """Open the scores of a key; without a key nothing is read or written."""
        self._root, self._folder = root, root / key if key else None
        self._written_files, self._waiting = list[Path](), list[tuple[int, int, float]]()
        self._written = time.monotonic()

    def scores(self, digests: pl.DataFrame) -> pl.DataFrame:
        """Return digests (head, tail, and any other columns) with their score, null without one."""
        files = sorted(self._folder.glob("*.parquet")) if self._folder else []
        wanted = digests.select(*DIGEST)
        scored_pairs = [_read(path).join(wanted, on=[*DIGEST], how="semi") for path in files]
        all_scored = pl.concat([pl.DataFrame(schema=_SCORED), *scored_pairs])
        once = all_scored.unique([*DIGEST], keep="first", maintain_order=True)
        return digests.join(once, on=[*DIGEST], how="left", maintain_order="left")

    def add(self, head: int, tail: int, score: float) -> None:
        """Take a score; all are written after at most 20 seconds."""
        self._waiting.append((head, tail, score))
        if time.monotonic() - self._written > _EVERY_S:
            self.flush()

    def flush(self) -> None:
        """Write what waits."""
        self._written = time.monotonic()
        if self._waiting and self._folder:
            self._written_files.append(_write(self._waiting, self._folder))
        self._waiting = []

    def close(self, limit_mb: int) -> None:
        """Write all that was added as one file, and hold the whole cache to a limit."""
        self.flush()
        if len(self._written_files) > 1 and self._folder:
            parts, rows = self._written_files, pl.concat(map(_read, self._written_files)).rows()
            self._written_files = [_write(rows, self._folder)]
            for path in parts:
                path.unlink(missing_ok=True)
        _prune(self._root, limit_mb * 1_000_000)


def _write(rows: Sequence[tuple[int, int, float]], folder: Path) -> Path:
    columns = zip(zip(*rows, strict=True), SCORED_PAIR.types, strict=True)
    arrays = [pa.array(values, kind) for values, kind in columns]
    path = folder / f"{uuid4().hex}.parquet"
    store.write(pa.Table.from_arrays(arrays, schema=SCORED_PAIR), path, SCORED_PAIR)
    return path


def _read(path: Path) -> pl.DataFrame:
    """Read a file; one that another job has removed, or that is damaged, holds nothing."""
    try:
        table = pl.read_parquet(path, columns=[*_SCORED], glob=False).cast({**_SCORED})
        os.utime(path)
    except FileNotFoundError:
        return pl.DataFrame(schema=_SCORED)
    except (pl.exceptions.PolarsError, OSError) as error:
        log.warning("%s is not read (%s): its pairs are scored again", path, error)
        return pl.DataFrame(schema=_SCORED)
    return table


def _prune(root: Path, limit: int) -> None:
    """Remove the files that were used longest ago until the others are within a limit of bytes."""
    sizes = dict[Path, tuple[float, int]]()
    for path in root.glob("*/*.parquet"):
        with suppress(FileNotFoundError):
            sizes[path] = path.stat().st_mtime, path.stat().st_size
    total = sum(size for _, size in sizes.values())
    for path in sorted(sizes, key=lambda path: (sizes[path][0], path)):
        if total <= limit:
            return
        total -= sizes[path][1]
        path.unlink(missing_ok=True)
