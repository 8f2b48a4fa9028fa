"""Probabilities and thresholds: against scikit-learn, SciPy and published values, by simulation."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from sklearn.isotonic import IsotonicRegression
from sklearn.linear_model import LogisticRegression

from isotope_suggest import calibrate
from isotope_suggest.calibrate import (
    DRAWN,
    THRESHOLDS,
    certify,
    curves,
    least_sections,
    lower_bound,
    probabilities,
    tail,
)

_DRAWS = 400


def _draw(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    scores = rng.normal(0, 2, n)
    return scores, rng.random(n) < 1 / (1 + np.exp(-scores))


def _labels(name: str, n: int) -> list[str]:
    return [name] * n


def test_a_block_of_candidates_is_drawn_to_the_line_by_how_many_it_has():
    scores, right = _draw(3000)
    curve = curves(scores, right, _labels("text", 3000), _labels("", 3000))["all"]
    theirs = IsotonicRegression(y_min=0, y_max=1, out_of_bounds="clip").fit(scores, right)
    fitted = theirs.predict(scores)
    line = calibrate.fitted_line(scores, right)
    largest = max(set(fitted.tolist()), key=lambda share: (fitted == share).sum())
    count, inside = (fitted == largest).sum(), np.sort(scores[fitted == largest])
    middle = inside[len(inside) // 2]
    expected = (count * largest + DRAWN * np.interp(middle, line["x"], line["y"])) / (count + DRAWN)
    # Knots of the line lie a quarter of a logit apart.
    (got,) = _asked({"all": curve}, [middle])
    assert count > 200
    assert got == pytest.approx(expected, abs=0.02)


def _asked(
    groups: dict[str, Any], scores: Any, kind: str = "", page_class: str = ""
) -> list[float]:
    n = len(scores)
    chances = probabilities(groups, np.array(scores), _labels(kind, n), _labels(page_class, n))
    return chances.probability.tolist()


def test_three_right_of_three_are_no_certainty_among_738_candidates():
    """What raycharles' twelve validation sections taught: 3 of 3 at the top, claimed as 99.9 %."""
    rng = np.random.default_rng(1)
    wrong, some, top = rng.normal(-5, 1.2, 723), rng.normal(-1.8, 0.2, 12), [-0.9, 0.4, 1.4]
    scores = np.concatenate([wrong, some, top])
    right = np.zeros(738, bool)
    right[[*range(5), 723, 724, 725, 735, 736, 737]] = True
    groups = curves(scores, right, _labels("text", 738), _labels("", 738))
    chances = probabilities(groups, np.array([1.4, 99.0]), ["text"] * 2, [""] * 2)
    assert 0.5 < chances.probability[0] < 0.95
    assert chances.low[0] < 0.75 < chances.high[0]
    # Beyond what was judged nothing more is claimed.
    assert chances.probability[1] == chances.probability[0]


def test_the_line_is_scikit_learns_logistic_regression_where_the_prior_is_far_off():
    scores, right = _draw(20_000, seed=5)
    right = np.random.default_rng(2).random(20_000) < 1 / (1 + np.exp(0.7 - 0.6 * scores))
    line = calibrate.fitted_line(scores, right)
    theirs = LogisticRegression(C=np.inf).fit(scores[:, None], right)
    expected = theirs.predict_proba(line["x"][:, None])[:, 1]
    np.testing.assert_allclose(line["y"], expected, atol=5e-3)
    # Its standard errors are those of the observed information (statsmodels' Logit.fit().bse).
    x = np.stack([np.ones(20_000), scores], axis=1)
    p = theirs.predict_proba(scores[:, None])[:, 1]
    spread = np.linalg.inv((x * (p * (1 - p))[:, None]).T @ x)
    wide = np.log(line["high"] / (1 - line["high"])) - np.log(line["low"] / (1 - line["low"]))
    at = np.stack([np.ones(len(wide)), line["x"]], axis=1)
    np.testing.assert_allclose(wide, 2 * 1.96 * np.sqrt(((at @ spread) * at).sum(axis=1)), rtol=0.1)


def _pools(rng: np.random.Generator, n: int, bias: float) -> tuple[np.ndarray, np.ndarray]:
    """Draw `n` sections of 20 candidates, one of which may be right; scores overstate by `bias`."""
    logits = rng.normal(-4.5, 1.2, (n, 20))
    logits[:, 0] = rng.normal(0.5, 1.5, n)
    truth = 1 / (1 + np.exp(-logits))
    return bias * logits.ravel(), rng.random(20 * n) < truth.ravel()


