"""Weights, curves and thresholds, learned on the validation sections of a collection."""

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.core.progress import log
from isotope.suggest import calibrate, score
from isotope.suggest.rank import KEY, Ranker
from isotope.suggest.score import KIND, Floats, Weights

_SPLIT = "validation"
# What is learned from at most: 10,000 sections of 150 candidates hold half a gigabyte.
MOST_SECTIONS = 10_000
# The last bits of a score are the processor's.
_DIGITS = 9
_NO_FOLD = -1
_NO_ROWS = pl.DataFrame(
    schema={
        **dict.fromkeys(["text_id", "image_id", "kind", "page_class"], pl.String()),
        "fold": pl.Int64(),
    }
)


@dataclass
class Examples:
    """Candidates of validation sections that the filters left, and their features.

    `rows` has text_id, image_id, kind, page_class, fold and is_right.
    """

    rows: list[pl.DataFrame] = field(default_factory=list[pl.DataFrame])
    matrices: list[Floats] = field(default_factory=list[Floats])

    def add(self, left: pl.DataFrame, pictures: pl.DataFrame, sections: pl.DataFrame) -> None:
        """Take CANDIDATES of sections that `judged` returns."""
        own = left.join(sections, on="text_id", how="left", maintain_order="left")
        self.matrices.append(score.features(left, pictures))
        names = ("page_class", "fold")
        self.rows.append(own.select(*KEY, KIND, *names))


def judged(sections: pl.DataFrame) -> pl.DataFrame:
    """Return the sections to learn from: text_id, page_class and fold, by the page.

    They are the judged ones of the split validation; of more than MOST_SECTIONS those whose ids
    have the smallest CRC-32.
    """
    own = sections.filter((pl.col("role") == "judged") & (pl.col("split") == _SPLIT))
    if len(own) > MOST_SECTIONS:
        order = pl.Series([zlib.crc32(text_id.encode()) for text_id in own["text_id"]])
        own = own[order.arg_sort()[:MOST_SECTIONS]]
    pages = zip(own["language"], own["page_id"], strict=True)
    folds = pl.Series("fold", [score.fold_of(*page) for page in pages], pl.Int64)
    return own.select("text_id", pl.col("page_class").fill_null("")).with_columns(folds)


@dataclass(frozen=True)
class Learned:
    """The weights for sections of each fold and for all others; `calibration` is JSON's."""

    by_fold: Mapping[int, Weights]
    calibration: dict[str, Any]

    def scored(self, rows: pl.DataFrame, matrix: Floats) -> pl.DataFrame:
        """Add score and probability; `rows` has kind, page_class and fold, null if of none."""
        every = {_NO_FOLD: Weights.of(self.calibration["weights"]), **self.by_fold}
        scores = _by_folds(every, matrix, rows["fold"].fill_null(_NO_FOLD).to_numpy())
        labels = (rows["kind"].to_list(), rows["page_class"].fill_null("").to_list())
        chances = calibrate.probabilities(self.calibration["curves"], scores, *labels)
        named = {"score": scores, "probability": np.round(chances, _DIGITS)}
        return rows.with_columns(pl.Series(*each) for each in named.items())

    def is_shown(self) -> pl.Expr:
        """Return whether a row of rank and score passes the threshold of its rank."""
        passes = pl.lit(value=False)
        for own in self.calibration["ranks"]:
            if own["threshold"] is not None:
                passes |= (pl.col("rank") == own["rank"]) & (pl.col("score") >= own["threshold"])
        return passes


