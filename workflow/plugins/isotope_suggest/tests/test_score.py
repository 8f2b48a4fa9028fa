"""Features by hand, weights that have no slope left, and pages that never score themselves."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope_suggest import score
from isotope_suggest.schemas import CANDIDATES, PICTURE_KINDS
from isotope_suggest.score import ALL_FEATURES, FEATURES, FOLDS, KIND, Weights

_PICTURES = ["p", "q", "r"]


def candidates(*rows: dict) -> pl.DataFrame:
    empty = pl.DataFrame(CANDIDATES.empty_table())
    return pl.DataFrame(rows, schema=empty.schema)


def pictures(ids: list[str]) -> pl.DataFrame:
    empty = pl.DataFrame(PICTURE_KINDS.empty_table())
    rows = [{"image_id": image_id, "illustrates": 0.75, "pages": 3} for image_id in ids]
    return pl.DataFrame(rows, schema=empty.schema)


def test_features_are_those_worked_out_by_hand():
    rows = candidates(
        {
            "text_id": "a",
            "image_id": "p",
            "bm25": 8.0,
            "bm25_rank": 1,
            "dense": 0.5,
            "dense_rank": 1,
        },
        {
            "text_id": "a",
            "image_id": "q",
            "bm25": 4.0,
            "bm25_rank": 2,
            "links": 0.25,
            "links_on": ["X"],
        },
        {
            "text_id": "b",
            "image_id": "p",
            "alignment": 0.6,
            "alignment_on": ["de: A # B", "fr: C # D"],
        },
        {
            "text_id": "b",
            "image_id": "q",
            "wikidata": 0.5,
            "wikidata_on": ["Q1: A", "Q2: B"],
            "is_named": True,
        },
    )
    got = [
        dict(zip(ALL_FEATURES, row, strict=True))
        for row in score.features(rows, pictures(["p", "q"]))
    ]
    assert got[0] == pytest.approx(
        {
            **{"bm25_found": 1, "bm25_near": 1, "bm25_lead": 0.5, "bm25_z": 1},
            **{"dense": 0.5, "dense_found": 1, "dense_near": 1, "dense_lead": 1, "dense_z": 0},
            **{"both_first": 1, "alignment": 0, "alignment_languages": 0, "links": 0},
            **{"links_pages": 0, "sources": 2, "illustrates": 0.75},
            **{"wikidata": 0, "wikidata_pages": 0, "named": 0},
        }
    )
    second = {"bm25_near": 0.5, "bm25_lead": -0.5, "bm25_z": -1, "links": 0.25}
    assert {name: got[1][name] for name in second} == pytest.approx(second)
    assert (got[1]["links_pages"], got[1]["sources"], got[1]["dense_found"]) == (1, 2, 0)
    assert (got[2]["alignment"], got[2]["alignment_languages"]) == (pytest.approx(0.6), 2)
    assert (got[3]["wikidata"], got[3]["wikidata_pages"], got[3]["named"]) == (0.5, 2, 1)
    assert got[3]["sources"] == 0


def test_without_wikidata_weights_are_learned_of_the_other_features_alone():
    matrix, right = _examples()
    nothing = np.zeros((len(matrix), len(ALL_FEATURES) - len(FEATURES)))
    wikidata = nothing.copy()
    wikidata[::3, 0] = 1
    without = score.learnable(np.hstack([matrix, nothing]))
    assert without.tobytes() == matrix.tobytes()
    weights = score.fit(without, right)
    assert weights.record() == score.fit(matrix, right).record()
    shown = score.scores(weights, np.hstack([matrix, wikidata]))
    assert shown.tobytes() == score.scores(weights, matrix).tobytes()
    fitted = score.fit(score.learnable(np.hstack([matrix, wikidata])), right | (wikidata[:, 0] > 0))
    assert fitted.record()["features"] == list(ALL_FEATURES)
    assert fitted.weights[len(FEATURES)] > 0


def test_the_kind_is_the_source_that_names_the_picture():
    rows = candidates(
        {"text_id": "a", "image_id": "p", "bm25": 1.0, "dense": 0.1},
        {"text_id": "a", "image_id": "q", "dense": 0.1},
        {"text_id": "a", "image_id": "r", "alignment": 0.1},
        {"text_id": "a", "image_id": "s", "links": 0.1},
        {"text_id": "a", "image_id": "t", "links": 0.1, "alignment": 0.2},
        {"text_id": "a", "image_id": "u", "links": 0.1, "bm25": 0.2},
        {"text_id": "a", "image_id": "v", "wikidata": 0.1},
        {"text_id": "a", "image_id": "w", "wikidata": 0.1, "bm25": 0.2, "is_named": True},
    )
    kinds = ["text", "text", "alignment", "links", "several", "several", "wikidata", "several"]
    assert rows.select(KIND)["kind"].to_list() == kinds


def test_no_candidates_have_no_features():
    assert score.features(candidates(), pictures([])).shape == (0, len(ALL_FEATURES))


_SCORES = st.none() | st.floats(0.015625, 50, width=32)


@given(st.lists(st.tuples(st.sampled_from("ab"), _SCORES, _SCORES, _SCORES), max_size=12))
def test_features_are_finite_and_follow_their_rows(drawn):
    rows = candidates(
        *(
            {"text_id": text, "image_id": f"{n}", "bm25": bm25, "bm25_rank": bm25 and 1}
            | {"dense": dense, "dense_rank": dense and 2, "links": links}
            for n, (text, bm25, dense, links) in enumerate(drawn)
        )
    )
    shown = pictures([f"{n}" for n in range(len(drawn))])
    got = score.features(rows, shown)
    assert np.isfinite(got).all()
    np.testing.assert_allclose(score.features(rows.reverse(), shown), got[::-1], atol=1e-12)


def _examples(n: int = 800) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    matrix = rng.normal(size=(n, len(FEATURES))) * 3 + 1
    return matrix, rng.random(n) < 1 / (1 + np.exp(-matrix[:, 0] + matrix[:, 5]))


def test_weights_are_where_the_penalised_likelihood_has_no_slope():
    matrix, right = _examples()
    weights = score.fit(matrix, right)
    gap = right - 1 / (1 + np.exp(-score.scores(weights, matrix)))
    scaled = (matrix - weights.means) / weights.scales
    np.testing.assert_allclose(scaled.T @ gap, 5 * weights.weights, atol=1e-4)
    assert gap.sum() == pytest.approx(0, abs=1e-4)


def test_weights_come_back_from_json_as_they_were():
    matrix, right = _examples()
    weights = score.fit(matrix, right)
    again = Weights.from_record(json.loads(json.dumps(weights.record())))
    np.testing.assert_array_equal(score.scores(again, matrix), score.scores(weights, matrix))
    assert weights.record()["features"] == list(FEATURES)


def test_a_feature_that_never_varies_has_no_say():
    matrix, right = _examples()
    matrix[:, 3] = 7
    weights = score.fit(matrix, right)
    assert weights.weights[3] == 0
    matrix[:, 3] = 9
    assert np.isfinite(score.scores(weights, matrix)).all()


def test_a_score_depends_on_no_other_row():
    matrix, right = _examples()
    weights = score.fit(matrix, right)
    alone = np.concatenate([score.scores(weights, row[None]) for row in matrix[:50]])
    np.testing.assert_array_equal(alone, score.scores(weights, matrix)[:50])


@pytest.mark.parametrize("label", [True, False])
def test_weights_need_right_and_wrong_candidates(label: bool):
    matrix, _ = _examples(20)
    with pytest.raises(ValueError, match="right and wrong"):
        score.fit(matrix, np.full(20, label))


def test_a_fold_is_scored_by_weights_that_never_saw_it():
    matrix, right = _examples()
    folds = np.arange(800) % FOLDS
    by_fold = score.cross_fit(matrix, right, folds)
    other = right.copy()
    other[folds == 2] = ~other[folds == 2]
    again = score.cross_fit(matrix, other, folds)
    np.testing.assert_array_equal(again[2].weights, by_fold[2].weights)
    assert not np.allclose(again[1].weights, by_fold[1].weights)


def test_sections_of_a_page_are_in_one_fold_and_pages_in_all():
    assert score.fold_of("en", 12) == score.fold_of("en", 12)
    assert {score.fold_of("en", page) for page in range(100)} == set(range(FOLDS))


def test_probabilities_are_what_the_calibration_says():
    matrix, right = _examples()
    ends = {"low": [0.0, 0.6], "high": [0.3, 1.0]}
    curve = {"candidates": 2, "right": 1, "x": [-2.0, 2.0], "y": [0.1, 0.9], **ends}
    record = {"weights": score.fit(matrix, right).record(), "curves": {"all": curve}}
    logits, chances = score.probabilities(record, matrix, ["text"] * 800, [""] * 800)
    for column, knots in zip(chances, ([0.1, 0.9], ends["low"], ends["high"]), strict=True):
        np.testing.assert_allclose(column, np.interp(logits, [-2, 2], knots))


def test_other_sections_score_as_those_of_the_folds_do():
    """Weights of all sections are larger than those of four fifths of them; a mean is not."""
    rng, shifts = np.random.default_rng(4), []
    for _ in range(20):
        matrix = rng.normal(size=(240, len(FEATURES)))
        right = rng.random(240) < 1 / (1 + np.exp(4 - 2 * matrix[:, 0]))
        folds, new = np.arange(240) % FOLDS, rng.normal(size=(2000, len(FEATURES)))
        by_fold = score.cross_fit(matrix, right, folds)
        held_out = np.concatenate([score.scores(w, matrix[folds == f]) for f, w in by_fold.items()])
        mean = score.mean_of([*by_fold.values()])
        expected = np.mean([score.scores(w, new) for w in by_fold.values()], axis=0)
        np.testing.assert_allclose(score.scores(mean, new), expected, atol=1e-6)
        shifts.append(
            [score.scores(w, new).std() - held_out.std() for w in (mean, score.fit(matrix, right))]
        )
    of_mean, of_all = np.mean(shifts, axis=0)
    assert abs(of_mean) < of_all


def test_a_calibration_without_weights_scores_nothing():
    with pytest.raises(KeyError, match="weights"):
        score.probabilities({"weights": None}, np.zeros((0, len(FEATURES))), [], [])
