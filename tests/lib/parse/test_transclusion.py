"""What a wiki's templates show is read from their pages."""

import pickle
from html import unescape

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from isotope.core.errors import MissingFile
from isotope.parse.site import Site
from isotope.parse.transclusion.known import Templates
from isotope.parse.transclusion.pages import TemplatePage, included, template_data, template_title
from isotope.parse.transclusion.reading import read_templates
from isotope.parse.transclusion.tree import Argument, Call, Link, ParameterNode, parse, written

ENGLISH = Site.from_siteinfo(
    "https://en.wikipedia.org/wiki/", "en", {10: "Template", 828: "Module"}, "enwiki"
)


def page(title, text="", redirect=""):
    return TemplatePage(10, title, redirect, text)


def rows(*pages, site=ENGLISH):
    return {row["template"]: row for row in read_templates(pages, site).to_pylist()}


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("{{{1}}}", ParameterNode(("1",))),
        ("{{{1|}}}", ParameterNode(("1",), ())),
        ("{{{a|{{{b|c=d}}}|e}}}", ParameterNode(("a",), (ParameterNode(("b",), ("c=d",)),))),
        (
            "{{a|b=c=d|{{{1}}}}}",
            Call(("a",), (Argument(("b",), ("c=d",)), Argument(None, (ParameterNode(("1",)),)))),
        ),
        ("{{a|[[b|c]]}}", Call(("a",), (Argument(None, (Link((("b",), ("c",))),)),))),
        ("{{{{{1}}}|x}}", Call((ParameterNode(("1",)),), (Argument(None, ("x",)),))),
    ],
)
def test_braces_are_matched_as_mediawiki_matches_them(text, tree):
    assert parse(text) == (tree,)


@pytest.mark.parametrize("text", ["{{a", "a}}", "[[a|{{b}}", "{{a|[[b}}", "}}{{", "{|\n|}", "{{{"])
def test_what_stays_open_is_text(text):
    assert unescape(written(parse(text))) == text


@given(st.text(alphabet="{}[]|=a1# \n", max_size=80))
def test_a_tree_is_written_as_it_was_read(text):
    text = written(parse(text))
    assert written(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("a<noinclude>b</noinclude>c", "ac"),
        ("a<noinclude>never closed", "a"),
        ("a<includeonly>b</includeonly>", "ab"),
        ("a<onlyinclude>b</onlyinclude>c<onlyinclude>d</onlyinclude>", "bd"),
        ("a<!-- <noinclude> -->b", "ab"),
        ("<nowiki><noinclude></nowiki>a", "<nowiki><noinclude></nowiki>a"),
        ("{{{a|<noinclude>no</noinclude>}}}", "{{{a|}}}"),
    ],
)
def test_what_is_not_included_leaves_nothing(text, left):
    assert included(text) == left


def test_template_data_tells_aliases_and_files():
    text = """<templatedata>{"params": {"foto": {"aliases": ["image", 3], "type": "wiki-file-name"},
    "1": {"type": "string"}, "bad": []}}</templatedata>"""
    data = template_data(text)
    assert data is not None
    assert (data.aliases, data.files) == ({"foto": ["image"]}, ["foto"])


@pytest.mark.parametrize("text", ["", "<templatedata>{</templatedata>", "<templatedata>[]"])
def test_template_data_that_is_no_json_is_none(text):
    assert template_data(text) is None


def test_a_redirect_has_the_template_that_it_leads_to_in_the_end():
    known = rows(page("A", redirect="B"), page("B", redirect="C"), page("C", "{{{1}}}"))
    assert [known[title]["redirect_to"] for title in "ABC"] == ["C", "C", ""]


def test_a_circle_of_redirects_leads_nowhere():
    known = rows(page("A", redirect="B"), page("B", redirect="A"))
    assert known["A"]["known_by"] == "unknown: a redirect to no template, B"


def test_a_table_is_carried_as_its_path_and_read_again_when_it_was_written_again(tmp_path):
    path = tmp_path / "templates.parquet"
    pq.write_table(read_templates([page("A", "x"), page("B", redirect="A")], ENGLISH), path)
    templates = pickle.loads(pickle.dumps(Templates.load(path, "enwiki")))
    assert {title: one.shows for title, one in templates.by_title.items()} == {"A": "x", "B": "x"}
    pq.write_table(read_templates([page("A", "other")], ENGLISH), path)
    assert Templates.load(path, "enwiki").by_title["A"].shows == "other"


def test_a_table_that_is_not_there_is_named(tmp_path):
    with pytest.raises(MissingFile, match=r"none\.parquet"):
        Templates.load(tmp_path / "none.parquet", "enwiki")


def test_without_a_table_no_template_is_known():
    assert not Templates().by_title


@pytest.mark.parametrize(
    ("name", "title"), [(" circa ", "Circa"), ("élan_b", "Élan b"), ("ß", "ß"), ("", "")]
)
def test_the_name_in_a_call_stands_for_a_title(name, title):
    assert template_title(name) == title