def learn(
    examples: Examples, qrels: pl.DataFrame, sections: int, ranker: Ranker, spec: Mapping[str, Any]
) -> Learned:
    """Learn from the examples of `sections` validation sections, some of them without candidates.

    `calibration` has all that scoring needs and what was reached. Where nothing can be learned its
    weights, curves and threshold are null and `why` says why; where weights are learned and no
    threshold is certified, threshold alone is null. Keys of `spec`: collection, precision,
    confidence, most.
    """
    rows = pl.concat(examples.rows) if examples.rows else _NO_ROWS
    named = rows.join(qrels.select(*KEY, is_right=True), on=KEY, how="left", maintain_order="left")
    right = named["is_right"].fill_null(value=False).to_numpy()
    counts, folds = _counts(named, right, sections), rows["fold"].to_numpy()
    if why := _unlearnable(counts, right, folds):
        log.warning("%s: no suggestion: %s", spec["collection"], why)
        return Learned({}, _nothing(why, counts, spec))
    matrix = np.concatenate(examples.matrices)
    by_fold = score.cross_fit(matrix, right, folds)
    scores = _by_folds(by_fold, matrix, folds)
    labels = (rows["kind"].to_list(), rows["page_class"].to_list())
    curves = calibrate.curves(scores, right, *labels)
    record = {**_nothing("", counts, spec), "weights": score.fit(matrix, right).record()}
    learned = Learned(by_fold, {**record, "curves": curves})
    _certify(learned, rows.with_columns(pl.Series("is_right", right)), matrix, ranker, spec)
    return learned


def _by_folds(by_fold: Mapping[int, Weights], matrix: Floats, folds: NDArray[np.int64]) -> Floats:
    scores = np.empty(len(matrix))
    for fold, weights in by_fold.items():
        scores[folds == fold] = score.scores(weights, matrix[folds == fold])
    return np.round(scores, _DIGITS)


def _counts(rows: pl.DataFrame, right: NDArray[np.bool_], sections: int) -> dict[str, int]:
    return {
        "validation": sections,
        "with candidates": rows["text_id"].n_unique(),
        "with a right candidate": rows.filter(pl.Series(right))["text_id"].n_unique(),
    }


def _unlearnable(
    counts: Mapping[str, int], right: NDArray[np.bool_], folds: NDArray[np.int64]
) -> str:
    """Return why nothing can be learned, or "" where it can."""
    sections = counts["validation"]
    if not sections:
        return "the collection has no judged section in the split validation to learn from"
    if not len(right):
        return f"none of the {sections} sections of validation has a candidate the filters leave"
    if not right.any():
        return f"no candidate of the {sections} sections of validation is right"
    if right.all():
        return f"all candidates of the {sections} sections of validation are right"
    if any(len(np.unique(right[folds != fold])) < 2 for fold in np.unique(folds)):  # noqa: PLR2004
        return f"the right candidates of {sections} sections of validation are on too few pages"
    return ""


def _nothing(why: str, counts: Mapping[str, int], spec: Mapping[str, Any]) -> dict[str, Any]:
    wanted = {name: spec[name] for name in ("collection", "precision", "confidence", "most")}
    learned = {"weights": None, "curves": None, "threshold": None, "ranks": []}
    return {**wanted, **learned, "sections": counts, "why": why}


def _certify(
    learned: Learned, rows: pl.DataFrame, matrix: Floats, ranker: Ranker, spec: Mapping[str, Any]
) -> None:
    """Add thresholds, and what was reached with them, to the calibration."""
    scored = learned.scored(rows, matrix)
    suggested = ranker.suggested(scored).scored.join(scored.select(*KEY, "is_right"), on=KEY)
    ranks = [suggested.filter(pl.col("rank") == n + 1) for n in range(spec["most"])]
    record = learned.calibration
    certified = calibrate.certify(
        [own["score"].to_numpy() for own in ranks],
        [own["is_right"].to_numpy() for own in ranks],
        sections=record["sections"]["validation"],
        precision=spec["precision"],
        confidence=spec["confidence"],
    )
    reached, best = dict[str, float](), certified[0]
    if best.threshold is None:
        log.warning("%s: no suggestion: %s", spec["collection"], best.why)
    else:
        reached["coverage"] = round(best.sections / record["sections"]["validation"], 6)
        reached["precision"] = round(best.right / best.sections, 6)
        log.info("%s: %s", spec["collection"], _said(best, record["sections"]["validation"]))
    ranked = {"ranks": [own._asdict() for own in certified], "threshold": best.threshold}
    record |= {**ranked, "reached": reached, "why": best.why}


def _said(best: calibrate.Certified, sections: int) -> str:
    return (
        f"of {sections} sections of validation {best.sections} get a suggestion that scores at "
        f"least {best.threshold}; {best.right} are right, at least {best.bound:.1%} in truth"
    )
