"""How well a candidate fits its section, and the ranking of what the filters leave.

A score is that of a logistic regression over what a candidate's sources say of it.
Weights are cross-fitted: validation sections lie in folds by their page, and those of a fold are
scored by weights that were learned on the other folds; everything else is scored by the mean of
these weights. Weights of all validation sections would be larger than those of four fifths of them,
and would score other sections higher than those by which scores are calibrated. A candidate's
features depend on its section's other candidates, so sections are always passed whole, and after
the filters: what is rejected leads no ranking.
"""

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pyarrow.parquet as pq
from numpy.typing import NDArray

from isotope.core import sums
from isotope.core.errors import IntegrityError
from isotope_suggest import baseline, calibrate
from isotope_suggest.filters import Filters
from isotope_suggest.likeness import NONE, Likeness, mmr
from isotope_suggest.schemas import CANDIDATES, FILTERED, SCORED

Floats = NDArray[np.float64]
FOLDS = 5
SUGGEST, WIKIMEDIA = "suggest", "wikimedia"
# What ranks by its own score alone; best is that source's first.
_ALONE = ("bm25", "dense")
DEPTH = 10
# How far down a ranking near duplicates are looked for: others fill the places of what goes.
_LOOKED_AT = 3 * DEPTH
_ROWS = 1 << 17
# Weight, in maximal marginal relevance, of how unlike a suggestion is to those before it.
_DIVERSITY = 0.3
KEY = ["text_id", "image_id"]
_INTERVAL = ("low", "high")
_NUMBERS = ("score", "probability", *_INTERVAL)
# Text is one source: BM25 and dense both read it.
_SOURCES = {
    "text": pl.col("bm25").is_not_null() | pl.col("dense").is_not_null(),
    "alignment": pl.col("alignment").is_not_null(),
    "links": pl.col("links").is_not_null(),
    "wikidata": pl.col("wikidata").is_not_null(),
}
KIND = (
    pl.when(pl.sum_horizontal(*_SOURCES.values()) > 1)
    .then(pl.lit("several"))
    .otherwise(pl.coalesce(pl.when(named).then(pl.lit(kind)) for kind, named in _SOURCES.items()))
    .alias("kind")
)
# How many languages or linked pages count, and how small a weight is worth a digit.
_MOST_NAMED, _DIGITS = 5, 9
# L2: the inverse of the variance of the weights' prior, for features of unit variance.
# Of 1 and 5, 5 gave as many hits and half as far-off scores on the demo and on real pages.
_PENALTY = 5.0


def _ranked(source: str) -> dict[str, pl.Expr]:
    """Return the features of a source that ranks: its score, alone and beside the section's others.

    `lead` is the distance to the best other candidate, in shares of the section's best score; `z`
    is in standard deviations of the section's scores. A raw score of BM25 is no feature: it grows
    with the length of the section, and would lead off the end of what was judged.
    """
    value, rank, text = pl.col(source), pl.col(f"{source}_rank"), "text_id"
    best = value.max().over(text)
    second = value.top_k(2).min().over(text)
    other = pl.when(value.count().over(text) == 1).then(0.0).when(value == best).then(second)
    spread = sums.deviation(value).over(text)
    return {
        f"{source}_found": value.is_not_null().cast(pl.Float64),
        f"{source}_near": 1 / rank,
        f"{source}_lead": (value - other.otherwise(best)) / best.abs(),
        f"{source}_z": pl.when(spread > 0).then((value - sums.mean(value).over(text)) / spread),
    }


_FEATURES: dict[str, pl.Expr] = {
    **_ranked("bm25"),
    **_ranked("dense"),
    "dense": pl.col("dense"),
    "both_first": ((pl.col("bm25_rank") == 1) & (pl.col("dense_rank") == 1)).cast(pl.Float64),
    "alignment": pl.col("alignment"),
    "alignment_languages": pl.col("alignment_on").list.len().clip(upper_bound=_MOST_NAMED),
    "links": pl.col("links"),
    "links_pages": pl.col("links_on").list.len().clip(upper_bound=_MOST_NAMED),
    "sources": pl.sum_horizontal(
        pl.col(name).is_not_null() for name in ("bm25", "dense", "alignment", "links")
    ),
    "illustrates": pl.col("illustrates"),
}
# What Wikidata says stands behind them; where it says nothing, nothing is learned of it.
_OF_WIKIDATA: dict[str, pl.Expr] = {
    "wikidata": pl.col("wikidata"),
    "wikidata_pages": pl.col("wikidata_on").list.len().clip(upper_bound=_MOST_NAMED),
    "named": pl.col("is_named").cast(pl.Float64),
}
FEATURES = tuple(_FEATURES)
ALL_FEATURES = (*FEATURES, *_OF_WIKIDATA)


