"""Indexes of learned impacts, one for each pool and side, in the form of `isotope.bm25`.

What BM25 has as a term's frequency in a document is here its impact; lengths are left out.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numpy.typing import NDArray

from isotope.bm25 import postings
from isotope.bm25.impacts import ANALYZER
from isotope.bm25.words import TermCounts
from isotope.core.errors import TruncatedFile
from isotope.core.grid import SIDES, id_column, pool_splits
from isotope.index.bm25 import filled, pools_of

_ROWS = 16_384
_COLUMNS = ("id", "terms", "impacts")


def index_sparse(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    text_terms: Sequence[Path],
    image_terms: Sequence[Path],
    folders: Sequence[Path],
    splits: Sequence[str],
) -> None:
    """Fill each `.../<setting>/<system>` folder with `<pool>/<side>` indexes of impacts.

    The shards follow each other by their ids. A pool without documents has no index.

    Raises:
        TruncatedFile: a shard that can't be read.
        CorruptFile: ids that do not rise.
        DiskFull, Unwritable: as `core.store.folder_aside`.
    """
    tables, shards = (
        {"texts": texts, "images": images},
        {"texts": text_terms, "images": image_terms},
    )
    with filled(folders) as parts:
        pools = list(pools_of(parts, splits))
        for side in SIDES:
            places = {
                part / pool / side: pool_splits(setting, pool) for setting, pool, part in pools
            }
            counted_side = postings.IndexJob((), ANALYZER, places)
            postings.write_counted(
                counted_side, _counted(shards[side], tables[side], id_column(side))
            )


def _counted(
    shards: Sequence[Path], table: Path, key: str
) -> Iterator[tuple[pl.DataFrame, TermCounts]]:
    """Yield ids and splits of some documents, and their impacts."""
    split = pl.read_parquet(table, columns=[key, "split"], glob=False)
    for rows in _rows(shards):
        keys = rows.select("id").join(
            split, left_on="id", right_on=key, how="left", maintain_order="left"
        )
        yield keys, counted(rows)


def _rows(shards: Sequence[Path]) -> Iterator[pl.DataFrame]:
    for path in shards:
        try:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches(_ROWS, columns=list(_COLUMNS)):
                    yield pl.DataFrame(batch)
        except (OSError, ValueError) as error:
            remedy = "remove the shard and run the encode phase again"
            raise TruncatedFile(path, f"not a readable table ({error})", remedy) from error


def counted(rows: pl.DataFrame) -> TermCounts:
    """Return rows of id, terms and impacts as counts of terms: impacts stand for frequencies."""
    sizes = rows["terms"].list.len().cast(pl.Int64).to_numpy()
    named = rows["terms"].explode(empty_as_null=False).alias("term")
    terms = named.unique().sort()
    places = terms.search_sorted(named).to_numpy()
    impacts = rows["impacts"].explode(empty_as_null=False).to_numpy()
    return TermCounts(terms, *_pairs(sizes, places, impacts))


def _pairs(
    sizes: NDArray[np.int64], places: NDArray[np.int64], impacts: NDArray[np.int32]
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return numbers and starts as `TermCounts` has them, with lengths of 0."""
    before = np.cumsum(sizes) - sizes
    starts = 2 * (np.arange(len(sizes)) + 1) + 2 * before
    numbers = np.zeros(2 * (len(sizes) + len(places)), np.int32)
    numbers[starts - 1] = sizes
    within = np.arange(len(places)) - np.repeat(before, sizes)
    at = np.repeat(starts, sizes) + 2 * within
    numbers[at], numbers[at + 1] = places, impacts
    return numbers, starts
