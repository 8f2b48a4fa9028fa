"""The judging pages in a real browser: where `next` leads, what is shown, where its parts stand."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from playwright.sync_api import Page, Route
from tests.accessibility import ALL_SCREENS, faults
from tests.browser import SCROLLING_MOVES_TAB, Browser, until
from workflow.plugins.isotope_judge.tests.test_judge_page import SCALE, counts, picture

from isotope_judge.app import pool_app, scale, sheet_app
from isotope_judge.display import (
    SIDE_PX,
    Items,
    PooledPictures,
    image_fields,
    shuffled,
    text_fields,
)
from isotope_judge.session import PoolSession, SheetSession
from isotope_judge.study import Sheet

PHONES = [(390, 844), (360, 640), (844, 390)]
DESK = (1280, 900)
LABELS = scale(None)
TEN = {grade: f"grade {grade}" for grade in range(10)}
LONG = " ".join(
    f"Sentence {n} tells more of bees and of the plants that they visit." for n in range(60)
)
# Of what could be shown of an element, the pixels that its frame hides: its box, or the window.
HIDDEN_PX = """(node) => {
  const box = document.getElementById("candidates-box");
  const frame = getComputedStyle(box).overflowY === "visible"
    ? { top: 0, bottom: innerHeight } : box.getBoundingClientRect();
  const { top, bottom, height } = node.getBoundingClientRect();
  const shown = Math.min(bottom, frame.bottom) - Math.max(top, frame.top);
  return Math.max(0, Math.round(Math.min(height, frame.bottom - frame.top) - shown));
}"""
# How far the marked candidate's top lies below that of its frame.
TOP_OF_CURRENT = """() => {
  const box = document.getElementById("candidates-box");
  const isBoxed = getComputedStyle(box).overflowY !== "visible";
  const { top } = document.querySelector(".candidate[aria-current=true]").getBoundingClientRect();
  return top - (isBoxed ? box.getBoundingClientRect().top : 0);
}"""
CLASSES = ["object class", "object color", "object enumeration", "action", "size", "details"]
ALTERNATIVE = "successful alternative"
LEAD = {
    "page_title": "Honey bee",
    "section_title": "Introduction",
    "hierarchy": "Introduction",
    "context_section_description": "It is an insect that flies.",
    "context_page_description": "It is an insect that flies. People keep it.",
}
WINGS = {
    "page_title": "Wasp",
    "section_title": "Wings",
    "hierarchy": "Anatomy / Wings",
    "context_section_description": "There are four of them.",
    "context_page_description": "There are four of them.",
}
ROSE = {
    "caption_reference_description": ["Drone on a rose", "Drone on a rose"],
    "caption_alt_text_description": ["drone on a  rose"],
    "caption_attribution_description": "English: Drone on a rose (Spain)",
    "image_url": "http://x/Drone_on_a_rose.jpg",
}
PLACES = Path(__file__).with_name("places.js").read_text("utf-8")
# Everything that a page shows, and what it says beside that.
WORDS = """() => [
  document.body.innerText,
  ...[...document.querySelectorAll("*")].flatMap((e) =>
    ["alt", "title", "aria-label", "aria-description"].map((name) => e.getAttribute(name) ?? "")),
].join("\\n")"""


class Painted(PooledPictures):
    """A picture of the largest size for every id that begins with `i`, a tall one for `it`."""

    def __init__(self) -> None:
        """Read nothing."""
        super().__init__([], ())

    def __contains__(self, image_id: object) -> bool:
        """Tell by the id."""
        return str(image_id).startswith("i")

    def webp(self, image_id: str) -> bytes:
        """Paint it."""
        return picture(SIDE_PX, SIDE_PX * 2 if image_id == "it" else SIDE_PX)


def sit(
    folder: Path,
    assessor: str,
    pooled: Mapping[str, Mapping[str, Sequence[str]]],
    words: Mapping[str, Mapping[str, Mapping[str, str]]] | None = None,
) -> PoolSession:
    """Return a session at a pool: the documents of each query of each task."""
    rows = [(t, q, d) for t, queries in pooled.items() for q, docs in queries.items() for d in docs]
    pool = pl.DataFrame(rows, schema=["task", "query_id", "doc_id"], orient="row")
    items = Items(pool, shuffled(pool, assessor), words or {"texts": {}, "images": {}})
    return PoolSession("toy", assessor, items, Painted(), folder)


def finish(session: PoolSession, *numbers: int) -> None:
    """Grade every candidate of some queries."""
    for number in numbers:
        for pair in session.items.queries[number].pairs:
            session.give(pair, 1, expected=None)


@pytest.fixture
def sessions(tmp_path) -> list[PoolSession]:
    """Two of ann and one of bob, at six queries of two candidates; ann has finished two."""
    pooled = {"t2m": {f"t{n}": ["a", "b"] for n in range(6)}}
    ann, again, bob = (sit(tmp_path, name, pooled) for name in ("ann", "ann", "bob"))
    finish(ann, 1, 2)
    return [ann, again, bob]


def test_next_goes_round_to_queries_with_work_left_and_never_to_a_finished_one(
    sessions, hosted, chromium
):
    ann, again, bob = sessions
    page = chromium.open(hosted(pool_app(ann, SCALE)))
    other = chromium.open(hosted(pool_app(bob, SCALE)))
    button = page.get_by_role("button", name="next with work")
    counts(page, "4 of 12 pairs, query 1 of 6, 2 judged")
    button.click()
    counts(page, "query 4 of 6")
    counts(other, "0 of 12 pairs, query 1 of 6")
    # The grades of another assessor count for nothing here, those of another tab do.
    for key in "11n11":
        other.keyboard.press(key)
    counts(other, "4 of 12 pairs, query 2 of 6, 2 judged")
    finish(again, 4)
    page.keyboard.press("n")
    counts(page, "6 of 12 pairs, query 6 of 6, 3 judged")
    button.click()
    counts(page, "query 1 of 6")
    page.keyboard.press("n")
    counts(page, "query 4 of 6")
    assert chromium.faults == []


def test_next_stays_where_the_only_work_is_and_is_disabled_when_none_is_left(
    sessions, hosted, chromium
):
    ann, again, _ = sessions
    page = chromium.open(f"{hosted(pool_app(ann, SCALE))}#4")
    button = page.get_by_role("button", name="next with work")
    counts(page, "query 4 of 6")
    finish(again, 0, 4, 5)
    for key in "1kn":
        page.keyboard.press(key)
    counts(page, "11 of 12 pairs, query 4 of 6, 5 judged")
    current = page.locator(".candidate[aria-current=true]")
    current.get_by_role("heading", name="Candidate 2 of 2").wait_for()
    assert button.is_enabled()
    page.keyboard.press("1")
    page.locator("#state", has_text="All pairs are graded").wait_for()
    assert button.is_disabled()
    assert chromium.faults == []


def words_of(
    texts: Mapping[str, Mapping[str, Any]], images: Mapping[str, Mapping[str, Any]]
) -> Any:
    return {
        "texts": {ident: text_fields(row) for ident, row in texts.items()},
        "images": {ident: image_fields(row) for ident, row in images.items()},
    }


def test_each_text_is_shown_once(tmp_path, hosted, chromium):
    words = words_of({"t1": LEAD, "t2": WINGS}, {"i1": ROSE})
    ann = sit(tmp_path, "ann", {"t2m": {"t1": ["i1"]}, "m2t": {"i1": ["t2"]}}, words)
    page = chromium.open(hosted(pool_app(ann, LABELS)))
    texts_by_query = {
        1: ("Wasp", "Anatomy", "Wings", "There are four of them"),
        2: ("Honey bee", "Introduction", "It is an insect that flies", "People keep it"),
    }
    for number, texts in texts_by_query.items():
        counts(page, f"query {number} of 2")
        shown = page.evaluate(WORDS)
        once = [*texts, "Drone on a rose", *LABELS.values(), "judges toy", "Candidate 1 of 1"]
        assert {text: shown.lower().count(text.lower()) for text in once} == dict.fromkeys(once, 1)
        page.keyboard.press("l")


def long_query(folder: Path) -> PoolSession:
    """Return a session at a long query and a short one."""
    words = words_of({"t1": {**LEAD, "context_section_description": LONG}, "t2": LEAD}, {})
    return sit(folder, "ann", {"t2m": {"t1": ["i1", "i2"], "t2": ["i1", "i2"]}}, words)


def test_tab_goes_through_the_page_from_its_top_in_every_version_of_a_browser(
    tmp_path, hosted, chromium
):
    chromium.context.add_init_script(SCROLLING_MOVES_TAB)
    page = chromium.open(hosted(pool_app(long_query(tmp_path), SCALE)), width=390, height=844)
    counts(page, "query 1 of 2")
    page.get_by_text("more below").wait_for()
    page.keyboard.press("j")
    page.locator(".candidate").nth(1).and_(page.locator("[aria-current=true]")).wait_for()
    stops: list[str] = []
    for _ in range(3):
        page.keyboard.press("Tab")
        stops.append(
            page.evaluate(
                "(b => b.getAttribute('aria-label') ?? b.textContent)(document.activeElement)"
            )
        )
    assert stops == ["Help", "Query", "0 no"]


@pytest.mark.parametrize("size", [*PHONES, DESK, (390, 320)])
def test_a_key_brings_the_whole_candidate_into_sight(tmp_path, hosted, chromium, size):
    ann = sit(tmp_path, "ann", {"t2m": {"t": [f"i{n}" for n in range(6)]}})
    page = chromium.open(hosted(pool_app(ann, SCALE)), width=size[0], height=size[1])
    counts(page, "0 of 6 pairs")
    page.evaluate("() => Promise.all([...document.images].map((image) => image.decode()))")
    for key in "jjjjkkk":
        page.keyboard.press(key)
        assert page.locator(".candidate[aria-current=true]").evaluate(HIDDEN_PX) <= 1, (size, key)


RESUMED = {"t2m": {"t1": ["i0", "i1", "i2", "i3", "i4", "i5"]}, "m2t": {"i1": [*"abcdef"]}}


def resumed(folder: Path, task: str) -> PoolSession:
    """Return a session at one query of six candidates, of which three are graded."""
    words = words_of(dict.fromkeys(["t1", *"abcdef"], WINGS), dict.fromkeys(("i1", "i2"), ROSE))
    session = sit(folder, "ann", {task: RESUMED[task]}, words)
    for pair in session.items.queries[0].pairs[:3]:
        session.give(pair, 1, expected=None)
    return session


def without_pictures(
    chromium: Browser, address: str, size: tuple[int, int]
) -> tuple[Page, list[Route]]:
    """Return a page, and the requests of its pictures, which wait to be continued."""
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    chromium.context.route("**/picture/**", hold)
    page = chromium.open("about:blank", width=size[0], height=size[1])
    page.goto(address, wait_until="commit")
    return page, held


@pytest.mark.parametrize("size", [(390, 844), DESK, (390, 320)])
@pytest.mark.parametrize("task", RESUMED)
def test_who_resumes_sees_the_first_candidate_without_a_grade(
    tmp_path, hosted, chromium, task, size
):
    address = hosted(pool_app(resumed(tmp_path, task), LABELS))
    page, held = without_pictures(chromium, address, size)
    current = page.locator(".candidate[aria-current=true]")
    current.get_by_role("heading", name="Candidate 4 of 6").wait_for()
    # Pictures come when the candidate has been brought into view, and move what is around them.
    for route in held:
        route.continue_()
    page.evaluate("() => Promise.all([...document.images].map((image) => image.decode()))")
    until(page, f"({HIDDEN_PX})(document.querySelector('.candidate[aria-current=true]')) <= 1")
    assert page.evaluate(TOP_OF_CURRENT) >= -1


def test_pictures_that_come_late_leave_an_assessor_where_she_has_scrolled(
    tmp_path, hosted, chromium
):
    address = hosted(pool_app(resumed(tmp_path, "m2t"), LABELS))
    page, held = without_pictures(chromium, address, (390, 844))
    counts(page, "3 of 6 pairs")
    box = page.locator("#candidates-box")
    until(page, "document.getElementById('candidates-box').scrollTop > 0")
    box.evaluate("b => b.scrollTo(0, 7)")
    for route in held:
        route.continue_()
    page.evaluate("() => Promise.all([...document.images].map((image) => image.decode()))")
    page.evaluate(
        "() => new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)))"
    )
    assert box.evaluate("b => b.scrollTop") == 7


@pytest.mark.parametrize("task", ["t2m", "m2t"])
def test_text_beneath_the_grades_says_so_until_its_end(tmp_path, hosted, chromium, task):
    long = {**LEAD, "context_section_description": LONG}
    captioned = {**ROSE, "caption_reference_description": [LONG]}
    words = words_of({"t1": long, "t2": WINGS}, {"i1": captioned, "i2": ROSE})
    pooled = {"t2m": {"t2": ["i1"]}, "m2t": {"i2": ["t1"]}}
    ann = sit(tmp_path, "ann", {task: pooled[task]}, words)
    page = chromium.open(hosted(pool_app(ann, LABELS)), width=390, height=844)
    counts(page, "0 of 1 pairs")
    cue = """getComputedStyle(document.querySelector(".grades"), "::before").content"""
    until(page, f"{cue}.includes('more below')")
    # A picture that arrives late moves the end, so each look scrolls to it again.
    end = "(b => b.scrollTo(0, b.scrollHeight))(document.querySelector('#candidates-box'))"
    until(page, f"({end}, {cue} === 'none')")


@pytest.mark.parametrize(("width", "height"), [(390, 844), DESK])
def test_a_long_query_scrolls_in_its_own_box_and_says_so_until_its_end(
    tmp_path, hosted, chromium, width, height
):
    address = hosted(pool_app(long_query(tmp_path), SCALE))
    page = chromium.open(address, width=width, height=height)
    counts(page, "query 1 of 2")
    box, cue = page.get_by_role("region", name="Query"), page.get_by_text("more below")
    cue.wait_for()
    assert page.evaluate("document.documentElement.scrollHeight") <= height
    # The second stop, after Help.
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    outline = "b => b === document.activeElement && getComputedStyle(b).outlineStyle"
    assert box.evaluate(outline) == "solid"
    page.keyboard.press("ArrowDown")
    box.evaluate("b => b.scrollTop || new Promise((go) => (b.onscroll = () => go()))")
    assert page.locator(".candidate").first.get_attribute("aria-current") == "true"
    assert cue.is_visible()
    page.keyboard.press("End")
    cue.wait_for(state="hidden")
    assert box.evaluate("b => b.scrollTop + b.clientHeight >= b.scrollHeight - 1")


def test_a_short_query_asks_for_no_scroll_and_each_query_begins_at_its_top(
    tmp_path, hosted, chromium
):
    page = chromium.open(hosted(pool_app(long_query(tmp_path), SCALE)))
    box, cue = page.get_by_role("region", name="Query"), page.get_by_text("more below")
    cue.wait_for()
    box.evaluate("b => b.scrollTo(0, b.scrollHeight)")
    cue.wait_for(state="hidden")
    page.keyboard.press("l")
    counts(page, "query 2 of 2")
    cue.wait_for(state="hidden")
    assert box.evaluate("b => [b.tabIndex, b.scrollHeight - b.clientHeight]") == [-1, 0]
    page.keyboard.press("h")
    cue.wait_for()
    assert box.evaluate("b => b.scrollTop") == 0


def misplaced(page: Page, buttons: str, pictures: str) -> list[str]:
    """Return what is wrong with a page's places when its pictures have loaded."""
    page.evaluate("() => Promise.all([...document.images].map((image) => image.decode()))")
    return page.evaluate(PLACES, [buttons, pictures])


