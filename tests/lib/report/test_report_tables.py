"""Tables of the report: what they print, and how a reader sorts, filters and scrolls them."""

import io
import re
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page
from tests.report_project import TOLD, cell, files

from isotope.core.runs import write_run
from isotope.report import collection
from isotope.report.collection import unanswered
from isotope.report.content import Scope, group_rows
from isotope.tabulate.table import lay_out, write_table

SYSTEMS = [f"system-{n:02}" for n in range(12)]
MEASURES = ("MRR@10", "R@10", "MAP")
TASKS = ("t2m", "m2t")
POOLS = list(product(("small", "base", "large"), ("validation", "test")))
# Words outside of what scrolls sideways that go beyond the page, or are cut where they stand.
CUT = """() => {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT), found = [];
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    const element = node.parentElement, range = document.createRange();
    if (!node.textContent.trim() || element.closest('svg, script, style, .skip')) continue;
    range.selectNodeContents(node);
    const words = range.getBoundingClientRect();
    if (!words.width || element.closest('.scroll, .plot, pre')) continue;
    let cut = words.right > innerWidth + 1 || words.left < -1;
    for (let e = element; e; e = e.parentElement) {
      const style = getComputedStyle(e), own = e.getBoundingClientRect();
      if (style.overflowX !== 'visible' && words.right > own.right + 1) cut = true;
    }
    if (cut) found.push(node.textContent.trim().slice(0, 60));
  }
  return found;
}"""
DEEP = """() => [...document.querySelectorAll('*')].filter(e =>
  /auto|scroll/.test(getComputedStyle(e).overflowY) && e.scrollHeight > e.clientHeight + 1
  && e.scrollHeight > 3 * innerHeight).map(e => e.className)"""


SHOWN = "rows => rows.filter(r => r.offsetHeight > 0).length"
FIRST = """t => [...t.tBodies].map(b => [...b.rows].filter(r => !r.matches('.pool')))
  .map(rows => rows.map(r => r.cells[1].textContent))"""
LEFT = "e => e.getBoundingClientRect().left"
TOP = "e => e.getBoundingClientRect().top"
RIGHT = "e => e.getBoundingClientRect().right"
TABLE3, INTERVALS = "#table3 table", "#intervals table"


def write(path: Path, head: list[str], rows: Iterable[Sequence[object]]) -> Path:
    write_table(pl.DataFrame([*rows], head, orient="row"), path.with_suffix(""))
    return path


def darkest_at_the_right(page: Page, box: Locator) -> float:
    """Return how light the darkest column of pixels at the right of a box is, of its lightest.

    Looked at is the blank line above the heads, in the last 120 px.
    """
    place = box.bounding_box()
    assert place is not None
    x = place["x"] + place["width"] - 120
    shot = page.screenshot(clip={"x": x, "y": place["y"] + 2, "width": 120, "height": 4})
    columns = np.asarray(Image.open(io.BytesIO(shot)).convert("L")).mean(axis=0)
    return float(columns.min() / columns.max())


def lay_long_tables(folder: Path) -> list[Path]:
    """Write Table 3 and intervals of twelve systems, a table without rows, and one with words."""
    columns = [f"{task} {measure}" for task in TASKS for measure in MEASURES]
    keys = ["setting", "split", "letter", "system"]
    table3 = [
        (*pool, "abcdefghijkl"[n], name, *([(7 * n) % 12 / 12] * 6), *(["abc"] * 6))
        for pool, (n, name) in product(POOLS, enumerate(SYSTEMS))
    ]
    cells = product(POOLS, TASKS, MEASURES, enumerate(SYSTEMS))
    intervals = [(*p, t, m, name, 86, (7 * n) % 12 / 12, 0.0, 1.0) for p, t, m, (n, name) in cells]
    numbers = ["queries", "value", "low", "high"]
    steps = [
        ("one_split", split, 9, n, 9 - n) for n, split in enumerate(("train", "test", "other"))
    ]
    return [
        write(folder / "table3.arrow", [*keys, *columns, *(f"{c} beats" for c in columns)], table3),
        write(
            folder / "intervals.arrow",
            ["setting", "split", "task", "measure", "system", *numbers],
            intervals,
        ),
        write(folder / "unknown_objects.arrow", ["reason", "detail", "objects"], []),
        write(folder / "account.arrow", ["step", "split", "before", "dropped", "after"], steps),
    ]


@pytest.fixture(scope="module")
def folder(report_root, tmp_path_factory) -> Path:
    """Pages of twelve systems: 72 rows of Table 3, and 432 of intervals."""
    out = tmp_path_factory.mktemp("long")
    laid = lay_long_tables(out)
    others = [f for f in files(report_root) if f.name not in {p.name for p in laid}]
    collection.build_pages(cell(report_root), [*others, *laid], TOLD, out)
    return out


