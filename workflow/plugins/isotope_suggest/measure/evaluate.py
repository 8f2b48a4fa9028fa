"""How good suggestions are, by known answers: judged sections of a split, their picture hidden.

Right is a picture that the collection's qrels have for the section; what else would do counts as
wrong, so precision is too low rather than too high. Intervals are percentiles of bootstrap samples
of pages, since sections of a page resemble each other; all systems see the same samples.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from isotope.core import sums
from isotope.core.measures import percentiles, resampled_means, score_run

Floats = NDArray[np.float64]
SUGGEST, BASELINE = "suggest", "wikimedia"
SYSTEMS = (SUGGEST, BASELINE, "bm25", "dense")
LEVEL, SAMPLES, BINS = 0.95, 1_000, 10
# The field's word for Success@k where the right answer is one.
_MEASURES = {"Success@1": "hit@1", "Success@3": "hit@3", "MRR@10": "MRR@10"}
ANSWERED, PUBLISHED = "coverage", "coverage above the threshold"
_KEY = ["text_id", "image_id"]
_RANKING = ("measure", "system", "sections", "value", "low", "high")
_AHEAD = ("ahead", "ahead_low", "ahead_high")


@dataclass(frozen=True)
class Judged:
    """Sections of one split, and what each system suggests for them.

    `sections` has text_id and page, sorted; `suggested` the rows of SCORED for them with the column
    `right`; `qrels` text_id and image_id.
    """

    sections: pl.DataFrame
    suggested: pl.DataFrame
    qrels: pl.DataFrame

    @property
    def systems(self) -> list[str]:
        """Those that suggest anything, in the order of SYSTEMS; others follow."""
        named = set(self.suggested["system"])
        return [*(s for s in SYSTEMS if s in named), *sorted(named.difference(SYSTEMS))]

    def first(self, system: str) -> pl.DataFrame:
        """Return the first suggestion of a system for each section, the surest one first."""
        rows = self.suggested.filter((pl.col("system") == system) & (pl.col("rank") == 1))
        sure = pl.coalesce("probability", "score")
        return rows.with_columns(sure=sure).sort(
            ["sure", "score", "text_id"], descending=[True, True, False]
        )


def judged(scored: pl.LazyFrame, sections: pl.LazyFrame, qrels: pl.LazyFrame, split: str) -> Judged:
    """Return the judged sections of a split with what was suggested for them."""
    page = pl.format("{} {}", "language", "page_id").alias("page")
    chosen = sections.filter(role="judged", split=split).select("text_id", page)
    right = qrels.filter(pl.col("relevance") > 0).select(*_KEY).unique()
    rows = scored.join(chosen.select("text_id"), on="text_id", how="semi")
    marked = rows.join(right.with_columns(right=True), on=_KEY, how="left")
    suggested = marked.with_columns(pl.col("right").fill_null(value=False))
    order = ["system", "text_id", "rank"]
    judged_sections = chosen.sort("text_id").collect()
    pairs = right.join(chosen.select("text_id"), on="text_id", how="semi").sort(_KEY)
    return Judged(judged_sections, suggested.sort(order).collect(), pairs.collect())


def published(suggested: pl.DataFrame, calibration: Mapping[str, Any]) -> pl.DataFrame:
    """Return the rows of the system suggest that a feed would show: above their rank's threshold.

    `calibration` is that of `isotope_suggest.learn`.
    """
    chosen = pl.lit(value=False)
    for rank in calibration["ranks"]:
        if rank["threshold"] is not None:
            passes = pl.col("score") >= rank["threshold"]
            chosen |= (pl.col("rank") == rank["rank"]) & passes
    return suggested.filter((pl.col("system") == SUGGEST) & chosen)


class Sample:
    """Bootstrap samples of the pages of some sections, the same ones for everything asked."""

    def __init__(self, pages: pl.Series, seed: int) -> None:
        """Take the page of each section, in the order in which values come."""
        self._rows = pages.rank("dense").to_numpy().astype(np.int64) - 1
        self._pages, self._seed = int(self._rows.max()) + 1 if len(pages) else 0, seed

    def ratios(self, above: Floats, below: Floats) -> Floats:
        """Return sums of `above` over sums of `below` in each sample, NaN where those are 0.

        Both are [sections, columns]; what comes is [SAMPLES, columns].
        """
        sums = [self._by_page(side) for side in (above, below)]
        values = np.concatenate(sums, axis=1)
        means = resampled_means(values, SAMPLES, np.random.default_rng(self._seed))
        upper, lower = means[:, : above.shape[1]], means[:, above.shape[1] :]
        out = np.full_like(upper, np.nan)
        return np.divide(upper, lower, out=out, where=lower > 0)

    def _by_page(self, values: Floats) -> Floats:
        sums = np.zeros((self._pages, values.shape[1]))
        np.add.at(sums, self._rows, values)
        return sums


def interval(samples: Floats) -> tuple[float | None, float | None]:
    """Return the ends of the central interval of LEVEL of [samples].

    Both are None where there is no sample, or all are alike.
    """
    defined = samples[~np.isnan(samples)]
    if not len(defined):
        return None, None
    low, high = (float(end[0]) for end in percentiles(defined[:, None], LEVEL))
    return (None, None) if np.isnan(low) else (low, high)


def ranking(judged: Judged, calibration: Mapping[str, Any], seed: int) -> pl.DataFrame:
    """Return measure, system, sections, value, low, high, and how far a system is ahead.

    Measures are hit@1, hit@3 and MRR@10, where a section without a suggestion counts 0; `coverage`,
    the share of sections with any suggestion; and the share of those with one that a feed would
    show, of the system suggest. `ahead` is the difference to the baseline, with its own interval.
    """
    sample = Sample(judged.sections["page"], seed)
    values = [(m, s, v) for s in judged.systems for m, v in _values(judged, s, calibration).items()]
    if not values or judged.sections.is_empty():
        return _ranking_table([])
    matrix = np.stack([v for *_, v in values], axis=1)
    drawn, means = sample.ratios(matrix, np.ones_like(matrix)), matrix.mean(axis=0)
    at = {(m, s): n for n, (m, s, _) in enumerate(values)}
    rows: list[tuple[Any, ...]] = []
    for (measure, system), n in at.items():
        ahead: tuple[float | None, ...] = (None, None, None)
        base = at.get((measure, BASELINE))
        if base is not None and base != n:
            difference = drawn[:, n] - drawn[:, base]
            ahead = (float(means[n] - means[base]), *interval(difference))
        fields = (measure, system, len(matrix), float(means[n]), *interval(drawn[:, n]))
        rows.append((*fields, *ahead))
    order = [*_MEASURES.values(), ANSWERED, PUBLISHED]
    return _ranking_table(sorted(rows, key=lambda row: order.index(row[0])))


def _ranking_table(rows: Sequence[tuple[Any, ...]]) -> pl.DataFrame:
    names = [pl.String, pl.String, pl.Int64, *[pl.Float64] * 6]
    schema: dict[str, Any] = dict(zip((*_RANKING, *_AHEAD), names, strict=True))
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def _values(judged: Judged, system: str, calibration: Mapping[str, Any]) -> dict[str, Floats]:
    """Return each measure's value of every section, in the order of `of.sections`."""
    system_rows = judged.suggested.filter(system=system)
    run = system_rows.select(query_id="text_id", doc_id="image_id", rank="rank", score="score")
    qrels = judged.qrels.select(query_id="text_id", doc_id="image_id", relevance=pl.lit(1))
    scores = score_run(run, qrels, [*_MEASURES])
    values = {
        name: _in_order(
            judged, scores.filter(measure=measure).select(text_id="query_id", value="value")
        )
        for measure, name in _MEASURES.items()
    }
    values[ANSWERED] = _presence(judged, system_rows)
    if system == SUGGEST:
        values[PUBLISHED] = _presence(judged, published(system_rows, calibration))
    return values