@pytest.mark.parametrize(
    "labels",
    [pytest.param(LABELS, id="four"), pytest.param(TEN, id="ten", marks=pytest.mark.long)],
)
def test_on_a_telephone_a_picture_leaves_room_for_all_buttons(tmp_path, hosted, chromium, labels):
    long = {**LEAD, "context_section_description": LONG}
    captioned = {**ROSE, "caption_reference_description": [LONG]}
    words = words_of({"t1": long, "t2": long}, dict.fromkeys(("i1", "i2", "it"), captioned))
    pooled = {"t2m": {"t1": ["i1", "it", "i2"]}, "m2t": {"it": ["t1", "t2"]}}
    page = chromium.open(hosted(pool_app(sit(tmp_path, "ann", pooled, words), labels)))
    current = ".candidate[aria-current=true]"
    for width, height in PHONES:
        page.set_viewport_size({"width": width, "height": height})
        page.goto(f"{page.url.partition('#')[0]}#1")
        page.reload()
        counts(page, "query 1 of 2")
        for key in "jk":
            assert misplaced(page, f"{current} button, nav button", "#query img") == [], width
            page.keyboard.press(key)
        page.keyboard.press("l")
        counts(page, "query 2 of 2")
        for key in "jjkk":
            overlaps = misplaced(page, f"{current} button, nav button", f"{current} img")
            assert overlaps == [], (width, key)
            page.keyboard.press(key)
    assert chromium.faults == []


