"""The measures agree with trec_eval and ranx on many random runs, and with sums done by hand."""

import math
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.core.errors import BadParams
from isotope.core.measures import MEASURES, parse, parse_all, score_run
from isotope.core.runs import ranked

# It has no wheel for ARM.
pytrec_eval = pytest.importorskip("pytrec_eval")

ISSUE = ["MRR@10", "R@10", "R@1000", "Success@10", "nDCG@10", "MAP"]
NAMES = [*ISSUE, "MRR", "P@5", "AP@10", "nDCG", "bpref"]
TREC = {
    "R@10": "recall_10",
    "R@1000": "recall_1000",
    "Success@10": "success_10",
    "nDCG@10": "ndcg_cut_10",
    "MAP": "map",
    "MRR": "recip_rank",
    "P@5": "P_5",
    "AP@10": "map_cut_10",
    "nDCG": "ndcg",
    "bpref": "bpref",
}
RANX = {
    "MRR@10": "mrr@10",
    "R@10": "recall@10",
    "R@1000": "recall@1000",
    "Success@10": "hit_rate@10",
    "nDCG@10": "ndcg@10",
    "MAP": "map",
    "MRR": "mrr",
    "P@5": "precision@5",
    "AP@10": "map@10",
}
SMALL, LONG = 12_000, 40