@pytest.fixture
def page(folder, chromium) -> Page:
    return chromium.open((folder / "systems.html").as_uri())


def test_keys_that_many_rows_share_are_headings_and_say_how_many_queries_there_are():
    rows = product(TASKS, SYSTEMS, (9,), (0.5,))
    frame = pl.DataFrame(list(rows), schema=["task", "system", "queries", "value"], orient="row")
    grouped = group_rows(lay_out(frame))
    assert [(g.heading, g.queries, len(g.rows)) for g in grouped.groups] == [
        (["Image suggestion"], "9", 12),
        (["Image promotion"], "9", 12),
    ]
    assert [c.name for c in grouped.columns] == ["system", "value"]


def test_keys_before_and_after_the_system_come_first_and_other_words_last():
    names = ["task", "number", "measure", "system", "query", "made_of", "value"]
    rows = [["t2m", 3, "MAP", "rrf", query, "both", 0.5] for query in ("all", "intact")]
    grouped = group_rows(lay_out(pl.DataFrame(rows, schema=names, orient="row")))
    assert [c.name for c in grouped.keys] == ["task", "measure", "system", "query"]
    assert [c.name for c in grouped.columns[4:]] == ["number", "value", "made_of"]


def test_a_key_of_few_rows_is_a_column():
    frame = pl.DataFrame({"task": TASKS, "measure": ["MAP", "MAP"], "tau": [0.1, 0.2]})
    assert group_rows(lay_out(frame)).folded == []


def test_rows_of_a_key_that_stand_apart_are_not_joined():
    frame = pl.DataFrame({"step": ["a", "b"] * 6, "split": [str(n) for n in range(12)]})
    assert group_rows(lay_out(frame)).folded == []


def test_pages_print_words_and_units_and_the_csv_keeps_identifiers(folder):
    for page in folder.glob("*.html"):
        text = page.read_text()
        for printed in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", text, re.DOTALL):
            words = re.sub(r"<code>.*?</code>|<[^>]*>", "", printed)
            assert not re.search(r"[a-z]_[a-z]|[{}\[\]]|\b[tm]2[tm]\b", words), words
    text = (folder / "collection.html").read_text()
    assert "one split" in text
    assert "size, KiB" in text
    assert "one_split" in (folder / "account.csv").read_text()


def test_a_table_without_rows_is_left_out(folder):
    text = (folder / "collection.html").read_text()
    assert 'id="account"' in text
    assert "unknown_objects" not in text
    assert all("<td" in t for t in re.findall(r"<tbody>.*?</tbody>", text, re.DOTALL))


def test_a_pool_says_how_many_queries_it_has_and_what_they_search(folder):
    text = (folder / "systems.html").read_text()
    assert "queries: 8 texts, 8 images; searched: 8 images, 8 texts" in text
    assert "queries: 1 texts, 1 images; searched: 12 images, 12 texts" in text


def test_a_head_sorts_numbers_then_the_other_way_then_as_it_was(page):
    table = page.locator(TABLE3)
    before = table.evaluate(FIRST)
    head = table.locator("thead th", has_text="MRR@10").first
    button = head.locator("button")
    button.focus()
    page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "descending"
    order = sorted(range(12), key=lambda n: -((7 * n) % 12))
    assert table.evaluate(FIRST) == [[SYSTEMS[n] for n in order]] * 6
    button.click()
    assert head.get_attribute("aria-sort") == "ascending"
    assert table.evaluate(FIRST) == [[SYSTEMS[n] for n in reversed(order)]] * 6
    button.click()
    assert head.get_attribute("aria-sort") is None
    assert table.evaluate(FIRST) == before


def test_a_long_table_shows_its_first_rows_and_all_of_them_on_demand(page):
    page.locator("#intervals").scroll_into_view_if_needed()
    rows = page.locator(f"{INTERVALS} tbody tr:not(.pool)")
    assert rows.evaluate_all(SHOWN) == 40
    more = page.get_by_role("button", name="Show all 432 rows")
    more.click()
    assert rows.evaluate_all(SHOWN) == 432
    page.get_by_role("button", name="Show the first 40 rows").click()
    page.emulate_media(media="print")
    assert rows.evaluate_all(SHOWN) == 432
    page.emulate_media(media="screen")


def test_a_filter_and_choices_leave_the_rows_that_are_wanted(page):
    section = page.locator("#intervals")
    rows = section.locator("tbody tr:not(.pool)")
    section.get_by_label("Filter").fill("system-03 promotion")
    assert rows.evaluate_all(SHOWN) == 18
    assert section.locator("output").inner_text() == "18 of 432 rows"
    section.get_by_label("measure").select_option("MAP")
    assert rows.evaluate_all(SHOWN) == 6
    section.get_by_label("Filter").fill("nothing of this name")
    assert rows.evaluate_all(SHOWN) == 0