@dataclass(frozen=True)
class Weights:
    """A logistic regression over the first features of ALL_FEATURES, as many as there are weights.

    logit = bias + weights · (features - means) / scales.
    """

    means: Floats
    scales: Floats
    weights: Floats
    bias: float

    def record(self) -> dict[str, Any]:
        """Return what JSON keeps of it."""
        columns = {name: getattr(self, name).tolist() for name in ("means", "scales", "weights")}
        return {"features": list(ALL_FEATURES[: len(self.weights)]), **columns, "bias": self.bias}

    @classmethod
    def from_record(cls, record: Mapping[str, Any]) -> "Weights":
        """Return the weights of a record."""
        columns = (np.array(record[name], np.float64) for name in ("means", "scales", "weights"))
        return cls(*columns, bias=record["bias"])


def features(candidates: pl.DataFrame, pictures: pl.DataFrame) -> Floats:
    """Return the features of candidates, float64 [candidates, len(ALL_FEATURES)], in their order.

    `candidates` has CANDIDATES' columns, all those of each section that the filters leave;
    `pictures` has PICTURE_KINDS' columns image_id and illustrates. What no source says is 0. How
    many pages show a picture is no feature: a hidden picture's own page would tell it from the
    others.
    """
    illustrates = pictures.select("image_id", "illustrates")
    rows = candidates.join(illustrates, on="image_id", how="left", maintain_order="left")
    columns = rows.select(
        expression.cast(pl.Float64).fill_null(0.0).fill_nan(0.0).alias(name)
        for name, expression in (_FEATURES | _OF_WIKIDATA).items()
    )
    return np.ascontiguousarray(columns.to_numpy()).reshape(len(rows), len(ALL_FEATURES))


def learnable(matrix: Floats) -> Floats:
    """Return what weights are learned of: all features, or FEATURES where Wikidata says nothing.

    So weights without a snapshot of Wikidata are the same as if there were no such features.
    """
    if matrix[:, len(FEATURES) :].any():
        return matrix
    return np.ascontiguousarray(matrix[:, : len(FEATURES)])


def fit(matrix: Floats, right: NDArray[np.bool_]) -> Weights:
    """Learn weights from candidates [n, features] and whether each is right [n].

    Weights have nine digits, so that the order in which a processor adds does not show.

    Raises:
        ValueError: all of them are right, or none is.
    """
    if right.all() or not right.any():
        raise ValueError("weights need right and wrong candidates")
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 (slow to import)

    means = _rounded(matrix.mean(axis=0))
    spread = matrix.std(axis=0)
    scales = _rounded(np.where(spread > 1e-9, spread, 1.0))  # noqa: PLR2004 (a constant feature)
    model: Any = LogisticRegression(C=1 / _PENALTY, solver="newton-cholesky", tol=1e-8)
    model.fit((matrix - means) / scales, right)
    bias = float(_rounded(model.intercept_)[0])
    return Weights(means, scales, _rounded(model.coef_[0]), bias)


def mean_of(folds: Sequence[Weights]) -> Weights:
    """Return weights whose logit is the mean of those of several weights."""
    slopes = np.mean([fold_weights.weights / fold_weights.scales for fold_weights in folds], axis=0)
    shifts = [
        fold_weights.bias - (fold_weights.weights / fold_weights.scales * fold_weights.means).sum()
        for fold_weights in folds
    ]
    means, scales = folds[0].means, folds[0].scales
    bias = float(_rounded([np.mean(shifts) + (slopes * means).sum()])[0])
    return Weights(means, scales, _rounded(slopes * scales), bias)


def _rounded(values: Any) -> Floats:  # noqa: ANN401 (what scikit-learn returns)
    return np.array([float(f"{value:.{_DIGITS}g}") for value in values], np.float64)


def scores(weights: Weights, matrix: Floats) -> Floats:
    """Return the logits of candidates, [n]."""
    # Row by row in one order of sums, whatever the number of rows.
    terms = (matrix[:, : len(weights.weights)] - weights.means) / weights.scales * weights.weights
    return weights.bias + np.add.accumulate(terms, axis=1)[:, -1]


def fold_of(language: str, page_id: int | None) -> int:
    """Return the fold of a page, from 0 to FOLDS - 1; all sections of a page are in one fold."""
    return zlib.crc32(f"{language}-{page_id}".encode()) % FOLDS


def cross_fit(
    matrix: Floats, right: NDArray[np.bool_], folds: NDArray[np.int64]
) -> dict[int, Weights]:
    """Return, for each fold that has candidates, weights learned on those of all other folds.

    Raises:
        ValueError: the other folds' candidates are all right, or none is.
    """
    training_rows = {int(fold): folds != fold for fold in np.unique(folds)}
    return {fold: fit(matrix[rows], right[rows]) for fold, rows in training_rows.items()}


def probabilities(
    calibration: Mapping[str, Any],
    matrix: Floats,
    kinds: Sequence[str],
    page_classes: Sequence[str],
) -> tuple[Floats, calibrate.Chances]:
    """Return the logits and the calibrated probabilities of candidates by `calibration.json`.

    `matrix` is of `features`; `kinds` are of KIND, `page_classes` those of the sections, one a row
    (the live engine passes "" for a text that is no section's). A feed shows what scores at least
    `calibration["threshold"]`; that is null where no precision is certified.

    Raises:
        KeyError: a calibration without weights; `calibration["weights"]` is null there.
    """
    if calibration["weights"] is None:
        raise KeyError("weights")
    logits = scores(Weights.from_record(calibration["weights"]), matrix)
    return logits, calibrate.probabilities(calibration["curves"], logits, kinds, page_classes)


