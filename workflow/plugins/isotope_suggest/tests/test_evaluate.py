"""How good suggestions are: by hand, and as other packages count."""

import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope_suggest.measure import evaluate
from isotope_suggest.measure.evaluate import Judged

SYSTEMS = ("suggest", "wikimedia", "bm25", "dense")


def calibration(*thresholds: float | None, precision: float = 0.9) -> dict[str, Any]:
    ranks = [{"rank": n, "threshold": t} for n, t in enumerate(thresholds, 1)]
    return {"ranks": ranks, "threshold": thresholds[0], "precision": precision}


def judged(rows: Sequence[tuple[Any, ...]], right: dict[str, str], pages: int = 0) -> Judged:
    """Return sections with the rows (text, image, system, score, probability) in their order."""
    columns = ["text_id", "image_id", "system", "score", "probability"]
    schema = dict(zip(columns, [pl.String] * 3 + [pl.Float64] * 2, strict=True))
    scored = pl.DataFrame(rows, schema=schema, orient="row")
    rank = pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("system", "text_id")
    texts = list(right)
    numbers = [n % pages if pages else n for n in range(len(texts))]
    ids = pl.Series("text_id", texts, pl.String)
    sections = pl.DataFrame({"text_id": ids, "page_id": numbers}).with_columns(
        language=pl.lit("en"), role=pl.lit("judged"), split=pl.lit("test")
    )
    qrels = pl.DataFrame(
        {"text_id": ids, "image_id": pl.Series([*right.values()], dtype=pl.String)}
    )
    ranked, judgements = scored.with_columns(rank=rank), qrels.with_columns(relevance=1)
    return evaluate.judged(ranked.lazy(), sections.lazy(), judgements.lazy(), "test")


def drawn(seed: int, sections: int = 40) -> Judged:
    """Return suggestions of four systems drawn by chance, some sections without any."""
    chance = random.Random(seed)
    right = {f"t{n:03}": f"i{n % 7}" for n in range(sections)}
    rows = [
        (text, image, system, 9.0 - position, chance.random())
        for system in SYSTEMS
        for text in right
        if chance.random() < 0.8
        for position, image in enumerate(chance.sample([f"i{n}" for n in range(7)], 5))
    ]
    return judged(rows, right, pages=25)


def values(table: pl.DataFrame, measure: str) -> dict[str, float]:
    return dict(table.filter(measure=measure).select("system", "value").rows())


def test_hits_and_reciprocal_ranks_are_those_of_ranx() -> None:
    import ranx  # noqa: PLC0415 (slow to import)

    sample = drawn(3)
    table = evaluate.ranking(sample, calibration(None), seed=0)
    qrels = ranx.Qrels({t: {i: 1} for t, i in sample.qrels.rows()})
    for system in SYSTEMS:
        system_rows = sample.suggested.filter(system=system)
        run = {
            t: dict(part.select("image_id", "score").rows())
            for (t,), part in system_rows.group_by("text_id")
        }
        named = {"hit@1": "hit_rate@1", "hit@3": "hit_rate@3", "MRR@10": "mrr@10"}
        expected: Any = ranx.evaluate(qrels, ranx.Run(run), [*named.values()], make_comparable=True)
        for measure, name in named.items():
            assert values(table, measure)[system] == pytest.approx(expected[name])


def test_coverage_counts_sections_with_a_suggestion_and_with_one_that_a_feed_would_show() -> None:
    rows = [
        *(("t1", "a", "suggest", 5.0, 0.9), ("t1", "b", "suggest", 3.0, 0.5)),
        *(("t2", "a", "suggest", 1.0, 0.2), ("t1", "a", "wikimedia", 0.8, 0.8)),
    ]
    sample = judged(rows, {"t1": "a", "t2": "b", "t3": "c", "t4": "d"})
    table = evaluate.ranking(sample, calibration(4.0, None), seed=0)
    assert values(table, "coverage") == {"suggest": 0.5, "wikimedia": 0.25}
    assert values(table, "coverage above the threshold") == {"suggest": 0.25}
    assert values(table, "hit@1") == {"suggest": 0.25, "wikimedia": 0.25}


def test_a_difference_to_the_baseline_is_paired() -> None:
    """Two systems that always agree are never ahead, though each varies with the sample."""
    right = {f"t{n}": "a" for n in range(20)}
    rows = [
        (text, "a" if n % 2 else "b", system, 1.0, 0.5)
        for system in ("suggest", "wikimedia")
        for n, text in enumerate(right)
    ]
    table = evaluate.ranking(judged(rows, right), calibration(None), seed=0)
    row = table.filter(measure="hit@1", system="suggest").row(0, named=True)
    assert row["low"] < 0.5 < row["high"]
    assert (row["ahead"], row["ahead_low"], row["ahead_high"]) == (0, None, None)


def test_sections_of_one_page_are_drawn_together() -> None:
    """Ten pages whose sections agree vary as ten sections would, not as a hundred."""
    right = {f"t{n:03}": "a" for n in range(100)}
    rows = [(t, "a" if int(t[1:]) % 10 < 5 else "b", "suggest", 1.0, 0.5) for t in right]
    wide, narrow = (
        evaluate.ranking(judged(rows, right, pages), calibration(None), seed=0)
        .filter(measure="hit@1")
        .row(0, named=True)
        for pages in (10, 0)
    )
    # The standard deviation of the mean of ten fair coins is 0.158; of a hundred, 0.05.
    assert wide["high"] - wide["low"] == pytest.approx(4 * 0.158, rel=0.2)
    assert narrow["high"] - narrow["low"] == pytest.approx(4 * 0.05, rel=0.2)