def _presence(judged: Judged, rows: pl.DataFrame) -> Floats:
    return _in_order(judged, rows.select("text_id").unique().with_columns(value=pl.lit(1.0)))


def _in_order(judged: Judged, values: pl.DataFrame) -> Floats:
    joined = judged.sections.join(values, on="text_id", how="left", maintain_order="left")
    return joined["value"].fill_null(0.0).to_numpy().astype(np.float64)


class Counted(NamedTuple):
    """`right` of `total`: their share, and its exact interval of LEVEL; None of none."""

    total: int
    right: int
    share: float | None
    low: float | None
    high: float | None


def counted(right: int, total: int, level: float = LEVEL) -> Counted:
    """Return a share with its two-sided interval of Clopper and Pearson (Biometrika 26, 1934)."""
    if not total:
        return Counted(0, 0, None, None, None)
    from scipy.stats import binomtest  # noqa: PLC0415 (slow to import)

    ends: Any = binomtest(right, total).proportion_ci(level, method="exact")
    return Counted(total, right, right / total, float(ends.low), float(ends.high))


def promise(judged: Judged, calibration: Mapping[str, Any]) -> pl.DataFrame:
    """Return whether the promised precision is kept on these sections; one row.

    `verdict` is `kept` where the share of published suggestions that are right reaches the wanted
    one, `within chance` where the interval of that share does, `not kept` below it, and `nothing
    suggested`. `coverage` is the share of sections that get a suggestion.
    """
    rows, wanted = published(judged.suggested, calibration), float(calibration["precision"])
    estimate = counted(int(rows["right"].sum()), len(rows))
    served, total = rows["text_id"].n_unique(), len(judged.sections)
    if estimate.share is None or estimate.high is None:
        verdict = "nothing suggested"
    elif estimate.share >= wanted:
        verdict = "kept"
    else:
        verdict = "within chance" if estimate.high >= wanted else "not kept"
    record = {
        **{"wanted": wanted, "threshold": calibration["threshold"], "sections": total},
        **{"coverage": served / total if total else None, "suggestions": estimate.total},
        **{
            "right": estimate.right,
            "precision": estimate.share,
            "low": estimate.low,
            "high": estimate.high,
        },
        "verdict": verdict,
    }
    numbers: dict[str, Any] = dict.fromkeys(
        ("threshold", "coverage", "precision", "low", "high"), pl.Float64
    )
    return pl.DataFrame([record], schema_overrides=numbers)


