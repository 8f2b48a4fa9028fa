"""Learn a temporal model from a collection's judged training pairs."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core.lucene import contents
from isotope.models.kinds.dates import DatesRecipe, fit, fold_of, save_dates, years_of
from isotope.params.sections import model_values

_HASHES = 1 << 32


def train_dates(  # noqa: PLR0913
    *,
    texts: Path,
    images: Path,
    qrels: Path,
    spec: Mapping[str, Any],
    fields: Sequence[str],
    weights: Path,
) -> None:
    """Fit what `spec` describes (params `models.<name>`) on split `train`; write it to `weights`.

    A text has the date of the picture that it belongs to.

    Raises:
        MissingColumn, BadParams: no such column of dates.
        EmptyTable: too few dated training texts.
    """
    recipe = DatesRecipe.of(spec)
    column = model_values(spec)["column"]
    pairs = dated(images, qrels, column)
    order = pl.col("text_id").map_elements(lambda i: fold_of(i, _HASHES), pl.Int64)
    chosen = pairs.sort(order, "text_id", "year").head(recipe.texts).sort("text_id", "year")
    words = contents("texts", texts, language="", fields=fields)
    read = chosen.join(words, left_on="text_id", right_on="id", maintain_order="left")
    save_dates(fit(read["text_id"], read["contents"].to_list(), read["year"], recipe), weights)


def dated(images: Path, qrels: Path, column: str) -> pl.DataFrame:
    """Return text_id and year of every judged training pair whose picture has a date.

    Raises:
        As `models.kinds.dates.years_of`.
    """
    table = pl.read_parquet(images)
    years = years_of(table, column, images)
    with_year = table.select("image_id").with_columns(years.alias("year")).drop_nulls()
    right = pl.scan_parquet(qrels).filter(pl.col("relevance") > 0, split="train")
    return right.collect().join(with_year, on="image_id").select("text_id", "year").unique()
