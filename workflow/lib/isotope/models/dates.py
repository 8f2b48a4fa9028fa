"""The temporal model on disk, and the vectors by which it sits among the dense systems.

A text is the square root of its distribution over years, a picture with a date the unit vector of
its year: both have length 1, and their product, the root of P(year | text), ranks as P does.
"""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl
from safetensors import SafetensorError, safe_open
from safetensors.numpy import save_file

from isotope.core.errors import BadParams, CorruptFile, EmptyTable, MissingColumn, MissingFile
from isotope.core.progress import log
from isotope.core.store import aside
from isotope.models import date_model
from isotope.models.date_model import WHOLE, Choice, Counts, Ints, Recipe, Table

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
        rows = date_model.ngrams(texts, self.ngrams)
        out = np.empty((len(texts), self.dim), np.float32)
        which = np.asarray(folds)
        for fold in np.unique(which):
            own = np.flatnonzero(which == fold)
            made = self._table(int(fold))
            found = date_model.log_posterior(rows[own], made, self.choice.temperature)
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
            self._tables[fold] = date_model.table(self.counts, self.choice, without=fold)
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


def fit(ids: pl.Series, texts: Sequence[str], years: pl.Series, recipe: Recipe) -> DatesModel:
    """Learn from training texts and their years; what the grid leaves open, they choose themselves.

    Of all choices the one wins under which texts tell most of their years to models of the other
    folds; the first one where several do.

    Raises:
        EmptyTable: fewer texts than folds.
    """
    if len(texts) < recipe.folds:
        found = f"{len(texts)} dated training texts"
        raise EmptyTable("split train", found, f"give {recipe.folds} or more, or fewer folds")
    folds = np.array([date_model.fold_of(i, recipe.folds) for i in ids], np.int64)
    at: Ints = years.to_numpy()
    rows = date_model.ngrams(texts, recipe.ngrams)
    counts = date_model.count(rows, at, folds, recipe.folds)
    told = {
        c: date_model.gains(counts, rows, at, folds, c).mean() for c in date_model.choices(recipe)
    }
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
