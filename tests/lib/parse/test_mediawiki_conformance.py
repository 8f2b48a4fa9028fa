"""Of MediaWiki's own parser tests isotope reads as many as it has ever read, on both roads.

The tests are data in ../shared; where that is absent, everything here is skipped. A count that
rises is written here anew.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

import pytest
from tests import mediawiki
from tests.mediawiki import Case, Seen, Suite

Road = Callable[[Case], Seen]
TRUTH, WIKITEXT, HTML = map(cache, (mediawiki.expected, mediawiki.by_wikitext, mediawiki.by_html))


@pytest.fixture(scope="module")
def suite(shared: Path) -> Suite:
    return mediawiki.read(shared / "conformance/mediawiki")


def agreement(cases: Iterable[Case], ours: Road, theirs: Road) -> tuple[Counter[str], list[str]]:
    """Count the cases on which two readings agree in words, files and captions; name the others.

    Files count where one of the two has any.
    """
    counts, others = Counter[str](), list[str]()
    for case in cases:
        have, want = ours(case), theirs(case)
        same = {"words": have.words == want.words}
        if have.files or want.files:
            same |= {"files": have.names == want.names, "captions": have.captions == want.captions}
        counts.update(what for what, is_same in same.items() if is_same)
        counts.update(f"{what} of" for what in same)
        if not all(same.values()):
            others.append(f"{case.file}: {case.name}")
    return counts, others


def plain(suite: Suite) -> list[Case]:
    return [case for case in suite.cases if case.is_page and not case.has_templates]


@pytest.mark.parametrize(
    ("ours", "theirs", "floors"),
    [
        pytest.param(WIKITEXT, TRUTH, (546, 104, 105), id="wikitext"),
        pytest.param(HTML, TRUTH, (564, 104, 107), id="html"),
        pytest.param(WIKITEXT, HTML, (546, 104, 105), id="both-roads"),
    ],
)
def test_tests_without_templates_are_read_as_mediawiki_shows_them(suite, ours, theirs, floors):
    counts, others = agreement(plain(suite), ours, theirs)
    assert (counts["words of"], counts["files of"]) == (564, 107)
    found = counts["words"], counts["files"], counts["captions"]
    missed = [have < floor for have, floor in zip(found, floors, strict=True)]
    assert not any(missed), f"{found}; read otherwise: {others}"


@pytest.fixture(scope="module")
def with_templates(suite, tmp_path_factory) -> Road:
    """The road of wikitext that knows the suite's own templates."""
    site = mediawiki.site_with_templates(suite, tmp_path_factory.mktemp("templates"))
    return cache(lambda case: mediawiki.by_wikitext(case, site))


@pytest.mark.parametrize(
    ("ours", "theirs", "floors"),
    [
        pytest.param(None, TRUTH, (239, 10, 9), id="wikitext"),
        pytest.param(HTML, TRUTH, (322, 10, 9), id="html"),
        pytest.param(None, HTML, (238, 11, 11), id="both-roads"),
    ],
)
def test_tests_with_templates_are_read_from_the_templates_pages(
    suite, with_templates, ours, theirs, floors
):
    """The templates are those of the suite; errors and messages of MediaWiki are not read."""
    cases = [case for case in suite.cases if case.is_page and case.has_templates]
    counts, others = agreement(cases, ours or with_templates, theirs)
    assert (counts["words of"], counts["files of"]) == (341, 11)
    found = counts["words"], counts["files"], counts["captions"]
    missed = [have < floor for have, floor in zip(found, floors, strict=True)]
    assert not any(missed), f"{found}; read otherwise: {others}"
