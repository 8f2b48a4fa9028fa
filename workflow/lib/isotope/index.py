"""Indexes: Lucene over words for BM25, row numbers into the vector shards for exact search."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from isotope import lucene, sql, tables
from isotope.cells import SIDES, id_column, pool_splits, pools

_SQL = sql.SQL / "index"


def contents(
    side: str, table: Path, *, language: str, fields: Sequence[str] | None = None
) -> pl.DataFrame:
    """Return id, split and contents (what BM25 reads) of every text or image, by id.

    Texts give their fields in the paper's order (section 3), images their captions in `language`.
    """
    chosen = {"fields": list(fields or tables.FIVE_FIELDS)}
    params = chosen if side == "texts" else {"language": language}
    found = sql.query(_SQL / f"{side}.sql", {side: table}, params)
    return pl.DataFrame() if found is None else found


def index_bm25(  # noqa: PLR0913
    collection: Mapping[str, Path],
    folders: Sequence[Path],
    splits: list[str],
    *,
    language: str,
    fields: Sequence[str] | None,
    threads: int,
) -> None:
    """Fill each `.../<setting>/<system>` folder with `<pool>/<side>` Lucene indexes.

    BM25's statistics are those of the pool that is searched, so every pool has its own.
    """
    for side in SIDES:
        words = contents(side, collection[side], language=language, fields=fields)
        for folder in folders:
            setting = folder.parts[-2]
            for pool in pools(setting, splits):
                chosen = words.filter(pl.col("split").is_in(pool_splits(setting, pool)))
                place = folder / pool / side
                place.parent.mkdir(parents=True, exist_ok=True)
                if chosen.height:
                    pairs = chosen.select("id", "contents").iter_rows()
                    lucene.build_index(pairs, place, threads=threads)


def index_dense(
    collection: Mapping[str, Path],
    ids: Mapping[str, Sequence[Path]],
    folders: Sequence[Path],
    splits: list[str],
) -> None:
    """Fill each folder with `<pool>/<side>.npy`: int64 rows of the encoded shards in that pool."""
    for side in SIDES:
        key = id_column(side)
        encoded = pl.concat([pl.read_parquet(p) for p in ids[side]]).with_row_index("row")
        table = pl.read_parquet(collection[side], columns=[key, "split"])
        rows = encoded.join(table, left_on="id", right_on=key, how="inner", maintain_order="left")
        for folder in folders:
            setting = folder.parts[-2]
            for pool in pools(setting, splits):
                chosen = rows.filter(pl.col("split").is_in(pool_splits(setting, pool)))["row"]
                place = folder / pool / f"{side}.npy"
                place.parent.mkdir(parents=True, exist_ok=True)
                np.save(place, chosen.cast(pl.Int64).to_numpy())
