"""Depth-k pools: the documents that any of the systems has among its first k, for people to judge.

Source: Sparck Jones and van Rijsbergen, 1975; Voorhees and Harman, TREC, MIT Press 2005, chapter 2.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from isotope import tables
from isotope.core import store
from isotope.core.errors import BadParams
from isotope.core.grid import Cell, id_column
from isotope.core.progress import Progress
from isotope.core.runs import KEY, batches

_TEXT = (*tables.FIVE_FIELDS[:4],)
_IMAGE = ("image_url", *tables.CAPTION_FIELDS)


def pool_runs(runs: Sequence[Path], *, depth: int) -> pl.DataFrame:
    """Return tables.POOL over runs at `.../<setting>/<split>/<task>/<system>.parquet`.

    One row a document of a query, sorted; `rank` is its best place in any run, `systems` are those
    that have it among their first `depth`, sorted.

    Raises:
        BadParams: no runs. As `runs.batches`.
    """
    if not runs:
        raise BadParams("score.judge", "no run in its setting and split", "search them, too")
    progress = Progress("runs", total=len(runs))
    tops: list[pl.DataFrame] = []
    for path in runs:
        top = [piece.filter(pl.col("rank") <= depth) for piece in batches(path)]
        cell, system = Cell.of(path), path.stem
        labels = {"split": cell.split, "task": cell.task, "system": system}
        tops += [hits.with_columns(**{k: pl.lit(v) for k, v in labels.items()}) for hits in top]
        progress.add()
    progress.finish()
    grouped = pl.concat(tops).group_by("split", "task", *KEY)
    pooled = grouped.agg(pl.col("rank").min(), systems=pl.col("system").unique().sort())
    return pooled.sort("split", "task", *KEY).select(tables.POOL.names)


def write_pool(  # noqa: PLR0913
    runs: Sequence[Path],
    texts: Path,
    images: Path,
    *,
    depth: int,
    pool: Path,
    sheets: Sequence[Path],
) -> None:
    """Write the pool, and the same sheet to each of `sheets` (Parquet, or csv by its name).

    Raises:
        As `pool_runs`.
    """
    pooled = pool_runs(runs, depth=depth)
    store.write(pooled.to_arrow(), pool, tables.POOL)
    filled = sheet(pooled, texts, images)
    for path in sheets:
        if path.suffix != ".csv":
            store.write(filled.to_arrow(), path, tables.SHEET)
            continue
        with store.aside(path) as part:
            filled.write_csv(part)


def sheet(pool: pl.DataFrame, texts: Path, images: Path) -> pl.DataFrame:
    """Return tables.SHEET: the pool with words to read and empty columns grade and assessor.

    Rows are in the order of ids: nothing tells an assessor which system found a document, where, or
    whether it is known to be relevant. All words of an item are on one line.
    """
    shown = {
        "texts": described(texts, "texts", _TEXT),
        "images": described(images, "images", _IMAGE),
    }
    parts = [
        _with_words(own, shown[cell.query_side], shown[cell.document_side])
        for (task,), own in pool.partition_by("task", as_dict=True, maintain_order=True).items()
        for cell in [Cell("", "", str(task))]
    ]
    empty = {"grade": pl.lit(None, pl.Int32), "assessor": pl.lit(None, pl.String)}
    rows = pl.concat(parts).with_columns(**empty).sort("split", "task", *KEY)
    return rows.select(tables.SHEET.names)


def _with_words(pool: pl.DataFrame, queries: pl.LazyFrame, documents: pl.LazyFrame) -> pl.DataFrame:
    asked = queries.rename({"id": "query_id", "words": "query"})
    found = documents.rename({"id": "doc_id", "words": "document"})
    joined = pool.lazy().join(asked, on="query_id", how="left").join(found, on="doc_id", how="left")
    return joined.collect()


def described(table: Path, side: str, fields: Iterable[str]) -> pl.LazyFrame:
    """Return id and words of every text or image: its fields, once each, on one line."""
    lazy = pl.scan_parquet(table)
    lists = [name for name, kind in lazy.collect_schema().items() if isinstance(kind, pl.List)]
    parts = [pl.col(f).list.join(" | ") if f in lists else pl.col(f) for f in fields]
    words = pl.concat_str(parts, separator=" | ", ignore_nulls=True)
    line = (
        words.str.replace_all(r"\s+", " ").str.replace_all(r"\|( \|)+", "|").str.strip_chars(" |")
    )
    return lazy.select(pl.col(id_column(side)).alias("id"), line.alias("words"))
