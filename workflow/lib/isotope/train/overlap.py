"""What a training shares with the splits that measure it, where splits share one corpus."""

from pathlib import Path

import polars as pl

from isotope.core.progress import log

_MEASURED = ("validation", "test")
_PAIR = ("text_id", "image_id")


def shared_with(qrels: pl.DataFrame, split: str) -> dict[str, int]:
    """Count what both `train` and `split` judge as relevant: texts, images, and whole pairs.

    A collection that is split by picture shares nothing (docs/pairs.md, one corpus for all splits).
    """
    right = qrels.filter(pl.col("relevance") > 0)
    learned, measured = (right.filter(split=name).select(_PAIR) for name in ("train", split))
    keys = {"texts": _PAIR[:1], "images": _PAIR[1:], "pairs": _PAIR}
    return {
        name: learned.select(key).unique().join(measured, on=key, how="semi").height
        for name, key in keys.items()
    }


def warn_of_shared(qrels: Path) -> None:
    """Warn of what training reads that another split judges: scores there are no unseen items'."""
    table = pl.read_parquet(qrels, columns=[*_PAIR, "relevance", "split"], glob=False)
    for split in _MEASURED:
        counts = {name: n for name, n in shared_with(table, split).items() if n}
        if counts:
            listed = ", ".join(f"{n:,} {name}" for name, n in counts.items())
            log.warning(
                "splits share a corpus: %s of the training pairs are judged in %s too, "
                "so scores there are not of unseen items; `corpus: split` sets them aside",
                listed,
                split,
            )
