"""A model of when a text was written, from the words of texts with dated pictures."""

import itertools
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
import numpy.typing as npt
import polars as pl
from numpy.typing import NDArray
from pydantic import Field
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file
from scipy.special import logsumexp

from isotope.core.errors import BadParams, CorruptFile, EmptyTable, MissingColumn, MissingFile
from isotope.core.progress import log
from isotope.core.schemas import FIVE_FIELDS
from isotope.core.store import aside
from isotope.models.kinds._shared import at
from isotope.params.sections import Count, ModelKind, Params, Positive, Section, TextFields, Whole

_Candidates = Annotated[list[Positive], Field(min_length=1)]


class DatesRecipe(Section):
    """What the model learns from, and the choices that training texts are given."""

    ngrams: Annotated[list[Count], Field(min_length=2, max_length=2)] = Field(
        default=[2, 4], description="Shortest and longest n-gram of characters."
    )
    bandwidths_years: _Candidates = Field(
        default=[4, 8, 16],
        description="Spreads of a text over the years around its own, of which training texts "
        "choose one.",
    )
    smoothings: _Candidates = Field(
        default=[100, 300, 1000],
        description="Occurrences that stand behind every year's share of an n-gram, of which "
        "training texts choose one.",
    )
    temperatures: _Candidates = Field(
        default=[0.1, 0.2, 0.5],
        description="Weights of the words against the years' own frequency, of which training "
        "texts choose one.",
    )
    folds: Annotated[Whole, Field(ge=2)] = Field(
        default=5,
        description="Parts of the training texts that are judged by what the other parts teach.",
    )
    texts: Annotated[Whole, Field(ge=2)] = Field(
        default=200_000, description="Training texts that are learned from at most."
    )

    @classmethod
    def of(cls, spec: Mapping[str, Any]) -> "DatesRecipe":
        """Read a model's entry of the params.

        Raises:
            BadParams: a shortest n-gram that is longer than the longest.
        """
        own = {key: value for key, value in spec.items() if key in DatesRecipe.model_fields}
        recipe = DatesRecipe.read("models", own)
        recipe.demand_sense()
        return recipe

    def demand_sense(self) -> None:
        """Refuse n-grams that run backwards.

        Raises:
            BadParams: a shortest n-gram that is longer than the longest.
        """
        if self.ngrams[0] > self.ngrams[1]:
            found = f"n-grams from {self.ngrams[0]} to {self.ngrams[1]}"
            raise BadParams("models: ngrams", found, "give the shortest first")


class Dates(ModelKind, DatesRecipe):
    """The temporal model: its vectors are distributions over years."""

    is_encoder: ClassVar[bool] = False
    encodes_images: ClassVar[bool] = False
    fitted: ClassVar[bool] = True
    is_large: ClassVar[bool] = False

    kind: Literal["dates"]
    column: str = Field(
        default="date",
        description="Column of the images with a date or a year, which texts are held against by "
        "their language.",
    )
    fields: TextFields = Field(default=list(FIVE_FIELDS))

    def check(self, where: str, params: Params) -> None:
        """Check the recipe.

        Raises:
            BadParams: as `DatesRecipe.demand_sense`.
        """
        with at(f"{where}.ngrams"):
            self.demand_sense()


Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
# Rows of n-grams, scipy's csr; its stubs say nothing.
Sparse = Any
_BITS = 18
WHOLE = -1


class Choice(NamedTuple):
    """What the cross-fitted training texts choose: see `DatesRecipe`."""

    bandwidth_years: float
    smoothing: float
    temperature: float


@dataclass(frozen=True)
class Counts:
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

    def place(self, years: Ints) -> Ints:
        """Return the column of each year; what lies outside goes to the nearest end."""
        return np.clip(years - self.first_year, 0, self.years - 1)


class Table(NamedTuple):
    """Log ratios [features, years] of the n-grams `seen`, and the log prior [years]."""

    seen: Ints
    ratios: Floats
    prior: Floats


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


