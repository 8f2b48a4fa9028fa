"""Captions of images by language: how long they are, and how well people agree (CIDEr)."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from isotope import tables
from isotope.core import sql, store
from isotope.core.errors import EmptyTable
from isotope.core.progress import Progress
from isotope.tabulate.cider import cider

_SQL = sql.SQL / "tabulate"


def captions_table(texts: Path, qrels: Path, out: Path) -> None:
    """Write tables.CAPTIONS, one row for each caption and image, by language, image and text.

    `cider` holds a caption against the others of its image in its language: each caption with
    company is an item of the corpus, the others are its references. It is null for one alone.

    Raises:
        EmptyTable: no text that is paired with an image.
    """
    found = sql.query(_SQL / "caption_tokens.sql", {"texts": texts, "qrels": qrels}, {})
    if found is None or found.is_empty():
        raise EmptyTable(qrels, "no captions", "look at the collection's texts")
    progress = Progress("captions compared", found.height)
    with store.writer(out, tables.CAPTIONS) as writer:
        for part in found.partition_by("language", maintain_order=True):
            told = part.with_columns(cider=agreement(part["image_id"], part["tokens"]))
            counted = told.with_columns(tokens=pl.col("tokens").list.len().cast(pl.Int32))
            rows = counted.select(tables.CAPTIONS.names).to_arrow().cast(tables.CAPTIONS)
            writer.write_table(rows, row_group_size=store.ROWS_PER_GROUP)
            progress.add(part.height)
    progress.finish()


def agreement(images: pl.Series, tokens: pl.Series) -> pl.Series:
    """Return each caption's CIDEr against the others of its image, null where there are none."""
    spoken: list[list[str]] = tokens.to_list()
    rows = pl.DataFrame({"image": images}).with_row_index("row")
    together = rows.group_by("image", maintain_order=True).agg("row")["row"].to_list()
    asked = [(row, _others(group, row)) for group in together for row in group if len(group) > 1]
    references = [[spoken[other] for other in others] for _, others in asked]
    scores = cider([spoken[row] for row, _ in asked], references)
    own = pl.DataFrame(
        {"row": [row for row, _ in asked], "cider": scores},
        schema={"row": pl.get_index_type(), "cider": pl.Float64},
    )
    return rows.join(own, on="row", how="left", maintain_order="left")["cider"]


def _others(group: Sequence[int], row: int) -> list[int]:
    return [other for other in group if other != row]
