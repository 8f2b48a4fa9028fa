"""The need of a picture: a logistic regression on what a section and its page are.

It learns which sections of the training pages have one; no list of words decides. Pages are cut
into folds: no section gets its probability from weights that saw its page, and the log odds of the
folds are scaled to the labels (Platt, "Probabilistic outputs for support vector machines", 1999).

ASSUME an open section ought to have a picture as surely as sections like it have one; no paper and
no file says which of the open ones ought to. Where editors are behind, that is too low.
"""

import json
import re
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.core import store
from isotope.core.errors import CorruptFile, EmptyTable, MissingColumn, MissingFile

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float64]
Labels = NDArray[np.bool_]
# The columns of sql/suggest/sql that the model reads.
_COUNTS = ("place", "sections", "level", "characters", "lines", "list_items", "table_rows")
_PAGE = ("page_infobox", "page_characters", "page_lists", "page_digits", "page_class")
TRAITS = ("heading", *_COUNTS, "references", "named_links", "has_infobox", *_PAGE)
# How many numbers the words of headings are hashed into.
BUCKETS = 1 << 12
_QUARTILES, _ENDS, _TWO = (0.25, 0.5, 0.75), (0.01, 0.99), 2
_KILO, _SOFT = 1_000, 200
_WORD = re.compile(r"\w+")
_DIGIT = re.compile(r"\d")
# The inverse of the weights' penalty: a word of n training sections weighs at most n times as much
# in log odds, so a rare heading is not learned by heart.
PENALTY = 0.1
FOLDS = 5
HEADING, PAGE_CLASS = "heading", "page class"
_FORM = "isotope sections 1"
_MOST_STEPS = 2_000
_FAR = 500.0


@dataclass(frozen=True)
class NeedModel:
    """What the model learned.

    A feature of `features` has the columns of `columns_of`, by its `knots`. The log odds
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
            MissingColumn: a column of TRAITS that the rows lack.
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
        columns = (columns_of(rows, self.knots) - np.array(self.means)) / np.array(self.scales)
        sizes = [len(knots) - 1 for knots in self.knots.values()]
        groups = np.split(columns * np.array(self.weights), np.cumsum(sizes)[:-1], axis=1)
        summed = [group.sum(axis=1) for group in groups]
        by_bucket = np.zeros(BUCKETS)
        by_bucket[[int(bucket) for bucket in self.headings]] = list(self.headings.values())
        return {
            **dict(zip(self.knots, summed, strict=True)),
            PAGE_CLASS: np.array([self.classes.get(name, 0.0) for name in rows["page_class"]]),
            HEADING: np.asarray(buckets(rows["heading"]) @ by_bucket),
        }

    def save(self, out: Path) -> None:
        """Write the model as JSON."""
        with store.aside(out) as part:
            fields = {"form": _FORM, **asdict(self)}
            part.write_text(json.dumps(fields, indent=1) + "\n", "utf-8")


def load(model: Path) -> NeedModel:
    """Read what `NeedModel.save` wrote.

    Raises:
        MissingFile: no such file.
        CorruptFile: no model of this form.
    """
    try:
        fields = json.loads(model.read_text("utf-8"))
        if fields.pop("form") != _FORM:
            raise ValueError(f"no `{_FORM}`")
        return NeedModel(**fields)
    except FileNotFoundError as error:
        raise MissingFile(model, "no such file", "run the phase suggest") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        problem = f"no model of sections: {error}"
        raise CorruptFile(model, problem, "remove it and run the phase suggest again") from error


def learn(rows: pl.DataFrame) -> tuple[NeedModel, Floats]:
    """Return the model of all rows, and the probability of each by weights that saw no page of it.

    `rows` have TRAITS, `role` and `fold`, a number below FOLDS that the rows of a page
    share. The calibration of the model is that of the folds.

    Raises:
        EmptyTable: the folds but one have no section with a picture, or none without.
    """
    has_picture, folds = (rows["role"] != "open").to_numpy(), rows["fold"].to_numpy()
    apart = np.zeros(rows.height)
    for fold in np.unique(folds):
        held_out = folds == fold
        model = _fitted(rows.filter(~held_out), has_picture[~held_out])
        apart[held_out] = model.log_odds(rows.filter(held_out))
    slope, shift = _scaled(apart, has_picture)
    fitted = replace(_fitted(rows, has_picture), slope=slope, shift=shift)
    return replace(fitted, spreads=_spreads(fitted, rows)), sigmoid(slope * apart + shift)


def importances(model: NeedModel | Path) -> pl.DataFrame:
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


def _fitted(rows: pl.DataFrame, has_picture: Labels) -> NeedModel:
    """Return the model that these sections teach, not calibrated."""
    from scipy.sparse import csr_matrix, hstack  # noqa: PLC0415 (slow to import)
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 (slow to import)

    _check(has_picture)
    knots = knots_of(rows)
    columns = columns_of(rows, knots)
    means, scales = columns.mean(axis=0), columns.std(axis=0)
    scales[scales == 0] = 1
    classes = sorted(rows["page_class"].unique())
    in_class = [(rows["page_class"] == name).to_numpy() for name in classes]
    dense = np.column_stack([(columns - means) / scales, *in_class])
    matrix = hstack([csr_matrix(dense), buckets(rows["heading"])], format="csr")
    fit = LogisticRegression(C=PENALTY, max_iter=_MOST_STEPS).fit(matrix, has_picture)
    weights, of_classes, of_headings = np.split(fit.coef_[0], [len(means), dense.shape[1]])
    return NeedModel(
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
        problem = f"{shown} of {len(has_picture)} sections have a picture"
        remedy = "sections with and without one are needed, on several pages that no judged text "
        raise EmptyTable("training pages", problem, remedy + "of validation or test is on")


def _scaled(log_odds: Floats, has_picture: Labels) -> tuple[float, float]:
    """Return the slope and shift of Platt, whose targets are a little off 0 and 1."""
    from sklearn.linear_model import LogisticRegression  # noqa: PLC0415 (slow to import)

    n, shown = len(has_picture), int(has_picture.sum())
    target = np.where(has_picture, (shown + 1) / (shown + 2), 1 / (n - shown + 2))
    twice, labels = np.tile(log_odds, 2)[:, None], np.repeat([1, 0], n)
    weights = np.concatenate([target, 1 - target])
    fit = LogisticRegression(C=np.inf, max_iter=_MOST_STEPS).fit(twice, labels, weights)
    return float(fit.coef_[0, 0]), float(fit.intercept_[0])


def _spreads(model: NeedModel, rows: pl.DataFrame) -> dict[str, float]:
    values, spreads = features(rows), dict[str, float]()
    for name, added in model.parts(rows).items():
        falls = name in values.columns and np.cov(added, values[name].to_numpy())[0, 1] < 0
        spreads[name] = float(-added.std() if falls else added.std())
    return spreads


def features(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the features of sections, a float64 column each, before hinges and scales.

    Raises:
        MissingColumn: a column of TRAITS that the rows lack.
    """
    if missing := [name for name in TRAITS if name not in rows.columns]:
        raise MissingColumn("sections", f"no columns {missing}", f"a section has {list(TRAITS)}")
    position, last = pl.col("place"), pl.col("sections") - 1
    lines = pl.col("lines").clip(lower_bound=1)
    characters = pl.col("characters") + _SOFT
    listed = ((pl.col("list_items") + pl.col("table_rows")) / lines).clip(upper_bound=1)
    return rows.select(
        pl.col("characters").log1p().alias("length"),
        (pl.col("characters") == 0).alias("empty"),
        pl.col("list_items").log1p().alias("list items"),
        pl.col("table_rows").log1p().alias("table rows"),
        (pl.col("list_items") / lines).clip(upper_bound=1).alias("share of list items"),
        (pl.col("table_rows") / lines).clip(upper_bound=1).alias("share of table rows"),
        pl.col("references").log1p().alias("references"),
        (_KILO * pl.col("references") / characters).log1p().alias("references per 1,000"),
        # A list of links says nothing of the kind that links in prose say.
        (_KILO * pl.col("named_links") * (1 - listed) / characters).log1p().alias("links in prose"),
        (position == 0).alias("lead"),
        position.log1p().alias("sections before"),
        (last - position).log1p().alias("sections after"),
        (position / last.clip(lower_bound=1)).alias("place in the page"),
        pl.col("level").alias("level"),
        last.log1p().alias("sections of the page"),
        pl.col("has_infobox").alias("infobox"),
        pl.col("page_infobox").alias("infobox on the page"),
        pl.col("page_characters").log1p().alias("length of the page"),
        pl.col("page_lists").alias("lists of the page"),
        pl.col("page_digits").alias("digits in the title"),
    ).cast(pl.Float64)


