"""The site in a real headless Chromium, from file://."""

from pathlib import Path

import pytest
from tests.accessibility import faults
from tests.drawings import touching
from tests.report_project import LOOKS

PLACES = "[...document.querySelectorAll('a[href]')].map(a => a.href)"
UNNAMED = (
    "[...document.querySelectorAll('svg')]"
    ".filter(s => !s.closest('[role=img][aria-label], [aria-hidden=true]')).length"
)
# A page that each of the checks finds something in, and what it finds.
HARD = """<!doctype html><html lang="en"><title>Hard to read</title><style>
body { color: #222; background: #fff; color-scheme: light dark; }
.faint { color: #777; background: #fdfdfd; } .glare { color: #666; }
@media (prefers-color-scheme: dark) { body { color: #eee; background: #111; } }
@media (max-width: 400px) { .wide { width: 500px; } }
.bare { outline: none; } .away { position: fixed; left: -9999px; }
.scroll { overflow: auto; } .scroll td { min-width: 250px; padding-left: 90px; }
.box { height: 2rem; overflow: auto; width: 9rem; }
</style><main><h1>Hard to read</h1><p class="faint">Faint</p><p class="glare">Glare</p>
<p class="wide">Wide</p><img src="data:image/png;base64,AAAA"><button class="bare">Bare</button>
<a class="away" href="#">Away</a><button tabindex="-1">Skipped</button>
<table><tr><th></th><th>b</th></tr><tr><td>1</td><td>2</td></tr></table>
<div class="scroll" tabindex="0"><table><tr><td>Twelve words, more than fit</td><td>end</td></tr>
</table></div>
<div class="box" tabindex="-1">One<br>two<br>three<br>four</div>
<button onkeydown="event.preventDefault()">Trap</button><a href="#">After</a></main></html>"""
DESK, HAND = "1280 px, light: ", "390 px, dark: "
FOUND = [
    DESK + 'color-contrast: <p class="faint">',
    DESK + "empty-table-header",
    DESK + "image-alt",
    DESK + "scrollable-region-focusable",
    DESK + "no picture: img",
    DESK + "no outline: button.bare",
    DESK + "hidden focus: a.away",
    DESK + 'not reached by Tab: button "Skipped"',
    DESK + 'not reached by Tab: div.box "One',
    DESK + 'not reached by Tab: a "After"',
    HAND + "overflow: the page is 508 px wide",
    HAND + 'cut 120 px from the start: td "Twelve',
    HAND + 'color-contrast: <p class="glare">',
]


@pytest.fixture(scope="module")
def site(report_site) -> Path:
    return report_site


def test_what_readers_would_miss_is_found(chromium):
    page = chromium.open("about:blank")
    page.set_content(HARD)
    found = faults(page)
    assert [e for e in FOUND if not any(f.startswith(e) for f in found)] == [], found
    on_a_desk = "".join(f for f in found if f.startswith(DESK))
    assert "overflow" not in on_a_desk
    assert 'class="glare"' not in on_a_desk


@pytest.mark.parametrize("pages", ["some", pytest.param("all", marks=pytest.mark.long)])
def test_every_page_is_read_on_a_desk_and_a_telephone_by_eye_and_by_keys(site, chromium, pages):
    found = sorted(site.rglob("*.html"))
    assert len(found) > 10
    # What the others have too: tables, figures, controls, and both sides of a query.
    some = [site / f"toy/{name}.html" for name in ("systems", "queries", "cases/t2m-01")]
    pictures = 0
    for file in found if pages == "all" else some:
        page = chromium.open(file.as_uri())
        assert (file.name, faults(page)) == (file.name, [])
        assert page.evaluate(UNNAMED) == 0, file
        pictures += page.evaluate("document.images.length")
        within = [p for p in page.evaluate(PLACES) if p.startswith("file:")]
        assert within
        for place in within:
            assert Path(place.removeprefix("file://").partition("#")[0]).is_file(), place
        page.close()
    assert pictures > (50 if pages == "all" else 0)
    assert chromium.faults == []
    assert [r for r in chromium.requests if not r.startswith(("file:", "data:"))] == []


def test_a_phone_shows_all_names_of_a_figure_and_its_first_panel(site, chromium):
    page = chromium.open((site / "toy/systems.html").as_uri(), width=390)
    rights = page.evaluate(
        "Object.fromEntries([...document.querySelectorAll('#corpus_size text')]"
        ".map(text => [text.textContent, text.getBoundingClientRect().right]))"
    )
    page.close()
    assert all(0 < rights[words] < 390 for words in (*LOOKS, "Image suggestion (T2M)"))
    assert rights["Image promotion (M2T)"] > 390


def test_no_two_words_of_a_figure_touch(site, chromium):
    page = chromium.open((site / "toy/systems.html").as_uri())
    found = touching(page, ".plot svg")
    page.close()
    assert found == [[]] * len(found)
    assert len(found) >= 2


def test_a_reader_goes_from_the_front_page_to_a_case_and_back(site, chromium):
    page = chromium.open((site / "index.html").as_uri())
    page.click("h2 a")
    page.click("nav >> text=Case studies")
    page.click(".case-list a >> nth=0")
    assert "Both ends of both lists" in page.inner_text("main")
    page.click("text=All cases")
    assert page.url.endswith("/toy/cases.html")
    assert chromium.faults == []
