"""What two systems find alike, counted by hand."""

import polars as pl
import pytest

from isotope.core import sql
from isotope.core.runs import write_run
from isotope.tabulate import runs as answered
from isotope.tabulate import table

ANSWERS = {
    "a": {"q1": "vwx", "q2": "vw", "q3": "z"},
    "b": {"q1": "wxy", "q2": "uvw"},
    "c": {"q1": "nop", "q2": "nop", "q3": "nop"},
}


def run(path, answers):
    rows = [(q, doc, -float(n)) for q, docs in answers.items() for n, doc in enumerate(docs)]
    write_run(pl.DataFrame(rows, schema=["query_id", "doc_id", "score"], orient="row"), path)
    return path


@pytest.fixture
def overlaps(tmp_path):
    def of(depth):
        runs = [run(tmp_path / f"large/test/t2m/{s}.parquet", a) for s, a in ANSWERS.items()]
        answered.tops_table(runs, depth=depth, out=tmp_path / "tops.parquet")
        found = table.rows(
            sql.SQL / "tabulate/tables/overlap.sql", {"tops": tmp_path / "tops.parquet"}, {}
        )
        return {(a, b): (n, share) for _, a, b, n, share in found.iter_rows()}

    return of


def test_the_overlap_is_shared_hits_over_the_longer_list(overlaps):
    assert overlaps(3)["a", "b"] == (3, pytest.approx((2 / 3 + 2 / 3 + 0) / 3, abs=1e-6))


def test_hits_below_the_depth_do_not_count(overlaps):
    assert overlaps(1)["a", "b"] == (3, 0.0)
    assert overlaps(2)["a", "b"] == (3, pytest.approx((1 / 2 + 1 / 2 + 0) / 3, abs=1e-6))


def test_systems_that_share_nothing_are_listed_too_and_each_pair_once(overlaps):
    found = overlaps(3)
    assert found["a", "c"] == (3, 0.0)
    assert set(found) == {("a", "b"), ("a", "c"), ("b", "c")}
