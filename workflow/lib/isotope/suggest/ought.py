"""Ought a section to have a picture? A logistic regression on what the section and its page are.

It learns which sections of the training pages have one; no list of words decides. Pages are cut
into folds: no section gets its probability from weights that saw its page, and the log odds of the
folds are scaled to the labels (Platt, "Probabilistic outputs for support vector machines", 1999).

ASSUME an open section ought to have a picture as surely as sections like it have one; no paper and
no file says which of the open ones ought to. Where editors are behind, that is too low.
"""

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.core import store, sums
from isotope.core.errors import CorruptFile, EmptyTable, MissingFile
from isotope.suggest import traits
from isotope.suggest.traits import BUCKETS, Floats

Labels = NDArray[np.bool_]
# The inverse of the weights' penalty: a word of n training sections weighs at most n times as much
# in log odds, so a rare heading is not learned by heart.
PENALTY = 0.1
FOLDS = 5
HEADING, PAGE_CLASS = "heading", "page class"
SPLITS = ("train", "validation", "test")
_QUALITY = ("split", "sections", "illustrated", "auc", "log_loss", "base_log_loss", "ece")
_FORM = "isotope sections 1"
_MOST_STEPS = 2_000
_FAR = 500.0
_TINY = 1e-15


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


def quality(sections: pl.DataFrame) -> pl.DataFrame:
    """Return how well the probabilities of tables.SECTION_ROLES tell which sections have a picture.

    A row for the pages of each split, train, validation and test: the number of `sections`, how
    many are `illustrated`, `auc`, `log_loss` (natural), `base_log_loss`, that of the share of
    illustrated sections on training pages, and `ece` as of `calibration_error`. `auc` is null where
    all sections are alike. On training pages probabilities are those of folds without the page.
    """
    rows = _by_page_split(sections)
    train = rows.filter(pl.col("page_split") == "train")["has_picture"]
    share = (train if len(train) else rows["has_picture"]).mean()
    rows = rows.with_columns(share=pl.lit(share, pl.Float64))
    parts = rows.partition_by("page_split", as_dict=True)
    return pl.DataFrame(
        [_measured(key, parts[(key,)]) for key in SPLITS if (key,) in parts],
        schema=dict(zip(_QUALITY, [pl.String, pl.Int64, pl.Int64, *[pl.Float64] * 4], strict=True)),
        orient="row",
    )


def reliability(sections: pl.DataFrame, bins: int = 10) -> pl.DataFrame:
    """Return (split, low, high, sections, probability, illustrated) of bins of equal width.

    `probability` is the mean of those from `low` to below `high` (the last bin has 1), and
    `illustrated` the share of sections with a picture; a bin without a section has no row.
    """
    rows = _by_page_split(sections).with_columns(bin=_bin(pl.col("probability"), bins))
    grouped = rows.group_by(split=pl.col("page_split"), low=pl.col("bin") / bins).agg(
        high=(pl.col("bin").first() + 1) / bins,
        sections=pl.len().cast(pl.Int64),
        probability=sums.mean(pl.col("probability")),
        illustrated=sums.mean(pl.col("has_picture")),
    )
    return grouped.sort(pl.col("split").replace_strict(SPLITS, range(len(SPLITS))), "low")


def open_sections(sections: pl.DataFrame, least: float) -> pl.DataFrame:
    """Return (page_class, sections, illustrated, open, ought), a row a class of pages.

    `illustrated` is the share of sections that have a picture, `open` the number of those without,
    and `ought` the number of these whose probability is at least `least`.
    """
    is_open = pl.col("role") == "open"
    grouped = sections.group_by("page_class").agg(
        sections=pl.len().cast(pl.Int64),
        illustrated=sums.mean(~is_open),
        open=is_open.sum().cast(pl.Int64),
        ought=(is_open & (pl.col("probability") >= least)).sum().cast(pl.Int64),
    )
    return grouped.sort("sections", "page_class", descending=[True, False])


def calibration_error(has_picture: Labels, probability: Floats, bins: int = 10) -> float:
    """Return the expected calibration error (Guo et al., arXiv 1706.04599, eq. 3).

    That is the mean, over sections, of how far the mean probability of their bin is from its share
    of sections with a picture; bins have equal width.
    """
    rows = pl.DataFrame({"p": probability, "y": has_picture.astype(np.float64)})
    gap = sums.total(pl.col("p") - pl.col("y")).abs()
    gaps = rows.group_by(bin=_bin(pl.col("p"), bins)).agg(gap=gap)
    return math.fsum(gaps["gap"]) / rows.height


def sigmoid(log_odds: Floats) -> Floats:
    """Return probabilities of log odds."""
    return 1 / (1 + np.exp(-np.clip(log_odds, -_FAR, _FAR)))


def _by_page_split(sections: pl.DataFrame) -> pl.DataFrame:
    """Add `has_picture`, and the split of each section's page as sections/50_paged.sql has it."""
    page = ("language", "page_id")
    is_on = {name: (pl.col("split") == name).any().over(page) for name in SPLITS[1:]}
    return sections.with_columns(
        has_picture=pl.col("role") != "open",
        page_split=pl.when(is_on["test"])
        .then(pl.lit("test"))
        .when(is_on["validation"])
        .then(pl.lit("validation"))
        .otherwise(pl.lit("train")),
    )


def _bin(probability: pl.Expr, bins: int) -> pl.Expr:
    return (probability * bins).floor().clip(upper_bound=bins - 1).cast(pl.Int64)


def _measured(split: str, rows: pl.DataFrame) -> tuple[object, ...]:
    has_picture = rows["has_picture"].to_numpy()
    probability, share = rows["probability"].to_numpy(), rows["share"].to_numpy()
    losses = (_log_loss(has_picture, each) for each in (probability, share))
    error = calibration_error(has_picture, probability)
    auc = _auc(rows["probability"], has_picture)
    return split, rows.height, int(has_picture.sum()), auc, *losses, error


def _log_loss(has_picture: Labels, probability: Floats) -> float:
    of_truth = np.where(has_picture, probability, 1 - probability)
    return float(-np.log(np.clip(of_truth, _TINY, 1)).mean())


def _auc(probability: pl.Series, has_picture: Labels) -> float | None:
    """Return the share of pairs of a section with and one without a picture in the right order."""
    shown = int(has_picture.sum())
    pairs = shown * (len(has_picture) - shown)
    if not pairs:
        return None
    ranks = probability.rank("average").to_numpy()[has_picture].sum()
    return float(ranks - shown * (shown + 1) / 2) / pairs


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
