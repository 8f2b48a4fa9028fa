"""What the model of `ought` sees of a section: features of it and of its page, and its heading."""

import re
import zlib
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.core.errors import MissingColumn

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float64]
# The columns of sql/suggest/sections/60_traits.sql that the model reads.
_COUNTS = ("place", "sections", "level", "characters", "lines", "list_items", "table_rows")
_PAGE = ("page_characters", "page_lists", "page_digits", "page_class")
TRAITS = ("heading", *_COUNTS, "references", "links", "has_infobox", *_PAGE)
# How many numbers the words of headings are hashed into.
BUCKETS = 1 << 12
_QUANTILES = (0.25, 0.5, 0.75)
_KILO, _SOFT = 1_000, 200
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")


def features(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the features of sections, a float64 column each, before hinges and scales.

    Raises:
        MissingColumn: a column of TRAITS that the rows lack.
    """
    if missing := [name for name in TRAITS if name not in rows.columns]:
        raise MissingColumn("sections", f"no columns {missing}", f"a section has {list(TRAITS)}")
    place, last = pl.col("place"), pl.col("sections") - 1
    lines = pl.col("lines").clip(lower_bound=1)
    characters = pl.col("characters") + _SOFT
    is_lead = place == 0
    return rows.select(
        pl.col("characters").log1p().alias("length"),
        (pl.col("characters") == 0).alias("empty"),
        pl.col("list_items").log1p().alias("list items"),
        pl.col("table_rows").log1p().alias("table rows"),
        (pl.col("list_items") / lines).clip(upper_bound=1).alias("share of list items"),
        (pl.col("table_rows") / lines).clip(upper_bound=1).alias("share of table rows"),
        pl.col("references").log1p().alias("references"),
        (_KILO * pl.col("references") / characters).log1p().alias("references per 1,000"),
        (_KILO * pl.col("links") / characters).log1p().alias("links per 1,000"),
        is_lead.alias("lead"),
        place.log1p().alias("sections before"),
        (last - place).log1p().alias("sections after"),
        (place / last.clip(lower_bound=1)).alias("place in the page"),
        pl.col("level").alias("level"),
        last.log1p().alias("sections of the page"),
        pl.col("has_infobox").alias("infobox"),
        (pl.col("has_infobox") & is_lead).alias("lead with infobox"),
        pl.col("page_characters").log1p().alias("length of the page"),
        pl.col("page_lists").alias("lists of the page"),
        pl.col("page_digits").alias("digits in the title"),
    ).cast(pl.Float64)


def columns(rows: pl.DataFrame, knots: Mapping[str, Sequence[float]]) -> Floats:
    """Return each feature's value and what it is above each of its knots [n, columns]."""
    values = features(rows)
    hinged = [
        np.maximum(values[name].to_numpy() - knot, 0) if n else values[name].to_numpy()
        for name, at in knots.items()
        for n, knot in enumerate((0.0, *at))
    ]
    return np.column_stack(hinged)


def quartiles(rows: pl.DataFrame) -> dict[str, list[float]]:
    """Return each feature's quartiles, each once and none at an end of its range."""
    values = features(rows)
    return {name: _within(values[name].to_numpy()) for name in values.columns}


def _within(values: Floats) -> list[float]:
    ends = {float(values.min()), float(values.max())}
    return sorted({float(each) for each in np.quantile(values, _QUANTILES)} - ends)


def buckets(headings: pl.Series) -> "csr_matrix":
    """Return which buckets the words and pairs of words of headings have, 0 or 1 [n, BUCKETS].

    A bucket is the CRC-32 of the lower-case words in UTF-8, a space between two and 0 for each
    digit, modulo BUCKETS.
    """
    from scipy.sparse import csr_matrix  # noqa: PLC0415 (slow to import)

    names = headings.fill_null("").unique(maintain_order=True)
    listed = [sorted(_hashed(name)) for name in names]
    lengths = np.array([len(each) for each in listed])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.array([bucket for each in listed for bucket in each], dtype=np.int32)
    table = csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(names), BUCKETS))
    numbers = {name: n for n, name in enumerate(names)}
    return table[[numbers[name or ""] for name in headings]]


def _hashed(heading: str) -> set[int]:
    words = _WORD.findall(_DIGIT.sub("0", heading.lower()))
    pairs = [f"{a} {b}" for a, b in pairwise(words)]
    return {zlib.crc32(each.encode()) % BUCKETS for each in (*words, *pairs)}