def failures(folder: Path) -> SheetSession:
    """Return a session at two failures: of a long text, and of a picture."""
    rows = [
        {"lot": "1", "query": LONG, "query_id": "t1", "truth_id": "i1", "found_id": "it"},
        {"lot": "2", "query": "", "query_id": "i2", "truth_id": "i2", "found_id": "i1"},
    ]
    sheet = Sheet("failures", [*CLASSES, ALTERNATIVE], rows, True, ALTERNATIVE)
    return SheetSession("toy", "ann", sheet, Painted(), folder)


def test_on_a_telephone_the_pictures_of_a_failure_leave_room_for_all_buttons(
    tmp_path, hosted, chromium
):
    page = chromium.open(hosted(sheet_app(failures(tmp_path))))
    for width, height in [*PHONES, DESK]:
        page.set_viewport_size({"width": width, "height": height})
        counts(page, "failure 1 of 2")
        page.get_by_text("more below").wait_for()
        assert misplaced(page, "button", "img") == [], width
        page.keyboard.press("l")
        counts(page, "failure 2 of 2")
        captions = page.locator("figcaption").all_inner_texts()
        assert captions == ["The query", "The picture found"]
        assert misplaced(page, "button", "img") == [], width
        page.keyboard.press("h")
    counts(page, "failure 1 of 2")
    shown = page.evaluate(WORDS)
    assert [shown.count(text) for text in ("The right picture", "Sentence 7 tells")] == [1, 1]
    assert chromium.faults == []