@pytest.mark.parametrize("sections", [12, 40, 300])
@pytest.mark.parametrize("bias", [1.0, 1.6])
def test_intervals_hold_the_truth_as_often_as_they_say(sections: int, bias: float):
    """Right means the drawn truth at a score; of 95 % intervals at least 90 % hold it."""
    rng, held, gaps = np.random.default_rng(sections), [], []
    grid = bias * np.linspace(-4, 2.5, 14)
    truth = 1 / (1 + np.exp(-grid / bias))
    for _ in range(60):
        scores, right = _pools(rng, sections, bias)
        if not right.any():
            continue
        groups = {"all": curves(scores, right, [""] * len(right), [""] * len(right))["all"]}
        covered = (grid >= scores.min()) & (grid <= scores.max())
        chances = probabilities(groups, grid[covered], [""] * covered.sum(), [""] * covered.sum())
        held += [((chances.low <= truth[covered]) & (truth[covered] <= chances.high)).mean()]
        gaps += [np.abs(chances.probability - truth[covered]).mean()]
    assert np.mean(held) > 0.9
    assert np.mean(gaps) < {12: 0.11, 40: 0.08, 300: 0.04}[sections]


def test_a_fall_is_averaged_with_what_is_before_it_until_nothing_falls():
    x, y = calibrate.isotonic(np.arange(6.0), np.array([0, 1, 0, 1, 1, 1], bool))
    np.testing.assert_allclose(np.interp(np.arange(6.0), x, y), [0, 0.5, 0.5, 1, 1, 1])


def test_a_group_with_enough_has_a_curve_of_its_own_and_a_small_one_has_its_kinds():
    scores, right = _draw(4000)
    kinds = _labels("text", 3000) + _labels("links", 1000)
    classes = _labels("STEM", 1500) + _labels("Culture", 1500) + _labels("STEM", 40)
    groups = curves(scores, right, kinds, classes + _labels("Culture", 960))
    assert set(groups) == {"all", "text", "text/STEM", "text/Culture", "links", "links/Culture"}
    few = _asked(groups, scores[:1], "links", "STEM")
    assert few == _asked({"all": groups["links"]}, scores[:1])
    unknown = _asked(groups, scores[:1], "alignment")
    assert unknown == _asked({"all": groups["all"]}, scores[:1])


def test_a_block_of_fifty_lies_a_third_of_the_way_to_the_group_around_it():
    rng = np.random.default_rng(3)
    # Text: at 0 fifty of which none is right, at 1 as many that are; links: as likely everywhere.
    scores = np.concatenate(
        [np.zeros(50), np.ones(50), rng.integers(0, 2, 4000).astype(np.float64)]
    )
    right = np.concatenate([np.zeros(50, bool), np.ones(50, bool), rng.random(4000) < 0.4])
    groups = curves(scores, right, _labels("text", 100) + _labels("links", 4000), _labels("", 4100))
    around, shrunk = _asked({"all": groups["all"]}, [0, 1]), _asked(groups, [0, 1], "text")
    np.testing.assert_allclose(shrunk, [around[0] / 3, (2 + around[1]) / 3], atol=1e-6)


@given(
    st.lists(
        st.tuples(
            st.floats(-9, 9), st.booleans(), st.sampled_from("ab"), st.sampled_from(["x", "y"])
        ),
        min_size=2,
        max_size=12,
    ).map(lambda rows: rows * 20)
)
def test_probabilities_never_fall_with_the_score_and_are_never_certain(rows):
    scores, right, kinds, classes = (list(column) for column in zip(*rows, strict=True))
    groups = curves(np.array(scores), np.array(right, bool), kinds, classes)
    grid = np.linspace(-10, 10, 201)
    for kind in "abc":
        for page_class in ["x", ""]:
            got = probabilities(groups, grid, _labels(kind, 201), _labels(page_class, 201))
            for column in got:
                assert (np.diff(column) >= -1e-8).all()
            assert 0 < got.probability.min() <= got.probability.max() < 1
            assert (got.low <= got.probability).all()
            assert (got.probability <= got.high).all()


@pytest.mark.parametrize(("right", "sections"), [(22, 22), (40, 41), (9, 10), (1, 5), (0, 7)])
def test_tails_and_bounds_are_scipys_exact_binomial_test(right: int, sections: int):
    test = stats.binomtest(right, sections, 0.9, alternative="greater")
    assert tail(right, sections, 0.9) == pytest.approx(test.pvalue, abs=1e-12)
    bound = test.proportion_ci(0.9, method="exact").low
    assert lower_bound(right, sections, 0.1) == pytest.approx(bound, abs=1e-9)


