"""Systems that generate an answer, mapped to the texts whose names BM25 ranks first.

OVEN (Hu et al., ICCV 2023) maps so what a generative model says to an entity.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from isotope import names, store, tables
from isotope.answers import read_answers
from isotope.cells import Cell, pool_splits, query_ids
from isotope.index import filled, pools_of
from isotope.runs import empty
from isotope.search import by_index, fill


def index_answers(
    texts: Path,
    folders: Sequence[Path],
    splits: list[str],
    *,
    tokenizer: str = names.WORDS,
    threads: int = 1,
) -> None:
    """Fill each `.../<setting>/<system>` folder with a `<pool>/texts` index of the texts' names.

    Raises:
        UnknownModel: see `names.splitter`.
    """
    table = pl.read_parquet(texts, columns=["text_id", "page_title", "split"]).sort("text_id")
    with filled(folders) as parts:
        for setting, pool, part in pools_of(parts, splits):
            own = table.filter(pl.col("split").is_in(pool_splits(setting, pool)))
            pairs = own.select("text_id", pl.col("page_title").fill_null("")).iter_rows()
            if own.height:
                place = part / pool / "texts"
                names.index_names(pairs, place, tokenizer=tokenizer, threads=threads)


def search_answers(  # noqa: PLR0913
    tables_: Mapping[str, Path],
    files: Sequence[Path],
    indexes: Sequence[Path],
    outputs: Sequence[Path],
    spec: Mapping[str, Any],
    *,
    rejected: Path,
    depth: int,
    threads: int,
) -> None:
    """Rank texts for the answers in `files`, on images and qrels of `tables_`; t2m finds nothing.

    `rejected` gets tables.REJECTED: the rows that `read_answers` puts aside.
    """
    read = read_answers(files, pl.read_parquet(tables_["images"]))
    store.write_rows(read.rejected, rejected, tables.REJECTED)
    folders = {folder.parts[-2]: folder for folder in indexes}
    for cells in by_index(outputs):
        place = folders[cells[0].setting] / cells[0].pool / cells[0].document_side
        asked = {cell: query_ids(tables_["qrels"], cell) for cell in cells}
        wanted = sorted({i for ids in asked.values() for i in ids})
        own = read.answers.filter(pl.col("query_id").is_in(wanted)).rename({"query_id": "id"})
        hits = empty().drop("rank")
        if place.exists() and cells[0].task == "m2t":
            hits = names.find_names(own, place, spec, hits=depth, threads=threads)

        def answer(
            cell: Cell, hits: pl.DataFrame = hits, asked: Mapping[Cell, list[str]] = asked
        ) -> pl.DataFrame:
            return hits.filter(pl.col("query_id").is_in(asked[cell]))

        fill([p for p in outputs if Cell.of(p) in asked], answer)
