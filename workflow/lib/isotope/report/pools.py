"""Which pool of a collection is shown where a reader names none, or only a part of one."""

from pathlib import Path

import polars as pl

from isotope.params import SETTINGS, SPLITS

# In this order: a small pool, and queries that nothing is learned from.
_SPLITS = ("validation", "test", *SPLITS)


def measured(scores: Path, setting: str | None, split: str | None) -> tuple[str, str] | None:
    """Return the first pool of `scores` that has this setting and split, as far as they are named.

    Small pools come first, then validation before test. None: there is none.
    """
    named = {"setting": setting, "split": split}
    wanted = [pl.col(key) == value for key, value in named.items() if value]
    rows = (
        pl.scan_parquet(scores, glob=False).filter(wanted)
        if wanted
        else pl.scan_parquet(scores, glob=False)
    )
    pools: list[tuple[str, str]] = rows.select("setting", "split").unique().collect().rows()
    ranked = [pool for pool in pools if pool[0] in SETTINGS and pool[1] in _SPLITS]
    return min(ranked, key=lambda p: (SETTINGS.index(p[0]), _SPLITS.index(p[1])), default=None)
