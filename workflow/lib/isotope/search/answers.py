"""Systems whose answers come as files: entities, or names that BM25 maps to texts.

OVEN (Hu et al., ICCV 2023, sections 2 and 4.2) maps so what a generative model says to an entity.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from isotope import tables
from isotope.core import names, store
from isotope.core.grid import Cell, pool_splits, query_ids
from isotope.core.runs import empty
from isotope.index.build import filled, pools_of
from isotope.search.answer_files import read_answers
from isotope.search.systems import by_index, fill


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
    answered: Path,
    depth: int,
    threads: int,
) -> None:
    """Rank texts for the answers in `files`, on images and qrels of `tables_`; t2m finds nothing.

    An answer that names its entity has that one hit, with score 1, where it is in the pool.
    `rejected` gets tables.REJECTED: the rows that `read_answers` puts aside, and those whose entity
    no text is (unknown_entity). `answered` gets tables.ANSWERED: the images that some line is on.
    """
    read = read_answers(files, pl.read_parquet(tables_["images"]))
    chosen, strange = _entities(read.chosen, tables_["texts"])
    in_order = sorted([*read.rejected, *strange], key=_place)
    store.write_rows(in_order, rejected, tables.REJECTED)
    ids = pl.DataFrame({"query_id": read.answered}, schema={"query_id": pl.String})
    store.write(ids.to_arrow(), answered, tables.ANSWERED)
    folders = {folder.parts[-2]: folder for folder in indexes}
    for cells in by_index(outputs):
        place = folders[cells[0].setting] / cells[0].pool / cells[0].document_side
        asked = {cell: query_ids(tables_["qrels"], cell) for cell in cells}
        hits = empty().drop("rank")
        if cells[0].task == "m2t":
            wanted = pl.col("query_id").is_in(sorted({i for ids in asked.values() for i in ids}))
            own = read.answers.filter(wanted).rename({"query_id": "id"})
            told = chosen.filter(
                pl.col("split").is_in(pool_splits(cells[0].setting, cells[0].pool))
            )
            if place.exists() and own.height:
                hits = names.find_names(own, place, spec, hits=depth, threads=threads)
            hits = pl.concat([hits, told.select(hits.columns)])

        def answer(
            cell: Cell, hits: pl.DataFrame = hits, asked: Mapping[Cell, list[str]] = asked
        ) -> pl.DataFrame:
            return hits.filter(pl.col("query_id").is_in(asked[cell]))

        fill([p for p in outputs if Cell.of(p) in asked], answer)


def _place(row: Mapping[str, object]) -> tuple[str, int]:
    return str(row["file"]), int(str(row["row"]))


def _entities(chosen: pl.DataFrame, texts: Path) -> tuple[pl.DataFrame, list[dict[str, object]]]:
    """Return the hits of answers that name an entity, with its split, and rows of REJECTED."""
    known = pl.scan_parquet(texts).select("text_id", "split", entity="source_text_id")
    same = known.with_columns(entity=pl.col("text_id"))
    named = pl.concat([same, known]).join(chosen.lazy(), on="entity", how="semi").collect()
    entities = named.unique("entity", keep="first", maintain_order=True)
    found = chosen.join(entities, on="entity", how="left")
    hits = found.drop_nulls("text_id").select(
        "query_id", pl.col("text_id").alias("doc_id"), "split", score=pl.lit(1.0)
    )
    strange = found.filter(pl.col("text_id").is_null()).select(
        "file", "row", pl.lit("unknown_entity").alias("reason"), pl.col("entity").alias("detail"),
        "raw",
    )  # fmt: skip
    return hits, strange.to_dicts()
