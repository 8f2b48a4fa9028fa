"""People's choices between the captions of two models, and how CIDEr agrees with them.

Crossmodal-3600's authors compared the differences in CIDEr between models, in more than 30
languages, with side-by-side human evaluations of the same outputs, and found strong correlations
(their post, section Empirical Evaluation and Results). It names neither the coefficient nor how
choices are counted.
"""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
from scipy.stats import kendalltau, pearsonr, spearmanr

from isotope.core import store, sums
from isotope.core.errors import BadCaptions
from isotope.schemas.tabulate import CORRELATIONS, SIDE_BY_SIDE
from isotope.tabulate.captions import CaptionRow, image_ids, language_of, rows_of

COLUMNS = ("image", "language", "first", "second", "choice")
_CHOICES = {"first": 1, "second": -1, "same": 0}
_LEAST_POINTS = 3
_SCHEMA = {"image_id": pl.String, "first": pl.String, "second": pl.String, "choice": pl.Int32}


class Agreement(NamedTuple):
    """Three coefficients between two lists of numbers, null where they have none."""

    points: int
    pearson: float | None
    spearman: float | None
    kendall: float | None


def choices_table(
    captioners: Path, images: Path, files: Sequence[Path], languages: Sequence[str], out: Path
) -> None:
    """Write schemas.SIDE_BY_SIDE: a row for each pair of captioners and image that people compared.

    `captioners` is a table of schemas.CAPTIONERS in the first of `languages`, the only one whose
    rows are taken from `files`; the others may be there. Its order of captioners is that of a pair.
    Several rows on one image and pair are several people: `preference` is 1 if more of them chose
    the first than the second, -1 if fewer, and 0 otherwise.

    Raises:
        BadCaptions: a captioner, language, image or choice that is unknown; a captioner without
            captions in the language, or compared with itself.
        As `captioners.rows_of`.
    """
    scores = pl.read_parquet(captioners, glob=False)
    described = pl.read_parquet(images, glob=False).filter(
        pl.col("image_id").is_in(scores["image_id"].unique().implode())
    )
    names = image_ids(described)
    order = scores["captioner"].unique(maintain_order=True).to_list()
    rows = [
        _choice(row, order, names)
        for row in rows_of(files, COLUMNS, "tabulate.side_by_side")
        if _language(row, {*languages}) == languages[0]
    ]
    choices = pl.DataFrame(rows, schema=_SCHEMA)
    counted = choices.group_by("first", "second", "image_id").agg(
        people=pl.len().cast(pl.Int32), balance=pl.col("choice").sum()
    )
    scored = _with_scores(counted, scores).sort(
        pl.col("first").replace_strict(order, range(len(order)), default=None),
        pl.col("second").replace_strict(order, range(len(order)), default=None),
        "image_id",
    )
    store.write(scored.to_arrow(), out, SIDE_BY_SIDE)


def _language(row: CaptionRow, languages: set[str]) -> str:
    return language_of(row.location, str(row.values["language"]).strip(), languages)


def _choice(row: CaptionRow, order: Sequence[str], names: Mapping[str, str]) -> dict[str, object]:
    image, _, first, second, choice = (str(row.values[c]).strip() for c in COLUMNS)
    for name in (first, second):
        if name not in order:
            problem = f"no captions by {name!r} in this language"
            raise BadCaptions(row.location, problem, f"known: {', '.join(order) or 'none'}")
    if first == second:
        raise BadCaptions(row.location, f"{first!r} beside itself", "name two captioners")
    if image not in names:
        remedy = "name an image that the captioners describe"
        raise BadCaptions(row.location, f"no image {image!r}", remedy)
    if choice not in _CHOICES:
        problem, remedy = f"choice {choice!r}", f"write one of {', '.join(_CHOICES)}"
        raise BadCaptions(row.location, problem, remedy)
    turned = order.index(first) > order.index(second)
    pair = (second, first) if turned else (first, second)
    value = -_CHOICES[choice] if turned else _CHOICES[choice]
    return dict(zip(_SCHEMA, (names[image], *pair, value), strict=True))


