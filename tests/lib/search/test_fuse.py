"""Fused scores and rankings are those of ranx, ties apart, on many random runs."""

from fractions import Fraction
from functools import reduce

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from isotope.core.errors import BadParams
from isotope.core.runs import ranked, write_run
from isotope.search.fuse import Double, FusedHits, coded, fused, in_order, reciprocals, rrf, wsum
from isotope.search.kinds.rrf import Rrf
from isotope.search.kinds.wsum import Wsum

QUERIES = 600
pytestmark = [
    pytest.mark.filterwarnings("ignore:invalid escape sequence:Warning"),
    pytest.mark.filterwarnings("ignore:.*unsafe cast from uint64 to int64:Warning"),
]


def random_run(seed: int) -> pl.DataFrame:
    """Few documents, so that runs overlap; one query in ten has constant scores; no other ties.

    Ties would let ranx rank, and so fuse, otherwise than trec_eval's order does.
    """
    generator = np.random.default_rng(seed)
    parts = []
    for query in range(QUERIES):
        depth = int(generator.integers(1, 15))
        docs = generator.choice(20, size=depth, replace=False)
        scores = generator.normal(size=depth) * 10 ** generator.uniform(-3, 3)
        columns = {"query_id": [f"q{query}"] * depth, "doc_id": [f"d{doc}" for doc in docs]}
        parts.append(pl.DataFrame({**columns, "score": scores}))
    return ranked(pl.concat(parts))


def with_constant_lists(run: pl.DataFrame) -> pl.DataFrame:
    constant = pl.col("query_id").str.ends_with("7")
    return ranked(run.with_columns(score=pl.when(constant).then(2.5).otherwise("score")))


def fused_by_ranx(runs: list[pl.DataFrame], method: str, **params: object) -> pl.DataFrame:
    ranx = pytest.importorskip("ranx")

    def nested(run: pl.DataFrame) -> dict[str, dict[str, float]]:
        parts = run.partition_by("query_id", as_dict=True).items()
        return {str(key[0]): dict(part.select("doc_id", "score").rows()) for key, part in parts}

    fused = ranx.fuse([ranx.Run(nested(run)) for run in runs], "min-max", method, params)
    rows = [(q, d, s) for q, docs in fused.to_dict().items() for d, s in docs.items()]
    return pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row")


def assert_same(ours: pl.DataFrame, theirs: pl.DataFrame) -> None:
    both = ours.join(theirs, on=["query_id", "doc_id"], how="full", suffix="_theirs")
    assert both.null_count().sum_horizontal().item() == 0
    assert both.select((pl.col("score") - pl.col("score_theirs")).abs().max()).item() < 1e-12
    assert ours.equals(ranked(ours))
    in_their_order = theirs.with_columns(
        rank=pl.int_range(1, pl.len() + 1, dtype=pl.Int32).over("query_id")
    )
    gap = pl.col("score").diff().abs().over("query_id").fill_null(1.0)
    clear = ours.filter((gap > 1e-9) & (gap.shift(-1).over("query_id").fill_null(1.0) > 1e-9))
    same = clear.join(in_their_order, on=["query_id", "rank", "doc_id"], how="semi")
    assert same.height == clear.height > 3000


@pytest.fixture(scope="module")
def three() -> list[pl.DataFrame]:
    return [random_run(seed) for seed in (1, 2, 3)]


@pytest.mark.parametrize("k", [1, 60])
def test_rrf_equals_ranx(three, k):
    assert_same(rrf(three, k), fused_by_ranx(three, "rrf", k=k))


@pytest.mark.parametrize("weights", [(0.7, 0.2, 0.1), (1.0, 0.0, 3.0), (-1.0, 0.5, 2.0)])
def test_wsum_equals_ranx_even_where_all_scores_are_equal(three, weights):
    runs = [with_constant_lists(three[0]), *three[1:]]
    assert_same(wsum(runs, weights), fused_by_ranx(runs, "wsum", weights=list(weights)))


@given(st.lists(st.integers(1, 3_000), min_size=1, max_size=12), st.sampled_from([0, 1, 30, 60]))
@settings(max_examples=2_000)
def test_a_sum_of_reciprocal_ranks_is_the_double_nearest_to_the_fraction(ranks, k):
    """Python rounds a fraction to the nearest double."""
    parts = [reciprocals(np.array([k + rank])) for rank in ranks]
    exact = float(sum(Fraction(1, k + rank) for rank in ranks))
    assert reduce(Double.plus, parts).nearest().item() == exact
    assert reduce(Double.plus, reversed(parts)).nearest().item() == exact


@given(st.lists(st.permutations(list("abcdefg")), min_size=2, max_size=6), st.integers(0, 60))
@settings(max_examples=300)
def test_documents_whose_fractions_are_equal_tie_and_stand_by_their_ids(orders, k):
    runs = [run({d: -float(n) for n, d in enumerate(order)}) for order in orders]
    exact = {d: sum(Fraction(1, k + order.index(d) + 1) for order in orders) for d in "abcdefg"}
    fused = rrf(runs, k)
    assert fused["doc_id"].to_list() == sorted(exact, key=lambda d: (exact[d], d), reverse=True)
    assert fused.equals(rrf(runs[::-1], k))


