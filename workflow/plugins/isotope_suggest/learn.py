"""Weights, curves and thresholds, learned on the validation sections of a collection."""

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.core.progress import log
from isotope_suggest import calibrate, score
from isotope_suggest.params import Publishing
from isotope_suggest.score import KEY, KIND, Floats, Ranker, Weights

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
        rows = left.join(sections, on="text_id", how="left", maintain_order="left")
        self.matrices.append(score.features(left, pictures))
        names = ("page_class", "fold")
        self.rows.append(rows.select(*KEY, KIND, *names))


def judged(sections: pl.DataFrame) -> pl.DataFrame:
    """Return the sections to learn from: text_id, page_class and fold, by the page.

    They are the judged ones of the split validation; of more than MOST_SECTIONS those whose ids
    have the smallest CRC-32.
    """
    chosen = sections.filter((pl.col("role") == "judged") & (pl.col("split") == _SPLIT))
    if len(chosen) > MOST_SECTIONS:
        order = pl.Series([zlib.crc32(text_id.encode()) for text_id in chosen["text_id"]])
        chosen = chosen[order.arg_sort()[:MOST_SECTIONS]]
    pages = zip(chosen["language"], chosen["page_id"], strict=True)
    folds = pl.Series("fold", [score.fold_of(*page) for page in pages], pl.Int64)
    return chosen.select("text_id", pl.col("page_class").fill_null("")).with_columns(folds)


@dataclass
class Learned:
    """The weights for sections of each fold; `calibration`, JSON's, has those for all others.

    `suggested` are the suggestions for validation sections: rank, score and is_right.
    """

    by_fold: Mapping[int, Weights]
    calibration: dict[str, Any]
    suggested: pl.DataFrame = field(default_factory=pl.DataFrame)

    def scored(self, rows: pl.DataFrame, matrix: Floats) -> pl.DataFrame:
        """Add score, probability, low and high.

        `rows` has kind, page_class and fold, null if of none.
        """
        weights = {_NO_FOLD: Weights.from_record(self.calibration["weights"]), **self.by_fold}
        scores = _by_folds(weights, matrix, rows["fold"].fill_null(_NO_FOLD).to_numpy())
        labels = (rows["kind"].to_list(), rows["page_class"].fill_null("").to_list())
        chances = calibrate.probabilities(self.calibration["curves"], scores, *labels)
        named = {"score": scores}
        named |= {name: np.round(values, _DIGITS) for name, values in chances._asdict().items()}
        return rows.with_columns(pl.Series(*column) for column in named.items())

    def shown(self, ranked: pl.DataFrame) -> pl.DataFrame:
        """Return the rows, of rank and score, that pass the threshold of their rank."""
        passes = pl.lit(value=False)
        for rank_record in self.calibration["ranks"]:
            if rank_record["threshold"] is not None:
                passes |= (pl.col("rank") == rank_record["rank"]) & (
                    pl.col("score") >= rank_record["threshold"]
                )
        return ranked.filter(passes)

    def raise_for(self, feed: pl.DataFrame) -> pl.DataFrame:
        """Raise thresholds until the mean probability of a feed is the precision; return the rest.

        `feed` has rank, score and probability of what is shown for open sections.
        """
        wanted = self.calibration["precision"]
        if feed.is_empty():
            return feed
        scores, chances = feed["score"].to_numpy(), feed["probability"].to_numpy()
        least = calibrate.mean_from(scores, chances, wanted)
        self._raise(least, f"below it the mean probability of the feed is less than {wanted}")
        return self.shown(feed)

    def certify(self, spec: Publishing) -> None:
        """Find the thresholds of each rank, and how far a suggestion is rather right than wrong."""
        ranks = [self._of_rank(n + 1) for n in range(spec.most)]
        certified = calibrate.certify(
            *zip(*ranks, strict=True),
            sections=self.calibration["sections"]["validation"],
            precision=spec.precision,
        )
        self._record(certified)
        self.calibration |= {"certified": certified[0].threshold, "why": certified[0].why}
        likely = calibrate.likely_from(self.calibration["curves"]["all"])
        self._raise(likely, "below it a suggestion is rather wrong than right")

    def _of_rank(self, rank: int) -> tuple[Floats, NDArray[np.bool_]]:
        rows = self.suggested.filter(pl.col("rank") == rank)
        return rows["score"].to_numpy(), rows["is_right"].to_numpy()

    def _raise(self, least: float, reason: str) -> None:
        before = [calibrate.Certified(**fields) for fields in self.calibration["ranks"]]
        if not before or before[0].threshold is None or before[0].threshold >= least:
            return
        if least == np.inf:
            why = f"no threshold is high enough: {reason}"
            none = [
                certificate._replace(threshold=None, why=certificate.why or why)
                for certificate in before
            ]
            self._record(none)
            self.calibration["why"] = why
            return
        self.calibration["raised"].append({"threshold": least, "reason": reason})
        raised = [
            certificate
            if certificate.threshold is None
            else calibrate.at(
                max(least, certificate.threshold), certificate, *self._of_rank(certificate.rank)
            )
            for certificate in before
        ]
        self._record(raised)

    def _record(self, ranks: Sequence[calibrate.Certified]) -> None:
        self.calibration["ranks"] = [certificate._asdict() for certificate in ranks]
        best, reached = ranks[0], dict[str, float]()
        if best.threshold is not None and best.sections:
            section_count = self.calibration["sections"]["validation"]
            reached["coverage"] = round(best.sections / section_count, 6)
            reached["precision"] = round(best.right / best.sections, 6)
        self.calibration |= {"threshold": best.threshold, "reached": reached}

    def log(self) -> None:
        """Say what was reached, as a warning where nothing is suggested."""
        name, best = self.calibration["collection"], self.calibration["ranks"][:1]
        if not best or best[0]["threshold"] is None:
            log.warning("%s: no suggestion: %s", name, self.calibration["why"])
            return
        log.info(
            "%s: of %d sections of validation %d get a suggestion that scores at least %s; %d are "
            "right (lower bound %.3f)",
            *(name, self.calibration["sections"]["validation"], best[0]["sections"]),
            *(best[0]["threshold"], best[0]["right"], best[0]["bound"]),
        )