def test_tasks_and_measures_are_chosen_and_last_as_long_as_the_tab(page):
    section = page.locator("#table3")
    page.evaluate("sessionStorage.clear()")
    heads = section.locator("thead tr:last-child th.number:visible")
    assert heads.count() == 6
    section.get_by_text("Choose columns").click()
    section.get_by_label("Image promotion").uncheck()
    section.get_by_label("MAP").uncheck()
    assert [h.split()[0] for h in heads.all_inner_texts()] == ["MRR@10", "R@10"]
    assert section.locator("tbody tr:nth-child(2) td.number:visible").count() == 2 * 6
    page.reload()
    assert heads.count() == 2
    section.get_by_text("Choose columns").click()
    # One of them always stays.
    section.get_by_label("Image suggestion").click()
    assert heads.count() == 2
    section.get_by_label("Image promotion").check()
    assert heads.count() == 4
    page.evaluate("sessionStorage.clear()")


def test_keys_headings_and_heads_stay_where_the_table_scrolls(page):
    page.set_viewport_size({"width": 390, "height": 700})
    box = page.locator("#table3 .scroll")
    box.scroll_into_view_if_needed()
    name, pool = box.locator("tbody th.key").nth(3), box.locator(".pool div").nth(0)
    number = box.locator("td.number").nth(3)
    before = [e.evaluate(LEFT) for e in (name, pool, number)]
    box.evaluate("e => e.scrollBy(120, 0)")
    after = [e.evaluate(LEFT) for e in (name, pool, number)]
    moved = box.evaluate("e => e.scrollLeft")
    assert 60 < moved < 180, "the box rests at the start of the next column or of the one after it"
    assert after == pytest.approx([before[0], before[1], before[2] - moved], abs=1)
    page.wait_for_selector("#table3 .scroll.scrolled")
    head = box.locator("thead th", has_text="R@10").first
    box.evaluate("e => scrollTo(0, scrollY + e.getBoundingClientRect().top + 500)")
    page.wait_for_selector("#table3 .scroll.moved")
    assert -2 < box.locator("thead").evaluate(TOP) < 2
    assert head.evaluate(TOP) >= 0


def test_a_shade_says_that_there_is_more_until_the_last_column_is_in_sight(page):
    page.set_viewport_size({"width": 390, "height": 700})
    box = page.locator("#table3 .scroll")
    box.scroll_into_view_if_needed()
    assert darkest_at_the_right(page, box) < 0.85
    box.evaluate("e => e.scrollTo(e.scrollWidth, 0)")
    page.wait_for_selector("#table3 .scroll.scrolled")
    assert box.locator("thead tr:last-child th").last.evaluate(RIGHT) <= box.evaluate(RIGHT)
    assert darkest_at_the_right(page, box) > 0.97


def test_on_a_desk_the_head_of_a_table_that_fits_stays_at_the_top(page):
    page.get_by_role("button", name="Show all 432 rows").click()
    table = page.locator(INTERVALS)
    table.evaluate("e => scrollTo(0, scrollY + e.getBoundingClientRect().top + 3000)")
    assert abs(table.locator("thead").evaluate(TOP)) < 2


@pytest.mark.parametrize("width", [1280, 390])
def test_no_word_is_cut_and_no_box_holds_pages_of_its_own(folder, chromium, width):
    for path in folder.glob("*.html"):
        page = chromium.open(path.as_uri(), width=width)
        assert (path.name, page.evaluate(CUT)) == (path.name, [])
        assert (path.name, page.evaluate(DEEP)) == (path.name, [])
        page.close()


def test_without_scripts_a_table_is_whole(folder):
    text = (folder / "systems.html").read_text()
    whole = text.partition('id="intervals"')[2].partition("</table>")[0]
    assert whole.count('<th scope="row"') == 432
    assert not re.search(r"<tr[^>]*(hidden|beyond)", whole)


def test_a_run_that_leaves_queries_out_is_named_below_its_pool(tmp_path):
    scope = Scope(tmp_path, "toy", [], "small", "test", "mine")
    qrels = {"text_id": ["s", "t"], "image_id": ["i", "i"], "split": ["test"] * 2}
    (tmp_path / "data/collect/toy").mkdir(parents=True)
    pl.DataFrame(qrels).write_parquet(tmp_path / "data/collect/toy/qrels.parquet")
    for name, queries in (("mine", ["s"]), ("whole", ["s", "t"])):
        hits = [{"query_id": q, "doc_id": "i", "score": 1.0} for q in queries]
        path = tmp_path / f"results/search/toy/small/test/t2m/{name}.parquet"
        write_run(pl.DataFrame(hits), path)
    assert unanswered(scope, "small", "test") == ["mine t2m 1 of 2"]
