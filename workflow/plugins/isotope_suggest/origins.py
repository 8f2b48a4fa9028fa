"""Tables of the phase parse as a collection sees them: those of its sources, under its own ids."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from isotope.params.sections import Section


class Origins(Section):
    """The sources of a collection, as the rules of the phase suggest tell its functions."""

    languages: dict[str, str]
    """The language of each source's texts, in the order of the sources."""
    union: bool = False
    """Whether the collection is made of others."""

    def parsed(self, files: Sequence[Path]) -> pl.LazyFrame:
        """Return the rows of one table of all sources, with the `language` of each source's texts.

        `files` have an item a source. A text of a union has its language before its id
        (workflow/sql/collect/union/member), so page ids are unique only beside the language.
        """
        spoken = zip(files, self.languages.values(), strict=True)
        rows = [_of_source(file, language, self.union) for file, language in spoken]
        return pl.concat(rows, how="diagonal_relaxed")


def _of_source(file: Path, language: str, union: bool) -> pl.LazyFrame:
    rows = pl.scan_parquet(file, glob=False)
    names = rows.collect_schema().names()
    ids = pl.format("{}-{}", pl.lit(language), "text_id") if union else pl.col("text_id")
    id_column = [ids.alias("text_id")] if "text_id" in names else []
    spoken = [pl.lit(language).alias("language")] if "language" not in names else []
    return rows.with_columns(*id_column, *spoken)
