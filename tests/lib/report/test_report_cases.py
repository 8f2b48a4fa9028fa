"""Fig. 6: which queries become case studies, and what is shown of them."""

from pathlib import Path
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report_project import ASKED, cell

from isotope.core.errors import MissingFile, UnknownId
from isotope.report.cases import QueryCase, cases, choose


@pytest.fixture(scope="module")
def root(report_root) -> Path:
    """A project in which `rrf` has its answers at ranks 1 to 8, and `bm25` at 8 to 1."""
    return report_root


def found(root: Path, **changes: Any) -> list[QueryCase]:
    return cases(cell(root, setting="large"), ASKED._replace(**changes))


def test_gain_loss_and_chance_choose_the_queries_of_each_task(root):
    every = found(root)
    names = [f"{t}-{n:02}" for t in ("t2m", "m2t") for n in (1, 2, 3)]
    assert [case.name for case in every] == names
    t2m = every[:3]
    assert [case.why for case in t2m] == ["largest gain", "largest loss", "at random"]
    best, worst, _ = t2m
    assert best.query.title.startswith("The crimson circle of 0")
    assert [side.first for side in best.sides] == [1, None]
    assert [side.first for side in worst.sides] == [None, 1]


def test_both_ends_of_both_lists_are_shown_in_order(root):
    case = found(root)[0]
    for side in case.sides:
        assert side.hits == 7
        assert [hit.rank for hit in side.top] == [1, 2, 3]
        assert [hit.rank for hit in side.bottom] == [5, 6, 7]
        assert [h.score for h in side.top] == sorted((h.score for h in side.top), reverse=True)


def test_a_short_list_is_shown_once(root):
    for side in found(root, hits=5)[0].sides:
        assert [hit.rank for hit in (*side.top, *side.bottom)] == list(range(1, 8))


def test_relevance_and_the_other_systems_rank_are_those_of_the_runs(root):
    case = found(root)[0]
    runs = [
        pl.read_parquet(root / f"results/search/toy/large/test/t2m/{s}.parquet")
        for s in ("rrf", "bm25")
    ]
    places = [dict(r.filter(query_id="t00").select("doc_id", "rank").iter_rows()) for r in runs]
    own, other = places
    by_rank = {rank: doc for doc, rank in own.items()}
    for hit in (*case.sides[0].top, *case.sides[0].bottom):
        assert hit.elsewhere == other.get(by_rank[hit.rank])
        assert hit.relevant == (by_rank[hit.rank] == "i00")
    firsts = [{d for d, rank in each.items() if rank <= 3} for each in places]
    assert case.shared == len(firsts[0] & firsts[1])


def test_a_query_is_shown_whole_and_its_right_answers_with_their_ranks(root):
    text, image = found(root)[0], found(root)[3]
    assert text.fields["page title"] == "The crimson circle of 0"
    assert len(text.fields["context section description"]) > 300
    assert [ranks for _, ranks in text.answers] == [[1, None]]
    assert image.original is not None
    assert image.original.startswith("data:image/webp")
    assert len(image.fields["caption reference description"].splitlines()) == 2
    assert "caption alt text description" not in image.fields


def test_ids_choose_the_queries_in_their_order(root):
    every = found(root, queries=["t03", "i05", "t01"])
    assert [(case.name, case.why) for case in every] == [
        ("t2m-01", "as asked for"),
        ("t2m-02", "as asked for"),
        ("m2t-01", "as asked for"),
    ]
    assert every[0].fields["page title"].endswith("of 3")


def test_an_id_that_is_no_judged_query_is_refused(root):
    with pytest.raises(UnknownId, match="'t99'"):
        found(root, queries=["t01", "t99"])


def test_a_single_system_is_shown_alone(root):
    every = found(root, systems=["rrf"])
    assert all(len(case.sides) == 1 for case in every)
    assert {case.why for case in every} == {"at random"}


def test_systems_without_runs_are_refused(root):
    with pytest.raises(MissingFile, match="no run of this system"):
        found(root, systems=["none", "such"])


ranks = st.one_of(st.none(), st.integers(1, 1000))


@given(st.lists(st.tuples(ranks, ranks), min_size=1, max_size=30), st.integers(0, 5), st.integers())
def test_no_query_is_chosen_twice_and_reasons_are_true(pairs, n, seed):
    rows = [(f"q{i:02}", "d", one, two) for i, (one, two) in enumerate(pairs)]
    schema = {"query_id": pl.String, "doc_id": pl.String, "rank": pl.Int32, "other_rank": pl.Int32}
    table = pl.DataFrame(rows, schema=schema, orient="row")
    studies = ASKED._replace(queries=n, seed=seed)
    chosen = choose(table, studies)
    gain = {q: (1 / a if a else 0) - (1 / b if b else 0) for q, _, a, b in rows}
    assert len(chosen) <= 3 * n
    for why, sign in (("largest gain", 1), ("largest loss", -1)):
        shown = [sign * gain[q] for q, w in chosen.items() if w == why]
        others = [sign * g for g in gain.values() if sign * g > 0]
        assert shown == pytest.approx(sorted(others, reverse=True)[:n])
    drawn = sum(w == "at random" for w in chosen.values())
    assert drawn == min(n, len(pairs) - (len(chosen) - drawn))
    assert choose(table.sample(fraction=1, shuffle=True), studies) == chosen
