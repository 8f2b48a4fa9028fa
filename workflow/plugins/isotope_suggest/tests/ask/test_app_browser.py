"""The page in a real browser: answers while one types, verdicts by keys, nothing from elsewhere."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route
from starlette.applications import Starlette
from tests.accessibility import ALL_SCREENS, faults
from tests.browser import Browser, until
from workflow.plugins.isotope_judge.tests.hosting import hosting
from workflow.plugins.isotope_suggest.tests.ask.fake_engine import TEXT, Town, painting

from isotope_judge.ledger import current_lines
from isotope_judge.suggestions import ACCEPTED, FORM, Suggestion, Verdict, open_ledger, rejected
from isotope_suggest.ask.app import app

HOSTILE = "<script>window.attacked = 1</script><img src=x onerror='window.attacked = 1'>"
TITLES = [
    "The red lighthouse at the mouth of the harbour, seen from the ferry",
    "Fishing boats in 1912",
    "Quay.jpg",
    "Dunes | at [[dusk]]",
]
CURRENT = ".item[aria-current=true]"


@pytest.fixture
def hosted() -> Iterator[Callable[[Starlette], str]]:
    with hosting() as serve:
        yield serve


@pytest.fixture
def at(town, folder, hosted) -> str:
    """The address of the page of ann."""
    return hosted(app(town, open_ledger("town", "ann", folder)))


def stored(folder: Path) -> dict[tuple[str, str], tuple[str, str | None]]:
    """What is stored: verdict and reason of each pair."""
    path = folder / "town/suggestions/ann.jsonl"
    lines = current_lines(path, FORM) if path.exists() else []
    return {tuple(line.item): tuple(line.grade or ()) for _, line in lines}  # pyright: ignore[reportReturnType]


def titles(page: Page) -> list[str]:
    return page.locator("#items h2").all_inner_texts()


def state(page: Page, words: str) -> None:
    page.locator("#state", has_text=words).wait_for()


def write(page: Page, text: str = TEXT) -> None:
    """Fill in a text and wait for its pictures."""
    page.locator("#text").fill(text)
    state(page, "4 pictures")


def test_pictures_come_while_one_types_after_a_pause(at, town, chromium):
    page = chromium.open(at)
    until(page, "document.activeElement.id === 'text'")
    page.keyboard.type("red light", delay=20)
    state(page, "4 pictures")
    assert town.texts == ["red light"]
    assert titles(page) == TITLES
    first = page.locator(".item").first.inner_text()
    for words in ("97\u00a0%, very likely", "atches: red", "On Fanal, List", "Ann Example, CC BY"):
        assert words in first
    assert (
        page.locator(".reasons").nth(1).inner_html() == "like the picture of <cite>Eddystone</cite>"
    )
    until(page, "[...document.images].every((image) => image.complete && image.naturalWidth > 0)")
    cut = "(image) => image.offsetHeight > image.parentElement.clientHeight"
    assert page.evaluate(f"[...document.querySelectorAll('.frame img')].filter({cut}).length") == 0
    page.locator("#text").fill("")
    until(page, "document.querySelectorAll('.item').length === 0")
    assert town.texts == ["red light"]
    assert (chromium.faults, [u for u in chromium.requests if not u.startswith(at)]) == ([], [])


def test_the_answer_to_an_older_text_never_takes_the_place_of_a_newer_one(at, town, chromium):
    page = chromium.open(at)
    page.locator("#text").fill("wait i2")
    state(page, "Looking")
    until(page, "true")
    write(page, "i1")
    assert titles(page)[0] == TITLES[1]
    town.released.set()
    page.wait_for_timeout(150)
    assert titles(page)[0] == TITLES[1]
    # Nor does one that has arrived before it could be broken off.
    page.evaluate(
        "window.real = fetch; window.fetch = (path, o) => real(path, {...o, signal: null})"
    )
    town.released.clear()
    page.locator("#text").fill("wait i3")
    state(page, "Looking")
    page.locator("#text").fill("i0")
    state(page, "4 pictures")
    town.released.set()
    page.wait_for_timeout(150)
    assert titles(page)[0] == TITLES[0]
    assert "exception" not in str(chromium.faults)


def test_what_is_typed_while_an_answer_arrives_is_asked_all_the_same(at, town, chromium):
    page = chromium.open(at)
    page.locator("#text").fill("wait i2")
    state(page, "Looking")
    until_texts(town, "wait i2")
    page.evaluate("$('text').value = 'i1'; $('text').dispatchEvent(new InputEvent('input'))")
    town.released.set()
    until(page, f"$('items').innerText.startsWith('{TITLES[1]}')")
    assert town.texts == ["wait i2", "i1"]


def until_texts(town: Town, last: str) -> None:
    """Wait until the engine is asked for a text."""
    for _ in range(500):
        if town.texts[-1:] == [last]:
            return
        time.sleep(0.01)
    raise TimeoutError(last)


def test_a_request_that_fails_says_so_and_how_to_go_on(at, town, chromium):
    page = chromium.open(at)
    page.route("**/api/pictures", lambda route: route.abort())
    page.locator("#text").fill("i1")
    state(page, "No suggestions: no answer; see whether `isotope suggest` still runs.")
    assert page.locator("#status.trouble").count() == 1
    page.unroute("**/api/pictures")
    page.get_by_role("button", name="Try again").click()
    state(page, "4 pictures")
    assert page.get_by_role("button", name="Try again").is_hidden()
    town.pictured = []
    page.locator("#text").fill("i")
    state(page, "No picture of the collection fits.")


@pytest.mark.long
def test_a_busy_server_is_asked_again_when_it_says(at, chromium):
    page = chromium.open(at)
    requests = []

    def busy_once(route: Route) -> None:
        requests.append(route)
        if len(requests) > 1:
            route.continue_()
        else:
            body = '{"error": "too many questions at once; ask again in 1 s"}'
            route.fulfill(status=503, headers={"Retry-After": "1"}, body=body)

    page.route("**/api/pictures", busy_once)
    page.locator("#text").fill("i1")
    state(page, "too many questions at once")
    state(page, "4 pictures")
    assert len(requests) == 2


def test_suggestions_are_judged_by_keys_alone(at, folder, town, chromium):
    page = chromium.open(f"{at}#section/s1")
    state(page, "4 pictures")
    assert page.locator("#section h1").inner_text() == "Fanal"
    for key in "ja":
        page.keyboard.press(key)
    state(page, "Saved: accepted")
    for key in ("ArrowDown", "r", "2"):
        page.keyboard.press(key)
    state(page, "Saved: rejected: icon")
    until(page, f"document.activeElement.matches('{CURRENT}')")
    for key in "jr5":
        page.keyboard.press(key)
    state(page, "Saved: rejected: offensive")
    expected = {
        ("s1", "i0"): ("good", None),
        ("s1", "i1"): ("bad", "icon"),
        ("s1", "i2"): ("offensive", "offensive"),
    }
    assert stored(folder) == expected
    assert chromium.faults == []


def test_verdicts_are_shown_again_and_taken_back(at, town, folder, chromium):
    ledger = open_ledger("town", "ann", folder)
    for n, verdict in enumerate([ACCEPTED, rejected("icon"), Verdict("okay")]):
        ledger.give(Suggestion("s1", f"i{n}"), verdict, expected=None)
    page = chromium.open(f"{at}#section/s1")
    state(page, "4 pictures")
    assert page.locator(".verdict").all_inner_texts() == ["Accepted", "Rejected: icon", "Okay", ""]
    for key in "ju":
        page.keyboard.press(key)
    state(page, "Saved: nothing")
    # What is said once more is taken back, too.
    for key in "jr2":
        page.keyboard.press(key)
    until(page, "cards[1].grade === null && !cards[1].isSaving")
    assert stored(folder) == {("s1", "i2"): ("okay", None)}


def test_neither_a_stray_digit_nor_a_key_held_down_judges(at, folder, chromium):
    page = chromium.open(f"{at}#section/s1")
    state(page, "4 pictures")
    for key in ("j", "3", "r", "Escape", "2"):
        page.keyboard.press(key)
    page.evaluate(
        "document.activeElement.dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'a', bubbles: true, repeat: true}))"
    )
    page.wait_for_timeout(100)
    assert stored(folder) == {}
    page.keyboard.press("Escape")
    until(page, "location.hash === '#sections'")


def test_slash_goes_to_the_text_and_escape_from_it_to_the_answers(at, chromium):
    page = chromium.open(at)
    write(page)
    page.keyboard.press("Escape")
    until(page, f"document.activeElement === document.querySelector('{CURRENT}')")
    for key, position in (("j", 1), ("ArrowDown", 2), ("j", 3), ("j", 3), ("k", 2), ("ArrowUp", 1)):
        page.keyboard.press(key)
        assert (
            page.evaluate(
                f"[...$('items').children].indexOf($('items').querySelector('{CURRENT}'))"
            )
            == position
        )
    page.keyboard.press("/")
    until(page, "document.activeElement.id === 'text'")
    page.keyboard.type("aj2/")
    assert page.locator("#text").input_value() == f"{TEXT}aj2/"
    page.keyboard.press("Escape")
    page.keyboard.press("?")
    assert page.get_by_text("takes a verdict back").is_visible()
    page.keyboard.press("Escape")
    assert page.get_by_text("takes a verdict back").is_hidden()


def test_enter_follows_the_link_to_the_file_and_nothing_leaves_before(at, chromium):
    page = chromium.open(at)
    write(page)
    page.keyboard.press("Escape")
    link = page.locator(f"{CURRENT} a.open")
    assert link.get_attribute("rel") == "noreferrer noopener"
    page.evaluate("() => { onclick = (e) => { e.preventDefault(); window.left = e.target.href } }")
    assert page.evaluate("window.left") is None
    page.keyboard.press("Enter")
    assert page.evaluate("left") == "https://commons.wikimedia.org/wiki/File:Fanal_light.jpg"
    assert all(url.startswith(at) for url in chromium.requests)


def test_open_sections_are_browsed_searched_and_left_where_they_were(at, chromium):
    page = chromium.open(f"{at}#sections")
    state(page, "50 sections and more")
    page.get_by_role("button", name="More sections").click()
    state(page, "63 sections")
    assert page.locator(".item").count() == 63
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    state(page, "4 pictures")
    assert page.locator("#section h1").inner_text() == "Village 48"
    page.go_back()
    state(page, "63 sections")
    assert page.locator(f"{CURRENT} h2").inner_text() == "Village 48: Geography"
    page.keyboard.press("/")
    page.keyboard.type("abbey")
    state(page, "1 section")
    assert titles(page) == ["Merle Abbey: Cloister"]
    page.keyboard.press("Control+A")
    page.keyboard.type("nowhere")
    state(page, "No section without a picture has that in a title.")
    assert chromium.faults == []


def test_a_picture_that_is_dropped_gets_sections(at, town, chromium):
    page = chromium.open(at)
    picture = painting("#b23a2e")
    page.evaluate(
        """(bytes) => {
          const dataTransfer = new DataTransfer();
          dataTransfer.items.add(new File([new Uint8Array(bytes)], "a.webp", {type: "image/webp"}));
          const about = {dataTransfer, bubbles: true, cancelable: true};
          document.body.dispatchEvent(new DragEvent("dragover", about));
          document.body.dispatchEvent(new DragEvent("drop", about));
        }""",
        list(picture),
    )
    state(page, "3 sections")
    assert town.dropped == [picture]
    assert titles(page)[2] == "Merle Abbey: Cloister"
    assert page.get_by_text("It shows no picture yet").count() == 2
    assert page.locator(".item").get_by_role("button", name="Accept").count() == 0
    until(page, "!$('preview').hidden && $('preview').width === 320")
    page.get_by_role("link", name="Its suggestions").first.click()
    state(page, "4 pictures")
    page.locator(".item").nth(1).get_by_role("link", name="Other sections").click()
    state(page, "3 sections")
    assert page.locator("#picture h2").inner_text() == "Fishing boats in 1912"
    for key in "ja":
        page.keyboard.press(key)
    state(page, "Saved: accepted")
    assert chromium.faults == []


def test_what_is_no_picture_and_what_is_too_large_is_a_sentence(at, town, chromium):
    page = chromium.open(f"{at}#picture")
    page.locator("#file").set_input_files({"name": "x", "mimeType": "", "buffer": b"%PDF-1.7"})
    state(page, "No suggestions: the picture: no picture that can be decoded; choose another.")
    assert page.locator("#preview").is_hidden()
    assert town.dropped == [b"%PDF-1.7"]
    page.evaluate("takePicture(new File([new Uint8Array(20 * 2 ** 20 + 1)], 'huge.tif'))")
    state(page, "huge.tif has more than 20 MiB; choose a smaller picture")
    assert len(town.dropped) == 1


def test_a_text_longer_than_the_server_takes_is_a_sentence(at, chromium):
    page = chromium.open(at)
    page.locator("#text").evaluate("(field) => { field.value = 'x'.repeat(300000); askText(); }")
    state(page, "No suggestions: it is longer than the page takes; shorten it.")


# How many lines the host of an address in the first credit line takes.
LINES_OF_HOST = """() => {
  const texts = document.createTreeWalker(
    document.querySelector(".item .credit"), NodeFilter.SHOW_TEXT);
  for (let node; (node = texts.nextNode());) {
    const start = node.data.indexOf("commons.wikimedia.org");
    if (start < 0) continue;
    const range = document.createRange();
    range.setStart(node, start);
    range.setEnd(node, start + "commons.wikimedia.org".length);
    return range.getClientRects().length;
  }
}"""


def test_an_address_in_a_credit_line_is_not_broken_within_its_host(at, town, chromium):
    file = "File:A_street_of_the_old_town_with_its_houses_in_the_evening_light.jpg"
    credits = f"Ann, CC BY-SA 4.0, https://commons.wikimedia.org/wiki/{file}"
    town.pictured = [replace(answer, credit=credits) for answer in town.pictured]
    page = chromium.open(at, width=390)
    write(page)
    assert page.evaluate(LINES_OF_HOST) == 1
    assert page.locator(".item .credit").first.text_content() == credits


def test_the_tools_of_a_picture_stand_in_one_row_of_a_wide_window(at, chromium):
    page = chromium.open(at)
    write(page)
    cards = page.locator(".item .tools").evaluate_all(
        "(cards) => cards.map((card) => [...card.children].map((node) => {"
        " const box = node.getBoundingClientRect(); return [box.top, box.bottom]; }))"
    )
    assert len(cards) == 4
    for boxes in cards:
        assert len(boxes) >= 4
        assert max(top for top, _ in boxes) < min(bottom for _, bottom in boxes)


def test_words_of_others_are_shown_as_words(at, town, chromium):
    town.pictured = [
        replace(
            answer,
            caption=HOSTILE,
            credit=HOSTILE,
            reasons=[HOSTILE],
            pages=[HOSTILE],
            file_page="javascript:window.attacked=1",
        )
        for answer in town.pictured
    ]
    town.placed = [replace(section, page_title=HOSTILE, text=HOSTILE) for section in town.placed]
    page = chromium.open(f"{at}#section/s0")
    state(page, "4 pictures")
    assert page.locator("#section h1").inner_text() == HOSTILE
    shown = page.locator(".item").first.inner_text()
    assert shown.count(HOSTILE) == 4
    assert page.locator("[href^='javascript:'], .item script, .item img[src=x]").count() == 0
    page.goto(f"{at}#sections")
    state(page, "50 sections")
    page.goto(f"{at}#section/{HOSTILE}")
    state(page, 'No suggestions: the collection: no "<script>')
    assert page.evaluate("window.attacked") is None
    page.goto(f"{at}#section/%E0%A4%A")
    state(page, "no '%E0%A4%A'")
    # A section that is not there is an answer with an error's status, and no other fault.
    assert [fault for fault in chromium.faults if "404" not in fault] == []


def test_what_is_not_calibrated_says_so_and_notes_stand_above_the_pictures(
    folder, hosted, chromium
):
    page = chromium.open(hosted(app(Town(calibrated=False), open_ledger("town", "ann", folder))))
    write(page, "à l'étranger")
    assert page.locator(".chance").all_inner_texts() == ["not calibrated"] * 4
    assert page.locator("#notes li").all_inner_texts() == ["Few of these words are in a caption."]


@pytest.mark.long
def test_credit_line_and_wikitext_are_copied(at, chromium):
    page = chromium.open(at)
    chromium.context.grant_permissions(["clipboard-read", "clipboard-write"])
    write(page)
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    state(page, "Copied: Ann Example, CC BY-SA 4.0")
    assert page.evaluate("navigator.clipboard.readText()").startswith("Ann Example, CC BY-SA 4.0,")
    page.locator(".item").nth(3).get_by_role("button", name="Copy wikitext").click()
    state(page, "Copied: [[File:")
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied == "[[File:Dunes at dusk.jpg|thumb|Dunes &#124; at &#91;&#91;dusk&#93;&#93;]]"


def test_two_tabs_agree(at, folder, chromium):
    first_tab, second_tab = (chromium.open(f"{at}#section/s0") for _ in "12")
    for page in (first_tab, second_tab):
        state(page, "4 pictures")
    first_tab.keyboard.press("j")
    first_tab.keyboard.press("a")
    state(first_tab, "Saved: accepted")
    for key in "jr2":
        second_tab.keyboard.press(key)
    state(second_tab, "Another page has said accepted; say it again to change that.")
    assert stored(folder) == {("s0", "i0"): ("good", None)}
    for key in "r2":
        second_tab.keyboard.press(key)
    state(second_tab, "Saved: rejected: icon")
    first_tab.evaluate("window.dispatchEvent(new Event('focus'))")
    first_tab.locator(".verdict", has_text="Rejected: icon").wait_for()
    assert stored(folder) == {("s0", "i0"): ("bad", "icon")}


def test_a_verdict_that_could_not_be_saved_is_not_shown_as_given(at, folder, chromium):
    page = chromium.open(f"{at}#section/s0")
    state(page, "4 pictures")
    page.route("**/api/verdict", lambda route: route.abort())
    for key in "ja":
        page.keyboard.press(key)
    page.locator(f"{CURRENT} .trouble", has_text="Not saved: no answer").wait_for()
    assert page.locator(".accepted").count() == 0
    page.unroute("**/api/verdict")
    page.keyboard.press("a")
    state(page, "Saved: accepted")
    assert stored(folder) == {("s0", "i0"): ("good", None)}


def _look_at_text(page: Page) -> None:
    write(page)
    for key in ("Escape", "a"):
        page.keyboard.press(key)
    state(page, "Saved: accepted")
    for key in "jr":
        page.keyboard.press(key)


def _look_at_list(page: Page) -> None:
    page.evaluate("location.hash = '#sections'")
    page.locator("#words").fill("fanal")
    state(page, "2 sections")


def _look_at_picture(page: Page) -> None:
    page.evaluate("location.hash = '#image/i0'")
    state(page, "3 sections")


LONG = [pytest.param(look, marks=pytest.mark.long) for look in (_look_at_list, _look_at_picture)]


@pytest.mark.parametrize("look", [_look_at_text, *LONG])
def test_the_page_is_read_and_worked_by_everybody(at, chromium: Browser, look):
    page = chromium.open(at)
    page.emulate_media(reduced_motion="reduce")
    look(page)
    assert faults(page, ALL_SCREENS) == []
    assert chromium.faults == []