def columns_of(rows: pl.DataFrame, knots: Mapping[str, Sequence[float]]) -> Floats:
    """Return each feature's value, and what it is above each knot but the outer ones [n, columns].

    The outer knots of a feature end its range: what is beyond them counts as they do.
    """
    values = features(rows)
    listed = list[Floats]()
    for name, (low, *inner, high) in knots.items():
        within = np.clip(values[name].to_numpy(), low, high)
        listed += [within, *(np.maximum(within - knot, 0) for knot in inner)]
    return np.column_stack(listed)


def knots_of(rows: pl.DataFrame) -> dict[str, list[float]]:
    """Return the knots of each feature, in order: quartiles between the ends of its range.

    A hundredth of the sections are beyond each end; of a feature of two values, none.
    """
    values = features(rows)
    return {name: _knots(values[name].to_numpy()) for name in values.columns}


def _knots(values: Floats) -> list[float]:
    distinct = np.unique(values)
    two = len(distinct) <= _TWO
    low, high = (distinct[0], distinct[-1]) if two else np.quantile(values, _ENDS)
    inner = {float(q) for q in np.quantile(values, _QUARTILES)} - {float(low), float(high)}
    return [float(low), *sorted(inner), float(high)]


def buckets(headings: pl.Series) -> "csr_matrix":
    """Return which buckets the words and pairs of words of headings have, 0 or 1 [n, BUCKETS].

    A bucket is the CRC-32 of the lower-case words in UTF-8, a space between two and 0 for each
    digit, modulo BUCKETS.
    """
    from scipy.sparse import csr_matrix  # noqa: PLC0415 (slow to import)

    names = headings.fill_null("").unique(maintain_order=True)
    listed = [sorted(_hashed(name)) for name in names]
    lengths = np.array([len(numbers) for numbers in listed])
    starts = np.concatenate([[0], np.cumsum(lengths)])
    columns = np.array([bucket for numbers in listed for bucket in numbers], dtype=np.int32)
    table = csr_matrix((np.ones(len(columns)), columns, starts), shape=(len(names), BUCKETS))
    numbers = {name: n for n, name in enumerate(names)}
    return table[[numbers[name or ""] for name in headings]]


def _hashed(heading: str) -> set[int]:
    words = _WORD.findall(_DIGIT.sub("0", heading.lower()))
    pairs = [f"{a} {b}" for a, b in pairwise(words)]
    return {zlib.crc32(token.encode()) % BUCKETS for token in (*words, *pairs)}
