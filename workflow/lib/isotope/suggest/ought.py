"""Ought a section to have a picture? A logistic regression on what the section and its page are.

It learns which sections of the training pages have one; no list of words decides. Pages are cut
into folds: no section gets its probability from weights that saw its page, and the log odds of the
folds are scaled to the labels (Platt, "Probabilistic outputs for support vector machines", 1999).

ASSUME an open section ought to have a picture as surely as sections like it have one; no paper and
no file says which of the open ones ought to. Where editors are behind, that is too low.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.core import store
from isotope.core.errors import CorruptFile, EmptyTable, MissingFile
from isotope.suggest import traits
from isotope.suggest.traits import BUCKETS, Floats

Labels = NDArray[np.bool_]
# The inverse of the weights' penalty: a word of n training sections weighs at most n times as much
# in log odds, so a rare heading is not learned by heart.
PENALTY = 0.1
FOLDS = 5
HEADING, PAGE_CLASS = "heading", "page class"
_FORM = "isotope sections 1"
_MOST_STEPS = 2_000
_FAR = 500.0


@dataclass(frozen=True)
class Ought:
    """What the model learned.

    A feature of `traits.features` has the columns of `traits.columns`, by its `knots`. The log odds
    are `bias`; plus the columns, less `means` and by `scales`, times `weights`; plus the weight of
    the page's class; plus those of the heading's buckets, which stand under their numbers. `slope`
    and `shift` calibrate them. `spreads` are what `importances` lists.
    """

    knots: Mapping[str, Sequence[float]]
    means: Sequence[float]
    scales: Sequence[float]
    weights: Sequence[float]
    classes: Mapping[str, float]
    headings: Mapping[str, float]
    bias: float
    slope: float = 1.0
    shift: float = 0.0
    spreads: Mapping[str, float] = field(default_factory=dict[str, float])

    def probability(self, rows: pl.DataFrame) -> Floats:
        """Return the probabilities [n] that sections ought to have a picture.

        Raises:
            MissingColumn: a column of `traits.TRAITS` that the rows lack.
        """
        return sigmoid(self.slope * self.log_odds(rows) + self.shift)

    def log_odds(self, rows: pl.DataFrame) -> Floats:
        """Return the log odds [n] before calibration.

        Raises:
            As `probability`.
        """
        return sum(self.parts(rows).values(), np.full(rows.height, self.bias))

    def parts(self, rows: pl.DataFrame) -> dict[str, Floats]:
        """Return what each feature adds to the log odds [n], page class and heading the last.

        Raises:
            As `probability`.
        """
        columns = (traits.columns(rows, self.knots) - np.array(self.means)) / np.array(self.scales)
        sizes = [len(knots) - 1 for knots in self.knots.values()]
        groups = np.split(columns * np.array(self.weights), np.cumsum(sizes)[:-1], axis=1)
        summed = [group.sum(axis=1) for group in groups]
        by_bucket = np.zeros(BUCKETS)
        by_bucket[[int(bucket) for bucket in self.headings]] = list(self.headings.values())
        return {
            **dict(zip(self.knots, summed, strict=True)),
            PAGE_CLASS: np.array([self.classes.get(name, 0.0) for name in rows["page_class"]]),
            HEADING: np.asarray(traits.buckets(rows["heading"]) @ by_bucket),
        }

    def save(self, out: Path) -> None:
        """Write the model as JSON."""
        with store.aside(out) as part:
            fields = {"form": _FORM, **asdict(self)}
            part.write_text(json.dumps(fields, indent=1) + "\n", "utf-8")


def load(model: Path) -> Ought:
    """Read what `Ought.save` wrote.

    Raises:
        MissingFile: no such file.
        CorruptFile: no model of this form.
    """
    try:
        fields = json.loads(model.read_text("utf-8"))
        if fields.pop("form") != _FORM:
            raise ValueError(f"no `{_FORM}`")
        return Ought(**fields)
    except FileNotFoundError as error:
        raise MissingFile(model, "no such file", "run the phase suggest") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        found = f"no model of sections: {error}"
        raise CorruptFile(model, found, "remove it and run the phase suggest again") from error


def learn(rows: pl.DataFrame) -> tuple[Ought, Floats]:
    """Return the model of all rows, and the probability of each by weights that saw no page of it.

    `rows` have `traits.TRAITS`, `role` and `fold`, a number below FOLDS that the rows of a page
    share. The calibration of the model is that of the folds.

    Raises:
        EmptyTable: the folds but one have no section with a picture, or none without.
    """
    has_picture, folds = (rows["role"] != "open").to_numpy(), rows["fold"].to_numpy()
    apart = np.zeros(rows.height)
    for fold in np.unique(folds):
        own = folds == fold
        model = _fitted(rows.filter(~own), has_picture[~own])
        apart[own] = model.log_odds(rows.filter(own))
    slope, shift = _scaled(apart, has_picture)
    whole = replace(_fitted(rows, has_picture), slope=slope, shift=shift)
    return replace(whole, spreads=_spreads(whole, rows)), sigmoid(slope * apart + shift)


def importances(model: Ought | Path) -> pl.DataFrame:
    """Return (feature, weight): how much each feature moves the log odds, the weightiest first.

    A weight is the standard deviation, over the sections learned from, of what the feature adds;
    it is negative where more of the feature speaks against a picture.
    """
    spreads = (load(model) if isinstance(model, Path) else model).spreads
    rows = {"feature": list(spreads), "weight": list(spreads.values())}
    table = pl.DataFrame(rows, schema={"feature": pl.String, "weight": pl.Float64})
    return table.sort(pl.col("weight").abs(), "feature", descending=[True, False])


def sigmoid(log_odds: Floats) -> Floats:
    """Return probabilities of log odds."""
    return 1 / (1 + np.exp(-np.clip(log_odds, -_FAR, _FAR)))


def _fitted(rows: pl.DataFrame, has_picture: Labels) -> Ought:
    """Return the model that these sections teach, not calibrated."""
    from scipy.sparse import csr_matrix, hstack  # noqa: PLC0415 (slow to import)
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 (slow to import)

    _check(has_picture)
    knots = traits.knots_of(rows)
    columns = traits.columns(rows, knots)
    means, scales = columns.mean(axis=0), columns.std(axis=0)
    scales[scales == 0] = 1
    classes = sorted(rows["page_class"].unique())
    in_class = [(rows["page_class"] == name).to_numpy() for name in classes]
    dense = np.column_stack([(columns - means) / scales, *in_class])
    matrix = hstack([csr_matrix(dense), traits.buckets(rows["heading"])], format="csr")
    fit = LogisticRegression(C=PENALTY, max_iter=_MOST_STEPS).fit(matrix, has_picture)
    weights, of_classes, of_headings = np.split(fit.coef_[0], [len(means), dense.shape[1]])
    return Ought(
        knots=knots,
        means=means.tolist(),
        scales=scales.tolist(),
        weights=weights.tolist(),
        classes=dict(zip(classes, of_classes.tolist(), strict=True)),
        headings={str(n): float(of_headings[n]) for n in np.flatnonzero(of_headings)},
        bias=float(fit.intercept_[0]),
    )


def _check(has_picture: Labels) -> None:
    """Refuse sections that are all alike."""
    shown = int(has_picture.sum())
    if not 0 < shown < len(has_picture):
        found = f"{shown} of {len(has_picture)} sections have a picture"
        remedy = "sections with and without one are needed, on several pages that no judged text "
        raise EmptyTable("training pages", found, remedy + "of validation or test is on")


def _scaled(log_odds: Floats, has_picture: Labels) -> tuple[float, float]:
    """Return the slope and shift of Platt, whose targets are a little off 0 and 1."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 (slow to import)

    n, shown = len(has_picture), int(has_picture.sum())
    target = np.where(has_picture, (shown + 1) / (shown + 2), 1 / (n - shown + 2))
    twice, labels = np.tile(log_odds, 2)[:, None], np.repeat([1, 0], n)
    weights = np.concatenate([target, 1 - target])
    fit = LogisticRegression(C=np.inf, max_iter=_MOST_STEPS).fit(twice, labels, weights)
    return float(fit.coef_[0, 0]), float(fit.intercept_[0])


def _spreads(model: Ought, rows: pl.DataFrame) -> dict[str, float]:
    values, spreads = traits.features(rows), dict[str, float]()
    for name, added in model.parts(rows).items():
        falls = name in values.columns and np.cov(added, values[name].to_numpy())[0, 1] < 0
        spreads[name] = float(-added.std() if falls else added.std())
    return spreads
