"""What is learned on validation: the promise for new sections, and who may be learned from."""

import numpy as np
import polars as pl
import pytest

from isotope_suggest import learn, score
from isotope_suggest.calibrate import certify
from isotope_suggest.params import Publishing
from isotope_suggest.score import FEATURES, FOLDS

_CANDIDATES, _DRAWS = 6, 40


def _sections(
    rng: np.random.Generator, n: int, hard: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Draw features [n, candidates, features] and right ones [n, candidates].

    Two features tell the right picture, others are noise; a `hard` section has none that is right
    but one that looks so.
    """
    matrix = rng.normal(size=(n, _CANDIDATES, len(FEATURES)))
    matrix[:, 0, :2] += rng.normal(2.2, 1, (n, 1))
    right = np.zeros((n, _CANDIDATES), bool)
    right[:, 0] = rng.random(n) > hard
    return matrix, right, rng.integers(0, FOLDS, n)


def _best(logits: np.ndarray, right: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    best = logits.argmax(axis=1)
    rows = np.arange(len(best))
    return logits[rows, best], right[rows, best]


def _logits(weights: score.Weights, matrix: np.ndarray) -> np.ndarray:
    return score.scores(weights, matrix.reshape(-1, len(FEATURES))).reshape(matrix.shape[:2])


def test_cross_fitted_scores_keep_the_promise_for_new_sections():
    """The weights of all folds are other ones than those that the thresholds were tested with."""
    rng, hard = np.random.default_rng(11), 0.03
    new, is_right, _ = _sections(rng, 4000, hard)
    fulfilled = shown_at_all = 0
    for _ in range(_DRAWS):
        matrix, right, folds = _sections(rng, 90, hard)
        flat, labels = matrix.reshape(-1, len(FEATURES)), right.ravel()
        by_fold = score.cross_fit(flat, labels, np.repeat(folds, _CANDIDATES))
        logits = np.stack(
            [_logits(by_fold[fold], row[None])[0] for fold, row in zip(folds, matrix, strict=True)]
        )
        best_scores, hits = _best(logits, right)
        (certificate,) = certify([best_scores], [hits], sections=90, precision=0.9, confidence=0.9)
        scores, truth = _best(_logits(score.mean_of([*by_fold.values()]), new), is_right)
        level = np.inf if certificate.threshold is None else certificate.threshold
        shown_at_all += (scores >= level).any()
        fulfilled += not (scores >= level).any() or truth[scores >= level].mean() >= 0.9
    # Where exactly 90 % of the draws keep it, 40 draws show fewer than 31 once in 200.
    assert fulfilled >= 31
    assert shown_at_all > 20


def _judged(n: int) -> pl.DataFrame:
    names = [f"text-{number}" for number in range(n)]
    return pl.DataFrame(
        {
            **{"text_id": names, "page_id": range(n), "language": "en", "split": "validation"},
            **{"role": "judged", "page_class": None},
        },
        schema_overrides={"page_class": pl.String},
    )


def test_only_judged_sections_of_validation_teach():
    sections = _judged(6).with_columns(
        split=pl.Series(["validation", "test", "train", "other", "validation", "validation"]),
        role=pl.Series(["judged", "judged", "judged", "open", "illustrated", "judged"]),
    )
    assert learn.judged(sections)["text_id"].to_list() == ["text-0", "text-5"]


def test_of_many_sections_the_same_ones_teach_in_any_order(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(learn, "MOST_SECTIONS", 7)
    sections = _judged(50)
    some = learn.judged(sections)["text_id"]
    assert len(some) == 7
    assert set(learn.judged(sections.reverse())["text_id"]) == set(some)


def _learned(curve: dict[str, list[float]]) -> learn.Learned:
    """Return what 60 validation sections teach whose first suggestions score 0.025 to 2.975."""
    scores = np.arange(60) / 20 + 0.025
    suggested = pl.DataFrame({"rank": 1, "score": scores, "is_right": scores > 0.05})
    record = {"collection": "world", "precision": 0.9, "sections": {"validation": 60}}
    record |= {"curves": {"all": curve}, "raised": [], "weights": {}}
    learned = learn.Learned({}, record, suggested.with_columns(pl.col("rank").cast(pl.Int32)))
    learned.certify(Publishing(most=1))
    return learned


def _feed(scores: list[float], chances: list[float]) -> pl.DataFrame:
    return pl.DataFrame({"rank": 1, "score": scores, "probability": chances})


SURE = {"x": [0.0, 3.0], "y": [0.8, 1.0]}


def test_a_threshold_rises_to_where_a_suggestion_is_rather_right_than_wrong():
    assert _learned(SURE).calibration["threshold"] == pytest.approx(0.0)
    unsure = _learned({"x": [0.0, 3.0], "y": [0.3, 0.9]}).calibration
    assert (unsure["certified"], unsure["threshold"]) == (pytest.approx(0.0), pytest.approx(1.0))
    assert unsure["ranks"][0]["sections"] == 40
    assert unsure["reached"] == {"coverage": round(40 / 60, 6), "precision": 1.0}
    assert [step["reason"] for step in unsure["raised"]] == [
        "below it a suggestion is rather wrong than right"
    ]


def test_a_threshold_rises_until_the_feed_is_right_in_the_mean():
    learned = _learned(SURE)
    remaining = learned.raise_for(_feed([3.0, 2.0, 1.0], [1.0, 0.9, 0.1]))
    assert remaining["score"].to_list() == [3.0, 2.0]
    assert learned.calibration["threshold"] == pytest.approx(1.1)
    same = _learned(SURE)
    assert len(same.raise_for(_feed([3.0, 2.0, 1.0], [1.0, 0.9, 0.8]))) == 3
    assert same.calibration["threshold"] == pytest.approx(0.0)


def test_nothing_is_shown_where_no_suggestion_is_sure_enough():
    learned = _learned(SURE)
    assert learned.raise_for(_feed([3.0, 2.0], [0.6, 0.7])).is_empty()
    assert learned.calibration["threshold"] is None
    assert learned.calibration["why"] == (
        "no threshold is high enough: below it the mean probability of the feed is less than 0.9"
    )
    assert learned.calibration["ranks"][0]["why"] == learned.calibration["why"]


def test_an_empty_feed_raises_no_threshold():
    learned = _learned(SURE)
    assert learned.raise_for(_feed([], [])).is_empty()
    assert learned.calibration["threshold"] == pytest.approx(0.0)
