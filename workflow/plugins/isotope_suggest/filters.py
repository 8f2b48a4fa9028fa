"""What must not be suggested, each with its reason.

Most filters look at a candidate alone, so they need no ranking (`Filters.reject`). Of near
duplicates and of a series the best one is left, so these need one (`Filters.one_of_a_kind`).
"""

from collections.abc import Iterator, Sequence
from copy import copy
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl

from isotope.core.errors import UnknownId
from isotope_suggest.likeness import CAMERAS, NOWHERE, Likeness, PlacePairs
from isotope_suggest.origins import Origins
from isotope_suggest.params import Filtering
from isotope_suggest.pictures import BLANK
from isotope_suggest.schemas import FILTERED

# In the order in which they are asked; the first that holds counts.
REASONS = (
    "on the page",
    *("icon", "flag", "map", "logo", "placeholder"),
    "on many pages",
    "too small",
    "other aspect",
    "not free",
    "near duplicate",
    "same series",
    "rejected before",
)
_KINDS = (*BLANK, "map")
_PAGE = ["language", "page_id"]
_KEY = ["row", "text_id", "image_id"]
# Reason, condition and detail.
_Rule = tuple[pl.Expr, pl.Expr, pl.Expr]
_FEW_LETTERS = 4
# What a thumbnail has at least, on the shorter side.
MINIMUM_PX = 100
# Share of the pictures of a kind, at each end of width / height, whose aspect is not suggested.
ASPECT_TAIL = 0.005
# Near duplicates: bits of 64 of the perceptual hash that differ at most, and the least cosine.
PHASH_DISTANCE, MINIMUM_COSINE = 6, 0.98
# Pairs of a section's candidates that are compared at a time.
_PAIRS = 4_000_000


class Filtered(NamedTuple):
    """Rows that pass, in the order in which they came, and FILTERED of those that do not."""

    left: pl.DataFrame
    rejected: pl.DataFrame


