"""A model of when a text was written, from the words of texts with dated pictures.

A text is the square root of its distribution over years, a picture with a date the unit vector of
its year: both have length 1, and their product, the root of P(year | text), ranks as P does.
"""

import itertools
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from isotope.core.errors import BadParams, CorruptFile, EmptyTable, MissingColumn, MissingFile
from isotope.core.progress import log
from isotope.core.store import aside

FloatArray = npt.NDArray[np.float32]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
# Rows of n-grams, scipy's csr; its stubs say nothing.
Sparse = Any
NO_FOLD = -1
_BITS = 18
_ARRAYS = ("texts", "fold", "feature", "year", "count")
# The shortest and the longest n-gram of characters; folds of the cross-validation.
_NGRAMS = (2, 4)
FOLDS = 5


class Grid(NamedTuple):
    """What training texts choose from: a value of each."""

    bandwidths_years: Sequence[float] = (4, 8, 16)
    """Standard deviations, in years, of a text's weight around its year."""
    smoothings: Sequence[float] = (100, 300, 1000)
    """Occurrences that stand behind every year's share of an n-gram."""
    temperatures: Sequence[float] = (0.1, 0.2, 0.5)
    """Weights of the words against the years' own frequency."""


GRID = Grid()


class Choice(NamedTuple):
    """What the cross-fitted training texts choose: a point of `Grid`."""

    bandwidth_years: float
    smoothing: float
    temperature: float


@dataclass(frozen=True)
class NgramCounts:
    """How often n-grams occur: row i says `count[i]` in texts of a fold and year.

    `texts` [folds, years] counts texts; years are consecutive from `first_year`.
    """

    first_year: int
    texts: Ints
    fold: Ints
    feature: Ints
    year: Ints
    count: Ints

    @property
    def years(self) -> int:
        """How many consecutive years there are."""
        return int(self.texts.shape[1])

    def column_of(self, years: Ints) -> Ints:
        """Return the column of each year; what lies outside goes to the nearest end."""
        return np.clip(years - self.first_year, 0, self.years - 1)


class LogRatios(NamedTuple):
    """Log ratios [features, years] of the hashes `features`, and the log prior [years]."""

    features: Ints
    ratios: Floats
    prior: Floats


class DatesModel:
    """What was learned from dated texts; `dim` is the number of years."""

    def __init__(self, counts: NgramCounts, choice: Choice, ngrams: Sequence[int]) -> None:
        """Hold the counts; tables are made of them when they are needed."""
        self.counts, self.choice, self.ngrams = counts, choice, ngrams
        self.dim = counts.years
        self._tables: dict[int, LogRatios] = {}

    def encode_texts(self, texts: Sequence[str], folds: Sequence[int]) -> FloatArray:
        """Return float32 [n, dim] of length 1; a text of fold k is dated without it."""
        rows = ngrams(texts, self.ngrams)
        out = np.empty((len(texts), self.dim), np.float32)
        which = np.asarray(folds)
        for fold in np.unique(which):
            rows_of_fold = np.flatnonzero(which == fold)
            own_table = self._table(int(fold))
            posterior = log_posterior(rows[rows_of_fold], own_table, self.choice.temperature)
            out[rows_of_fold] = np.exp(posterior / 2)
        return out

    def encode_years(self, years: pl.Series) -> FloatArray:
        """Return float32 [n, dim] of length 1; without a year, the root of the prior."""
        out = np.zeros((len(years), self.dim), np.float32)
        dated = np.flatnonzero(years.is_not_null().to_numpy())
        out[dated, self.counts.column_of(years.drop_nulls().cast(pl.Int64).to_numpy())] = 1
        # ASSUME a picture without a date is as old as the training pictures are on the whole. TICRC
        # does not say: it has no such model, and a date for each picture (section IV).
        out[years.is_null().to_numpy()] = np.exp(self._table(NO_FOLD).prior / 2)
        return out

    def _table(self, fold: int) -> LogRatios:
        if fold not in self._tables:
            self._tables[fold] = table(self.counts, self.choice, without=fold)
        return self._tables[fold]


def fit(ids: pl.Series, texts: Sequence[str], years: pl.Series, grid: Grid = GRID) -> DatesModel:
    """Learn from training texts and their years; cross-validation chooses from the grid.

    The choice with the greatest mean gain (`gains`) wins; the first of equals.

    Raises:
        EmptyTable: fewer texts than folds.
    """
    if len(texts) < FOLDS:
        problem = f"{len(texts)} dated training texts"
        raise EmptyTable("split train", problem, f"give {FOLDS} or more")
    folds = np.array([fold_of(i, FOLDS) for i in ids], np.int64)
    at: Ints = years.to_numpy()
    rows = ngrams(texts, _NGRAMS)
    counts = count(rows, at, folds, FOLDS)
    gain = {c: gains(counts, rows, at, folds, c).mean() for c in choices(grid)}
    chosen = max(gain, key=lambda choice: gain[choice])
    log.info("%s: %.3f nats a text", chosen, gain[chosen])
    return DatesModel(counts, chosen, _NGRAMS)


def save_dates(model: DatesModel, path: Path) -> None:
    """Write counts and choice as safetensors."""
    arrays = {name: np.ascontiguousarray(getattr(model.counts, name)) for name in _ARRAYS}
    notes = {**model.choice._asdict(), "ngrams": list(model.ngrams)}
    header = json.dumps({**notes, "first_year": model.counts.first_year}, sort_keys=True)
    with aside(path) as part:
        save_file(arrays, part, metadata={"dates": header})


