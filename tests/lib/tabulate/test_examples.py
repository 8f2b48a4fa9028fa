"""Every documented query answers, with two collections built, what a count by hand gives."""

import duckdb
import pytest
from tests import doc_project
from tests.doc_answers import Tables, answers, differences, examples

from isotope.cli import commands
from isotope.tabulate import catalog

EXAMPLES, ANSWERS = examples(), answers()


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """Two collections with some rows in every table, and their catalog."""
    place = doc_project.lay(tmp_path_factory.mktemp("two"))
    catalog.build(place / "results/catalog.duckdb", place)
    return place


def test_every_example_has_its_answer():
    assert set(EXAMPLES) == set(ANSWERS)


@pytest.mark.parametrize("question", ANSWERS)
def test_an_example_answers_what_a_count_by_hand_gives(root, monkeypatch, question):
    monkeypatch.chdir(root)
    with duckdb.connect("results/catalog.duckdb", read_only=True) as con:
        shown = con.sql(EXAMPLES[question]).fetchall()
    assert shown, "no row: nothing is shown"
    assert differences(shown, ANSWERS[question](Tables(root))) == []


def test_a_query_that_averages_over_collections_is_noticed(root, monkeypatch):
    """The tutorial's query as it was on 155c517."""
    monkeypatch.chdir(root)
    old = EXAMPLES["docs/quickstart.md, 1"].replace("collection = 'toy' AND", "")
    with duckdb.connect("results/catalog.duckdb", read_only=True) as con:
        shown = con.sql(old).fetchall()
    assert differences(shown, ANSWERS["docs/quickstart.md, 1"](Tables(root)))


def test_the_command_prints_what_the_query_answers(root, monkeypatch, capsys):
    monkeypatch.chdir(root)
    assert commands.main(["sql", "--format", "csv", EXAMPLES["docs/cli.md, 1"]]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head == "collection,split,texts"
    counted = ANSWERS["docs/cli.md, 1"](Tables(root))
    assert lines == [",".join(map(str, row)) for row in counted]
