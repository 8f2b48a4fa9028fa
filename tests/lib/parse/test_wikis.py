"""Wikis of our own, in fourteen languages, are read as their readers see them."""

from collections import Counter

import pytest
from tests.wikis import Page, Wiki, names, roads, wiki

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
    assert Counter(seen.words) == Counter(roads.words(page.text))
    assert sorted(seen.pictures) == sorted(page.pictures)
