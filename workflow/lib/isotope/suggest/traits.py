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
# The columns of sql/suggest/traits.sql that the model reads.
_COUNTS = ("place", "sections", "level", "characters", "lines", "list_items", "table_rows")
_PAGE = ("page_infobox", "page_characters", "page_lists", "page_digits", "page_class")
TRAITS = ("heading", *_COUNTS, "references", "named_links", "has_infobox", *_PAGE)
# How many numbers the words of headings are hashed into.
BUCKETS = 1 << 12
_QUARTILES, _ENDS, _TWO = (0.25, 0.5, 0.75), (0.01, 0.99), 2
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
    listed = ((pl.col("list_items") + pl.col("table_rows")) / lines).clip(upper_bound=1)
    return rows.select(
        pl.col("characters").log1p().alias("length"),
        (pl.col("characters") == 0).alias("empty"),
        pl.col("list_items").log1p().alias("list items"),
        pl.col("table_rows").log1p().alias("table rows"),
        (pl.col("list_items") / lines).clip(upper_bound=1).alias("share of list items"),
        (pl.col("table_rows") / lines).clip(upper_bound=1).alias("share of table rows"),
        pl.col("references").log1p().alias("references"),
        (_KILO * pl.col("references") / characters).log1p().alias("references per 1,000"),
        # A list of links says nothing of the kind that links in prose say.
        (_KILO * pl.col("named_links") * (1 - listed) / characters).log1p().alias("links in prose"),
        (place == 0).alias("lead"),
        place.log1p().alias("sections before"),
        (last - place).log1p().alias("sections after"),
        (place / last.clip(lower_bound=1)).alias("place in the page"),
        pl.col("level").alias("level"),
        last.log1p().alias("sections of the page"),
        pl.col("has_infobox").alias("infobox"),
        pl.col("page_infobox").alias("infobox on the page"),
        pl.col("page_characters").log1p().alias("length of the page"),
        pl.col("page_lists").alias("lists of the page"),
        pl.col("page_digits").alias("digits in the title"),
    ).cast(pl.Float64)


def columns(rows: pl.DataFrame, knots: Mapping[str, Sequence[float]]) -> Floats:
    """Return each feature's value, and what it is above each knot but the outer ones [n, columns].

    The outer knots of a feature end its range: what is beyond them counts as they do.
    """
    values = features(rows)
    listed = list[Floats]()
    for name, (low, *inner, high) in knots.items():
        within = np.clip(values[name].to_numpy(), low, high)
        listed += [within, *(np.maximum(within - knot, 0) for knot in inner)]
    return np.column_stack(listed)


def knots_of(rows: pl.DataFrame) -> dict[str, list[float]]:
    """Return the knots of each feature, in order: quartiles between the ends of its range.

    A hundredth of the sections are beyond each end; of a feature of two values, none.
    """
    values = features(rows)
    return {name: _knots(values[name].to_numpy()) for name in values.columns}


def _knots(values: Floats) -> list[float]:
    distinct = np.unique(values)
    two = len(distinct) <= _TWO
    low, high = (distinct[0], distinct[-1]) if two else np.quantile(values, _ENDS)
    inner = {float(q) for q in np.quantile(values, _QUARTILES)} - {float(low), float(high)}
    return [float(low), *sorted(inner), float(high)]


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