def load_dates(path: Path) -> DatesModel:
    """Read what `save_dates` wrote.

    Raises:
        MissingFile, CorruptFile: no such file, or not one of ours.
    """
    if not path.is_file():
        raise MissingFile(path, "no such model", "run the train phase")
    try:
        with safe_open(path, framework="numpy") as file:
            notes: dict[str, Any] = json.loads(file.metadata()["dates"])
            arrays = {name: file.get_tensor(name) for name in _ARRAYS}
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        problem = f"not a temporal model ({error})"
        raise CorruptFile(path, problem, "remove it and run the train phase again") from error
    choice = Choice(*(notes[name] for name in Choice._fields))
    return DatesModel(NgramCounts(notes["first_year"], **arrays), choice, notes["ngrams"])


def years_of(items: pl.DataFrame, column: str, where: Path | str) -> pl.Series:
    """Return the year of each row, from a column of dates, of times or of years; null if none.

    Raises:
        MissingColumn: the table has no such column.
        BadParams: the column is no date and no year.
    """
    if column not in items.columns:
        problem = f"no column {column!r}"
        raise MissingColumn(where, problem, "correct the model's `column`, or collect it")
    values = items[column]
    if values.dtype.is_temporal():
        return values.dt.year().cast(pl.Int64)
    if values.dtype.is_integer():
        return values.cast(pl.Int64)
    problem = f"column {column!r} of type {values.dtype}"
    raise BadParams(str(where), problem, "use a column of dates or of years")


def fold_of(ident: str, folds: int) -> int:
    """Return the fold of a training text, by its id alone."""
    return int.from_bytes(blake2b(ident.encode(), digest_size=8).digest(), "big") % folds


def ngrams(texts: Sequence[str], lengths: Sequence[int]) -> Sparse:
    """Return which character n-grams, hashed and within words, each text has: [texts, 2^18]."""
    from sklearn.feature_extraction.text import HashingVectorizer  # noqa: PLC0415 (loads slowly)

    kind: Any = HashingVectorizer
    # Capitals stay: newspapers of different decades set them differently.
    hashing = kind(
        analyzer="char_wb",
        ngram_range=(lengths[0], lengths[1]),
        n_features=1 << _BITS,
        lowercase=False,
        binary=True,
        norm=None,
        alternate_sign=False,
    )
    return hashing.transform(texts)


def count(rows: Sparse, years: Ints, folds: Ints, n: int) -> NgramCounts:
    """Count the n-grams of training texts by fold (0..n-1) and year."""
    first = int(years.min())
    columns = years - first
    texts = np.zeros((n, int(columns.max()) + 1), np.int64)
    np.add.at(texts, (folds, columns), 1)
    entries = rows.tocoo()
    keys = np.stack([folds[entries.row], entries.col, columns[entries.row]])
    unique, number = np.unique(keys, axis=1, return_counts=True)
    fold, feature, year = unique.astype(np.int64)
    return NgramCounts(first, texts, fold, feature, year, number.astype(np.int64))


def choices(grid: Grid = GRID) -> Iterator[Choice]:
    """Yield the points of a grid."""
    return itertools.starmap(Choice, itertools.product(*grid))


def gains(counts: NgramCounts, rows: Sparse, years: Ints, folds: Ints, choice: Choice) -> Floats:
    """Return the log gain (nats) in P(year) of each training text, by a model without its fold."""
    gain = np.zeros(len(years))
    column = counts.column_of(years)
    for fold in range(len(counts.texts)):
        rows_of_fold = np.flatnonzero(folds == fold)
        if len(rows_of_fold) and len(rows_of_fold) < len(years):
            smoothed = table(counts, choice, without=fold)
            guess = log_posterior(rows[rows_of_fold], smoothed, choice.temperature)
            gain[rows_of_fold] = (
                guess[np.arange(len(rows_of_fold)), column[rows_of_fold]]
                - smoothed.prior[column[rows_of_fold]]
            )
    return gain


def table(counts: NgramCounts, choice: Choice, without: int = NO_FOLD) -> LogRatios:
    """Smooth the counts, those of fold `without` left out, into log ratios and a prior."""
    from scipy.sparse import coo_matrix  # noqa: PLC0415

    used = counts.fold != without
    features, number = np.unique(counts.feature[used], return_inverse=True)
    shape = (len(features), counts.years)
    coordinates = (number, counts.year[used])
    by_year: Sparse = coo_matrix(
        (counts.count[used].astype(float), coordinates), shape=shape
    ).tocsr()
    years = np.arange(counts.years)
    kernel = np.exp(-0.5 * ((years[:, None] - years) / choice.bandwidth_years) ** 2)
    near = by_year @ kernel
    share = np.asarray(by_year.sum(axis=1)).ravel() / max(by_year.sum(), 1)
    smooth = (near + choice.smoothing * share[:, None]) / (near.sum(axis=0) + choice.smoothing)
    left = np.delete(counts.texts, without, axis=0) if without != NO_FOLD else counts.texts
    prior = left.sum(axis=0) @ kernel
    return LogRatios(features, np.log(smooth) - np.log(share)[:, None], np.log(prior / prior.sum()))


def log_posterior(rows: Sparse, smoothed: LogRatios, temperature: float) -> Floats:
    """Return log P(year | text) [texts, years] for rows of `ngrams`.

    The evidence of a text's n-grams, which are far from independent, is divided by the square
    root of their number and tempered.
    """
    from scipy.special import logsumexp  # noqa: PLC0415 (loads slowly)

    known_ngrams = rows[:, smoothed.features]
    length = np.sqrt(np.maximum(known_ngrams.getnnz(axis=1), 1))
    evidence = known_ngrams @ smoothed.ratios * (temperature / length)[:, None] + smoothed.prior
    return evidence - logsumexp(evidence, axis=1, keepdims=True)
