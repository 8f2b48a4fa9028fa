"""Time and memory of a run, from what Snakemake measured."""

import json
import shutil
from pathlib import Path

import pytest
from tests.report_project import lay_records

from isotope.cli import commands
from isotope.core.errors import MissingFile
from isotope.report import account
from isotope.report.content import Scope


@pytest.fixture
def root(tmp_path) -> Path:
    lay_records(tmp_path)
    return tmp_path


def test_a_row_a_job_of_the_collection_and_its_source(root):
    found = account.jobs(["toy", "src"], root)
    assert found.rows() == [
        ("crawl", "crawl_shard", 10.0, 1.0, None),
        ("parse", "parse_dump", 3.5, 2.5, 200.5),
        ("score", "score_runs", 2.0, None, 300.0),
    ]
    assert account.jobs(root=root).height == 4


def test_phases_stand_in_the_order_of_the_road_with_sums_and_peaks(root):
    found = account.by(account.jobs(root=root), "phase")
    assert found.rows() == [
        ("parse", 1, 3.5, 2.5, 200.0),
        ("crawl", 1, 10.0, 1.0, None),
        ("score", 2, 101.0, 9.0, 900.0),
    ]


def test_the_command_prints_a_line_a_phase_and_their_sum(root):
    lines = account.text(["toy"], root).splitlines()
    assert [line.split()[0] for line in lines] == ["phase", "score", "all"]
    assert lines[-1].split()[1:3] == ["1", "2.0"]


def test_isotope_costs_prints_it(root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    assert commands.main(["costs", "src"]) == 0
    assert [x.split()[0] for x in capsys.readouterr().out.splitlines()] == [
        "phase",
        "parse",
        "crawl",
        "all",
    ]


def test_where_no_job_was_measured_the_command_says_so(tmp_path):
    with pytest.raises(MissingFile, match="no job was measured"):
        account.text(root=tmp_path)


def test_the_page_has_phases_rules_and_the_day_of_the_crawl(report_site):
    text = (report_site / "toy/costs.html").read_text()
    assert '<th scope="row" class="key">dump</th>' in text
    assert '<th scope="row" class="key">crawl</th>' in text
    assert "another" not in text
    assert "2023-02-03 (UTC)" in text


def lay_reranked(root: Path) -> None:
    """Two parts of one system, a system all of whose pairs had a score, and another collection."""
    rows = [
        ("toy.again.00000-of-00002", "toy", "again", 4, 40, 10, 2.0),
        ("toy.again.00001-of-00002", "toy", "again", 6, 60, 15, 3.0),
        ("toy.bare", "toy", "bare", 10, 100, 0, 0.01),
        ("later.again", "later", "again", 1, 10, 10, 7.0),
    ]
    names = ("collection", "system", "queries", "pairs", "scored", "seconds")
    for file, *values in rows:
        path = root / "logs/rerank" / f"{file}.json"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(dict(zip(names, values, strict=True))))


def test_rerankers_are_counted_over_their_parts(root):
    lay_reranked(root)
    found = account.reranked(["toy"], root)
    # 25 of 100 pairs in 5 s: 0.2 s a pair, of which a query has ten.
    assert found.rows() == [
        ("toy", "again", 10, 100, 75, 25, 5.0, 2.0),
        ("toy", "bare", 10, 100, 100, 0, 0.0, None),
    ]
    assert account.reranked(root=root)["collection"].to_list() == ["later", "toy", "toy"]


def test_isotope_costs_prints_rerankers_below_the_phases(root):
    lay_reranked(root)
    above, below = account.text(["toy"], root).split("\n\n")
    assert above.splitlines()[-1].startswith("all")
    assert [line.split()[:2] for line in below.splitlines()][1:] == [
        ["toy", "again"],
        ["toy", "bare"],
    ]


def test_the_page_shows_rerankers_where_there_are_some(root):
    lay_reranked(root)
    scope = Scope(root, "toy", ["src"], "small", "validation", "bm25")
    account.build(scope, [], root / "costs.html")
    text = (root / "costs.html").read_text()
    assert 'id="reranked"' in text
    assert '<th scope="row" class="key">again</th>' in text
    shutil.rmtree(root / "logs/rerank")
    account.build(scope, [], root / "costs.html")
    assert 'id="reranked"' not in (root / "costs.html").read_text()