def _with_scores(counted: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    cider_of_images = scores.select("captioner", "image_id", "cider", "language")
    both = counted.join(
        cider_of_images.rename({"captioner": "first", "cider": "cider_first"}),
        on=["first", "image_id"],
    ).join(
        cider_of_images.drop("language").rename({"captioner": "second", "cider": "cider_second"}),
        on=["second", "image_id"],
    )
    return both.with_columns(preference=pl.col("balance").sign().cast(pl.Int32))


def correlations(choices: Sequence[Path], captioners: Sequence[Path], out: Path) -> None:
    """Write schemas.CORRELATIONS of CIDEr's differences with people's choices.

    A pair's difference in a language is that of the means of CIDEr over all its images, its gain
    the share of compared images where the first was preferred, less that where the second was. They
    are correlated over languages, for each pair and, if there are several, for all of them; and in
    each language over the images that were compared, by their own CIDEr and preference.

    ASSUME the points of all pairs go into one correlation, and a gain is wins less losses: the post
    says which quantities are compared, and no more.
    """
    picked = pl.concat([pl.read_parquet(path, glob=False) for path in choices])
    scores = pl.concat([pl.read_parquet(path, glob=False) for path in captioners])
    points = gains(picked, scores)
    rows = [*_over_languages(points), *_over_images(picked)]
    store.write_rows(rows, out, CORRELATIONS)


def gains(choices: pl.DataFrame, scores: pl.DataFrame) -> pl.DataFrame:
    """Return language, first, second, images, gain and difference of each pair and language."""
    means = scores.group_by("captioner", "language").agg(sums.mean(pl.col("cider")))
    gained = choices.group_by("language", "first", "second", maintain_order=True).agg(
        images=pl.len(), gain=sums.mean(pl.col("preference"))
    )
    first = means.rename({"captioner": "first", "cider": "of_first"})
    second = means.rename({"captioner": "second", "cider": "of_second"})
    both = gained.join(first, on=["first", "language"], maintain_order="left").join(
        second, on=["second", "language"], maintain_order="left"
    )
    return both.with_columns(difference=pl.col("of_first") - pl.col("of_second"))


def _over_languages(points: pl.DataFrame) -> Iterable[dict[str, object]]:
    pairs = points.partition_by(["first", "second"], maintain_order=True)
    for points_of_pair in pairs:
        name = f"{points_of_pair['first'][0]} - {points_of_pair['second'][0]}"
        yield _row(
            "languages", name, agreement(points_of_pair["difference"], points_of_pair["gain"])
        )
    if len(pairs) > 1:
        coefficients = agreement(points["difference"], points["gain"])
        yield _row("languages and pairs", "all", coefficients)


def _over_images(choices: pl.DataFrame) -> Iterable[dict[str, object]]:
    for choices_of_language in choices.partition_by("language", maintain_order=True):
        difference = choices_of_language["cider_first"] - choices_of_language["cider_second"]
        yield _row(
            "images",
            choices_of_language["language"][0],
            agreement(difference, choices_of_language["preference"]),
        )


def _row(over: str, subject: str, coefficients: Agreement) -> dict[str, object]:
    return {"over": over, "of": subject, **coefficients._asdict()}


def agreement(differences: pl.Series, choices: pl.Series) -> Agreement:
    """Return Pearson's r, Spearman's rho and Kendall's tau-b of two equally long series.

    They are null for fewer than three points, and where a series is constant.
    """
    x, y = differences.to_numpy().astype(float), choices.to_numpy().astype(float)
    if len(x) < _LEAST_POINTS or np.ptp(x) == 0 or np.ptp(y) == 0:
        return Agreement(len(x), None, None, None)
    (pearson, _), (spearman, _), (kendall, _) = pearsonr(x, y), spearmanr(x, y), kendalltau(x, y)
    return Agreement(len(x), *np.array([pearson, spearman, kendall], dtype=float).tolist())
