"""What suggestions add to a plan, and what code their jobs have."""

from pathlib import Path

import pytest

from isotope.core import provenance
from isotope.core.errors import BadParams
from isotope.params import files
from isotope.params.resolve import resolve
from isotope.plan.paths import of_collection
from isotope.plan.plan import Plan
from isotope_suggest.params import Suggest

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="module")
def plan() -> Plan:
    return Plan(files.load(root=ROOT), {})


def test_the_demo_gets_suggestions_and_their_page(plan):
    added = plan.extensions["suggest"]
    assert [*added.pages("toy")] == ["suggest"]
    assert "results/suggest/toy/feed.parquet" in added.ends("toy")
    assert plan.report.further("toy")["suggest"].heading == "Suggestions"


def test_without_the_section_no_collection_gets_any():
    params = files.load(root=ROOT)
    added = Plan(params.model_copy(update={"suggest": None}), {}).extensions["suggest"]
    assert (added.pages("toy"), added.ends("toy")) == ({}, ())


def test_words_are_prepared_as_the_system_of_words_prepares_them(plan):
    words = plan.extensions["suggest"].words(of_collection("toy"))
    assert words["prepare"] == plan.systems.on("bm25", "toy").spec()["prepare"]


def test_a_system_that_is_not_searched_gives_no_candidates():
    plain = files.load(root=ROOT).spec()
    with pytest.raises(BadParams, match=r"params suggest\.bm25"):
        resolve({**plain, "suggest": {"bm25": "tiny-clip"}})


def test_the_first_system_of_words_and_the_reports_own_of_vectors_give_candidates(plan):
    asked = plan.params.section("suggest", Suggest)
    assert asked is not None
    systems = [asked.candidate(plan.params, kind) for kind in ("bm25", "dense")]
    assert systems == ["bm25", "tiny-clip"]


def test_a_job_has_the_queries_and_templates_of_its_plug_in():
    """A name that another module binds to a folder, and a page that a function writes."""
    folder = "isotope_suggest/sql/pages"
    relations = provenance.closure("isotope_suggest.relations:write_relations")
    queries = [file for file in relations if file.startswith("isotope_suggest/sql/")]
    assert queries == [f"{folder}/{n}.sql" for n in ("10_pages", "20_titles", "30_linked")]
    page = provenance.closure("isotope_suggest.measure.suggestions_page:write_page")
    assert {"isotope_suggest/templates/suggest.html.j2", "templates/base.html.j2"} <= {*page}
    assert "isotope_suggest/ask/app.py" not in page


def test_no_job_of_the_core_has_code_of_a_plug_in():
    closure = provenance.closure("report.collection:write_report", "tabulate.exhibits")
    assert not [file for file in closure if file.startswith("isotope_")]
