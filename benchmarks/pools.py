"""Documents and queries of realistic text, of any number: written once, read as a stream.

A pool of n documents is the first n of its kind (captions of about 25 words, sections of about
120), so that one set of files serves all sizes. Ids are numbers of nine digits, which rise.
"""

import json
import multiprocessing
import os
import shutil
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow.parquet as pq
from common import Timing, alone, anonymous, spent
from corpus import CONSTANTS, Corpus

SEED = 17
SLICE = 50_000
# Queries have numbers of their own.
FIRST_QUERY = 1_000_000_000
CORES = os.cpu_count() or 1
# Words of a text on average, by kind.
MEANS = {"captions": 25.0, "sections": 120.0}
_AT_ONCE = 10_000


@cache
def _corpus() -> Corpus:
    return Corpus(SEED)


def _write(task: tuple[Path, str, int]) -> None:
    folder, kind, number = task
    start = number * SLICE
    texts = list(getattr(_corpus(), kind)(SLICE, start, mean=MEANS[kind]))
    ids = [name(n) for n in range(start, start + SLICE)]
    aside = folder / f".{number:05}"
    pl.DataFrame({"id": ids, "text": texts}).write_parquet(aside, compression="lz4")
    aside.rename(folder / f"{number:05}.parquet")


def kept(folder: Path) -> Path:
    """Return the place in a folder that stays for texts of this corpus: another has another."""
    files = [CONSTANTS, CONSTANTS.with_suffix(".py"), CONSTANTS.with_name("lexicon.py")]
    return folder / f"{zlib.crc32(b''.join(file.read_bytes() for file in files)):08x}"


def name(number: int) -> str:
    """Return the id of a document."""
    return f"{number:09}"


def write_texts(folder: Path, kind: str, documents: int) -> None:
    """Write the first documents of a kind, `captions` or `sections`, those that are not there."""
    folder.mkdir(parents=True, exist_ok=True)
    numbers = range(-(-documents // SLICE))
    missing = [n for n in numbers if not (folder / f"{n:05}.parquet").exists()]
    with ProcessPoolExecutor(CORES, mp_context=multiprocessing.get_context("spawn")) as pool:
        list(pool.map(_write, [(folder, kind, n) for n in missing]))


def read_texts(folder: Path, documents: int) -> Iterator[tuple[str, str]]:
    """Yield id and text of the first documents."""
    return islice(_rows(sorted(folder.glob("*.parquet")), ("id", "text")), documents)


def read_rows(table: Path, *columns: str) -> Iterator[tuple[str, ...]]:
    """Yield columns of a table, row by row."""
    return _rows([table], columns)


def _rows(paths: list[Path], columns: tuple[str, ...]) -> Iterator[tuple[Any, ...]]:
    for path in paths:
        with pq.ParquetFile(path) as file:
            for batch in file.iter_batches(_AT_ONCE, columns=list(columns)):
                yield from zip(*(batch[c].to_pylist() for c in columns), strict=True)


def queries(words: int, number: int) -> pl.DataFrame:
    """Return id and text of queries of so many words."""
    numbers = range(FIRST_QUERY, FIRST_QUERY + number)
    texts = [_corpus().text(words, n) for n in numbers]
    return pl.DataFrame({"id": [f"q{n}" for n in range(number)], "text": texts})


def copies(documents: int, number: int, share: float = 0.2) -> pl.DataFrame:
    """Return id, text and origin of edited copies of sections, as far apart as can be."""
    origins = [n * documents // number for n in range(number)]
    texts = [next(_corpus().sections(1, start=n, mean=MEANS["sections"])) for n in origins]
    edited = [
        _corpus().copy(t, FIRST_QUERY + n, share) for n, t in zip(origins, texts, strict=True)
    ]
    ids = [f"q{n}" for n in range(number)]
    return pl.DataFrame({"id": ids, "text": edited, "origin": [name(n) for n in origins]})


def built(place: Path, make: Callable[..., Any], *arguments: Any) -> Timing:  # noqa: ANN401
    """Return what it took to make an index at `place`, in a process of its own; once.

    That is: seconds, processor seconds, the most anonymous memory (Java's included) and bytes.
    """
    note = place.with_name(f"{place.name}.json")
    if not note.exists():
        found = alone(_made, place, make, *arguments)
        note.write_text(json.dumps(found))
    return json.loads(note.read_text())


def _made(place: Path, make: Callable[..., Any], *arguments: Any) -> Timing:  # noqa: ANN401
    # What a run that was cut short left.
    shutil.rmtree(place, ignore_errors=True)
    start, before = time.perf_counter(), spent()
    with anonymous() as memory:
        make(place, *arguments)
    size = sum(file.stat().st_size for file in (place, *place.rglob("*")) if file.is_file())
    seconds, used = time.perf_counter() - start, spent() - before
    return {"s": seconds, "used_s": used, "anonymous_gib": memory.peak_gib, "bytes": float(size)}
