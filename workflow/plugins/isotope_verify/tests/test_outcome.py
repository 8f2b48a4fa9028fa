"""What a check counts, which items a sample holds, and which measures the tools have."""

import math

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope.core.grid import RunKey
from isotope.core.measures import MEASURES
from isotope.core.runs import ranked
from isotope.schemas.score import SCORES
from isotope.score.score import compare
from isotope.search.kinds.bm25 import Bm25
from isotope_verify import measures, rankings, table_cells
from isotope_verify.outcome import Check, ItemSample, failed
from isotope_verify.params import Verify
from isotope_verify.table_cells import Numbers
from isotope_verify.verify import CHECKS

ITEMS = st.lists(st.text(min_size=1), min_size=1, max_size=60, unique=True)
SHARES = st.floats(0.001, 1.0)


@given(ITEMS, SHARES, st.text())
def test_a_sample_has_its_share_of_the_items_rounded_up_and_one_at_least(items, share, seed):
    chosen = ItemSample(share, seed).choose(items, "run")
    assert set(chosen) <= set(items)
    assert len(chosen) == max(1, math.ceil(share * len(items)))
    assert chosen == sorted(chosen)


@given(ITEMS, st.tuples(SHARES, SHARES), st.text())
def test_a_larger_sample_holds_a_smaller_one(items, shares, seed):
    small, large = (set(ItemSample(s, seed).choose(items, "run")) for s in sorted(shares))
    assert small <= large


@given(ITEMS, SHARES)
def test_the_order_in_which_items_come_does_not_matter(items, share):
    sample = ItemSample(share, "seed")
    assert sample.choose(items, "run") == sample.choose([*reversed(items)], "run")


def test_another_content_or_another_run_draws_another_sample():
    items = [f"q{n}" for n in range(200)]
    draws = [ItemSample(0.1, seed).choose(items, key) for seed in "ab" for key in "cd"]
    assert len({tuple(draw) for draw in draws}) == len(draws)


def numbers(published: list[float | None], recomputed: list[float | None]) -> Check:
    check = Check("means", "a tool", "cells", tolerance=0.01)
    columns = {"cell": [f"c{n}" for n in range(len(published))]}
    kinds = {"published": pl.Float64(), "recomputed": pl.Float64()}
    values = {"published": published, "recomputed": recomputed}
    check.numbers(pl.DataFrame({**columns, **values}, schema_overrides=kinds))
    return check


@pytest.mark.parametrize(
    ("published", "recomputed", "differs"),
    [
        (0.5, 0.505, False),
        (0.5, 0.52, True),
        (None, 0.5, True),
        (0.5, None, True),
        (None, None, False),
        (math.nan, 0.5, True),
        (math.inf, math.inf, False),
        (math.inf, 0.5, True),
    ],
)
def test_a_number_differs_if_it_is_too_far_or_not_there(published, recomputed, differs):
    single = Check("means", "a tool", "cells", tolerance=0.01)
    single.number("c0", published, recomputed)
    for check in (single, numbers([published], [recomputed])):
        assert (check.compared, check.different) == (1, int(differs))
        assert [d.cell for d in check.differences] == ["c0"] * differs
        assert failed([check]) == [check] * differs


def test_the_largest_difference_is_kept_and_twenty_are_listed():
    check = numbers([0.0] * 30, [n / 10 for n in range(30)])
    assert check.largest == pytest.approx(2.9)
    assert (check.different, len(check.differences)) == (29, 20)


def test_a_record_has_no_infinity_that_json_lacks():
    assert numbers([math.inf], [0.5]).record()["largest"] is None


def known_by(tool: str) -> set[str]:
    """The measures of isotope that a tool has, at any cut."""
    form = measures.TOOLS[tool][1]
    return {name for name in MEASURES if form(name.replace("@k", "@7"))}


def test_trec_eval_has_every_measure_and_ranx_all_but_two():
    assert known_by("trec_eval") == set(MEASURES)
    assert set(MEASURES) - known_by("ranx") == {"bpref", "Judged@k"}


@pytest.mark.parametrize(
    ("name", "value"),
    [
        # One of two relevant documents is at rank 2, one of grade 0 at rank 1.
        *(("MRR@1", 0.0), ("MRR@2", 0.5), ("MRR", 0.5), ("R@2", 0.5), ("P@2", 0.5)),
        *(("Success@1", 0.0), ("Success@2", 1.0), ("MAP", 0.25), ("AP@1", 0.0)),
        *(("Judged@2", 1.0), ("Judged@3", 2 / 3), ("bpref", 0.0)),
        ("nDCG@2", (3 / math.log2(3)) / (3 + 1 / math.log2(3))),
    ],
)
def test_trec_eval_is_asked_for_what_the_measure_means(name, value):
    keys = {"query": "q", "query_id": "q"}
    docs = pl.DataFrame({"doc_id": ["a", "b", "c"], "rank": [1, 2, 3], **keys})
    judged = {"doc_id": ["a", "b", "d"], "relevance": [0, 3, 1], **keys}
    hits = measures.JudgedHits(docs, pl.DataFrame(judged))
    assert dict(measures.trec_eval(hits, [name])) == {name: {"q": pytest.approx(value)}}


