"""Indexes: Lucene over words for BM25, row numbers into the vector shards for exact search."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np
import polars as pl

from isotope import tables
from isotope.core import sql, store
from isotope.core.grid import SIDES, id_column, pool_splits, pools
from isotope.index.reuse import build_or_copy

_SQL = sql.SQL / "index"


def contents(
    side: str, table: Path, *, language: str, fields: Sequence[str] | None = None
) -> pl.DataFrame:
    """Return id, split and contents (what BM25 reads) of every text or image, by id.

    Texts give their fields in the paper's order (section 5.1), images their captions in `language`.
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
    texts_in: str | None = None,
    earlier: Sequence[Path] = (),
) -> None:
    """Fill each `.../<setting>/<system>` folder with `<pool>/<side>` Lucene indexes.

    BM25's statistics are those of the pool that is searched, so every pool has its own. `language`
    is that of the captions, `texts_in` that of the texts where it is another one. An index of the
    same words in `earlier`, such folders of another collection, is copied.
    """
    there = {folder.parts[-2]: folder for folder in earlier}
    with filled(folders) as parts:
        for side in SIDES:
            words = contents(side, collection[side], language=language, fields=fields)
            for setting, pool, part in pools_of(parts, splits):
                chosen = words.filter(pl.col("split").is_in(pool_splits(setting, pool)))
                if chosen.height:
                    spoken = texts_in or language if side == "texts" else language
                    before = there[setting] / pool / side if there else None
                    where = part / pool / side
                    build_or_copy(chosen, where, before, language=spoken, threads=threads)


@contextmanager
def filled(folders: Sequence[Path]) -> Iterator[dict[str, Path]]:
    """Yield a folder to fill for each setting; all get their names when all are complete."""
    with ExitStack() as stack:
        yield {f.parts[-2]: stack.enter_context(store.folder_aside(f)) for f in folders}


def pools_of(parts: Mapping[str, Path], splits: list[str]) -> Iterator[tuple[str, str, Path]]:
    """Yield setting, pool and the folder of the setting, in which that of the pool is made."""
    for setting, part in parts.items():
        for pool in pools(setting, splits):
            (part / pool).mkdir(exist_ok=True)
            yield setting, pool, part


def index_dense(
    collection: Mapping[str, Path],
    ids: Mapping[str, Sequence[Path]],
    folders: Sequence[Path],
    splits: list[str],
) -> None:
    """Fill each folder with `<pool>/<side>.npy`: int64 rows of the encoded shards in that pool."""
    with filled(folders) as parts:
        for side in SIDES:
            key = id_column(side)
            encoded = pl.concat([pl.read_parquet(p) for p in ids[side]]).with_row_index("row")
            table = pl.read_parquet(collection[side], columns=[key, "split"])
            rows = encoded.join(
                table, left_on="id", right_on=key, how="inner", maintain_order="left"
            )
            for setting, pool, part in pools_of(parts, splits):
                chosen = rows.filter(pl.col("split").is_in(pool_splits(setting, pool)))["row"]
                np.save(part / pool / f"{side}.npy", chosen.cast(pl.Int64).to_numpy())
