"""How well the model of `suggest.ought` tells which sections have a picture."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope_suggest.measure.evaluate import calibration_error, equal_mass
from isotope_suggest.need import Floats

Labels = NDArray[np.bool_]
SPLITS = ("train", "validation", "test")
_QUALITY = ("split", "sections", "illustrated", "auc", "log_loss", "base_log_loss", "ece")
_TINY = 1e-15


def quality(sections: pl.DataFrame) -> pl.DataFrame:
    """Return how well probabilities of schemas.SECTION_ROLES tell which sections have a picture.

    A row for the pages of each split, train, validation and test: the number of `sections`, how
    many are `illustrated`, `auc`, `log_loss` (natural), `base_log_loss`, that of the share of
    illustrated sections on training pages, and `ece`, that of `calibration_error`. `auc` is null
    where all sections are alike. On training pages probabilities are those of folds without the
    page.
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


def _by_page_split(sections: pl.DataFrame) -> pl.DataFrame:
    """Add `has_picture`, and the split of each section's page as suggest/traits.sql has it."""
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


def _measured(split: str, rows: pl.DataFrame) -> tuple[object, ...]:
    has_picture = rows["has_picture"].to_numpy()
    probability, share = rows["probability"].to_numpy(), rows["share"].to_numpy()
    losses = (_log_loss(has_picture, predicted) for predicted in (probability, share))
    error = calibration_error(equal_mass(probability, has_picture))
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
