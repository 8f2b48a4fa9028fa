"""What a system reads of a text: its fields, joined.

Whoever reads texts joins them here, or in a query by the macros `steps` and `joined` of `core.sql`,
which do the same: encoders, BM25, the projection, Table 2, releases, and the live page.
"""

from collections.abc import Mapping, Sequence

import polars as pl

from isotope.core.schemas import STEP

_HIERARCHY = "hierarchy"


def text_of(fields: Sequence[str]) -> pl.Expr:
    """Return the fields of a row as one text, a space between them, without what is empty.

    The headings of a hierarchy are joined by a space, too, as encoder and BM25 of AToMiC's authors
    join those of their lists (TREC-AToMiC/AToMiC, examples/).
    """
    columns = [
        pl.col(f).str.replace_all(STEP, " ", literal=True) if f == _HIERARCHY else pl.col(f)
        for f in fields
    ]
    filled = [column.str.strip_chars().replace("", None) for column in columns]
    return pl.concat_str(filled, separator=" ", ignore_nulls=True).fill_null("").alias("text")


def text_of_row(row: Mapping[str, str | None], fields: Sequence[str]) -> str:
    """Return `text_of` a single row."""
    named = {name: [row[name]] for name in fields}
    return pl.DataFrame(named, dict.fromkeys(fields, pl.String)).select(text_of(fields)).item()