def learn(  # noqa: PLR0913, PLR0917 (what is learned from, and what for)
    examples: Examples,
    qrels: pl.DataFrame,
    sections: int,
    ranker: Ranker,
    collection: str,
    spec: Publishing,
) -> Learned:
    """Learn from the examples of `sections` validation sections, some of them without candidates.

    `calibration` has all that scoring needs and what was reached. Where nothing can be learned its
    weights, curves and threshold are null and `why` says why; where weights are learned and no
    threshold is certified, threshold alone is null.
    """
    rows = pl.concat(examples.rows) if examples.rows else _NO_ROWS
    judged = (
        qrels.filter(pl.col("relevance") > 0)
        .select(KEY)
        .unique()
        .with_columns(is_right=pl.lit(value=True))
    )
    named = rows.join(judged, on=KEY, how="left", maintain_order="left")
    right = named["is_right"].fill_null(value=False).to_numpy()
    counts, folds = _counts(named, right, sections), rows["fold"].to_numpy()
    if why := _unlearnable(counts, right, folds):
        return Learned({}, _nothing(why, counts, collection, spec))
    matrix = np.concatenate(examples.matrices)
    by_fold = score.cross_fit(score.learnable(matrix), right, folds)
    scores = _by_folds(by_fold, matrix, folds)
    labels = (rows["kind"].to_list(), rows["page_class"].to_list())
    curves = calibrate.curves(scores, right, *labels)
    weights = score.mean_of([*by_fold.values()]).record()
    record = {**_nothing("", counts, collection, spec), "weights": weights}
    learned = Learned(by_fold, {**record, "curves": curves})
    scored = learned.scored(rows.with_columns(pl.Series("is_right", right)), matrix)
    ranked = ranker.suggested(scored).scored.join(scored.select(*KEY, "is_right"), on=KEY)
    learned.suggested = ranked.select("rank", "score", "is_right")
    learned.certify(spec)
    return learned


def caution(judged: int) -> str:
    """Return a sentence for readers where few sections have taught what is right, else ""."""
    if judged >= calibrate.ENOUGH:
        return ""
    return (
        f"too few judgements to be sure: {judged} judged sections have a right candidate, "
        f"{calibrate.ENOUGH} are wanted"
    )


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


def _nothing(
    why: str, counts: Mapping[str, int], collection: str, spec: Publishing
) -> dict[str, Any]:
    wanted: dict[str, Any] = {"collection": collection, "precision": spec.precision}
    wanted |= {"confidence": calibrate.CONFIDENCE, "most": spec.most}
    wanted["caution"] = caution(counts["with a right candidate"])
    learned = {"weights": None, "curves": None, "threshold": None, "certified": None}
    reached = {"raised": [], "ranks": [], "reached": {}, "sections": counts, "why": why}
    return {**wanted, **learned, **reached}