def test_bounds_are_those_of_clopper_and_pearsons_method_in_published_tables():
    # Two-sided 95 %: 81 of 263 is (0.2527, 0.3676), 0 of 20 (0, 0.1684), 1 of 29 (0.0009, 0.1776):
    # R. G. Newcombe, Statistics in Medicine 17 (1998), table I, method 5.
    assert lower_bound(81, 263, 0.025) == pytest.approx(0.2527, abs=5e-5)
    assert 1 - lower_bound(263 - 81, 263, 0.025) == pytest.approx(0.3676, abs=5e-5)
    assert 1 - lower_bound(20, 20, 0.025) == pytest.approx(0.1684, abs=5e-5)
    assert lower_bound(1, 29, 0.025) == pytest.approx(0.0009, abs=5e-5)
    assert 1 - lower_bound(28, 29, 0.025) == pytest.approx(0.1776, abs=5e-5)


@pytest.mark.parametrize("errors", [0, 1, 5])
def test_the_least_number_of_sections_is_the_first_that_passes(errors: int):
    least = least_sections(errors, 0.9, 0.1)
    assert tail(least - errors, least, 0.9) <= 0.1 < tail(least - 1 - errors, least - 1, 0.9)
    if not errors:
        # The rule of three's exact form: ln(0.1) / ln(0.9).
        assert least == 22


def _all_right(n: int, level: float) -> list[calibrate.Certified]:
    return certify(
        [np.full(n, level)], [np.ones(n, bool)], sections=n, precision=0.9, confidence=0.9
    )


def test_22_sections_without_an_error_certify_nine_of_ten_and_21_do_not():
    (enough,) = _all_right(22, 3.0)
    assert enough.threshold == pytest.approx(3.0)
    assert (enough.sections, enough.right, enough.why) == (22, 22, "")
    assert enough.bound == pytest.approx(0.1 ** (1 / 22))
    (few,) = _all_right(21, 3.0)
    assert few.threshold is None
    assert few.why == (
        "not certified: 21 sections of validation have a suggestion of rank 1 that scores enough, "
        "at least 22 without an error are needed"
    )


def test_no_threshold_is_certified_where_the_best_suggestions_are_wrong_too_often():
    scores = np.linspace(5, 1, 100)
    right = np.arange(100) % 3 > 0
    (certificate,) = certify([scores], [right], sections=100, precision=0.9, confidence=0.9)
    assert certificate.threshold is None
    assert certificate.why == "not certified: of the 38 best suggestions of rank 1 25 are right"


def test_tests_end_at_the_first_that_fails_though_a_later_one_would_pass():
    scores = np.concatenate([np.full(40, 4.0), np.full(10, 2.0), np.full(900, 0.0)])
    right = np.ones(950, bool)
    right[40:50] = False
    (certificate,) = certify([scores], [right], sections=950, precision=0.9, confidence=0.9)
    assert certificate.threshold == pytest.approx(4.0)
    assert tail(int(right.sum()), 950, 0.9) < 0.1


def test_a_later_ranks_threshold_is_never_below_that_of_the_rank_before():
    rng = np.random.default_rng(0)
    first, second = rng.normal(3, 1, 2000), rng.normal(2, 1, 2000)
    right = [rng.random(2000) < 0.95 - (first < 2.5) * 0.9, np.ones(2000, bool)]
    certified = certify([first, second], right, sections=2000, precision=0.9, confidence=0.9)
    assert certified[0].threshold is not None
    assert certified[1].threshold is not None
    assert certified[1].threshold >= certified[0].threshold
    none = certify(
        [first, second], [~right[1], right[1]], sections=2000, precision=0.9, confidence=0.9
    )
    assert [certificate.threshold for certificate in none] == [None, None]


Truth = Callable[[np.ndarray], np.ndarray]


def _sharp(scores: np.ndarray) -> np.ndarray:
    """Precision falls through the wanted one where many suggestions are."""
    return 1 / (1 + np.exp(-(scores + 1.5)))


def _flat(scores: np.ndarray) -> np.ndarray:
    """Precision is just below the wanted one at every score: any threshold is an error."""
    return np.full(scores.shape, 0.899)


