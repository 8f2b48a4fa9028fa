"""Wikis of our own, in fourteen languages, are read as their readers see them."""

import pytest
from tests.wikis import Page, Wiki, names, roads, wiki

from isotope.parse.site import Site

ARTICLES = [
    pytest.param(wiki(name), page, id=f"{name}-{page.title}")
    for name in names()
    for page in wiki(name).articles
]


@pytest.mark.parametrize("name", names())
def test_parsoid_was_given_the_pages_as_they_are(name):
    own = wiki(name)
    stale = [page.title for page in own.articles if own.digest not in _html(own, page)]
    assert not stale, "run `python -m tests.wikis.render MEDIAWIKI`"


def _html(of: Wiki, page: Page) -> str:
    return of.html_path(page.title).read_text("utf-8")


@pytest.mark.parametrize(("of", "page"), ARTICLES)
def test_html_is_read_as_a_reader_of_the_wiki_sees_it(of, page):
    seen = roads.by_html(of, page.title)
    assert seen.words == roads.words(page.text)
    assert seen.pictures == list(page.pictures)


@pytest.fixture(scope="module")
def sites(tmp_path_factory) -> dict[str, Site]:
    """Each wiki's site with what its templates show."""
    folder = tmp_path_factory.mktemp("templates")
    return {name: roads.with_templates(wiki(name), folder) for name in names()}


@pytest.mark.parametrize(("of", "page"), ARTICLES)
def test_wikitext_is_read_as_a_reader_of_the_wiki_sees_it(of, page, sites):
    """Words that only a run of Lua could tell are lost, and no others; HTML has them all."""
    seen = roads.by_wikitext(of, page.title, sites[of.name])
    kept = roads.words(page.text)
    for word in page.lost:
        kept.remove(word)
    assert seen.words == kept
    assert seen.pictures == list(page.pictures)