class Ranked(NamedTuple):
    """Rows of SCORED, by section, system and rank, and the FILTERED of the system suggest."""

    scored: pl.DataFrame
    rejected: pl.DataFrame


def blocks(candidates: Path) -> Iterator[pl.DataFrame]:
    """Yield CANDIDATES, some whole sections at a time; memory holds a block of 131,072 rows.

    Raises:
        IntegrityError: rows of a section do not stand together, in the order of its id.
    """
    waiting = pl.DataFrame(CANDIDATES.empty_table())
    with pq.ParquetFile(candidates) as file:
        for batch in file.iter_batches(_ROWS, columns=CANDIDATES.names):
            rows = pl.concat([waiting, pl.DataFrame(batch)])
            if not rows["text_id"].is_sorted():
                problem = "sections whose candidates are not sorted by text_id"
                raise IntegrityError(candidates, problem, "remove it and run phase suggest again")
            is_last = rows["text_id"] == rows["text_id"][-1]
            waiting = rows.filter(is_last)
            if len(waiting) < len(rows):
                yield rows.filter(~is_last)
    if len(waiting):
        yield waiting


class Ranker:
    """Ranks what the filters leave; made once, applied to any number of blocks."""

    def __init__(self, filters: Filters, likeness: Likeness) -> None:
        """Take the filters, and what tells how alike pictures are."""
        self._filters, self._likeness = filters, likeness

    def suggested(self, scored: pl.DataFrame) -> Ranked:
        """Rank candidates by their column `score`, the logit of the system suggest.

        Near duplicates of a better candidate and others of its series go; the ten best of the rest
        are ordered by maximal marginal relevance, so the best one stays first. Of equal scores the
        smaller id comes first.
        """
        ordered = scored.sort(["text_id", "score", "image_id"], descending=[False, True, False])
        single = self._filters.one_of_a_kind(_head(ordered, _LOOKED_AT))
        best = self._diverse(_head(single.left, DEPTH))
        return Ranked(_with_ranks(best, SUGGEST), single.rejected.select(FILTERED.names))

    def plain_rankings(self, left: pl.DataFrame) -> pl.DataFrame:
        """Rank candidates by each source alone and by the baseline: rows of SCORED."""
        kinds = left.select(*KEY, KIND)
        alone = [self._by(left, source) for source in _ALONE]
        simple = baseline.wikimedia(left).join(kinds, on=KEY, how="left", maintain_order="left")
        ordered = simple.sort(["text_id", "score"], descending=[False, True], maintain_order=True)
        return pl.concat([_with_ranks(self._single(ordered), WIKIMEDIA), *alone])

    def _by(self, left: pl.DataFrame, source: str) -> pl.DataFrame:
        ranked = left.filter(pl.col(source).is_not_null()).sort("text_id", f"{source}_rank")
        null = pl.lit(None, pl.Float64).alias("probability")
        rows = ranked.select(*KEY, pl.col(source).cast(pl.Float64).alias("score"), null, KIND)
        return _with_ranks(self._single(rows), source)

    def _single(self, ordered: pl.DataFrame) -> pl.DataFrame:
        return self._filters.one_of_a_kind(_head(ordered, _LOOKED_AT)).left

    def _diverse(self, best: pl.DataFrame) -> pl.DataFrame:
        """Order the rows of each section, best first, by maximal marginal relevance."""
        if best.is_empty():
            return best
        row = best.select(pl.col("text_id").rle_id())["text_id"].to_numpy()
        position = best.select(pl.int_range(pl.len()).over("text_id"))["literal"].to_numpy()
        vectors = self._likeness.vectors(best["image_id"])
        sections = int(row[-1]) + 1
        relevance = np.full((sections, DEPTH), np.nan)
        relevance[row, position] = 1 / (1 + np.exp(-best["score"].to_numpy()))
        cube = np.zeros((sections, DEPTH, vectors.shape[1]), np.float32)
        cube[row, position] = vectors
        places = mmr(relevance, cube, _DIVERSITY, DEPTH)
        first = np.searchsorted(row, np.arange(sections))
        at = (first[:, None] + places)[places != NONE]
        return best[at]


def _head(ordered: pl.DataFrame, most: int) -> pl.DataFrame:
    return ordered.filter(pl.int_range(pl.len()).over("text_id") < most)


def _with_ranks(ordered: pl.DataFrame, system: str) -> pl.DataFrame:
    """Return SCORED of rows that are best first in their section."""
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("text_id")
    unknown = [pl.lit(None).alias(name) for name in _INTERVAL if name not in ordered.columns]
    named = ordered.with_columns(rank.alias("rank"), pl.lit(system).alias("system"), *unknown)
    return named.filter(pl.col("rank") <= DEPTH).select(
        pl.col(name).cast(pl.Float64) if name in _NUMBERS else pl.col(name) for name in SCORED.names
    )
