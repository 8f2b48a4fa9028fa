"""The site in a real headless Chromium, from file://, on a desk and in a hand."""

from pathlib import Path

import pytest

PLACES = "[...document.querySelectorAll('a[href]')].map(a => a.href)"
BROKEN = "[...document.images].filter(i => !(i.complete && i.naturalWidth > 0)).length"
WIDE = "[document.documentElement.scrollWidth, innerWidth]"
UNNAMED = (
    "[...document.querySelectorAll('svg')]"
    ".filter(s => !s.closest('[role=img][aria-label], [aria-hidden=true]')).length"
)


@pytest.fixture(scope="module")
def site(report_site) -> Path:
    return report_site


def test_every_page_opens_without_an_error_or_a_request_and_fits(site, chromium):
    pages = sorted(site.rglob("*.html"))
    assert len(pages) == 13
    pictures = 0
    for file in pages:
        page = chromium.open(file.as_uri())
        for width in (1280, 390):
            page.set_viewport_size({"width": width, "height": 900})
            needed, given = page.evaluate(WIDE)
            assert needed <= given == width, file
            assert page.evaluate(BROKEN) == 0, file
            assert page.evaluate(UNNAMED) == 0, file
        pictures += page.evaluate("document.images.length")
        within = [p for p in page.evaluate(PLACES) if p.startswith("file:")]
        assert within
        for place in within:
            assert Path(place.removeprefix("file://").partition("#")[0]).is_file(), place
        page.close()
    assert pictures > 50
    assert chromium.faults == []
    assert [r for r in chromium.requests if not r.startswith(("file:", "data:"))] == []


def test_a_reader_goes_from_the_front_page_to_a_case_and_back(site, chromium):
    page = chromium.open((site / "index.html").as_uri())
    page.click("h2 a")
    page.click("nav >> text=Case studies")
    page.click(".case-list a >> nth=0")
    assert "Both ends of both lists" in page.inner_text("main")
    page.click("text=All cases")
    assert page.url.endswith("/toy/cases.html")
    assert chromium.faults == []