class Filters:
    """The filters of a collection, made once and applied to any number of blocks of candidates."""

    def __init__(  # noqa: PLR0913
        self,
        pictures: pl.DataFrame,
        *,
        sections: pl.DataFrame,
        shown: pl.DataFrame,
        qrels: pl.DataFrame,
        rejections: pl.DataFrame,
        likeness: Likeness,
        spec: Filtering,
    ) -> None:
        """Take what the collection has.

        `pictures` are PICTURE_KINDS (`author` and `licence` may lack), `sections` have `text_id`,
        `language` and `page_id` (of SECTION_ROLES; empty for the live engine's free texts), `shown`
        is of `shown(...)` (or empty, of the same columns), `qrels` those of the collection: a
        judged section's own pictures are hidden, that is, do not count as on its page, and are on
        one page less. `rejections` have `text_id` and `image_id` (`verdicts.rejections`), and
        perhaps `reason`.
        """
        self._spec, self._likeness = spec, likeness
        self._pictures = _columns(pictures)
        self._places = likeness.places_in(pictures["image_id"])
        self._sections = sections.select("text_id", *_PAGE)
        self._judged = qrels.select("text_id", "image_id").unique()
        judged = self._judged.join(self._sections, on="text_id")
        self._shown = pl.concat(
            [
                shown.select(*_PAGE, "image_id", "origin"),
                judged.select(*_PAGE, "image_id", origin=pl.lit("judgements")),
            ],
            how="vertical_relaxed",
        ).unique([*_PAGE, "image_id"], keep="first", maintain_order=True)
        self._rejections = _rejections(rejections)
        self._aspects = aspects(pictures, qrels, ASPECT_TAIL)

    def reject(self, candidates: pl.DataFrame) -> Filtered:
        """Apply all filters that need no ranking; `candidates` have `text_id` and `image_id`.

        Other columns are left as they are. The first reason of REASONS counts.

        Raises:
            UnknownId: a candidate that is not among the pictures.
        """
        rows, rules = self._known_of(candidates.select("text_id", "image_id")), [*self._rules()]
        rows = rows.with_columns(_first_of([(name, holds) for name, holds, _ in rules]))
        gone = rows.filter(pl.col("rule").is_not_null()).select(
            *_KEY, *_chosen(rules), pl.lit(0).alias("order")
        )
        left = rows.filter(pl.col("rule").is_null())
        rejections = self._of_texts(self._rejections, left).join(left.select(_KEY), on=_KEY[1:])
        before = rejections.select(
            *_KEY, reason=pl.lit("rejected before"), detail="rejected", order=2
        )
        rejected = pl.concat([gone, self._like_the_pages(left), before], how="vertical_relaxed")
        first = rejected.sort("row", "order").unique("row", keep="first", maintain_order=True)
        return _split(candidates, first)

    def of_free_texts(self) -> "Filters":
        """Return the filters for texts that are no section's: of no page, and never judged.

        What is large is shared, and nothing of the size of a collection is gone through.
        """
        filters = copy(self)
        tables = self._sections, self._judged, self._shown, self._rejections
        filters._sections, filters._judged, filters._shown, filters._rejections = (
            t.clear() for t in tables
        )
        return filters

    def one_of_a_kind(self, ranked: pl.DataFrame) -> Filtered:
        """Leave the best of near duplicates and of a series; `ranked` is best first in a section.

        Rows of a section (`text_id`) stand together; rank one system at a time. A duplicate of
        what is itself left out stays.
        """
        rows = ranked.select("text_id", "image_id").with_row_index("row")
        pairs = [self._alike(some) for some in _blocks(rows)]
        return _split(ranked, rows.join(_worse(pairs), on="row").sort("row"))

    def _known_of(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return candidates with all that rules ask of their picture, section and page."""
        places = self._places.positions(rows["image_id"])
        if (places == NOWHERE).any():
            lacking = rows["image_id"].filter(pl.Series(places == NOWHERE))[0]
            raise UnknownId(
                f"image {lacking}",
                "a candidate that the table of pictures has not",
                "remove results/suggest/<collection>/pictures.parquet and run the phase again",
            )
        judged = self._of_texts(self._judged, rows).with_columns(is_own=pl.lit(True))
        pages = self._of_texts(self._sections, rows)
        on = self._shown.join(pages, on=_PAGE, how="semi")
        columns = [c for c in self._pictures.columns if c not in ("image_id", "file")]
        return (
            rows.with_row_index("row")
            .hstack(self._pictures.select(columns)[places])
            .join(judged, on=["text_id", "image_id"], how="left")
            .join(pages, on="text_id", how="left")
            .join(on, on=[*_PAGE, "image_id"], how="left")
            .with_columns(pl.col("is_own").fill_null(value=False))
            .with_columns(
                pl.when(~pl.col("is_own")).then("origin").alias("origin"),
                pages=pl.col("pages") - pl.col("is_own"),
                aspect=pl.col("width") / pl.col("height"),
            )
            .join(self._aspects, on="kind", how="left")
        )

    def _of_texts(self, table: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
        return table.join(rows.select("text_id").unique(), on="text_id", how="semi")

    def _rules(self) -> Iterator[_Rule]:
        """Yield reason, condition and detail of the rules that look at a row alone, in order."""
        col, spec = pl.col, self._spec
        yield pl.lit("on the page"), col("origin").is_not_null(), pl.format("by {}", "origin")
        likely = pl.format("illustrates with probability {}", col("illustrates").round(2))
        yield col("kind"), col("kind").is_in(_KINDS), likely
        many = col("pages") > spec.maximum_usage
        yield pl.lit("on many pages"), many, pl.format("{} pages", "pages")
        small = pl.min_horizontal("width", "height") < MINIMUM_PX
        yield pl.lit("too small"), small, pl.format("{} x {} px", "width", "height")
        tail = (col("aspect") < col("narrowest")) | (col("aspect") > col("widest"))
        numbers = (col(name).round(2) for name in ("aspect", "narrowest", "widest"))
        aspect, *bounds = numbers
        span = pl.format("{}, a {} has {} to {}", aspect, "kind", *bounds)
        yield pl.lit("other aspect"), tail, span
        unfree = ~col("is_free").fill_null(value=False) & spec.free
        yield pl.lit("not free"), unfree, col("licence").fill_null("licence unknown")

    def _like_the_pages(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return the rows that are near duplicates of a picture of their page."""
        pages = rows.filter(pl.col("page_id").is_not_null()).select(*_KEY, *_PAGE)
        on = self._shown.join(pages, on=_PAGE, how="semi").rename({"image_id": "other_id"})
        page_rows, shown_rows = (t.select(*_PAGE).with_row_index("at") for t in (pages, on))
        both = (
            page_rows.join(shown_rows, on=_PAGE, suffix="_other")
            .select("at", "at_other")
            .to_numpy()
        )
        ids = pl.concat([pages["image_id"], on["other_id"]])
        first, second = both.astype(np.int64).T
        same = self._near_duplicates(ids, PlacePairs(first, second + len(pages)))
        beside = on["other_id"].gather(same["other"] - len(pages))
        similar = pl.concat([pages[same["one"]], same.with_columns(beside)], how="horizontal")
        hidden = self._of_texts(self._judged, rows).rename({"image_id": "other_id"})
        detail = pl.format("of {} on the page, {}", "other_id", _evidence())
        return (
            similar.filter(pl.col("image_id") != pl.col("other_id"))
            .join(hidden, on=["text_id", "other_id"], how="anti")
            .sort("row", "bits", "other_id", nulls_last=True)
            .select(*_KEY, reason=pl.lit("near duplicate"), detail=detail, order=1)
            .unique("row", keep="first")
        )

    def _near_duplicates(self, ids: pl.Series, pairs: PlacePairs) -> pl.DataFrame:
        return self._likeness.near_duplicates(ids, pairs, PHASH_DISTANCE, MINIMUM_COSINE)

    def _alike(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Return pairs of candidates of a section of which the worse one, `one`, must go."""
        ids, pairs = rows["image_id"], _pairs_of(rows["text_id"])
        same = self._near_duplicates(ids, pairs).with_columns(
            reason=pl.lit("near duplicate"), evidence=pl.format(", {}", _evidence())
        )
        files = self._pictures["file"].gather(self._places.positions(ids))
        series = files.to_frame("file").select(series_of(pl.col("file"))).to_series()
        is_series = series.is_not_null().to_numpy()
        number = series.fill_null("").hash().to_numpy()
        of_one = (number[pairs.first] == number[pairs.second]) & is_series[pairs.first]
        of_one &= is_series[pairs.second]
        of_series = pl.DataFrame({"one": pairs.first[of_one], "other": pairs.second[of_one]})
        of_series = of_series.with_columns(reason=pl.lit("same series"), evidence=pl.lit(""))
        similar = pl.concat(
            [same.drop("bits", "cosine", "named"), of_series], how="vertical_relaxed"
        )
        beside = pl.Series("other_id", ids.gather(similar["other"]))
        return similar.with_columns(
            beside,
            row=rows["row"].gather(similar["one"]),
            better=rows["row"].gather(similar["other"]),
        ).select(
            "row",
            "better",
            "reason",
            pl.when(pl.col("evidence") == "")
            .then(pl.format("as {}", "other_id"))
            .otherwise(pl.format("of {}{}", "other_id", "evidence"))
            .alias("detail"),
        )


def shown(placed: Sequence[Path], pictures: pl.DataFrame, origins: Origins) -> pl.DataFrame:
    """Return which pictures of the collection each page shows, infoboxes included.

    `placed` are parse's PICTURES, one of each source. Columns: language, page_id, image_id, origin
    (infobox, link, ...), one row for each page and picture. A file is known by its name, so a
    wiki's own file hides one of Commons of the same name, as it does on the wiki's pages.
    """
    rows = origins.parsed(placed)
    files = pictures.lazy().filter(pl.col("file").is_not_null()).select("file", "image_id")
    shown_files = rows.select(*_PAGE, "file", "origin").join(files, on="file")
    once = shown_files.group_by(*_PAGE, "image_id").agg(pl.col("origin").min())
    return once.sort(*_PAGE, "image_id").collect()


def aspects(pictures: pl.DataFrame, qrels: pl.DataFrame, tail: float) -> pl.DataFrame:
    """Return the `narrowest` and `widest` width / height of each `kind` in judged train pictures.

    A picture like those n is beyond either bound with probability `tail` at most: the bounds are
    the floor(tail * (n + 1))-th from each end, and there are none where that is 0.
    """
    train = qrels.filter(pl.col("split") == "train").select("image_id").unique()
    judged = pictures.join(train, on="image_id", how="semi").select(
        "kind", aspect=pl.col("width") / pl.col("height")
    )
    nth = (tail * (pl.len() + 1)).floor().cast(pl.Int64)
    bounds = (
        judged.drop_nulls()
        .group_by("kind")
        .agg(nth.alias("nth"), pl.col("aspect").sort().alias("sorted"))
    )
    return bounds.filter(pl.col("nth") > 0).select(
        "kind",
        narrowest=pl.col("sorted").list.get(pl.col("nth") - 1),
        widest=pl.col("sorted").list.get(-pl.col("nth")),
    )


def counts(rejected: pl.DataFrame | pl.LazyFrame) -> pl.DataFrame:
    """Return how much each reason removed: reason, candidates, pictures, sections.

    One row for each of REASONS, in their order, 0 where a filter removed nothing.
    """
    counted = (
        rejected.lazy()
        .group_by("reason")
        .agg(
            pl.len().alias("candidates"),
            pl.col("image_id").n_unique().alias("pictures"),
            pl.col("text_id").n_unique().alias("sections"),
        )
    )
    all_reasons = pl.LazyFrame({"reason": REASONS})
    numbers = pl.col("candidates", "pictures", "sections").fill_null(0).cast(pl.Int64)
    return (
        all_reasons.join(counted, on="reason", how="left", maintain_order="left")
        .with_columns(numbers)
        .collect()
    )


def series_of(file: pl.Expr) -> pl.Expr:
    """Return what the names of a series' files share: all but numbers, case and the ending.

    Null for a name without a number, with few letters, or such as cameras give.
    """
    stem = file.str.replace(r"\.[A-Za-z0-9]+$", "")
    letters = stem.str.to_lowercase().str.replace_all(r"\d+", "#")
    plain = letters.str.replace_all(r"[#\W_]+", "")
    is_series = (
        letters.str.contains("#", literal=True)
        & (plain.str.len_chars() >= _FEW_LETTERS)
        & ~plain.str.contains(CAMERAS)
    )
    return pl.when(is_series).then(letters.str.replace_all(r"[\s_]+", " "))


def _columns(pictures: pl.DataFrame) -> pl.DataFrame:
    """Return what rules ask of pictures; where licences lack, they are unknown."""
    if "licence" not in pictures.columns:
        pictures = pictures.with_columns(licence=pl.lit(None, pl.String))
    names = ["file", "kind", "illustrates", "pages", "width", "height", "is_free", "licence"]
    return pictures.select("image_id", *names)


def _rejections(rows: pl.DataFrame) -> pl.DataFrame:
    """Return one row a pair, `rejected` being why."""
    reason = pl.col("reason").fill_null("") if "reason" in rows.columns else pl.lit("")
    some = rows.select("text_id", "image_id", reason.cast(pl.String).alias("rejected"))
    return some.unique(["text_id", "image_id"], keep="first", maintain_order=True)


def _first_of(conditions: Sequence[tuple[pl.Expr, pl.Expr]]) -> pl.Expr:
    """Return the number of the first rule that holds, `rule`."""
    rule = pl.lit(None, pl.Int32)
    for n, (_, holds) in reversed([*enumerate(conditions)]):
        rule = pl.when(holds.fill_null(value=False)).then(n).otherwise(rule)
    return rule.alias("rule")


def _chosen(rules: Sequence[_Rule]) -> list[pl.Expr]:
    """Return `reason` and `detail` of each row's rule."""
    reason, detail = pl.lit(None, pl.String), pl.lit(None, pl.String)
    for n, (name, _, why) in enumerate(rules):
        reason = pl.when(pl.col("rule") == n).then(name).otherwise(reason)
        detail = pl.when(pl.col("rule") == n).then(why).otherwise(detail)
    return [reason.alias("reason"), detail.alias("detail")]


def _evidence() -> pl.Expr:
    """Return e.g. `3 bits, cosine 0.991`, or `12 bits, names alike`."""
    bits = pl.format("{} bits", "bits").fill_null("no hash")
    cosine = pl.format("cosine {}", pl.col("cosine").round(3)).fill_null("no vectors")
    return pl.format("{}, {}", bits, pl.when("named").then(pl.lit("names alike")).otherwise(cosine))


def _blocks(rows: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """Yield whole sections, so that the pairs of each block's fit into memory."""
    sizes = rows["text_id"].rle().struct.field("len").to_numpy().astype(np.int64)
    block = np.repeat(np.cumsum(sizes**2) // _PAIRS, sizes)
    ends = np.flatnonzero(np.diff(block, append=-1)) + 1
    for start, end in pairwise([0, *ends.tolist()]):
        yield rows[start:end]


def _pairs_of(text_ids: pl.Series) -> PlacePairs:
    """Return each row with every one before it in its section."""
    sizes = text_ids.rle().struct.field("len").to_numpy().astype(np.int64)
    starts = np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = np.arange(len(text_ids))
    before = rows - starts
    first = np.repeat(rows, before)
    nth = np.arange(len(first)) - np.repeat(np.cumsum(before) - before, before)
    return PlacePairs(first, starts[first] + nth)


def _worse(pairs: Sequence[pl.DataFrame]) -> pl.DataFrame:
    """Return rows that go, with reason and detail: best first, those like one that is left."""
    kinds = {"row": pl.UInt32, "reason": pl.String, "detail": pl.String}
    gone = dict[int, tuple[str, str]]()
    for some in pairs:
        for row, better, reason, detail in some.sort("row", "better", "reason").iter_rows():
            if row not in gone and better not in gone:
                gone[row] = reason, detail
    return pl.DataFrame([(row, *why) for row, why in gone.items()], kinds, orient="row")


def _split(rows: pl.DataFrame, gone: pl.DataFrame) -> Filtered:
    """Return the rows that are left, and those that are `gone`, by their places `row`."""
    is_left = np.ones(len(rows), np.bool_)
    is_left[gone["row"].to_numpy()] = False
    return Filtered(rows.filter(pl.Series(is_left)), gone.select(FILTERED.names))
