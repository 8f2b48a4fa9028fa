"""Scores, tests and fusions are those of other people's tools."""

from collections.abc import Mapping
from itertools import combinations

import ir_measures
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import ttest_rel
from tests.api import DOCUMENTS, QUERIES, Qrels, Run, qrels, runs

import isotope
from isotope.core.errors import (
    BadArgument,
    BadParams,
    EmptyTable,
    IntegrityError,
    MissingColumn,
)

# By ir_measures, of which a part is trec_eval's and a part its own.
MEASURES = {
    "MRR@10": ir_measures.RR @ 10,
    "R@3": ir_measures.R @ 3,
    "P@5": ir_measures.P @ 5,
    "Success@1": ir_measures.Success @ 1,
    "nDCG@10": ir_measures.nDCG @ 10,
    "nDCG": ir_measures.nDCG,
    "MAP": ir_measures.AP,
    "AP@4": ir_measures.AP @ 4,
    "bpref": ir_measures.Bpref,
}
RUN: Run = {"q1": {"a": 3.0, "b": 2.0}, "q2": {"a": 1.0}}
JUDGED: Qrels = {"q1": {"b": 1}, "q2": {"a": 1}, "q3": {"a": 1}}


@settings(max_examples=40, deadline=None)
@given(run=runs(), judged=qrels())
def test_scores_are_those_of_ir_measures(run, judged):
    scores = isotope.score(run, judged, [*MEASURES])
    names = {measure: name for name, measure in MEASURES.items()}
    theirs = {
        (names[score.measure], score.query_id): score.value
        for score in ir_measures.iter_calc([*MEASURES.values()], judged, run)
    }
    ours = {(m, q): v for q, m, v in scores.select("query_id", "measure", "value").iter_rows()}
    assert ours.keys() == {(m, q) for m in MEASURES for q in QUERIES}
    for key, value in ours.items():
        assert value == pytest.approx(theirs.get(key, 0.0), abs=1e-12), key


def test_a_query_without_hits_counts_nothing_and_one_that_nobody_judged_does_not_count():
    scores = isotope.score({**RUN, "q9": {"a": 1.0}}, JUDGED, "MRR@10")
    assert dict(scores.select("query_id", "value").iter_rows()) == {"q1": 0.5, "q2": 1, "q3": 0}
    assert scores["system"].unique().to_list() == ["run"]


@pytest.mark.parametrize("first", [True, False])
def test_a_system_that_answers_nothing_scores_nothing(first):
    runs: dict[str, Run] = {"silent": {}, "one": RUN} if first else {"one": RUN, "silent": {}}
    scores = isotope.score(runs, JUDGED, "MRR@10")
    means = dict(scores.group_by("system").agg(pl.col("value").sum()).iter_rows())
    assert means == {"silent": 0, "one": 1.5}
    assert isotope.fuse(runs)["query_id"].unique().sort().to_list() == ["q1", "q2"]


def test_systems_that_are_numbers_are_named_by_them():
    scores = isotope.score({1: RUN, 2: RUN}, JUDGED, "MRR@10")
    assert scores["system"].unique(maintain_order=True).to_list() == ["1", "2"]
    numbers = scores.with_columns(pl.col("system").cast(pl.Int64))
    assert str(isotope.summarise(numbers)) == str(isotope.summarise(scores))


def test_files_name_their_systems(tmp_path):
    paths = [isotope.write_run(RUN, tmp_path / name) for name in ("bm25.trec.gz", "v1.5.parquet")]
    scores = isotope.score(paths, JUDGED)
    assert scores["system"].unique(maintain_order=True).to_list() == ["bm25", "v1.5"]
    assert scores["measure"].n_unique() == 6
    with pytest.raises(BadArgument, match=r"two are called 'bm25'"):
        isotope.score([paths[0], isotope.write_run(RUN, tmp_path / "bm25.parquet")], JUDGED)