def test_the_ranks_of_three_runs_in_another_order_add_up_to_the_same():
    """In doubles 1/61 + 1/62 + 1/63 depends on the order in which they are added."""
    orders = ["abc", "bca", "cab"]
    runs = [run({d: -float(n) for n, d in enumerate(order)}) for order in orders]
    assert rrf(runs, 60)["score"].n_unique() == 1
    assert rrf(runs, 60)["doc_id"].to_list() == ["c", "b", "a"]


def run(scores: dict[str, float], query: str = "q") -> pl.DataFrame:
    columns = {"query_id": [query] * len(scores), "doc_id": list(scores)}
    return ranked(pl.DataFrame({**columns, "score": list(scores.values())}))


def test_rrf_adds_the_reciprocals_of_the_ranks():
    fused = rrf([run({"a": 9.0, "b": 1.0}), run({"b": 0.1, "c": 0.0})], k=60)
    assert fused.select("doc_id", "score").rows() == [
        ("b", pytest.approx(1 / 62 + 1 / 61)),
        ("a", pytest.approx(1 / 61)),
        ("c", pytest.approx(1 / 62)),
    ]


def test_wsum_brings_each_run_to_the_same_range_first():
    fused = wsum([run({"a": 100.0, "b": 50.0, "c": 0.0}), run({"c": 2.0, "d": 1.0})], [0.5, 2.0])
    assert fused.select("doc_id", "rank", "score").rows() == [
        ("c", 1, 2.0),
        ("a", 2, 0.5),
        ("b", 3, 0.25),
        ("d", 4, 0.0),
    ]


def test_wsum_without_a_norm_adds_scores_as_they_are():
    fused = wsum([run({"a": 3.0}), run({"a": 2.0, "b": 5.0})], [1.0, 0.5], norm="none")
    assert fused.select("doc_id", "score").rows() == [("a", 4.0), ("b", 2.5)]


def test_a_constant_list_becomes_zeros():
    fused = wsum([run({"a": 7.0, "b": 7.0}), run({"a": 1.0})], [1.0, 1.0])
    assert fused.select("doc_id", "score").rows() == [("b", 0.0), ("a", 0.0)]


def test_depth_cuts_the_fused_run_and_not_its_parts():
    parts = [run({"a": 3.0, "b": 2.0, "c": 1.0}), run({"c": 3.0, "b": 2.0, "d": 1.0})]
    assert rrf(parts, 60, depth=2).equals(rrf(parts, 60).filter(pl.col("rank") <= 2))


def test_a_query_that_one_run_lacks_is_kept():
    fused = rrf([run({"a": 1.0}, "p"), run({"a": 1.0}, "q")], k=60)
    assert fused["query_id"].to_list() == ["p", "q"]


def test_pieces_do_not_show(monkeypatch, three):
    whole = wsum(three, [0.5, 0.3, 0.2])
    monkeypatch.setattr("isotope.search.fuse._QUERIES_PER_PIECE", 7)
    assert wsum(three, [0.5, 0.3, 0.2]).equals(whole)


@pytest.mark.parametrize(
    ("wrong", "found"),
    [
        (lambda one: rrf([one], k=60), "fusion of 1 runs"),
        (lambda one: rrf([one, one], k=-1), "k = -1"),
        (lambda one: wsum([one, one], [1.0]), "2 runs with 1 weights"),
        (lambda one: wsum([one, one], [1.0, 1.0], norm="zmuv"), "'zmuv'"),
    ],
)
def test_a_fusion_that_cannot_be_is_refused(wrong, found):
    with pytest.raises(BadParams, match=found):
        wrong(run({"a": 1.0}))


def test_runs_fused_where_they_lie_are_those_fused_in_memory(monkeypatch, tmp_path, three):
    monkeypatch.setattr("isotope.search.fuse._HITS_PER_PIECE", 900)
    paths = [tmp_path / f"{n}.parquet" for n in range(3)]
    for run_, path in zip(three, paths, strict=True):
        write_run(run_, path)
    weights = [0.5, 0.3, 0.2]
    spec = Wsum.of_plain({"kind": "wsum", "of": ["a", "b", "c"], "weights": weights})
    pieces = list(fused(paths, spec, depth=7))
    assert len(pieces) > 10
    assert pl.concat(pieces).equals(wsum(three, weights, depth=7))
    by_rank = Rrf.of_plain({"kind": "rrf", "of": ["a", "b", "c"], "k": 60})
    assert pl.concat(fused(paths, by_rank, depth=7)).equals(rrf(three, 60, depth=7))


def test_strings_that_share_a_hash_are_still_numbered_by_their_order(monkeypatch):
    strings = pl.Series(["b", "é", "a", "b", "B"])
    want = [2, 3, 1, 2, 0]
    assert coded(strings).codes.tolist() == want
    monkeypatch.setattr(pl.Series, "hash", lambda self: pl.Series([0] * len(self), dtype=pl.UInt64))
    assert coded(strings).codes.tolist() == want
    assert coded(strings).values.to_list() == ["B", "a", "b", "é"]


def test_hits_too_many_for_one_number_are_sorted_all_the_same():
    queries, documents = np.array([2**40, 0, 2**40, 0]), np.array([2**40, 1, 7, 2])
    found = in_order(FusedHits(queries, documents, np.array([0.5, 0.5, 1.0, 0.5])))
    assert found.queries.tolist() == [0, 0, 2**40, 2**40]
    assert found.documents.tolist() == [2, 1, 7, 2**40]
    assert found.scores.tolist() == [0.5, 0.5, 1.0, 0.5]
