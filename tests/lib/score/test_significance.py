"""Paired t-tests equal scipy's, and certainty without variance is said without warnings."""

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from scipy.stats import ttest_rel

from isotope.core import store
from isotope.core.errors import IntegrityError
from isotope.schemas.score import SCORES, SIGNIFICANCE
from isotope.score.score import compare, paired_t, significance_table


def scores(values: dict[str, list[float]], measure: str = "MAP", task: str = "t2m") -> pl.DataFrame:
    labels = {"collection": "toy", "setting": "small", "split": "test", "task": task}
    tall = [
        {**labels, "system": system, "query_id": f"q{i:04d}", "measure": measure, "value": value}
        for system, own in values.items()
        for i, value in enumerate(own)
    ]
    return pl.DataFrame(tall, schema_overrides={"value": pl.Float64})


@pytest.mark.parametrize("queries", [2, 3, 50, 9000])
def test_t_and_p_equal_those_of_scipy(queries):
    generator = np.random.default_rng(queries)
    values = {f"s{i}": generator.random(queries) * (1 + i / 10) for i in range(5)}
    found = compare(scores({name: own.tolist() for name, own in values.items()}))
    assert found.height == 20
    for row in found.iter_rows(named=True):
        first, second = values[row["system"]], values[row["other"]]
        want = ttest_rel(first, second)
        assert row["t"] == pytest.approx(want.statistic, rel=1e-10, abs=1e-12)
        assert abs(row["p"] - want.pvalue) < 1e-12
        assert row["difference"] == pytest.approx(first.mean() - second.mean(), abs=1e-12)
        assert row["p_bonferroni"] == min(1.0, row["p"] * 10)


@pytest.mark.parametrize(("systems", "pairs"), [(11, 55), (4, 6)])
def test_the_correction_is_for_as_many_pairs_as_the_papers_alpha(systems, pairs):
    """AToMiC: alpha = 55 for the eleven systems of Table 3, 6 for four in Table 5."""
    generator = np.random.default_rng(0)
    values = {f"s{i}": (generator.random(9) + i).tolist() for i in range(systems)}
    found = compare(scores(values)).filter(pl.col("p") * pairs < 1)
    assert found.height > 0
    ratios = (found["p_bonferroni"] / found["p"]).to_list()
    assert ratios == pytest.approx([pairs] * found.height)


def test_both_directions_mirror_each_other():
    found = compare(scores({"a": [0.1, 0.5, 0.9], "b": [0.3, 0.4, 0.2]}))
    there, back = found.iter_rows(named=True)
    assert (there["system"], there["other"]) == (back["other"], back["system"]) == ("a", "b")
    assert there["difference"] == -back["difference"]
    assert there["t"] == -back["t"]
    assert there["p"] == back["p"] == there["p_bonferroni"]


def test_equal_systems_do_not_differ():
    row = compare(scores({"a": [0.25, 0.5], "b": [0.25, 0.5]})).row(0, named=True)
    assert (row["difference"], row["t"], row["p"], row["p_bonferroni"]) == (0.0, 0.0, 1.0, 1.0)


def test_a_constant_difference_is_certain():
    row = compare(scores({"a": [0.25, 0.5], "b": [0.5, 0.75]})).row(0, named=True)
    assert (row["difference"], row["t"], row["p"]) == (-0.25, -np.inf, 0.0)


def test_one_query_shows_nothing():
    row = compare(scores({"a": [1.0], "b": [0.0]})).row(0, named=True)
    assert (row["difference"], row["t"], row["p"]) == (1.0, None, 1.0)


def test_under_the_null_hypothesis_p_is_uniform():
    differences = np.random.default_rng(5).normal(size=(20_000, 12))
    below = [(paired_t(differences)[1] < level).mean() for level in (0.05, 0.5, 0.95)]
    assert below == pytest.approx([0.05, 0.5, 0.95], abs=0.012)


def test_cells_are_compared_each_on_its_own():
    one = scores({"a": [0.1, 0.5], "b": [0.3, 0.4], "c": [0.0, 0.1]})
    two = scores({"a": [0.1, 0.9], "b": [0.2, 0.4]}, measure="R@10", task="m2t")
    alone = scores({"a": [0.1, 0.9]}, measure="R@10")
    found = compare(pl.concat([one, two, alone]))
    assert found.equals(pl.concat([compare(two), compare(one)]))


def test_systems_scored_on_different_queries_are_refused():
    uneven = scores({"a": [0.1, 0.5], "b": [0.3]})
    with pytest.raises(IntegrityError, match="small test t2m MAP: systems that were not scored"):
        compare(uneven)
    twice = scores({"a": [0.1, 0.5], "b": [0.3, 0.4]})
    with pytest.raises(IntegrityError, match="each once"):
        compare(pl.concat([twice, twice.head(1)]))


def test_a_file_of_scores_becomes_a_table_of_tests(tmp_path):
    parts = [
        scores({"a": [0.1, 0.5], "b": [0.3, 0.4]}, measure=measure, task=task)
        for task in ("m2t", "t2m")
        for measure in ("MAP", "R@10")
    ]
    store.write(pl.concat(parts).to_arrow(), tmp_path / "scores.parquet", SCORES)
    significance_table(tmp_path / "scores.parquet", tmp_path / "out.parquet")
    assert pq.read_schema(tmp_path / "out.parquet").equals(SIGNIFICANCE)
    assert pl.read_parquet(tmp_path / "out.parquet").equals(compare(pl.concat(parts)))


def test_no_scores_make_an_empty_table():
    found = compare(scores({"a": [1.0]}).clear())
    assert found.columns == SIGNIFICANCE.names
    assert found.is_empty()
