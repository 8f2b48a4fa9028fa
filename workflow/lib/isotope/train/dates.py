"""Learn a temporal model from a collection's judged training pairs."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from isotope.index.bm25 import contents
from isotope.models.dates import fit, fold_of, save, years_of
from isotope.models.kinds.dates import DatesRecipe

_HASHES = 1 << 32


def train_dates(
    collected: Mapping[str, Path],
    spec: Mapping[str, Any],
    *,
    fields: list[str],
    weights: Path,
) -> None:
    """Fit what `spec` describes (params `models.<name>`) on split `train`; write it to `weights`.

    `collected` are texts, images and qrels. A text has the date of the picture that it belongs to.

    Raises:
        MissingColumn, BadParams: no such column of dates.
        EmptyTable: too few dated training texts.
    """
    recipe = DatesRecipe.of(spec)
    column = spec.get("column", "date")
    pairs = dated(collected, column)
    order = pl.col("text_id").map_elements(lambda i: fold_of(i, _HASHES), pl.Int64)
    chosen = pairs.sort(order, "text_id", "year").head(recipe.texts).sort("text_id", "year")
    words = contents("texts", collected["texts"], language="", fields=fields)
    read = chosen.join(words, left_on="text_id", right_on="id", maintain_order="left")
    save(fit(read["text_id"], read["contents"].to_list(), read["year"], recipe), weights)


def dated(collected: Mapping[str, Path], column: str) -> pl.DataFrame:
    """Return text_id and year of every judged training pair whose picture has a date.

    Raises:
        As `models_dates.years_of`.
    """
    images = pl.read_parquet(collected["images"])
    years = years_of(images, column, collected["images"])
    known = images.select("image_id").with_columns(years.alias("year")).drop_nulls()
    right = pl.scan_parquet(collected["qrels"]).filter(pl.col("relevance") > 0, split="train")
    return right.collect().join(known, on="image_id").select("text_id", "year").unique()
