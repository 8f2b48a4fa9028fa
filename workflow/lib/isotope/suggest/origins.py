"""Tables of the phase parse as a collection sees them: those of its sources, under its own ids."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl


def parsed(files: Sequence[Path], languages: Sequence[str], *, union: bool) -> pl.LazyFrame:
    """Return the rows of one table of all sources, with the `language` of each source's texts.

    `files` and `languages` have an item a source. A text of a union has its language before its id
    (workflow/sql/collect/union/member), so page ids are unique only beside the language.
    """
    return pl.concat(
        [_of_source(file, code, union) for file, code in zip(files, languages, strict=True)],
        how="diagonal_relaxed",
    )


def _of_source(file: Path, language: str, union: bool) -> pl.LazyFrame:  # noqa: FBT001 (private)
    rows = pl.scan_parquet(file)
    names = rows.collect_schema().names()
    ids = pl.format("{}-{}", pl.lit(language), "text_id") if union else pl.col("text_id")
    own = [ids.alias("text_id")] if "text_id" in names else []
    spoken = [pl.lit(language).alias("language")] if "language" not in names else []
    return rows.with_columns(*own, *spoken)
