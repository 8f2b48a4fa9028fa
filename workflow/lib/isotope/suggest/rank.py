"""What each system suggests for a section: its ranking of the candidates that the filters leave."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow.parquet as pq

from isotope.core.errors import BrokenPromise
from isotope.schemas.suggest import CANDIDATES, FILTERED, SCORED
from isotope.suggest import baseline, diversify
from isotope.suggest.filters import Filters
from isotope.suggest.likeness import Likeness
from isotope.suggest.score import KIND

SUGGEST, WIKIMEDIA = "suggest", "wikimedia"
# What ranks by its own score alone; best is that source's first.
_SOURCES = ("bm25", "dense")
DEPTH = 10
# How far down a ranking near duplicates are looked for: others fill the places of what goes.
_LOOKED_AT = 3 * DEPTH
_ROWS = 1 << 17
KEY = ["text_id", "image_id"]
_INTERVAL = ("low", "high")
_NUMBERS = ("score", "probability", *_INTERVAL)


class Ranked(NamedTuple):
    """Rows of SCORED, by section, system and rank, and the FILTERED of the system suggest."""

    scored: pl.DataFrame
    rejected: pl.DataFrame


def blocks(candidates: Path) -> Iterator[pl.DataFrame]:
    """Yield CANDIDATES, some whole sections at a time; memory holds a block of 131,072 rows.

    Raises:
        BrokenPromise: rows of a section do not stand together, in the order of its id.
    """
    waiting = pl.DataFrame(CANDIDATES.empty_table())
    with pq.ParquetFile(candidates) as file:
        for batch in file.iter_batches(_ROWS, columns=CANDIDATES.names):
            rows = pl.concat([waiting, pl.DataFrame(batch)])
            if not rows["text_id"].is_sorted():
                found = "sections whose candidates are not sorted by text_id"
                raise BrokenPromise(candidates, found, "remove it and run phase suggest again")
            is_last = rows["text_id"] == rows["text_id"][-1]
            waiting = rows.filter(is_last)
            if len(waiting) < len(rows):
                yield rows.filter(~is_last)
    if len(waiting):
        yield waiting


class Ranker:
    """Ranks what the filters leave; made once, applied to any number of blocks."""

    def __init__(self, filters: Filters, likeness: Likeness, spec: Mapping[str, Any]) -> None:
        """Take the filters; keys of `spec`: diversity."""
        self._filters, self._likeness = filters, likeness
        self._diversity = float(spec["diversity"])

    def suggested(self, scored: pl.DataFrame) -> Ranked:
        """Rank candidates by their column `score`, the logit of the system suggest.

        Near duplicates of a better candidate and others of its series go; the ten best of the rest
        are ordered by maximal marginal relevance, so the best one stays first. Of equal scores the
        smaller id comes first.
        """
        ordered = scored.sort(["text_id", "score", "image_id"], descending=[False, True, False])
        single = self._filters.one_of_a_kind(_head(ordered, _LOOKED_AT))
        best = self._diverse(_head(single.left, DEPTH))
        return Ranked(_ranked(best, SUGGEST), single.rejected.select(FILTERED.names))

    def others(self, left: pl.DataFrame) -> pl.DataFrame:
        """Rank candidates by each source alone and by the baseline: rows of SCORED."""
        kinds = left.select(*KEY, KIND)
        alone = [self._by(left, source) for source in _SOURCES]
        simple = baseline.wikimedia(left).join(kinds, on=KEY, how="left", maintain_order="left")
        ordered = simple.sort(["text_id", "score"], descending=[False, True], maintain_order=True)
        return pl.concat([_ranked(self._single(ordered), WIKIMEDIA), *alone])

    def _by(self, left: pl.DataFrame, source: str) -> pl.DataFrame:
        own = left.filter(pl.col(source).is_not_null()).sort("text_id", f"{source}_rank")
        null = pl.lit(None, pl.Float64).alias("probability")
        rows = own.select(*KEY, pl.col(source).cast(pl.Float64).alias("score"), null, KIND)
        return _ranked(self._single(rows), source)

    def _single(self, ordered: pl.DataFrame) -> pl.DataFrame:
        return self._filters.one_of_a_kind(_head(ordered, _LOOKED_AT)).left

    def _diverse(self, best: pl.DataFrame) -> pl.DataFrame:
        """Order the rows of each section, best first, by maximal marginal relevance."""
        if best.is_empty():
            return best
        row = best.select(pl.col("text_id").rle_id())["text_id"].to_numpy()
        place = best.select(pl.int_range(pl.len()).over("text_id"))["literal"].to_numpy()
        vectors = self._likeness.vectors(best["image_id"])
        sections = int(row[-1]) + 1
        relevance = np.full((sections, DEPTH), np.nan)
        relevance[row, place] = 1 / (1 + np.exp(-best["score"].to_numpy()))
        cube = np.zeros((sections, DEPTH, vectors.shape[1]), np.float32)
        cube[row, place] = vectors
        places = diversify.mmr(relevance, cube, self._diversity, DEPTH)
        first = np.searchsorted(row, np.arange(sections))
        at = (first[:, None] + places)[places != diversify.NONE]
        return best[at]


def _head(ordered: pl.DataFrame, most: int) -> pl.DataFrame:
    return ordered.filter(pl.int_range(pl.len()).over("text_id") < most)


def _ranked(ordered: pl.DataFrame, system: str) -> pl.DataFrame:
    """Return SCORED of rows that are best first in their section."""
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("text_id")
    unknown = [pl.lit(None).alias(name) for name in _INTERVAL if name not in ordered.columns]
    named = ordered.with_columns(rank.alias("rank"), pl.lit(system).alias("system"), *unknown)
    return named.filter(pl.col("rank") <= DEPTH).select(
        pl.col(name).cast(pl.Float64) if name in _NUMBERS else pl.col(name) for name in SCORED.names
    )
