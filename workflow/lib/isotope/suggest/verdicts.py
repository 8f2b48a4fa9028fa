"""What people say of suggestions: the sheet that they judge, and what their verdicts forbid."""

from collections.abc import Sequence
from pathlib import Path

import polars as pl

from isotope.judge.suggestions import (
    ACCEPTED,
    FORM,
    REASONS,
    REFUSALS,
    SHEET,
    VERDICTS,
    Suggestion,
    Verdict,
    open_ledger,
    pasted,
    read_verdicts,
    rejected,
    verdict_json,
)

__all__ = [
    "ACCEPTED",
    "FORM",
    "REASONS",
    "SHEET",
    "VERDICTS",
    "Suggestion",
    "Verdict",
    "open_ledger",
    "pasted",
    "read_verdicts",
    "rejected",
    "rejections",
    "verdict_json",
]


def rejections(paths: Sequence[Path]) -> pl.DataFrame:
    """Return text_id, image_id and reason of every pair that somebody has refused, each once.

    A refusal is the verdict bad, offensive or no picture wanted; `reason` is the one that the first
    assessor, by name, has named, else the verdict. One refusal counts, whatever others say: better
    no suggestion than a bad one.

    Raises:
        CorruptFile: as `read_verdicts`.
    """
    refused = read_verdicts(paths).filter(pl.col("verdict").is_in(REFUSALS))
    named = refused.with_columns(pl.coalesce("reason", "verdict").alias("reason"))
    first = named.unique(["text_id", "image_id"], keep="first", maintain_order=True)
    return first.select("text_id", "image_id", "reason")
