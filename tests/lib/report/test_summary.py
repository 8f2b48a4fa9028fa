"""What a run prints at its end, from tables whose counts are known."""

import re

import pytest
from tests import report_project

from isotope.collect.tables import FILTERS
from isotope.core import store
from isotope.crawl.tables import LEDGER
from isotope.project.tables import PROJECTION
from isotope.report.account import CATALOG, SITE, summary

LOST = {"not_found": 9, "too_large": 7, "not_an_image": 7, "timeout": 3, "tls": 2, "refused": 1}


@pytest.fixture
def root(tmp_path):
    """A collection of a dozen pairs, a crawl that lost some pictures, two systems on two pools."""
    report_project.lay_collection(tmp_path)
    report_project.lay_runs(tmp_path)
    statuses = [*(s for s, n in LOST.items() for _ in range(n)), *["success"] * 1_971]
    ledger = [
        {"image_url": str(n), "status": s, "attempts": 1, "fetched_at": report_project.FETCHED}
        for n, s in enumerate(statuses)
    ]
    store.write_rows(ledger, tmp_path / "data/crawl/src/ledger.parquet", LEDGER)
    found = [
        {"source_text_id": f"s{n}", "text_id": f"t{n}" if n else None, "method": "bm25"}
        for n in range(3)
    ]
    store.write_rows(found, tmp_path / "data/project/src/projection.parquet", PROJECTION)
    return tmp_path


def test_a_whole_run_has_what_was_built_what_was_dropped_and_where_to_look(root):
    (root / SITE).parent.mkdir(parents=True)
    (root / SITE).touch()
    assert (
        summary([CATALOG], root)
        == """\
Built:
  toy  12 texts, 12 images, 11 judgements; 2 systems on 2 pools
Dropped:
  pictures of src  29 of 2,000 (not found: 9, not an image: 7, too large: 7, timeout: 3, \
other reasons: 3)
  pairs of toy     9 of 27 (in several splits: 3, picture lost: 3, same as another: 3)
  texts of src     1 of 3 (no section found: 1)
Look at:
  results/report/index.html   the report, in a browser
  isotope report              the main scores
  isotope sql "FROM filters"  any of the tables; docs/queries.md
"""
    )


@pytest.mark.parametrize(
    ("made", "line"),
    [
        ("data/crawl/src/ledger.parquet", r"Dropped:\n  pictures of src  29 of 2,000 \(.*\)\n"),
        ("data/project/src/projection.parquet", r"Dropped:\n  texts of src  1 of 3 \(.*\)\n"),
        ("data/collect/toy/qrels.parquet", r"Built:\n  toy  12 texts.*; 2 systems on 2 pools\n"),
        ("results/search/toy/small/test/t2m/bm25.parquet", r"Built:\n  toy  12 texts.*\n"),
        ("data/acquire/src/manifest.json", ""),
    ],
)
def test_a_run_of_one_phase_has_that_phase(root, made, line):
    assert re.fullmatch(line, summary([made], root))


def test_a_collection_that_this_run_did_not_make_is_left_out(root):
    collect = root / "data/collect/other"
    collect.mkdir()
    for path in (root / "data/collect/toy").iterdir():
        (collect / path.name).write_bytes(path.read_bytes())
    assert "other" not in summary(["data/collect/toy/qrels.parquet"], root)
    assert "  other  12 texts, 12 images, 11 judgements; no runs\n" in summary([CATALOG], root)


def test_filters_of_rows_of_their_own_add_up(root):
    steps = [("queries", 10, 8), ("entities", 100, 99)]
    rows = [
        {"step": s, "split": "test", "before": b, "dropped": b - a, "after": a} for s, b, a in steps
    ]
    store.write_rows(rows, root / "data/collect/toy/filters.parquet", FILTERS)
    told = summary(["data/collect/toy/filters.parquet"], root)
    assert told == "Dropped:\n  rows of toy  3 of 110 (queries: 2, entities: 1)\n"


def test_where_nothing_was_lost_nothing_is_said(root):
    row = {"step": "alive", "split": "test", "before": 9, "dropped": 0, "after": 9}
    store.write_rows([row], root / "data/collect/toy/filters.parquet", FILTERS)
    assert "Dropped" not in summary(["data/collect/toy/filters.parquet"], root)


def test_of_many_collections_the_first_are_named_and_the_others_counted(root):
    for number in range(20):
        collect = root / f"data/collect/c{number:02}"
        collect.mkdir()
        for path in (root / "data/collect/toy").iterdir():
            (collect / path.name).write_bytes(path.read_bytes())
    lines = summary([CATALOG], root).splitlines()
    assert lines[8:10] == [
        "  c07  12 texts, 12 images, 11 judgements; no runs",
        "  …    and 13 more collections",
    ]
    assert sum(line.startswith("  pairs of ") for line in lines) == 7


def test_an_empty_project_has_no_summary(tmp_path):
    assert not summary([CATALOG.replace("results/", "data/")], tmp_path)