def test_a_digit_grades_the_candidate_that_tab_has_reached(tmp_path, hosted, chromium):
    ann = sit(tmp_path, "ann", {"t2m": {"t": ["a", "b", "c"]}})
    page = chromium.open(hosted(pool_app(ann, SCALE)))
    counts(page, "0 of 3 pairs")
    page.locator(".candidate").nth(1).get_by_role("button", name="0 no").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("2")
    counts(page, "1 of 3 pairs")
    assert list(ann.ledger.grades) == [ann.items.queries[0].pairs[1]]


def test_the_page_of_a_pool_is_read_and_worked_by_everybody(tmp_path, hosted, chromium):
    words = words_of({"t1": {**LEAD, "context_section_description": LONG}}, {"i1": ROSE})
    ann = sit(tmp_path, "ann", {"t2m": {"t1": ["i1", "x"]}}, words)
    page = chromium.open(hosted(pool_app(ann, LABELS)))
    counts(page, "0 of 2 pairs")
    page.keyboard.press("2")
    counts(page, "1 of 2 pairs")
    assert faults(page, ALL_SCREENS) == []
    page.keyboard.press("?")
    assert faults(page, [(390, "light")]) == []


@pytest.mark.long
def test_the_page_of_failures_is_read_and_worked_by_everybody(tmp_path, hosted, chromium):
    page = chromium.open(hosted(sheet_app(failures(tmp_path))))
    counts(page, "0 of 2")
    page.keyboard.press("2")
    counts(page, "1 of 2 failures judged")
    assert faults(page, ALL_SCREENS) == []
