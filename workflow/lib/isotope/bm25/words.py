"""How often each term stands in each of some texts, by Lucene's own analyzers.

`java/CountTerms.java` counts: it knows every language that Anserini has an analyzer for. What it
writes is read where it lies.
"""

import tempfile
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import numba as nb
import numpy as np
import polars as pl
import pyarrow as pa
from numpy.typing import NDArray

from isotope.core import lucene
from isotope.core.errors import as_disk_full

# Measured: 384 MB hold 8 million different terms, with 8 threads; ASSUME `CHUNK_BYTES` of text in
# any language have no more; no measurement says.
HEAP_MB = 512
CHUNK_BYTES = 1 << 29
# Below this Java's better compiler takes longer than it saves: measured, see benchmarks/bm25.py.
_BRIEF_BYTES = 16_000_000
_COUNTER = "CountTerms"
_SIZE_BYTES = 4
_NEWLINE = 10
# An analyzer of terms that spaces separate.
SPACES = "spaces"


class TermCounts(NamedTuple):
    """Texts, as counts of terms.

    `numbers` are int32. Text n has pairs of a term's place in `terms` and how often it is there,
    from `starts[n]` on; before them stand its length as Lucene counts it for norms and the number
    of pairs.
    """

    terms: pl.Series
    numbers: NDArray[np.int32]
    starts: NDArray[np.int64]

    def take(self, rows: NDArray[np.int64]) -> "TermCounts":
        """Return some of the texts."""
        return self._replace(starts=self.starts[rows])


class TextsToCount(NamedTuple):
    """Texts, and how their words are found.

    `words` is `spaces`, or a language code of `lucene.analyzer`, or `default`.
    """

    texts: Iterable[str]
    words: str


def analyzer(language: str) -> str:
    """Return what `TextsToCount.words` is for texts in a language."""
    return lucene.analyzer(language) or "default"


@contextmanager
def counted(
    texts: Iterable[str], beside: Path, *, words: str, threads: int, memory_mb: int = HEAP_MB
) -> Generator[TermCounts]:
    """Yield the counts of texts; they lie in a folder beside `beside` until the block ends.

    Raises:
        As `counted_all`.
    """
    with counted_all(
        [TextsToCount(texts, words)], beside, threads=threads, memory_mb=memory_mb
    ) as counts:
        yield counts[0]


@contextmanager
def counted_all(
    asked: Sequence[TextsToCount], beside: Path, *, threads: int, memory_mb: int = HEAP_MB
) -> Generator[list[TermCounts]]:
    """Yield the counts of each of some lists of texts; one Java counts them all.

    Memory holds the terms, and `memory_mb` of Java's those of one list.

    Raises:
        ToolFailed: Java could not analyse them.
        DiskFull: no room for the texts or their counts.
    """
    try:
        with tempfile.TemporaryDirectory(dir=beside.parent, prefix=".counts-") as name:
            yield _counted(asked, Path(name), threads, memory_mb)
    except BaseException as error:
        named = as_disk_full(error, beside)
        if named is error:
            raise
        raise named from error


def _counted(
    asked: Sequence[TextsToCount], parent: Path, threads: int, memory_mb: int
) -> list[TermCounts]:
    runs, sizes = list[list[str | Path]](), list[int]()
    for n, (texts, words) in enumerate(asked):
        folder = parent / f"{n}"
        folder.mkdir()
        sizes.append(_write(texts, folder / "texts"))
        files = [folder / name for name in ("texts", "terms", "numbers")]
        runs.append([*files, str(threads), words])
    size = sum(Path(run[0]).stat().st_size for run in runs)
    flags = lucene.BRIEF if size < _BRIEF_BYTES else ()
    lucene.run_tools(_COUNTER, runs, memory_mb=memory_mb, flags=flags)
    return [_read(parent / f"{n}", size) for n, size in enumerate(sizes)]


def _write(texts: Iterable[str], path: Path) -> int:
    """Write each text as the number of its bytes, int32 little-endian, and its UTF-8."""
    number = 0
    with path.open("wb") as out:
        for number, text in enumerate(texts, 1):  # noqa: B007
            data = text.encode()
            out.write(len(data).to_bytes(_SIZE_BYTES, "little") + data)
    return number


def _read(folder: Path, size: int) -> TermCounts:
    """Read what Java wrote of `size` texts, and remove the texts."""
    (folder / "texts").unlink()
    lines = np.fromfile(folder / "terms", np.uint8)
    ends = np.flatnonzero(lines == _NEWLINE)
    offsets = np.concatenate([[0], ends - np.arange(len(ends))])
    buffers = [pa.py_buffer(offsets.astype(np.int64)), pa.py_buffer(lines[lines != _NEWLINE])]
    terms = pa.Array.from_buffers(pa.large_string(), len(ends), [None, *buffers])
    file = folder / "numbers"
    numbers = np.memmap(file, np.int32, "r") if file.stat().st_size else np.empty(0, np.int32)
    return TermCounts(pl.Series("term", terms, pl.String), numbers, _starts(numbers, size))


@nb.njit(cache=True, nogil=True)
def _starts(numbers: NDArray[np.int32], texts: int) -> NDArray[np.int64]:
    starts = np.empty(texts, np.int64)
    at = 0
    for text in range(texts):
        starts[text] = at + 2
        at += 2 + 2 * numbers[at + 1]
    return starts
