"""What people say of suggestions: the sheet that they judge, and what their verdicts tell.

The sheet is a systematic sample of the feed in the order of its probabilities: as many strata of
equal size as suggestions are wanted, and one suggestion of each. Every suggestion has the same
chance to be on it, so the share of the sheet that is right estimates that of the feed.
"""

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import polars as pl

from isotope.core import store, sums
from isotope.core.schemas import CAPTION_FIELDS
from isotope_judge.schemas import SUGGESTION_SHEET
from isotope_judge.suggestions import (
    ACCEPTED,
    FORM,
    REASONS,
    REFUSALS,
    SHEET,
    VERDICTS,
    Suggestion,
    Verdict,
    grades,
    open_ledger,
    pasted,
    read_verdicts,
    rejected,
    verdict_json,
)
from isotope_suggest.captions import without_language
from isotope_suggest.measure.evaluate import counted
from isotope_suggest.schemas import JUDGEMENTS

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
EVERYBODY = "everybody"
# Suggestions that people judge: a share of them is known to a tenth.
_ON_SHEET = 100
_KEY = ["text_id", "image_id"]
_RIGHT = ("good", "okay")
_TALLY = ("assessor", "suggestions", *VERDICTS, "precision", "low", "high")


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
    first = named.unique(_KEY, keep="first", maintain_order=True)
    return first.select(*_KEY, "reason")


def judgements(paths: Sequence[Path]) -> pl.DataFrame:
    """Return what verdicts say of the relevance of pairs: text_id, image_id, relevance, assessors.

    The relevance is 2 (good), 1 (okay) or 0 (bad, offensive): of several assessors' the median, of
    two middle ones the lower, as in `judge.pool.graded_qrels`.

    Raises:
        CorruptFile: as `read_verdicts`.
    """
    middle = pl.col("grade").sort().get((pl.len() - 1) // 2)
    counts = {"relevance": middle, "assessors": pl.len().cast(pl.Int32)}
    return grades(paths).group_by(_KEY).agg(**counts).sort(_KEY)


def write_judgements(paths: Sequence[Path], out: Path) -> None:
    """Write schemas.JUDGEMENTS: what `judgements` returns.

    Raises:
        CorruptFile: as `read_verdicts`.
    """
    store.write(judgements(paths).to_arrow(), out, JUDGEMENTS)


def drawn(feed: pl.DataFrame, most: int, seed: int) -> pl.DataFrame:
    """Return at most `most` rows of a feed, a systematic sample by probability, surest first.

    The column `stratum` counts from 1. The same seed draws the same ones.
    """
    ordered = feed.sort(["probability", *_KEY], descending=[True, False, False])
    count = min(most, len(feed))
    bounds = [round(n * len(feed) / count) for n in range(count + 1)] if count else [0]
    chance = [_chance(seed, *pair) for pair in ordered.select(_KEY).iter_rows()]
    chosen = [min(range(*ends), key=chance.__getitem__) for ends in pairwise(bounds)]
    return ordered[chosen].with_columns(stratum=pl.int_range(1, pl.len() + 1, dtype=pl.Int32))


def _chance(seed: int, text_id: str, image_id: str) -> bytes:
    return hashlib.sha256(f"{seed}:{text_id}:{image_id}".encode()).digest()


def write_sheet(  # noqa: PLR0913
    feed: Path, texts: Path, images: Path, *, out: Path, seed: int, most: int = _ON_SHEET
) -> None:
    """Write schemas.SUGGESTION_SHEET: at most `most` suggestions of the feed.

    It shows neither probability nor reasons, which would tell assessors what to say.
    """
    chosen = drawn(pl.read_parquet(feed, glob=False), most, seed)
    words = pl.scan_parquet(texts, glob=False).join(
        chosen.lazy().select("text_id"), on="text_id", how="semi"
    )
    section = pl.col("context_section_description")
    captions = pl.scan_parquet(images, glob=False).join(
        chosen.lazy().select("image_id"), on="image_id", how="semi"
    )
    all_captions = pl.concat_list(pl.col(c).fill_null([]) for c in CAPTION_FIELDS)
    plain = without_language(pl.element()).str.strip_chars()
    caption = all_captions.list.eval(plain).list.unique(maintain_order=True)
    texts_of = words.select("text_id", section=section).collect()
    captions_of = captions.select("image_id", caption=caption.list.join(" | ")).collect()
    rows = chosen.join(texts_of, on="text_id", how="left", maintain_order="left").join(
        captions_of, on="image_id", how="left", maintain_order="left"
    )
    store.write(rows.select(SUGGESTION_SHEET.names).to_arrow(), out, SUGGESTION_SHEET)


def tally(verdicts: pl.DataFrame, sheet: pl.DataFrame) -> pl.DataFrame:
    """Return how often each assessor gave each verdict on the sheet, and the share that is right.

    Right is good or okay. The last row is of everybody: the suggestions that anybody has judged,
    each right if more than half of its assessors say so; its verdicts are counted once each.
    `precision` has its exact interval, low and high.
    """
    sheet_verdicts = verdicts.join(sheet.select(_KEY), on=_KEY, how="semi")
    is_right = sheet_verdicts.with_columns(right=pl.col("verdict").is_in(_RIGHT))
    parts = is_right.partition_by("assessor", as_dict=True, maintain_order=True)
    rows = [_tally(name, part, part["right"]) for (name,), part in sorted(parts.items())]
    if rows:
        shares = is_right.group_by(_KEY).agg(sums.mean(pl.col("right")))
        rows.append(_tally(EVERYBODY, is_right, shares["right"] > 0.5))  # noqa: PLR2004 (half)
    schema: dict[str, Any] = {"assessor": pl.String, "suggestions": pl.Int64}
    schema |= dict.fromkeys(VERDICTS, pl.Int64) | dict.fromkeys(_TALLY[-3:], pl.Float64)
    return pl.DataFrame(rows, schema=schema)


def _tally(name: object, rows: pl.DataFrame, right: pl.Series) -> dict[str, Any]:
    counts = dict(rows["verdict"].value_counts().iter_rows())
    share = counted(int(right.sum()), len(right))
    return {
        **{"assessor": name, "suggestions": share.total},
        **{verdict: counts.get(verdict, 0) for verdict in VERDICTS},
        **{"precision": share.share, "low": share.low, "high": share.high},
    }