@settings(max_examples=25, deadline=None)
@given(several=st.lists(runs(), min_size=2, max_size=4), judged=qrels())
def test_tests_are_those_of_scipy(several, judged):
    scores = isotope.score({f"s{n}": run for n, run in enumerate(several)}, judged, "nDCG@10")
    values = {s: scores.filter(system=s)["value"].to_numpy() for s in scores["system"].unique()}
    pairs = len([*combinations(values, 2)])
    tests = isotope.compare(scores)
    assert tests.height == 2 * pairs
    for row in tests.iter_rows(named=True):
        first, second = values[row["system"]], values[row["other"]]
        assert row["difference"] == pytest.approx(np.mean(first - second), abs=1e-12)
        if np.var(first - second) < 1e-20:
            continue
        t, p = ttest_rel(first, second)
        assert (row["t"], row["p"]) == (pytest.approx(t), pytest.approx(p))
        assert row["p_bonferroni"] == pytest.approx(min(1, p * pairs))


def ranx_runs(several: Mapping[str, Run]):
    from ranx import Run as Theirs  # noqa: PLC0415 (it compiles)

    return [Theirs(run, name=name) for name, run in several.items()]


@pytest.mark.filterwarnings("ignore:invalid escape sequence:Warning")
@pytest.mark.filterwarnings("ignore:.*unsafe cast from uint64 to int64:Warning")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@settings(max_examples=15, deadline=None)
@given(first=runs(), second=runs(), k=st.integers(1, 100), weight=st.floats(0.1, 0.9))
def test_fusions_are_those_of_ranx(first, second, k, weight):
    from ranx import fuse  # noqa: PLC0415 (as above)

    several = {"one": first, "two": second}
    ours = {
        "rrf": isotope.fuse(several, k=k, depth=None),
        "wsum": isotope.fuse(several, "wsum", weights={"two": 1 - weight, "one": weight}),
    }
    theirs = {
        "rrf": fuse(ranx_runs(several), norm=None, method="rrf", params={"k": k}),  # pyright: ignore
        "wsum": fuse(
            runs=ranx_runs(several), method="wsum", params={"weights": (weight, 1 - weight)}
        ),
    }
    for name, run in ours.items():
        expected = theirs[name].to_dict()
        scores = {(q, d): s for q, d, _, s in run.iter_rows()}
        assert scores.keys() == {(q, d) for q, docs in expected.items() for d in docs}
        for (query, doc), value in scores.items():
            assert value == pytest.approx(expected[query][doc], abs=1e-9)
        assert run.select("query_id", "rank").is_duplicated().any() is False


def test_scores_are_those_of_ranx_and_of_trec_eval(tmp_path):
    rng = np.random.default_rng(0)
    draw = lambda: dict(zip(DOCUMENTS, map(float, rng.permutation(len(DOCUMENTS))), strict=True))  # noqa: E731
    run, judged = {q: draw() for q in QUERIES}, {q: {"d1": 2, "d5": 1} for q in QUERIES}
    ours = {
        (m, q): v
        for q, m, v in isotope.score(run, judged, ["nDCG@10", "MAP"])
        .select("query_id", "measure", "value")
        .iter_rows()
    }
    pytrec_eval = pytest.importorskip("pytrec_eval")
    theirs = pytrec_eval.RelevanceEvaluator(judged, {"ndcg_cut.10", "map"}).evaluate(run)
    for query in QUERIES:
        assert ours["nDCG@10", query] == pytest.approx(theirs[query]["ndcg_cut_10"], abs=1e-9)
        assert ours["MAP", query] == pytest.approx(theirs[query]["map"], abs=1e-9)


def test_intervals_hold_the_mean_and_are_those_of_the_seed():
    rng = np.random.default_rng(1)
    rows = [
        {"system": s, "query_id": f"q{n}", "measure": "MAP", "value": float(v)}
        for s, shift in (("poor", 0.2), ("good", 0.5))
        for n, v in enumerate(rng.uniform(0, 0.4, 200) + shift)
    ]
    summary = isotope.summarise(pl.DataFrame(rows), samples=2000)
    again = isotope.summarise(pl.DataFrame(rows), samples=2000)
    assert summary.means.equals(again.means)
    means = {row["system"]: row for row in summary.means.iter_rows(named=True)}
    for name, row in means.items():
        values = np.array([r["value"] for r in rows if r["system"] == name])
        spread = 1.96 * values.std() / np.sqrt(len(values))
        assert row["low"] == pytest.approx(values.mean() - spread, abs=0.15 * spread)
        assert row["high"] == pytest.approx(values.mean() + spread, abs=0.15 * spread)
    assert (means["good"]["better_than"], means["poor"]["better_than"]) == (["poor"], [])
    assert f"b  good    {means['good']['mean']:.3f}* a" in str(summary)