def reliability(judged: Judged, most: int, bins: int = BINS) -> pl.DataFrame:
    """Return the reliability of the probabilities of the system suggest at ranks 1 to `most`.

    Bins have equal numbers of suggestions, as far as equal probabilities, which stay together,
    allow: bin, suggestions, probability (mean), right, share, low, high.
    """
    rows = judged.suggested.filter(
        (pl.col("system") == SUGGEST) & (pl.col("rank") <= most)
    ).drop_nulls("probability")
    return equal_mass(rows["probability"].to_numpy(), rows["right"].to_numpy(), bins)


def equal_mass(probability: Floats, right: NDArray[np.bool_], bins: int = BINS) -> pl.DataFrame:
    """Return the rows of `reliability` for probabilities [n] and whether each was right [n].

    A probability belongs to the bin in which the middle of those equal to it lies, when all stand
    in order.
    """
    values = pl.DataFrame({"probability": probability, "right": right})
    ties = values.group_by("probability").agg(pl.len(), pl.col("right").sum()).sort("probability")
    middle = pl.col("len").cum_sum() - pl.col("len") / 2
    bin_number = (bins * middle / max(len(values), 1)).floor().cast(pl.Int64)
    grouped = ties.with_columns(bin=bin_number).group_by("bin", maintain_order=True)
    mean = sums.total(pl.col("probability") * pl.col("len")) / pl.col("len").sum()
    merged = grouped.agg(
        suggestions=pl.col("len").sum(), probability=mean, right=pl.col("right").sum()
    )
    ends = [counted(int(r), int(n)) for n, r in merged.select("suggestions", "right").rows()]
    columns = {name: [getattr(e, name) for e in ends] for name in ("share", "low", "high")}
    numbered = merged.with_columns(bin=pl.int_range(1, pl.len() + 1))
    return numbered.with_columns(*(pl.Series(k, v, pl.Float64) for k, v in columns.items()))