def random_hits(generator: np.random.Generator, query: str, depth: int) -> pl.DataFrame:
    """Hits with many ties; the scores are halves, so that single precision keeps them apart."""
    docs = generator.choice(3 * depth // 2 + 1, size=depth, replace=False)
    levels = generator.integers(1, depth + 2)
    return pl.DataFrame(
        {
            "query_id": [query] * depth,
            "doc_id": [f"d{doc}" for doc in docs],
            "score": generator.integers(-levels, levels, size=depth) / 2,
        }
    )


def random_qrels(generator: np.random.Generator, query: str, depth: int) -> pl.DataFrame:
    """Graded judgements from -1 to 3 of documents that the run may or may not have found."""
    pool = 3 * depth // 2 + 1
    docs = generator.choice(pool, size=generator.integers(1, min(pool, 25) + 1), replace=False)
    return pl.DataFrame(
        {
            "query_id": [query] * len(docs),
            "doc_id": [f"d{doc}" for doc in docs],
            "relevance": generator.integers(-1, generator.integers(1, 5), size=len(docs)),
        }
    )


@pytest.fixture(scope="module")
def many() -> tuple[pl.DataFrame, pl.DataFrame]:
    """12,040 runs of one query each, one in ten unjudged and one in ten without hits."""
    generator = np.random.default_rng(20230723)
    depths = [*generator.integers(1, 30, SMALL), *generator.integers(1001, 1300, LONG)]
    hits, qrels = [], []
    for i, depth in enumerate(depths):
        chance = generator.random()
        if chance > 0.1:
            hits.append(random_hits(generator, f"q{i}", int(depth)))
        if chance < 0.9:
            qrels.append(random_qrels(generator, f"q{i}", int(depth)))
    return ranked(pl.concat(hits)), pl.concat(qrels)


@pytest.fixture(scope="module")
def ours(many) -> pl.DataFrame:
    run, qrels = many
    return score_run(run, qrels, NAMES)


def nested(df: pl.DataFrame, value: str) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for query, doc, number in df.select("query_id", "doc_id", value).iter_rows():
        rows.setdefault(query, {})[doc] = number
    return rows


def assert_equal(ours: pl.DataFrame, theirs: dict[str, dict[str, float]]) -> None:
    """Compare all values; a query that the judge leaves out counts 0."""
    for query, measure, value in ours.iter_rows():
        if measure in theirs:
            assert abs(value - theirs[measure].get(query, 0.0)) < 1e-9, (query, measure)


def test_twelve_thousand_random_runs_score_as_in_trec_eval(many, ours):
    run, qrels = many
    judge = pytrec_eval.RelevanceEvaluator(nested(qrels, "relevance"), set(TREC.values()))
    found = judge.evaluate(nested(run, "score"))
    cut = pytrec_eval.RelevanceEvaluator(nested(qrels, "relevance"), {"recip_rank"}).evaluate(
        nested(run.filter(pl.col("rank") <= 10), "score")
    )
    theirs = {
        name: {query: values[key] for query, values in found.items()} for name, key in TREC.items()
    }
    theirs["MRR@10"] = {query: values["recip_rank"] for query, values in cut.items()}
    assert ours["query_id"].n_unique() >= 10_000
    assert set(theirs) == set(NAMES)
    assert_equal(ours, theirs)


def test_judged_at_k_is_precision_with_every_judgement_counted_as_relevant(many):
    run, qrels = many
    counted = qrels.with_columns(relevance=pl.lit(1))
    judge = pytrec_eval.RelevanceEvaluator(nested(counted, "relevance"), {"P_10"})
    found = judge.evaluate(nested(run, "score"))
    theirs = {"Judged@10": {query: values["P_10"] for query, values in found.items()}}
    assert_equal(score_run(run, qrels, ["Judged@10"]), theirs)


@pytest.mark.filterwarnings("ignore:invalid escape sequence:Warning")
@pytest.mark.filterwarnings("ignore:.*unsafe cast from uint64 to int64:Warning")
def test_twelve_thousand_random_runs_score_as_in_ranx(many, ours):
    ranx = pytest.importorskip("ranx")

    run, qrels = many
    explicit = run.with_columns(score=-pl.col("rank").cast(pl.Float64))
    theirs_qrels = ranx.Qrels(nested(qrels, "relevance"))
    theirs_run = ranx.Run(nested(explicit, "score"))
    ranx.evaluate(theirs_qrels, theirs_run, list(RANX.values()), make_comparable=True)
    assert_equal(ours, {name: dict(theirs_run.scores[key]) for name, key in RANX.items()})


def test_the_random_runs_have_what_makes_scoring_hard(many):
    run, qrels = many
    assert run.select(pl.struct("query_id", "score").is_duplicated().mean()).item() > 0.3
    assert set(qrels["relevance"]) == {-1, 0, 1, 2, 3}
    judged, answered = set(qrels["query_id"]), set(run["query_id"])
    assert len(judged - answered) > 1000
    assert len(answered - judged) > 1000
    relevant = set(qrels.filter(pl.col("relevance") > 0)["query_id"])
    assert len(judged - relevant) > 500


def one_query(by_rank: list[int], unfound: list[int]) -> tuple[pl.DataFrame, pl.DataFrame]:
    places = range(len(by_rank))
    run = ranked(
        pl.DataFrame(
            {
                "query_id": ["q"] * len(by_rank),
                "doc_id": [f"d{i}" for i in places],
                "score": [-float(i) for i in places],
            }
        )
    )
    grades = {f"d{i}": grade for i, grade in enumerate(by_rank)}
    grades |= {f"u{i}": grade for i, grade in enumerate(unfound)}
    qrels = pl.DataFrame(
        {
            "query_id": ["q"] * len(grades),
            "doc_id": list(grades),
            "relevance": list(grades.values()),
        }
    )
    return run, qrels


@pytest.mark.parametrize(
    ("measure", "value"),
    [
        ("MRR@10", 1 / 2),
        ("MRR@1", 0.0),
        ("R@2", 1 / 3),
        ("R@10", 2 / 3),
        ("P@10", 2 / 10),
        ("Success@1", 0.0),
        ("Success@2", 1.0),
        ("MAP", (1 / 2 + 2 / 4) / 3),
        ("AP@2", (1 / 2) / 3),
        ("nDCG@10", (2 / math.log2(3) + 1 / math.log2(5)) / (3 + 2 / math.log2(3) + 1 / 2)),
        ("nDCG@2", (2 / math.log2(3)) / (3 + 2 / math.log2(3))),
    ],
)
def test_a_measure_is_what_its_definition_says(measure, value):
    run, qrels = one_query([0, 2, -1, 1, 0], unfound=[3])
    assert score_run(run, qrels, [measure])["value"].item() == pytest.approx(value, abs=1e-12)


@settings(deadline=None)
@given(st.lists(st.integers(-1, 3), min_size=1, max_size=15), st.lists(st.integers(1, 3)))
def test_every_measure_lies_between_0_and_1_and_a_perfect_run_reaches_1(found, unfound):
    values = score_run(*one_query(found, unfound), NAMES)["value"]
    assert values.is_between(0, 1 + 1e-12).all()
    best = sorted((grade for grade in found if grade > 0), reverse=True)
    if best:
        perfect = score_run(*one_query(best, []), ["nDCG@10", "MAP", "R@1000", "MRR"])
        assert perfect["value"].to_list() == pytest.approx([1.0] * 4)


@pytest.mark.parametrize("name", ["ndcg@10", "MRR@0", "MRR@-1", "R", "MAP@10", "R@ten", "", "R@1 "])
def test_an_unknown_measure_is_named_and_the_known_ones_listed(name):
    with pytest.raises(BadParams, match=r"use one of AP@k, MAP, MRR, .*nDCG@k") as error:
        parse(name)
    assert repr(name) in error.value.problem


def test_no_measure_at_all_is_refused():
    with pytest.raises(BadParams, match="empty list"):
        parse_all([])


def test_every_measure_has_a_sentence_and_a_source():
    for name, measure in MEASURES.items():
        assert parse(name.replace("@k", "@7"))
        assert measure.description.endswith(".")
        assert measure.source


def test_a_run_is_scored_by_its_ranks_whatever_the_order_of_its_rows():
    rng = np.random.default_rng(3)
    ids = {"query_id": np.repeat(["a", "b"], 50), "doc_id": np.tile(np.arange(50), 2).astype(str)}
    run = pl.DataFrame({**ids, "rank": np.tile(np.arange(1, 51), 2)})
    qrels = run.select("query_id", "doc_id", relevance=pl.Series(rng.integers(0, 3, 100)))
    names = ["MAP", "nDCG@10", "bpref", "MRR@10"]
    other = run.sample(fraction=1, shuffle=True, seed=0)
    assert score_run(other, qrels, names).equals(score_run(run, qrels, names))