def test_one_system_has_a_summary_and_no_test():
    summary = isotope.summarise(isotope.score(RUN, JUDGED, ["MAP", "R@1"]))
    assert summary.tests.is_empty()
    assert summary.means["queries"].to_list() == [3, 3]


@pytest.mark.parametrize(
    ("ask", "error", "message"),
    [
        (lambda: isotope.score(RUN, JUDGED, "MPA"), BadParams, "did you mean 'MAP'"),
        (lambda: isotope.score(RUN, JUDGED, []), BadParams, "an empty list"),
        (lambda: isotope.score({}, JUDGED), EmptyTable, "^runs: no run"),
        (lambda: isotope.score(RUN, {}), EmptyTable, "^qrels: no judgement"),
        (lambda: isotope.score(RUN, {"x": {"a": 1}}), IntegrityError, "none of its queries is"),
        (lambda: isotope.compare(isotope.score(RUN, JUDGED)), EmptyTable, "fewer than two"),
        (lambda: isotope.compare(pl.DataFrame({"system": ["a"]})), MissingColumn, "'query_id'"),
        (lambda: isotope.fuse({"one": RUN}), BadParams, "fusion of 1 runs"),
        (lambda: isotope.fuse({"a": RUN, "b": RUN}, "sum"), BadArgument, "name rrf or wsum"),  # pyright: ignore
        (lambda: isotope.fuse({"a": RUN, "b": RUN}, k=-1), BadParams, "k = -1"),
        (lambda: isotope.fuse({"a": RUN, "b": RUN}, depth=0), BadArgument, "^depth: 0;"),
        (
            lambda: isotope.fuse({"a": RUN, "b": RUN}, "wsum", weights={"a": 1, "c": 1}),
            *(BadArgument, "^weights: 'b' is not in both"),
        ),
        (
            lambda: isotope.fuse({"a": RUN, "b": RUN}, "wsum", weights=[1]),
            *(BadParams, "2 runs with 1 weights"),
        ),
        (
            lambda: isotope.fuse({"a": RUN, "b": RUN}, "wsum", weights=[1, float("nan")]),
            *(BadArgument, "^weights: nan is no number"),
        ),
        (
            lambda: isotope.fuse({"a": RUN, "b": RUN}, weights=[1, 2]),
            *(BadArgument, "^weights: rrf weighs all runs alike"),
        ),
        (lambda: isotope.fuse({"a": RUN, "b": RUN}, k=float("nan")), BadArgument, "^k: nan"),
        (lambda: isotope.score([RUN, RUN], JUDGED), BadArgument, "a list with a dict, which has"),  # pyright: ignore
        (lambda: isotope.compare(7), BadArgument, "^scores: it is a int"),
        (lambda: isotope.summarise(pl.DataFrame(), seed=-1), BadArgument, "^seed: -1"),
        (lambda: isotope.summarise(pl.DataFrame(), level=2), BadArgument, "^level: 2;"),
        (lambda: isotope.summarise(pl.DataFrame(), alpha=0), BadArgument, "^alpha: 0;"),
        (lambda: isotope.summarise(pl.DataFrame(), samples=0), BadArgument, "^samples: 0;"),
    ],
)
def test_bad_input_is_named(ask, error, message):
    with pytest.raises(error, match=message):
        ask()


def test_scores_that_do_not_fit_together_are_named():
    scores = isotope.score({"a": RUN, "b": RUN}, JUDGED, ["MAP", "R@1"])
    with pytest.raises(IntegrityError, match=r"^MAP: systems that were not scored on the same"):
        isotope.compare(scores[1:])
    with pytest.raises(IntegrityError, match="system 'a' has query 'q1' twice"):
        isotope.compare(pl.concat([scores, scores]))
    is_other = pl.col("system") != "a"
    with pytest.raises(IntegrityError, match="not scored on the same queries"):
        isotope.compare(scores.filter(is_other | (pl.col("query_id") != "q1")))
    with pytest.raises(IntegrityError, match="lacks a measure"):
        isotope.summarise(scores.filter(is_other | (pl.col("measure") != "MAP")))
    with pytest.raises(IntegrityError, match="MAP of query 'q1' is nan"):
        isotope.compare(scores.with_columns(value=float("nan")))