def test_a_collection_without_judged_sections_has_empty_tables() -> None:
    sample = judged([], {})
    assert evaluate.ranking(sample, calibration(None), seed=0).is_empty()
    assert evaluate.at_equal_coverage(sample, calibration(None), seed=0).is_empty()
    assert evaluate.promise(sample, calibration(None))["verdict"].to_list() == ["nothing suggested"]
    assert evaluate.calibration_error(evaluate.reliability(sample, 3)) is None


@pytest.mark.parametrize(
    ("right", "wanted", "verdict"),
    [(20, 0.9, "kept"), (17, 0.9, "within chance"), (8, 0.9, "not kept"), (18, 0.9, "kept")],
)
def test_the_promise_is_kept_missed_or_missed_within_chance(right, wanted, verdict) -> None:
    texts = [f"t{n:02}" for n in range(20)]
    rows = [(t, "a" if n < right else "b", "suggest", 1.0, 0.95) for n, t in enumerate(texts)]
    sample = judged(rows, {**dict.fromkeys(texts, "a"), "t99": "a"})
    row = evaluate.promise(sample, calibration(0.5, precision=wanted)).row(0, named=True)
    assert (row["precision"], row["verdict"]) == (right / 20, verdict)
    assert (row["suggestions"], row["sections"], row["coverage"]) == (20, 21, 20 / 21)


def test_exact_intervals_are_those_of_clopper_and_pearson() -> None:
    # 0 of 10, and 8 of 10: 95 % limits of Documenta Geigy's table.
    assert evaluate.counted(0, 10)[3:] == pytest.approx((0, 0.3085), abs=5e-5)
    assert evaluate.counted(8, 10)[3:] == pytest.approx((0.4439, 0.9748), abs=5e-5)
    assert evaluate.counted(0, 0)[2:] == (None, None, None)


def test_bins_and_calibration_error_are_those_of_paper_and_pencil() -> None:
    probability = np.array([0.1, 0.3, 0.6, 0.8])
    right = np.array([False, False, True, True])
    bins = evaluate.equal_mass(probability, right, 2)
    assert bins.select("suggestions", "probability", "share").rows() == [
        (2, pytest.approx(0.2), 0.0),
        (2, pytest.approx(0.7), 1.0),
    ]
    # (2 * |0 - 0.2| + 2 * |1 - 0.7|) / 4
    assert evaluate.calibration_error(bins) == pytest.approx(0.25)


def test_equal_probabilities_stay_in_one_bin_in_whatever_order_they_come() -> None:
    probability = np.array([0.5] * 9 + [0.9])
    right = np.array([True] * 5 + [False] * 4 + [True])
    order = np.random.default_rng(0).permutation(10)
    bins = [evaluate.equal_mass(probability[o], right[o], 5) for o in (np.arange(10), order)]
    assert bins[0].equals(bins[1])
    assert bins[0].select("suggestions", "probability").rows() == [(9, 0.5), (1, 0.9)]


@given(st.lists(st.tuples(st.integers(0, 20), st.booleans()), min_size=1, max_size=60))
def test_bins_hold_every_suggestion_once_and_rise(pairs: list[tuple[int, bool]]) -> None:
    probability = np.array([p / 20 for p, _ in pairs])
    bins = evaluate.equal_mass(probability, np.array([r for _, r in pairs]))
    assert bins["suggestions"].sum() == len(pairs)
    assert bins["right"].sum() == sum(r for _, r in pairs)
    assert bins["probability"].is_sorted()
    error = evaluate.calibration_error(bins)
    assert error is not None
    assert 0 <= error <= 1


def test_the_baseline_has_a_step_for_each_of_its_constants() -> None:
    right = {f"t{n}": "a" for n in range(4)}
    rows = [
        *(("t0", "a", "wikimedia", 3.0, 0.9), ("t1", "b", "wikimedia", 2.0, 0.8)),
        ("t2", "a", "wikimedia", 1.0, 0.8),
    ]
    curve = evaluate.precision_curve(judged(rows, right), "wikimedia")
    assert curve.select("threshold", "coverage", "precision").rows() == [
        (0.9, 0.25, 1.0),
        (0.8, 0.75, pytest.approx(2 / 3)),
    ]


def test_systems_are_compared_where_they_answer_equally_many_sections() -> None:
    right = {f"t{n}": "a" for n in range(4)}
    rows = [
        *(("t0", "b", "wikimedia", 3.0, 0.9), ("t1", "a", "wikimedia", 2.0, 0.8)),
        *((f"t{n}", "a" if n else "b", "suggest", float(n), n / 10) for n in range(4)),
    ]
    table = evaluate.at_equal_coverage(judged(rows, right), calibration(None), seed=0)
    columns = ("at", "sections", "precision", "baseline_precision", "ahead")
    assert table.select(columns).rows() == [
        ("baseline from 0.9", 1, 1.0, 0.0, 1.0),
        ("baseline from 0.8", 2, 1.0, 0.5, 0.5),
    ]
    served = evaluate.at_equal_coverage(judged(rows, right), calibration(2.0), seed=0)
    assert served.row(0)[:3] == ("feed's threshold", 2, 0.5)