def calibration_error(bins: pl.DataFrame) -> float | None:
    """Return the expected calibration error: the mean distance of share from probability.

    Source: M. Pakdaman Naeini, G. Cooper, M. Hauskrecht, Obtaining Well Calibrated Probabilities
    Using Bayesian Binning, AAAI 2015, section "Calibration measures"; there bins have equal widths.
    """
    if bins.is_empty():
        return None
    gaps = (bins["probability"] - bins["share"]).abs() * bins["suggestions"]
    return float(gaps.sum()) / float(bins["suggestions"].sum())


def precision_curve(judged: Judged, system: str) -> pl.DataFrame:
    """Return coverage and precision of a system's first suggestions at each of its thresholds.

    Columns: system, threshold, coverage, precision; the surest suggestions alone come first. Those
    that are equally sure come together, so that the baseline has a step for each of its constants.
    """
    first = judged.first(system)
    grouped = first.group_by("sure", maintain_order=True).agg(pl.len(), pl.col("right").sum())
    above = grouped.with_columns(pl.col("len", "right").cum_sum())
    return above.select(
        system=pl.lit(system),
        threshold="sure",
        coverage=pl.col("len") / max(len(judged.sections), 1),
        precision=pl.col("right") / pl.col("len"),
    )


def at_equal_coverage(judged: Judged, calibration: Mapping[str, Any], seed: int) -> pl.DataFrame:
    """Return both precisions where suggest and the baseline answer equally many sections.

    A row for each number of sections that the baseline answers at one of its constants or above,
    and one for the number that the feed would serve, if the baseline reaches it: at, sections,
    coverage, precision, baseline_precision, ahead, ahead_low, ahead_high. A system answers the
    sections that it is surest of; of equally sure ones those with the better score.
    """
    sides = [judged.first(system) for system in (SUGGEST, BASELINE)]
    steps = {f"baseline from {t:g}": n for t, n in _steps(sides[1])}
    served = published(judged.suggested, calibration)["text_id"].n_unique()
    steps = {**({"feed's threshold": served} if served else {}), **steps}
    rows = [
        {
            "at": name,
            "sections": n,
            "coverage": n / len(judged.sections),
            **_compared(judged, sides, n, seed),
        }
        for name, n in steps.items()
        if 0 < n <= min(map(len, sides))
    ]
    names = ("coverage", "precision", "baseline_precision", *_AHEAD)
    schema = {"at": pl.String, "sections": pl.Int64, **dict.fromkeys(names, pl.Float64)}
    return pl.DataFrame(rows, schema=schema)


def _steps(first: pl.DataFrame) -> list[tuple[float, int]]:
    counts = first.group_by("sure", maintain_order=True).agg(pl.len())
    return list(counts.select("sure", pl.col("len").cum_sum()).iter_rows())


def _compared(judged: Judged, sides: Sequence[pl.DataFrame], n: int, seed: int) -> dict[str, Any]:
    columns = [
        _in_order(judged, side.head(n).select("text_id", value=pl.col(name)))
        for name in ("right", "is_answered")
        for side in (side.with_columns(is_answered=pl.lit(value=True)) for side in sides)
    ]
    matrix = np.stack(columns, axis=1)
    drawn = Sample(judged.sections["page"], seed).ratios(matrix[:, :2], matrix[:, 2:])
    precision, base = (float(matrix[:, k].sum() / n) for k in (0, 1))
    low, high = interval(drawn[:, 0] - drawn[:, 1])
    ends = {"ahead_low": low, "ahead_high": high}
    return {"precision": precision, "baseline_precision": base, "ahead": precision - base, **ends}