def count(rows: Sparse, years: Ints, folds: Ints, n: int) -> Counts:
    """Count the n-grams of training texts by fold (0..n-1) and year."""
    first = int(years.min())
    columns = years - first
    texts = np.zeros((n, int(columns.max()) + 1), np.int64)
    np.add.at(texts, (folds, columns), 1)
    entries = rows.tocoo()
    keys = np.stack([folds[entries.row], entries.col, columns[entries.row]])
    unique, number = np.unique(keys, axis=1, return_counts=True)
    fold, feature, year = unique.astype(np.int64)
    return Counts(first, texts, fold, feature, year, number.astype(np.int64))


def table(counts: Counts, choice: Choice, without: int = WHOLE) -> Table:
    """Smooth the counts, those of fold `without` left out, into log ratios and a prior."""
    from scipy.sparse import coo_matrix  # noqa: PLC0415

    kept = counts.fold != without
    seen, local = np.unique(counts.feature[kept], return_inverse=True)
    shape = (len(seen), counts.years)
    place = (local, counts.year[kept])
    by_year: Sparse = coo_matrix((counts.count[kept].astype(float), place), shape=shape).tocsr()
    years = np.arange(counts.years)
    kernel = np.exp(-0.5 * ((years[:, None] - years) / choice.bandwidth_years) ** 2)
    near = by_year @ kernel
    share = np.asarray(by_year.sum(axis=1)).ravel() / max(by_year.sum(), 1)
    smooth = (near + choice.smoothing * share[:, None]) / (near.sum(axis=0) + choice.smoothing)
    left = np.delete(counts.texts, without, axis=0) if without != WHOLE else counts.texts
    prior = left.sum(axis=0) @ kernel
    return Table(seen, np.log(smooth) - np.log(share)[:, None], np.log(prior / prior.sum()))


def log_posterior(rows: Sparse, made: Table, temperature: float) -> Floats:
    """Return log P(year | text) [texts, years] for rows of `ngrams`.

    The evidence of a text's n-grams, which are far from independent, is divided by the square
    root of their number and tempered.
    """
    known = rows[:, made.seen]
    length = np.sqrt(np.maximum(known.getnnz(axis=1), 1))
    evidence = known @ made.ratios * (temperature / length)[:, None] + made.prior
    return evidence - logsumexp(evidence, axis=1, keepdims=True)


def choices(recipe: DatesRecipe) -> Iterator[Choice]:
    """Yield the points of the grid."""
    grid = itertools.product(recipe.bandwidths_years, recipe.smoothings, recipe.temperatures)
    return itertools.starmap(Choice, grid)


def gains(counts: Counts, rows: Sparse, years: Ints, folds: Ints, choice: Choice) -> Floats:
    """Return the nats that each training text tells of its year to a model that never saw it."""
    told = np.zeros(len(years))
    column = counts.place(years)
    for fold in range(len(counts.texts)):
        own = np.flatnonzero(folds == fold)
        if len(own) and len(own) < len(years):
            made = table(counts, choice, without=fold)
            guess = log_posterior(rows[own], made, choice.temperature)
            told[own] = guess[np.arange(len(own)), column[own]] - made.prior[column[own]]
    return told


FloatArray = npt.NDArray[np.float32]
_ARRAYS = ("texts", "fold", "feature", "year", "count")


