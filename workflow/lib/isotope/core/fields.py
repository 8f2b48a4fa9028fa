"""What a system reads of a text: its fields, joined.

Whoever reads texts joins them here, or in a query by the macros `steps` and `joined` of `core.sql`,
which do the same: encoders, BM25, the projection, Table 2, releases, and the live page.
"""

from collections.abc import Iterable, Mapping, Sequence

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


def parts_of(row: Mapping[str, str | None], fields: Iterable[str]) -> list[str]:
    """Return the filled fields of one text, the headings of its hierarchy one by one.

    They are the `parts` of workflow/sql/index/texts.sql.
    """
    filled = ((name, row[name] or "") for name in fields)
    split = (text.split(STEP) if name == _HIERARCHY else [text] for name, text in filled)
    return [part for parts in split for part in parts if part]
