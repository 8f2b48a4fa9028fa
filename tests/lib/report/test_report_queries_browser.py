"""The page of two systems, query by query, in a real Chromium: its order, filters and keys."""

from pathlib import Path

import pytest
from tests.report_project import QUERIES, cell

from isotope.report.content import ShownItem, TextPiece
from isotope.report.queries import ComparedQuery, Comparison, ListedHit, Means
from isotope.report.site import write_page
from isotope.tabulate.strata import USUAL

SHOWN = "[...document.querySelectorAll('.queries > li')].filter(q => q.offsetHeight).map(q => q.id)"
FOCUS = "document.activeElement.closest('li')?.id"
WIDE = "document.documentElement.scrollWidth <= innerWidth"


@pytest.fixture
def opened(report_site, chromium):
    def page(width: int = 1280, place: str = ""):
        return chromium.open((report_site / "toy/queries.html").as_uri() + place, width=width)

    yield page
    assert chromium.faults == []
    assert [r for r in chromium.requests if not r.startswith(("file:", "data:"))] == []


@pytest.fixture(scope="module")
def many(tmp_path_factory) -> Path:
    """A page of 45 queries with graded answers, without pictures."""
    text = ShownItem("text", "A very_long_name_" * 8, "", "")
    untitled = ShownItem("text", "", "A caption of a picture", "https://example.org/")
    hit = ListedHit((1, None), 3, text, None, [TextPiece("long" * 40, "right")], ["long"] * 9, 2.0)
    queries = [
        ComparedQuery(
            d, (d > 0) - (d < 0), (d, 0), (1, 7), untitled, None, [], [hit], 2, ([hit], [])
        )
        for d in (n / 22 for n in range(22, -23, -1))
    ]
    counts = {1: 22, 0: 100, -1: 22}
    means = Means((0.5, 0.5), (-0.1, 0.1), 0.0001)
    one = Comparison("t2m", counts, {1: 22, 0: 1, -1: 22}, means, True, queries)
    out = tmp_path_factory.mktemp("many") / "queries.html"
    about = cell(out.parent)
    context = {"scope": about, "pool": about, "compared": [one], "pictures": [], "pair": QUERIES}
    write_page("queries", out, up="", level=USUAL.level, **context)
    return out


@pytest.mark.parametrize("width", [1280, 390])
def test_the_reader_turns_the_order_filters_and_changes_the_task(opened, width):
    page = opened(width)
    every = [f"t2m-{n}" for n in range(1, 9)]
    assert page.evaluate(SHOWN) == every
    assert page.locator("details[open]").count() == 2
    page.select_option("[name=order]", "loss")
    assert page.evaluate(SHOWN) == every[::-1]
    page.select_option("[name=outcome]", "gain")
    assert page.evaluate(SHOWN) == every[3::-1]
    page.fill("[name=words]", "TEAL")
    assert page.evaluate(SHOWN) == ["t2m-2"]
    assert page.inner_text("[role=status]") == "1 of 8 queries, 1 shown"
    page.fill("[name=words]", "")
    page.select_option("[name=task]", "m2t")
    assert page.evaluate(SHOWN) == [f"m2t-{n}" for n in (4, 3, 2, 1)]
    for summary in page.locator("summary:visible").all():
        if summary.evaluate("s => !s.parentElement.open"):
            summary.click()
    assert page.evaluate(WIDE)


def test_keys_go_through_queries_and_along_the_bars(opened):
    page = opened()
    for key, place in (("j", 1), ("j", 2), ("j", 3), ("k", 2)):
        page.keyboard.press(key)
        assert page.evaluate(FOCUS) == f"t2m-{place}"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.parentElement.open")
    page.focus("[name=words]")
    page.keyboard.type("jk")
    assert page.input_value("[name=words]") == "jk"
    page.fill("[name=words]", "")
    page.focus("#t2m .bars a")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("End")
    assert page.locator("#t2m .bars a[tabindex='0']").count() == 1
    page.keyboard.press("Enter")
    assert page.evaluate(FOCUS) == "t2m-8"
    assert page.evaluate("document.activeElement.parentElement.open")


def test_a_bar_and_an_address_lead_to_a_query_whatever_is_filtered(opened):
    page = opened(place="#m2t-3")
    assert page.evaluate(FOCUS) == "m2t-3"
    page.select_option("[name=outcome]", "gain")
    page.click("#m2t .bars a:nth-child(8)", position={"x": 5, "y": 100})
    assert page.evaluate(FOCUS) == "m2t-8"
    assert page.evaluate("location.hash") == "#m2t-8"
    assert page.input_value("[name=outcome]") == ""


def test_twenty_queries_are_laid_out_and_more_if_asked(many, chromium):
    page = chromium.open(many.as_uri(), width=390)
    assert page.evaluate(SHOWN) == [f"t2m-{n}" for n in range(1, 21)]
    assert page.inner_text(".further") == "Show 20 more of 25"
    page.click(".further")
    assert len(page.evaluate(SHOWN)) == 40
    assert page.evaluate(FOCUS) == "t2m-21"
    page.click(".further")
    assert len(page.evaluate(SHOWN)) == 45
    assert not page.is_visible(".further")
    page.select_option("[name=order]", "loss")
    assert page.evaluate(SHOWN) == [f"t2m-{n}" for n in range(45, 25, -1)]
    page.goto(many.as_uri() + "#t2m-44")
    page.reload()
    assert page.evaluate(FOCUS) == "t2m-44"
    assert "✓ grade 3" in page.inner_text("#t2m-44")
    assert "and 3 more" in page.inner_text("#t2m-44")
    assert page.evaluate(WIDE)
    assert page.inner_text("#t2m-44 h3") == page.inner_text("#t2m-44 h4 a")
    assert "99 equal ones are left out" in page.inner_text("#t2m header")
    assert chromium.faults == []


def test_the_page_is_whole_without_scripts(report_site, chromium):
    html = (report_site / "toy/queries.html").read_text()
    page = chromium.open("about:blank", width=390)
    page.set_content(html[: html.index("<script>")])
    assert len(page.evaluate(SHOWN)) == 16
    assert not page.is_visible(".controls")
    page.click("#m2t-8 summary")
    assert page.is_visible("#m2t-8 .side >> nth=1")
    assert chromium.faults == []