class DatesModel:
    """What training texts tell of years; `dim` is the number of years."""

    def __init__(self, counts: Counts, choice: Choice, ngrams: Sequence[int]) -> None:
        """Hold counts, which fit in memory, and make tables from them as they are needed."""
        self.counts, self.choice, self.ngrams = counts, choice, ngrams
        self.dim = counts.years
        self._tables: dict[int, Table] = {}

    def encode_texts(self, texts: Sequence[str], folds: Sequence[int]) -> FloatArray:
        """Return float32 [n, dim] of length 1; a text of fold k is judged without that fold."""
        rows = ngrams(texts, self.ngrams)
        out = np.empty((len(texts), self.dim), np.float32)
        which = np.asarray(folds)
        for fold in np.unique(which):
            own = np.flatnonzero(which == fold)
            made = self._table(int(fold))
            found = log_posterior(rows[own], made, self.choice.temperature)
            out[own] = np.exp(found / 2)
        return out

    def encode_years(self, years: pl.Series) -> FloatArray:
        """Return float32 [n, dim] of length 1; without a year, the root of the prior."""
        out = np.zeros((len(years), self.dim), np.float32)
        known = np.flatnonzero(years.is_not_null().to_numpy())
        out[known, self.counts.place(years.drop_nulls().cast(pl.Int64).to_numpy())] = 1
        # ASSUME a picture without a date is as old as the training pictures are on the whole. TICRC
        # does not say: it has no such model, and a date for each picture (section IV).
        out[years.is_null().to_numpy()] = np.exp(self._table(WHOLE).prior / 2)
        return out

    def _table(self, fold: int) -> Table:
        if fold not in self._tables:
            self._tables[fold] = table(self.counts, self.choice, without=fold)
        return self._tables[fold]


def years_of(items: pl.DataFrame, column: str, where: Path | str) -> pl.Series:
    """Return the year of each row, from a column of dates, of times or of years; null if none.

    Raises:
        MissingColumn: the table has no such column.
        BadParams: the column is no date and no year.
    """
    if column not in items.columns:
        found = f"no column {column!r}"
        raise MissingColumn(where, found, "correct the model's `column`, or collect it")
    values = items[column]
    if values.dtype.is_temporal():
        return values.dt.year().cast(pl.Int64)
    if values.dtype.is_integer():
        return values.cast(pl.Int64)
    found = f"column {column!r} of type {values.dtype}"
    raise BadParams(str(where), found, "use a column of dates or of years")


def fit(ids: pl.Series, texts: Sequence[str], years: pl.Series, recipe: DatesRecipe) -> DatesModel:
    """Learn from training texts and their years; what the grid leaves open, they choose themselves.

    Of all choices the one wins under which texts tell most of their years to models of the other
    folds; the first one where several do.

    Raises:
        EmptyTable: fewer texts than folds.
    """
    if len(texts) < recipe.folds:
        found = f"{len(texts)} dated training texts"
        raise EmptyTable("split train", found, f"give {recipe.folds} or more, or fewer folds")
    folds = np.array([fold_of(i, recipe.folds) for i in ids], np.int64)
    at: Ints = years.to_numpy()
    rows = ngrams(texts, recipe.ngrams)
    counts = count(rows, at, folds, recipe.folds)
    told = {c: gains(counts, rows, at, folds, c).mean() for c in choices(recipe)}
    chosen = max(told, key=lambda choice: told[choice])
    log.info("%s: a text tells %.3f nats of its year", chosen, told[chosen])
    return DatesModel(counts, chosen, recipe.ngrams)


def save(model: DatesModel, path: Path) -> None:
    """Write counts and choice as safetensors."""
    arrays = {name: np.ascontiguousarray(getattr(model.counts, name)) for name in _ARRAYS}
    told = {**model.choice._asdict(), "ngrams": list(model.ngrams)}
    header = json.dumps({**told, "first_year": model.counts.first_year}, sort_keys=True)
    with aside(path) as part:
        save_file(arrays, part, metadata={"dates": header})


def load(path: Path) -> DatesModel:
    """Read what `save` wrote.

    Raises:
        MissingFile, CorruptFile: no such file, or not one of ours.
    """
    if not path.is_file():
        raise MissingFile(path, "no such model", "run the train phase")
    try:
        with safe_open(path, framework="numpy") as file:
            told: dict[str, Any] = json.loads(file.metadata()["dates"])
            arrays = {name: file.get_tensor(name) for name in _ARRAYS}
    except (SafetensorError, KeyError, TypeError, ValueError) as error:
        found = f"not a temporal model ({error})"
        raise CorruptFile(path, found, "remove it and run the train phase again") from error
    choice = Choice(*(told[name] for name in Choice._fields))
    return DatesModel(Counts(told["first_year"], **arrays), choice, told["ngrams"])