def _odd(scores: np.ndarray) -> np.ndarray:
    """The best scores are worse than those after them."""
    return np.where(scores > 2.5, 0.85, np.where(scores > 0, 0.97, 0.4))


@pytest.mark.parametrize("truth", [_sharp, _flat, _odd])
@pytest.mark.parametrize("n", [60, 400])
def test_the_promised_precision_is_kept_in_as_many_draws_as_promised(truth: Truth, n: int):
    """Suggestions of three ranks depend on each other: a section has one that is right at most."""
    population = np.random.default_rng(7).normal(1, 1.5, (40_000, 3))
    population.sort(axis=1)
    population = population[:, ::-1]
    rng = np.random.default_rng(n)
    first = rng.random(40_000) < truth(population[:, 0])
    second = ~first & (rng.random(40_000) < truth(population[:, 1]))
    third = ~first & ~second & (rng.random(40_000) < truth(population[:, 2]))
    right = np.stack([first, second, third], axis=1)
    fulfilled = shown_at_all = 0
    for _ in range(_DRAWS):
        rows = rng.integers(0, 40_000, n)
        certified = certify(
            list(population[rows].T), list(right[rows].T), sections=n, precision=0.9, confidence=0.9
        )
        levels = [
            np.inf if certificate.threshold is None else certificate.threshold
            for certificate in certified
        ]
        shown = population >= levels
        shown_at_all += shown.any()
        fulfilled += not shown.any() or right[shown].mean() >= 0.9
    # Where exactly 90 % of the draws keep it, 400 draws show fewer than 86 % once in 200.
    assert fulfilled / _DRAWS >= 0.86
    if truth is _sharp and n == 400:
        assert shown_at_all / _DRAWS > 0.9


@given(st.integers(0, 300), st.integers(1, 3), st.integers(0, 99))
def test_what_is_certified_has_the_bound_it_claims(n: int, ranks: int, seed: int):
    rng = np.random.default_rng(seed)
    scores = [rng.normal(2, 2, n) for _ in range(ranks)]
    right = [rng.random(n) < 0.97 for _ in range(ranks)]
    for certificate in certify(scores, right, sections=n, precision=0.9, confidence=0.9):
        assert (certificate.threshold is None) == bool(certificate.why)
        if certificate.threshold is not None:
            above = scores[certificate.rank - 1] >= certificate.threshold
            assert (certificate.sections, certificate.right) == (
                above.sum(),
                right[certificate.rank - 1][above].sum(),
            )
            assert certificate.bound >= 0.9
            assert certificate.threshold in THRESHOLDS


def test_a_raised_threshold_is_described_by_what_scores_above_it():
    (certificate,) = _all_right(100, 3.0)
    scores, right = np.array([4.0, 3.0, 2.0, 1.0]), np.array([True, False, True, True])
    raised = calibrate.at(2.0, certificate, scores, right)
    assert (raised.threshold, raised.sections, raised.right) == (2.0, 3, 2)
    assert raised.bound == pytest.approx(lower_bound(2, 3, certificate.error))
    assert calibrate.at(9.0, certificate, scores, right).sections == 0


def test_a_suggestion_is_likely_from_where_its_curve_passes_one_half():
    assert calibrate.likely_from({"x": [-1.0, 1.0], "y": [0.2, 0.8]}) == pytest.approx(0.0)
    assert calibrate.likely_from({"x": [0.0], "y": [0.4]}) == np.inf


def test_a_feed_is_right_in_the_mean_from_the_least_threshold_that_makes_it_so():
    scores, chances = np.array([5.0, 4.0, 3.0, 2.0]), np.array([1.0, 0.9, 0.8, 0.3])
    assert calibrate.mean_from(scores, chances, 0.7) == -np.inf
    # The first three have 0.9 in the mean; 2.1 is the least threshold that leaves them alone.
    assert calibrate.mean_from(scores, chances, 0.9) == pytest.approx(2.1)
    assert calibrate.mean_from(scores, chances - 0.5, 0.9) == np.inf
    assert calibrate.mean_from(scores[:0], chances[:0], 0.9) == -np.inf


@given(st.lists(st.tuples(st.floats(-5, 15), st.floats(0, 1)), max_size=30), st.floats(0.1, 0.9))
def test_what_passes_the_raised_threshold_has_the_mean_wanted(rows, wanted: float):
    scores, chances = np.array(rows).reshape(-1, 2).T
    least = calibrate.mean_from(scores, chances, wanted)
    shown = chances[scores >= least]
    assert not len(shown) or shown.mean() >= wanted