def score_rows(values: dict[str, list[float]]) -> pl.DataFrame:
    labels = {"collection": "c", "setting": "small", "split": "test", "task": "t2m"}
    rows = [
        {**labels, "measure": "MAP", "system": system, "query_id": f"q{n}", "value": value}
        for system, system_values in values.items()
        for n, value in enumerate(system_values)
    ]
    return pl.DataFrame(rows).select(SCORES.names)


@pytest.mark.parametrize(
    "values",
    [
        {"one": [0.1, 0.9, 0.4], "two": [0.2, 0.3, 0.4], "three": [1.0, 0.5, 0.25]},
        {"one": [0.5, 0.5], "two": [0.5, 0.5]},
        {"one": [0.75, 0.5], "two": [0.5, 0.25]},
        {"one": [0.5], "two": [0.25]},
    ],
)
def test_tests_without_variance_or_with_one_query_are_as_the_phase_defines_them(values, tmp_path):
    rows = score_rows(values)
    rows.write_parquet(tmp_path / "scores.parquet")
    tests = Numbers(tmp_path / "scores.parquet").tests
    published = compare(rows)
    assert len(tests) == published.height
    for row in published.iter_rows(named=True):
        tested = tests["small", "test", "t2m", "MAP", row["system"], row["other"]]
        expected = [row["difference"], row["t"], row["p"]]
        assert [*tested] == [v if v is None else pytest.approx(v, rel=1e-9) for v in expected]


def test_a_system_that_is_called_like_a_gain_has_its_own_mean(tmp_path):
    values = {"a": [0.5, 1.0], "b": [0.25, 0.0], "2023": [0.0, 0.5], "a - b": [0.125, 0.25]}
    score_rows(values).write_parquet(tmp_path / "scores.parquet")
    numbers = Numbers(tmp_path / "scores.parquet")
    means = {"a": 0.75, "a - b": 0.1875, "2023 - a": -0.5, "b - 2023": -0.125, "a - c": None}
    for system, mean in means.items():
        assert table_cells._mean(numbers, ("small", "test", "t2m", system, "MAP")) == mean


def compared(published: list[tuple[str, float]], recomputed: list[tuple[str, float]]) -> Check:
    columns = {"query_id": pl.String(), "doc_id": pl.String(), "score": pl.Float64()}
    frames = [
        pl.DataFrame([("q", *hit) for hit in hits], columns, orient="row")
        for hits in (published, recomputed)
    ]
    check = Check("rankings", "Pyserini", "hits", 5.01e-7)
    search = rankings._Search(
        "run", RunKey("small", "test", "t2m"), Bm25(kind="bm25"), ranked(frames[0]), ["q"]
    )
    rankings._compare(check, search, frames[1])
    return check


def test_hits_that_anserini_prints_with_one_score_are_in_the_order_of_trec_eval():
    """Anserini's float32 has no room for a millionth below 16.684699."""
    hits = [("c", 16.6847), ("b", 16.684698), ("a", 16.684698)]
    assert not compared(hits, [hits[0], hits[2], hits[1]]).different


def test_hits_in_another_order_or_with_other_scores_or_one_too_few_differ():
    hits = [("c", 3.0), ("b", 2.0), ("a", 1.0)]
    assert compared(hits, [("b", 3.0), ("c", 2.0), ("a", 1.0)]).different == 2
    assert compared(hits, [("c", 3.0), ("b", 2.00001), ("a", 1.0)]).different == 1
    assert compared(hits, hits[:2]).different == 1
    assert compared(hits[:2], hits).different == 1


def test_a_record_keeps_of_the_largest_difference_what_no_order_of_sums_changes():
    check = Check("means", "a tool", "cells", tolerance=1.0)
    check.number("a cell", 0.1234567, 0.0)
    assert check.record()["largest"] == 0.12
    assert Check.from_record(check.record()) == Check("means", "a tool", "cells", 1.0, 0, 1, 0.12)


def test_the_params_offer_every_check_of_the_command_but_that_of_all_files():
    offered = Verify.model_json_schema()["properties"]["checks"]["items"]["enum"]
    assert {*offered} == {*CHECKS} - {"files"}
